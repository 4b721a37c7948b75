"""The link with which the person who started a server logs in."""

import re

import pytest
from starlette.testclient import TestClient

from taskshield.server.access.login_link import LoginLink
from taskshield.server.access.logins import COOKIE, CSRF_HEADER
from taskshield.server.app import create_app
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.access.clock import Clock
from tests.server.dashboard.people import refusal
from tests.server.stage import ESCALATING, OWN, judge, keyed, served, user, wire

READING = [
    "/api/sessions",
    "/api/sessions/s",
    "/api/sessions/s/timeline",
    "/api/decisions",
    "/api/decisions/d",
    "/api/approvals",
    "/api/settings",
    "/api/labels",
    "/api/labels/export",
    "/api/stats",
    "/api/live",
    "/api/playground/samples",
    "/api/benchmarks",
]
ESCALATE = {"misaligned": {tier.value: reply for tier, reply in ESCALATING.misaligned.items()}}


def log_in(client: TestClient, token: str, **headers: str) -> int:
    answer = client.post("/page/login", json={"token": token}, headers={**OWN, **headers})
    if answer.status_code == 200:
        client.headers.update({**OWN, CSRF_HEADER: answer.json()["csrf"]})
    return answer.status_code


def linked(link: LoginLink | None, store: MemoryStore | None = None) -> TestClient:
    given = load({"server": {"store": "memory:"}}, environment={})
    used = MemoryStore() if store is None else store
    return TestClient(
        create_app(given, judge=judge(), store=used, link=link),
        base_url="http://127.0.0.1:8787",
        client=("127.0.0.1", 50_000),
    )


@pytest.mark.parametrize("path", READING)
def test_a_program_without_a_login_reads_nothing(path: str) -> None:
    with served(owner=False) as client:
        assert refusal(client.get(path)) == (401, "unauthenticated")


def test_a_program_without_a_login_changes_nothing() -> None:
    with served(owner=False, policy=ESCALATE) as client:
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        said = wire(user())
        called = {"id": "c1", "name": "send_money", "arguments": {"to": "evil"}}
        said.append({"level": "assistant", "tool_calls": [called]})
        answer = client.post("/api/sessions/s/messages", json={"messages": said})
        approval = answer.json()["decisions"][1]["approval"]
        assert client.get(f"/api/approvals/{approval}").json()["status"] == "pending"
        tricks: list[dict[str, str]] = [
            {},
            OWN,
            {"origin": "http://localhost:8787"},
            {"host": "localhost"},
            {"cookie": f"{COOKIE}=x.y"},
            {"cookie": f"{COOKIE}=", CSRF_HEADER: ""},
            {"x-forwarded-for": "127.0.0.1"},
        ]
        for headers in tricks:
            for verdict in ("approve", "deny"):
                path = f"/api/approvals/{approval}/{verdict}"
                assert client.post(path, headers=headers).status_code == 401
            for path in ("/api/decisions/d/replay", "/api/self-test", "/api/playground"):
                assert client.post(path, json={}, headers=headers).status_code == 401
            label = client.put("/api/decisions/d/label", json={"label": "right"}, headers=headers)
            assert label.status_code == 401
        assert client.get(f"/api/approvals/{approval}").json()["status"] == "pending"
        me = client.get("/page/me").json()
        assert (me["login"], me["scopes"], me["link"]) == ("needed", [], True)


def test_the_link_works_once_and_the_next_one_is_shown() -> None:
    shown: list[str] = []
    link = LoginLink(shown.append)
    first = link.token
    assert re.fullmatch(r"[\w-]{43}", first)
    with linked(link) as client:
        assert log_in(client, first) == 200
        assert client.get("/api/sessions").status_code == 200
        assert shown == [f"#/login/{link.token}"] and link.token != first
    with linked(link) as other:
        assert log_in(other, first) == 401
        assert other.get("/api/sessions").status_code == 401
        assert log_in(other, link.token) == 200
        assert other.get("/page/me").json()["scopes"] == ["admin", "approve", "check", "proxy"]


@pytest.mark.parametrize("token", ["", "x", "\ud800", "ä"])
def test_another_token_is_refused_and_the_link_still_works(token: str) -> None:
    link = LoginLink()
    before = link.token
    assert link.log_in(token) is None and link.token == before


def test_neither_page_nor_program_elsewhere_logs_in() -> None:
    link = LoginLink()
    with linked(link) as client:
        assert log_in(client, link.token, origin="https://evil.example") == 401
        assert log_in(client, link.token, **{"sec-fetch-site": "cross-site"}) == 403
        assert log_in(client, link.token, **{"x-forwarded-for": "192.0.2.7"}) == 401
        assert log_in(client, link.token) == 200
    with linked(None) as client:
        assert log_in(client, "") == 401


def test_the_cookie_alone_changes_nothing() -> None:
    """A server that an agent runs on another port gets the cookie of this one."""
    link = LoginLink()
    with linked(link) as client:
        log_in(client, link.token)
        cookie = client.cookies[COOKIE]
        token = client.headers.pop(CSRF_HEADER)
        for guess in (None, "", cookie, cookie.partition(".")[2]):
            given = {} if guess is None else {CSRF_HEADER: guess}
            answer = client.post("/api/self-test", headers=given)
            assert refusal(answer) == (403, "forged")
        assert "csrf" not in client.get("/page/me").json()
        assert client.post("/api/self-test", headers={CSRF_HEADER: token}).status_code == 200


def test_a_login_ends_with_logging_out_with_time_and_with_the_server() -> None:
    clock = Clock()
    link = LoginLink(clock=clock)
    with linked(link) as client:
        log_in(client, link.token)
        cookie, token = client.cookies[COOKIE], client.headers[CSRF_HEADER]
        client.post("/page/logout").raise_for_status()
        client.cookies.set(COOKIE, cookie)
        client.headers[CSRF_HEADER] = token
        assert client.get("/api/sessions").status_code == 401
        client.cookies.clear()
        log_in(client, link.token)
        assert client.get("/api/sessions").status_code == 200
        cookie, token = client.cookies[COOKIE], client.headers[CSRF_HEADER]
        clock.now += 12 * 3600
        assert client.get("/api/sessions").status_code == 401
        link.log_out(cookie)
    with linked(LoginLink()) as restarted:
        restarted.cookies.set(COOKIE, cookie)
        restarted.headers.update({**OWN, CSRF_HEADER: token})
        assert restarted.get("/api/sessions").status_code == 401


def test_the_first_key_ends_the_link_and_its_logins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.access.auth._CACHE_S", -1.0)
    store, link = MemoryStore(), LoginLink()
    with linked(link, store) as client:
        log_in(client, link.token)
        run(keyed(store, "check"))
        assert client.get("/api/sessions").status_code == 401
        assert client.get("/page/me").json()["link"] is False
        assert log_in(client, link.token) == 401


def test_a_key_counts_before_the_login() -> None:
    with served() as client:
        headers = {"x-taskshield-key": "tsk_wrong"}
        assert client.get("/api/sessions", headers=headers).status_code == 401


def test_the_token_is_in_no_answer_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    link = LoginLink()
    token = link.token
    caplog.set_level("DEBUG")
    with linked(link) as client:
        client.get(f"/?token={token}")
        answer = client.post("/page/login", json={"token": token}, headers=OWN)
        told = repr((answer.headers, answer.text, client.get("/page/me").text))
    logged = " ".join(repr(vars(record)) for record in caplog.records if "httpx" not in record.name)
    assert token not in logged and token not in told
    assert answer.headers["referrer-policy"] == "no-referrer"
