from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.requests import Request

from taskshield.core.store import ApiKey, Scope
from taskshield.server.access.api_keys import new_key
from taskshield.server.access.auth import Auth
from taskshield.server.http.errors import RequestError
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.access.clock import Clock
from tests.server.stage import keyed


class Counting(MemoryStore):
    """A store that counts reads of keys."""

    lookups = 0

    async def key(self, hash: str) -> ApiKey | None:
        self.lookups += 1
        return await super().key(hash)


def request(
    headers: Mapping[str, str] | None = None,
    *,
    client: str = "127.0.0.1",
    host: str = "127.0.0.1:8787",
) -> Request:
    given = {"host": host, **({} if headers is None else headers)}
    return Request(
        {
            "type": "http",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": (client, 1),
            "scheme": "http",
            "path": "/",
            "query_string": b"",
        }
    )


def auth(store: MemoryStore, *, host: str = "127.0.0.1", **more: Any) -> Auth:
    return Auth(store, host=host, **{"per_minute": None, **more})


def refused(status: int) -> Any:
    return pytest.raises(RequestError, check=lambda error: error.problem.status == status)


def with_key(secret: str) -> Request:
    return request({"x-taskshield-key": secret})


@pytest.mark.parametrize(
    "headers",
    [
        {"x-taskshield-key": "KEY"},
        {"ocp-apim-subscription-key": "KEY"},
        {"x-api-key": "KEY"},
        {"authorization": "Bearer KEY"},
        {"authorization": "bearer   KEY "},
        {"authorization": "Bearer sk-of-the-provider", "x-taskshield-key": "KEY"},
        {"x-api-key": "sk-ant-of-the-provider", "authorization": "Bearer KEY"},
    ],
)
def test_a_key_is_found_in_any_of_its_headers(headers: dict[str, str]) -> None:
    store = MemoryStore()
    secret = run(keyed(store, "check", tenant="mine"))
    given = {name: value.replace("KEY", secret) for name, value in headers.items()}
    caller = run(auth(store).authorize(request(given), "check"))
    assert (caller.tenant, caller.name) == ("mine", "mine's key")


def test_the_agent_is_named_by_the_request_or_else_by_its_key() -> None:
    store = MemoryStore()
    named = {"x-taskshield-agent": " invoice-clerk "}
    assert run(auth(store).authorize(request(), "check", local=True)).agent is None
    assert run(auth(store).authorize(request(named), "check", local=True)).agent == "invoice-clerk"
    secret = {"x-taskshield-key": run(keyed(store, "check", tenant="mine"))}
    assert run(auth(store).authorize(request(secret), "check")).agent == "mine's key"
    caller = run(auth(store).authorize(request(secret | named), "check"))
    assert (caller.name, caller.agent) == ("mine's key", "invoice-clerk")


def test_an_agent_name_that_is_too_long_is_refused() -> None:
    with refused(400):
        run(auth(MemoryStore()).authorize(request({"x-taskshield-agent": "x" * 129}), "check"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer sk-of-the-provider"},
        {"authorization": "Basic tsk_x"},
        {"x-api-key": "tsk_unknown"},
        {"x-taskshield-key": "tsk_\xff"},
    ],
)
def test_a_request_without_a_valid_key_is_refused(headers: dict[str, str]) -> None:
    store = MemoryStore()
    run(keyed(store, "check"))
    with refused(401) as caught:
        run(auth(store).authorize(request(headers), "check"))
    assert caught.value.problem.headers["www-authenticate"] == "Bearer"


def test_expired_and_revoked_keys_are_refused() -> None:
    store, clock = MemoryStore(), Clock()
    authority = auth(store, clock=clock)
    old = run(keyed(store, "check", lifetime=timedelta(seconds=-1)))
    with refused(401):
        run(authority.authorize(with_key(old), "check"))
    good = run(keyed(store, "check"))
    run(authority.authorize(with_key(good), "check"))
    run(store.revoke_key(next(key.id for key in run(store.keys()) if key.expires_at is None)))
    clock.now += 5
    with refused(401):
        run(authority.authorize(with_key(good), "check"))


def test_a_key_expires_even_while_it_is_cached() -> None:
    store = MemoryStore()
    soon = new_key(tenant="t", name="n", scopes=["check"], lifetime=timedelta(milliseconds=1))
    run(store.add_key(soon.stored))
    while datetime.now(UTC) <= (soon.stored.expires_at or datetime.now(UTC)):
        pass
    with refused(401):
        run(auth(store).authorize(with_key(soon.secret), "check"))


def test_keys_are_cached_for_a_few_seconds() -> None:
    store, clock = Counting(), Clock()
    authority = auth(store, clock=clock)
    secret = run(keyed(store, "check"))
    before = store.lookups
    for _ in range(3):
        run(authority.authorize(with_key(secret), "check"))
    assert store.lookups == before + 1
    clock.now += 5
    run(authority.authorize(with_key(secret), "check"))
    assert store.lookups == before + 2


@pytest.mark.parametrize(
    ("scopes", "needed", "good"),
    [
        (["check"], ["check"], True),
        (["check"], ["approve"], False),
        (["check"], ["check", "approve"], True),
        (["approve"], ["check", "approve"], True),
        (["proxy"], ["check"], False),
        (["admin"], ["check"], True),
        (["check", "proxy", "approve"], ["admin"], False),
        ([], ["check"], False),
    ],
)
def test_a_key_needs_one_of_the_scopes(
    scopes: list[Scope], needed: list[Scope], good: bool
) -> None:
    store = MemoryStore()
    secret = run(keyed(store, *scopes))
    asking = auth(store).authorize(with_key(secret), needed[0], *needed[1:])
    if good:
        run(asking)
    else:
        with refused(403):
            run(asking)


def test_without_any_key_requests_of_this_machine_are_accepted() -> None:
    here = [request(host=name) for name in ("127.0.0.1:8787", "localhost", "[::1]:8787")]
    for asking in (*here, request({"origin": "http://localhost:8787"})):
        caller = run(auth(MemoryStore()).authorize(asking, "check", local=True))
        assert caller.tenant == "default"


@pytest.mark.parametrize("scope", ["check", "approve", "admin"])
def test_without_any_key_a_program_may_only_do_what_agents_need(scope: Scope) -> None:
    with refused(401) as caught:
        run(auth(MemoryStore()).authorize(request(), scope))
    assert "login or an API key" in caught.value.problem.message


def test_an_address_with_too_many_wrong_keys_is_not_looked_up() -> None:
    store, clock = Counting(), Clock()
    authority = auth(store, clock=clock)
    good, unseen = with_key(run(keyed(store, "check"))), with_key(run(keyed(store, "check")))
    run(authority.authorize(good, "check"))
    before = store.lookups
    for number in range(61):
        with refused(401 if number < 60 else 429) as caught:
            run(authority.authorize(with_key(f"tsk_{number}"), "check"))
    assert int(caught.value.problem.headers["retry-after"]) > 0
    assert store.lookups == before + 60
    with refused(429):
        run(authority.authorize(unseen, "check"))
    run(authority.authorize(with_key(good.headers["x-taskshield-key"]), "check"))  # known already
    elsewhere = request(dict(unseen.headers), client="127.0.0.2")
    run(authority.authorize(elsewhere, "check"))
    clock.now += 60
    run(authority.authorize(with_key(unseen.headers["x-taskshield-key"]), "check"))


def test_a_request_counts_once() -> None:
    store = MemoryStore()
    secret = run(keyed(store, "check", per_minute=2))
    authority = auth(store)
    for _ in range(2):
        asking = with_key(secret)
        run(authority.admit(asking))
        run(authority.authorize(asking, "check"))
    with refused(429):
        run(authority.admit(with_key(secret)))


@pytest.mark.parametrize(
    "asking",
    [
        request(client="192.0.2.7"),
        request(host="evil.example:8787"),
        request({"origin": "https://evil.example"}),
        request({"origin": "null"}),
        request({"origin": "http://["}),
        request({"origin": "http://127.0.0.1@evil.example"}),
        request(host="[::1"),
        request(host="evil.example:80@127.0.0.1"),
        request(host="not a name"),
        request(host=""),
        request({"x-forwarded-for": "127.0.0.1"}),
        request({"via": "1.1 balancer"}),
        request({"x-taskshield-key": "tsk_wrong"}),
    ],
)
def test_without_any_key_other_requests_are_refused(asking: Request) -> None:
    with refused(401):
        run(auth(MemoryStore()).authorize(asking, "check", local=True))
    with refused(401):
        run(auth(MemoryStore(), host="0.0.0.0").authorize(request(), "check", local=True))


def test_after_the_last_key_is_revoked_a_key_is_still_needed() -> None:
    store = MemoryStore()
    run(keyed(store, "check"))
    run(store.revoke_key(run(store.keys())[0].id))
    with refused(401):
        run(auth(store).authorize(request(), "check", local=True))


def test_from_the_first_key_on_a_key_is_needed() -> None:
    store, clock = MemoryStore(), Clock()
    authority = auth(store, clock=clock)
    run(authority.authorize(request(), "check", local=True))
    run(keyed(store, "check"))
    clock.now += 5
    with refused(401):
        run(authority.authorize(request(), "check", local=True))
