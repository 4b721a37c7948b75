from taskshield.server.access.rate_limits import RateLimiter
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
