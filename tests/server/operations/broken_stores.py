"""A server in this process on a database, for tests that break the database while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from taskshield.server.app import create_app
from taskshield.settings import load
from tests.judging import TableJudge
from tests.server.stage import user, wire


@contextmanager
def server_on(url: str, *, ready: bool = True) -> Iterator["Server"]:
    """A server whose judge passes the self-test, on the store at this URL.

    Args:
        url: The URL of the store.
        ready: Whether to wait until it is ready.
    """
    given = load({"server": {"store": url}}, environment={})
    judge = TableJudge(score=lambda text, task: float("send_money" not in text))
    with TestClient(
        create_app(given, judge=judge),
        base_url="http://127.0.0.1:8787",
        client=("127.0.0.1", 50_000),
        raise_server_exceptions=False,
    ) as client:
        server = Server(client)
        if ready:
            server.wait_until_ready()
        yield server


class Server:
    """What a test asks of the server."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def wait_until_ready(self) -> None:
        while self._client.get("/readyz").status_code != 200:
            pass

    def state(self) -> tuple[int, str | None, str]:
        """The status of /readyz, its word for the store, and its reasons."""
        answer = self._client.get("/readyz")
        body: dict[str, Any] = answer.json()
        return answer.status_code, body.get("store"), " ".join(body.get("reasons", ()))

    def wait_for(self, state: str) -> str:
        """Ask until the store is in this state; the reasons."""
        while True:
            status, found, reasons = self.state()
            if found == state:
                assert status == 503
                return reasons

    def check(self, session: str, text: str = "Read my notes.") -> tuple[int, str | None]:
        """Have a message checked in a new session: the status, and the code of the error."""
        made = self._client.post("/api/sessions", json={"id": session})
        if made.status_code < 300:
            path = f"/api/sessions/{session}/messages"
            made = self._client.post(path, json={"messages": wire(user(text))})
        return made.status_code, made.json().get("error", {}).get("code")
