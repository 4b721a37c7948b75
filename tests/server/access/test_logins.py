"""Logins on the dashboard: the cookie, what it allows, and which requests it must not."""

from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest

from taskshield.core.store import Login
from taskshield.server.access.logins import COOKIE, CSRF_HEADER
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.dashboard.people import (
    TOKENS,
    cookie_of,
    hijacked,
    log_in,
    logged_in,
    own_page,
    refusal,
)
from tests.server.stage import OWN, keyed, served
from tests.stores.rows import AGES_AGO

ELSEWHERE: list[dict[str, str]] = [
    {},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "http://127.0.0.1:3000"},
    {"origin": "http://127.0.0.1:8787@evil.example"},
    {"origin": "http://127.0.0.1:8787", "sec-fetch-site": "cross-site"},
    {"origin": "http://127.0.0.1:8787", "sec-fetch-site": "same-site"},
    {"origin": "http://127.0.0.1:8787", "sec-fetch-site": "none"},
]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are never cached."""
    monkeypatch.setattr("taskshield.server.access.auth._CACHE_S", -1.0)


def test_the_owner_may_do_everything() -> None:
    with served() as client:
        me = client.get("/page/me").json()
    assert me["login"] == "done" and me["tenant"] == "default"
    assert me["scopes"] == ["admin", "approve", "check", "proxy"]
    assert me["judges"] == ["embedded"]


def test_without_a_login_only_the_need_for_one_is_told(store: MemoryStore) -> None:
    run(keyed(store, "check", tenant="secret tenant"))
    with served(store, owner=False) as client:
        me = client.get("/page/me").json()
    version = me.pop("version")
    assert version
    assert me == {"login": "needed", "scopes": [], "tenant": "", "judges": [], "link": False}


def test_the_cookie_counts_as_the_key(store: MemoryStore) -> None:
    with logged_in(store, "check", tenant="mine") as client:
        me = client.get("/page/me").json()
        assert (me["login"], me["scopes"], me["tenant"]) == ("done", ["check"], "mine")
        assert client.get("/api/sessions").status_code == 200
        assert refusal(client.get("/api/settings")) == (403, "forbidden")
        made = client.post("/api/sessions", json={"id": "s"}, headers=own_page(client))
        assert made.status_code == 201
    assert run(store.session("mine", "s")) is not None


def test_admins_may_do_everything(store: MemoryStore) -> None:
    with logged_in(store, "admin") as client:
        scopes = client.get("/page/me").json()["scopes"]
    assert scopes == ["admin", "approve", "check", "proxy"]


@pytest.mark.parametrize(
    ("origin", "secure"), [("http://127.0.0.1:8787", False), ("https://127.0.0.1:8787", True)]
)
def test_the_flags_of_the_cookie(store: MemoryStore, origin: str, secure: bool) -> None:
    secret = run(keyed(store, "check"))
    with served(store, owner=False) as client:
        answer = client.post("/page/login", json={"key": secret}, headers={"origin": origin})
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "strict"
    assert cookie["path"] == "/" and not cookie["domain"]
    assert int(cookie["max-age"]) == 12 * 3600
    assert bool(cookie["secure"]) is secure
    assert cookie.value not in answer.text and answer.headers["cache-control"] == "no-store"


def test_neither_the_key_nor_the_cookie_is_stored(store: MemoryStore) -> None:
    secret = run(keyed(store, "check"))
    with served(store, owner=False) as client:
        log_in(client, secret)
        cookie = cookie_of(client)
        log_in(client, secret)
        assert cookie_of(client) != cookie
    assert len(cookie) >= 43 and secret.removeprefix("tsk_") not in cookie
    kept = repr(vars(store))
    assert cookie not in kept and secret not in kept


@pytest.mark.parametrize("key", ["tsk_unknown", "", "sk-of-the-provider", "tsk_\x00\ud800"])
def test_an_invalid_key_gives_no_cookie(store: MemoryStore, key: str) -> None:
    run(keyed(store, "check"))
    with served(store, owner=False) as client:
        answer = client.post(
            "/page/login",
            content=b'{"key": "%s"}' % key.encode("unicode_escape").replace(b"\\x", b"\\u00"),
            headers={"content-type": "application/json", **OWN},
        )
    assert refusal(answer) == (401, "unauthenticated")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"key": 1}', b'"tsk_x"'])
def test_a_login_without_a_key_is_refused(store: MemoryStore, body: bytes) -> None:
    with served(store, owner=False) as client:
        answer = client.post("/page/login", content=body, headers=OWN)
    assert refusal(answer) == (400, "invalid_request")


def test_the_number_of_login_attempts_is_limited(store: MemoryStore) -> None:
    secret = run(keyed(store, "check"))
    with served(store, owner=False) as client:
        tried = [
            client.post("/page/login", json={"key": "tsk_guess"}, headers=OWN) for _ in range(31)
        ]
        last = client.post("/page/login", json={"key": secret}, headers=OWN)
    assert [answer.status_code for answer in tried] == [401] * 30 + [429]
    assert refusal(last) == (429, "rate_limited") and int(last.headers["retry-after"]) > 0


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_another_page_cannot_log_a_user_in_or_out(
    store: MemoryStore, headers: dict[str, str]
) -> None:
    secret = run(keyed(store, "check"))
    with served(store, owner=False) as client:
        answer = client.post("/page/login", json={"key": secret}, headers=headers)
        assert refusal(answer) == (403, "forged") and "set-cookie" not in answer.headers
        log_in(client, secret)
        token = {CSRF_HEADER: TOKENS[cookie_of(client)]}
        assert refusal(client.post("/page/logout", headers={**headers, **token}))[0] == 403
        assert refusal(client.post("/page/logout", headers=OWN)) == (403, "forged")
        assert client.get("/page/me").json()["login"] == "done"


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_another_page_cannot_change_anything(store: MemoryStore, headers: dict[str, str]) -> None:
    """Not even with a leaked token."""
    with logged_in(store, "admin") as client:
        token = TOKENS[cookie_of(client)]
        for asked in changing("d"):
            answer = client.request(**asked, headers={**headers, CSRF_HEADER: token})
            assert refusal(answer) == (403, "forged"), asked
    assert run(store.session("default", "new")) is None


@pytest.mark.parametrize("token", [None, "", "x" * 64, "\xff", "0" * 64])
def test_the_dashboard_needs_its_token(store: MemoryStore, token: str | None) -> None:
    given = {} if token is None else {CSRF_HEADER: token.encode("latin-1")}
    with logged_in(store, "admin") as client:
        for asked in changing("d"):
            headers: Any = {**OWN, **given}
            assert refusal(client.request(**asked, headers=headers)) == (403, "forged"), asked


def test_the_token_of_another_login_is_refused(store: MemoryStore) -> None:
    secret = run(keyed(store, "check"))
    with served(store, owner=False) as client:
        log_in(client, secret)
        old = own_page(client)
        log_in(client, secret)
        answer = client.post("/api/sessions", json={}, headers=old)
        assert refusal(answer) == (403, "forged")
        assert client.post("/api/sessions", json={}, headers=own_page(client)).status_code == 201


def test_an_older_browser_is_checked_by_its_origin(store: MemoryStore) -> None:
    with logged_in(store) as client:
        headers = {**own_page(client)}
        del headers["sec-fetch-site"]
        assert client.post("/api/sessions", json={}, headers=headers).status_code == 201


def test_a_key_in_a_header_needs_no_token(store: MemoryStore) -> None:
    with logged_in(store) as client:
        secret = run(keyed(store, "check", tenant="other"))
        answer = client.post("/api/sessions", json={}, headers={"x-taskshield-key": secret})
        assert answer.status_code == 201
        assert client.get("/api/sessions").json()["items"] == []


def test_the_cookie_is_not_accepted_on_other_surfaces(store: MemoryStore) -> None:
    with logged_in(store, "admin") as client:
        headers = own_page(client)
        path = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview"
        for url in (path, "/v1/chat/completions", "/agent:evaluate"):
            assert client.post(url, json={}, headers=headers).status_code in (401, 404), url
        assert client.post(path, json={}, headers=headers).status_code == 401


@pytest.mark.usefixtures("at_once")
def test_a_revoked_key_ends_the_login(store: MemoryStore) -> None:
    with logged_in(store) as client:
        headers = own_page(client)
        (key,) = run(store.keys())
        run(store.revoke_key(key.id))
        assert refusal(client.get("/api/sessions")) == (401, "unauthenticated")
        assert refusal(client.post("/api/sessions", json={}, headers=headers))[0] == 401
        assert client.get("/page/me").json()["login"] == "needed"


@pytest.mark.usefixtures("at_once")
def test_an_expired_key_ends_the_login(store: MemoryStore) -> None:
    secret = run(keyed(store, "check", lifetime=timedelta(hours=1)))
    with served(store, owner=False) as client:
        log_in(client, secret)
        (key,) = run(store.keys())
        store._keys[key.id] = type(key)(
            **{name: getattr(key, name) for name in key.__slots__} | {"expires_at": AGES_AGO}
        )
        assert client.get("/page/me").json()["login"] == "needed"


def test_a_login_expires(store: MemoryStore) -> None:
    with logged_in(store) as client:
        ((place, login),) = store._logins._rows.items()
        over = Login(id=login.id, key=login.key, created_at=AGES_AGO, expires_at=AGES_AGO)
        store._logins._rows[place] = over
        assert refusal(client.get("/api/sessions")) == (401, "unauthenticated")


def test_logging_out_ends_the_login_for_every_copy_of_the_cookie(store: MemoryStore) -> None:
    with logged_in(store) as client:
        cookie = cookie_of(client)
        answer = client.post("/page/logout", headers=own_page(client))
        assert answer.status_code == 204
        (cleared,) = SimpleCookie(answer.headers["set-cookie"]).values()
        assert cleared.value == "" and int(cleared["max-age"]) == 0
        client.cookies.clear()
        client.cookies.set(COOKIE, cookie)
        assert refusal(client.get("/api/sessions")) == (401, "unauthenticated")
        assert client.post("/page/logout", headers=OWN).status_code == 204  # there is nothing left


def test_a_login_is_valid_at_all_replicas(store: MemoryStore) -> None:
    with logged_in(store) as client, served(store, owner=False) as other:
        other.cookies.set(COOKIE, cookie_of(client))
        assert other.get("/page/me").json()["login"] == "done"


@pytest.mark.parametrize("cookie", ["", "nonsense", "x" * 10_000, "\xff"])
def test_any_other_cookie_is_ignored(store: MemoryStore, cookie: str) -> None:
    run(keyed(store, "check"))
    with served(store, owner=False) as client:
        given: Any = {"cookie": f"{COOKIE}={cookie}".encode("latin-1")}
        assert refusal(client.get("/api/sessions", headers=given)) == (401, "unauthenticated")
    with served(owner=False) as client:
        answer = client.post("/api/sessions", json={}, headers=given)
        assert answer.status_code == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_without_keys_other_pages_on_this_machine_are_refused(site: str) -> None:
    with served() as client:
        asked = client.get("/api/sessions", headers={"sec-fetch-site": site})
        assert refusal(asked) == (401, "unauthenticated")
        for fine in ("same-origin", "none"):
            headers = {"sec-fetch-site": fine}
            assert client.get("/api/sessions", headers=headers).status_code == 200


def test_responses_of_the_api_are_not_cached_by_the_browser(store: MemoryStore) -> None:
    with logged_in(store) as client:
        hijacked(client, headers=own_page(client))
        for path in ("/api/sessions", "/api/sessions/s/timeline", "/page/me"):
            assert client.get(path).headers["cache-control"] == "no-store"


def changing(decision: str) -> list[dict[str, Any]]:
    """Requests that change something, or cost something."""
    return [
        {"method": "POST", "url": "/api/sessions", "json": {"id": "new"}},
        {"method": "POST", "url": "/api/approvals/a/approve"},
        {"method": "POST", "url": "/api/approvals/a/deny"},
        {"method": "PUT", "url": f"/api/decisions/{decision}/label", "json": {"label": "wrong"}},
        {"method": "DELETE", "url": f"/api/decisions/{decision}/label"},
        {"method": "POST", "url": "/api/playground", "json": {"conversation": {}}},
        {"method": "POST", "url": "/api/self-test"},
    ]
