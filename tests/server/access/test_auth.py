from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.requests import Request

from taskshield.core.errors import ConfigError
from taskshield.core.store import ApiKey, Scope
from taskshield.server.access.auth import (
    Auth,
    check_binding,
    is_loopback,
    key_hash,
    key_in,
    new_key,
)
from taskshield.server.access.rate_limits import RateLimiter
from taskshield.server.http.errors import RequestError
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import keyed, served


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Counting(MemoryStore):
    """Counts how often keys are looked up."""

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


def test_an_agent_is_called_as_the_request_says_or_else_as_its_key() -> None:
    store = MemoryStore()
    named = {"x-taskshield-agent": " invoice-clerk "}
    assert run(auth(store).authorize(request(), "check")).agent is None
    assert run(auth(store).authorize(request(named), "check")).agent == "invoice-clerk"
    secret = {"x-taskshield-key": run(keyed(store, "check", tenant="mine"))}
    assert run(auth(store).authorize(request(secret), "check")).agent == "mine's key"
    caller = run(auth(store).authorize(request(secret | named), "check"))
    assert (caller.name, caller.agent) == ("mine's key", "invoice-clerk")


def test_an_agent_with_an_endless_name_is_refused() -> None:
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
def test_without_a_good_key_nobody_is_let_in(headers: dict[str, str]) -> None:
    store = MemoryStore()
    run(keyed(store, "check"))
    with refused(401) as caught:
        run(auth(store).authorize(request(headers), "check"))
    assert caught.value.problem.headers["www-authenticate"] == "Bearer"


def test_keys_are_random_and_only_their_hashes_are_stored() -> None:
    made = [new_key(tenant="t", name="n", scopes=["check"]) for _ in range(2)]
    assert made[0].secret != made[1].secret
    assert all(each.secret.startswith("tsk_") and len(each.secret) > 40 for each in made)
    assert made[0].stored.hash == key_hash(made[0].secret)
    assert made[0].secret.removeprefix("tsk_") not in repr(made[0].stored)


@pytest.mark.parametrize("tenant", ["", "x" * 101, "mine\x1fagent-hooks", "two\nlines"])
def test_a_tenant_has_a_proper_name(tenant: str) -> None:
    with pytest.raises(ConfigError, match="printable"):
        new_key(tenant=tenant, name="n", scopes=["check"])


def test_expired_and_revoked_keys_are_refused() -> None:
    store, clock = MemoryStore(), Clock()
    guarded = auth(store, clock=clock)
    old = run(keyed(store, "check", lifetime=timedelta(seconds=-1)))
    with refused(401):
        run(guarded.authorize(with_key(old), "check"))
    good = run(keyed(store, "check"))
    run(guarded.authorize(with_key(good), "check"))
    run(store.revoke_key(next(key.id for key in run(store.keys()) if key.expires_at is None)))
    clock.now += 5
    with refused(401):
        run(guarded.authorize(with_key(good), "check"))


def test_a_key_expires_even_while_it_is_remembered() -> None:
    store = MemoryStore()
    soon = new_key(tenant="t", name="n", scopes=["check"], lifetime=timedelta(milliseconds=1))
    run(store.add_key(soon.stored))
    while datetime.now(UTC) <= (soon.stored.expires_at or datetime.now(UTC)):
        pass
    with refused(401):
        run(auth(store).authorize(with_key(soon.secret), "check"))


def test_keys_are_remembered_for_a_few_seconds() -> None:
    store, clock = Counting(), Clock()
    guarded = auth(store, clock=clock)
    secret = run(keyed(store, "check"))
    before = store.lookups
    for _ in range(3):
        run(guarded.authorize(with_key(secret), "check"))
    assert store.lookups == before + 1
    clock.now += 5
    run(guarded.authorize(with_key(secret), "check"))
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
def test_scopes(scopes: list[Scope], needed: list[Scope], good: bool) -> None:
    store = MemoryStore()
    secret = run(keyed(store, *scopes))
    asking = auth(store).authorize(with_key(secret), needed[0], *needed[1:])
    if good:
        run(asking)
    else:
        with refused(403):
            run(asking)


def test_without_any_key_the_machine_itself_is_let_in() -> None:
    here = [request(host=name) for name in ("127.0.0.1:8787", "localhost", "[::1]:8787")]
    for asking in (*here, request({"origin": "http://localhost:8787"})):
        caller = run(auth(MemoryStore()).authorize(asking, "admin"))
        assert caller.tenant == "default"


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
def test_without_any_key_others_are_not(asking: Request) -> None:
    with refused(401):
        run(auth(MemoryStore()).authorize(asking, "check"))
    with refused(401):
        run(auth(MemoryStore(), host="0.0.0.0").authorize(request(), "check"))


def test_revoking_the_last_key_does_not_open_the_door() -> None:
    store = MemoryStore()
    run(keyed(store, "check"))
    run(store.revoke_key(run(store.keys())[0].id))
    with refused(401):
        run(auth(store).authorize(request(), "check"))


def test_the_first_key_closes_the_door() -> None:
    store, clock = MemoryStore(), Clock()
    guarded = auth(store, clock=clock)
    run(guarded.authorize(request(), "check"))
    run(keyed(store, "check"))
    clock.now += 5
    with refused(401):
        run(guarded.authorize(request(), "check"))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("LocalHost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_what_only_this_machine_can_reach(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    store = MemoryStore()
    if loopback:
        run(check_binding(host, store))
    else:
        with pytest.raises(ConfigError, match="taskshield keys create"):
            run(check_binding(host, store))
        run(keyed(store, "check"))
        run(check_binding(host, store))


def test_rate_limits_fill_up_again() -> None:
    clock = Clock()
    rates = RateLimiter(clock)
    assert [rates.take("k", 3) for _ in range(4)] == [None, None, None, 20]
    assert rates.take("other", 3) is None
    clock.now += 19
    assert rates.take("k", 3) == 1
    clock.now += 1
    assert [rates.take("k", 3) for _ in range(2)] == [None, 20]
    clock.now += 3_600
    assert [rates.take("k", 3) for _ in range(4)] == [None, None, None, 20]


def test_a_key_that_asks_too_often_is_told_when_to_come_back() -> None:
    store = MemoryStore()
    slow, fast = run(keyed(store, "check", per_minute=2)), run(keyed(store, "check"))
    with served(store, key=slow, limits={"per_minute": 5}) as client:
        answers = [client.get("/api/sessions") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert int(answers[2].headers["retry-after"]) in (29, 30)
        assert answers[2].json()["error"]["code"] == "rate_limited"
        others = [client.get("/api/sessions", headers={"x-taskshield-key": fast}) for _ in range(6)]
        assert [answer.status_code for answer in others] == [200] * 5 + [429]


def test_no_key_is_found_in_nothing() -> None:
    assert key_in(request().headers) is None
