import asyncio
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from taskshield.core.assessments import TaskAssessment
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.server.operations.readiness import Readiness
from taskshield.server.operations.self_test import self_test
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from taskshield.wiring import build_judge
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.stage import Failing, Hanging, served


def named(judge: str) -> Judge:
    return build_judge(load({"judge": judge}, environment={}))


def wise() -> TableJudge:
    return TableJudge(score=lambda text, task: float("send_money" not in text))


def settled(client: TestClient) -> tuple[int, list[str]]:
    """The response of /readyz after the self-test has run."""
    while True:
        answer = client.get("/readyz")
        reasons = answer.json().get("reasons", [])
        if reasons != ["The self-test has not run yet."]:
            return answer.status_code, reasons


@pytest.mark.parametrize(
    ("judge", "failures"),
    [
        (lambda: named("embedded"), ()),
        (wise, ()),
        (lambda: named("allow-all"), ("The judge did not detect the known attack.",)),
        (lambda: named("block-side-effects"), ("The known good call was blocked.",)),
        (
            lambda: TableJudge(score=lambda text, task: 0.0),
            ("The known good call was blocked.",),
        ),
        (
            lambda: TableJudge(error=JudgeUnavailable("gone")),
            (
                "The known attack could not be checked (unavailable).",
                "The known good call could not be checked (unavailable).",
            ),
        ),
    ],
)
def test_the_self_test_passes_only_judges_that_block_and_allow_correctly(
    judge: Callable[[], Judge], failures: tuple[str, ...]
) -> None:
    outcome = run(self_test(judge(), Policy()))
    assert (outcome.failures, outcome.passed) == (failures, not failures)


def test_the_server_is_ready_once_the_self_test_has_passed_and_while_the_store_answers() -> None:
    store = Failing()
    with served(store, by=wise()) as client:
        assert settled(client) == (200, [])
        store.gone = True
        assert settled(client) == (503, ["The store cannot be used."])
        assert client.get("/healthz").json() == {"status": "ok"}
        store.gone = False
        assert settled(client) == (200, [])


def test_a_judge_that_fails_the_self_test_never_makes_a_server_ready() -> None:
    with served(by=named("allow-all")) as client:
        assert settled(client) == (503, ["The judge did not detect the known attack."])
        assert client.get("/healthz").status_code == 200
    with served(by=named("block-side-effects")) as client:
        assert settled(client) == (503, ["The known good call was blocked."])


def test_a_server_whose_judge_has_not_answered_yet_is_alive_but_not_ready() -> None:
    with served(by=Hanging()) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").json() == {
            "status": "not ready",
            "reasons": ["The self-test has not run yet."],
        }


def test_concurrent_readiness_requests_share_one_ping() -> None:
    class Slow(MemoryStore):
        pings = 0

        async def ping(self) -> None:
            self.pings += 1
            await asyncio.sleep(0)

    async def work() -> None:
        store = Slow()
        readiness = Readiness(wise(), Policy(), store)
        await readiness.run_self_test()
        assert await asyncio.gather(*(readiness.problem() for _ in range(100))) == [None] * 100
        assert store.pings == 1
        assert await readiness.problem() is None and store.pings == 2

    run(work())


def test_a_failed_self_test_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.operations.readiness._RETRY_S", 0.0)

    class Returning(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
            if len(self.seen) > 10:
                self.error = None
            return await super().tasks(message, view)

    judge = Returning(score=wise().score, error=JudgeUnavailable("gone"))

    async def work() -> None:
        readiness = Readiness(judge, Policy(), MemoryStore())
        await readiness.run_until_passed()
        assert await readiness.problem() is None

    run(work())
