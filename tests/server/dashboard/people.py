"""People at the page: a client that has logged in, as a browser would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from taskshield.core.store import Scope, Store
from taskshield.server.access.logins import COOKIE, CSRF_HEADER
from tests.engine.sessions import run
from tests.server.stage import HIJACKED, OWN, TENANT, keyed, served, wire

TOKENS: dict[str, str] = {}
"""What our page keeps besides each cookie."""
EVERYTHING: tuple[Scope, ...] = ("check", "approve")


@contextmanager
def logged_in(
    store: Store,
    *scopes: Scope,
    tenant: str = TENANT,
    **server: Any,
) -> Iterator[TestClient]:
    """A client with a cookie and no key."""
    secret = run(keyed(store, *(scopes or EVERYTHING), tenant=tenant))
    with served(store, owner=False, **server) as client:
        log_in(client, secret)
        yield client


def log_in(client: TestClient, secret: str) -> None:
    answer = client.post("/page/login", json={"key": secret}, headers=OWN)
    assert answer.status_code == 200, answer.text
    TOKENS[cookie_of(client)] = answer.json()["csrf"]


def own_page(client: TestClient) -> dict[str, str]:
    """What our page sends along with what changes something."""
    return {**OWN, CSRF_HEADER: TOKENS[cookie_of(client)]}


def cookie_of(client: TestClient) -> str:
    found = client.cookies.get(COOKIE)
    assert found is not None
    return found


def hijacked(client: TestClient, id: str = "s", **more: Any) -> list[dict[str, Any]]:
    """The decisions on a session in which the agent was led astray."""
    client.post("/api/sessions", json={"id": id}, **more).raise_for_status()
    said = {"messages": wire(*HIJACKED.messages)}
    answer = client.post(f"/api/sessions/{id}/messages", json=said, **more)
    answer.raise_for_status()
    decisions: list[dict[str, Any]] = answer.json()["decisions"]
    return decisions


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]
