import pytest

from taskshield.server.access.rate_limits import RateLimiter, sender
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.access.clock import Clock
from tests.server.stage import keyed, served


def test_rate_limits_refill() -> None:
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


def test_a_key_with_too_many_requests_gets_a_retry_after() -> None:
    store = MemoryStore()
    slow, fast = run(keyed(store, "check", per_minute=2)), run(keyed(store, "check"))
    with served(store, key=slow, limits={"per_minute": 5}) as client:
        answers = [client.get("/api/sessions") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert int(answers[2].headers["retry-after"]) in (29, 30)
        assert answers[2].json()["error"]["code"] == "rate_limited"
        others = [client.get("/api/sessions", headers={"x-taskshield-key": fast}) for _ in range(6)]
        assert [answer.status_code for answer in others] == [200] * 5 + [429]


def test_requests_beyond_the_limit_are_refused_before_their_body_is_read() -> None:
    store = MemoryStore()
    with served(store, key=run(keyed(store, "check", per_minute=1))) as client:
        bad = {"content": b"{", "headers": {"content-type": "application/json"}}
        path = "/api/sessions"
        answers = [client.post(path, **bad).status_code for _ in range(2)]  # type: ignore[arg-type]
    assert answers == [400, 429]


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("a socket", "a socket"),
    ],
)
def test_who_counts_as_one_sender(host: str, counted: str) -> None:
    assert sender(host) == counted
