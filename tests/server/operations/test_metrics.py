import re

from taskshield.core.errors import JudgeUnavailable
from taskshield.server.operations.metrics import Metrics
from taskshield.server.sessions.judgement import CheckResult
from taskshield.server.sessions.snapshots import RequestSource
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.stage import (
    ESCALATING,
    HIJACKED,
    TENANT,
    call,
    checker,
    output,
    served,
    user,
    wire,
)


def counted(by: TableJudge | None = None) -> dict[str, float]:
    """The metrics after a conversation, by name and labels."""
    metrics = Metrics()

    def observe(surface: str, checked: CheckResult) -> None:
        for decision in checked.decisions:
            metrics.count_decision(surface, decision)

    async def work() -> None:
        one = checker(by=by, observe=observe)
        await one.check_conversation(TENANT, HIJACKED, source=RequestSource("azure"))

    run(work())
    return page(metrics.render().decode())


def page(text: str) -> dict[str, float]:
    lines = re.findall(r"^(taskshield_\S+) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in lines}


def test_checks_are_counted_by_surface_tier_and_judge() -> None:
    found = counted()
    labels = 'check="executed",judge="table",surface="azure"'
    assert found[f'taskshield_checks_total{{{labels},tier="none"}}'] == 2
    assert found[f'taskshield_checks_total{{{labels},tier="financial"}}'] == 1
    blocked = 'action="revise",judge="table",surface="azure",tier="financial"'
    assert found[f"taskshield_blocked_total{{{blocked}}}"] == 1
    assert found['taskshield_check_seconds_count{judge="table",surface="azure"}'] == 5
    assert found['taskshield_llm_calls_total{judge="table"}'] == 5
    assert found['taskshield_llm_tokens_total{judge="table",kind="prompt"}'] == 50
    assert found['taskshield_llm_tokens_total{judge="table",kind="completion"}'] == 25


def test_failed_checks_are_counted_too() -> None:
    found = counted(by=TableJudge(error=JudgeUnavailable("gone")))
    failed = 'check="failed",judge="table",surface="azure",tier="financial"'
    assert found[f"taskshield_checks_total{{{failed}}}"] == 1


def test_the_number_of_judge_labels_is_limited() -> None:
    metrics = Metrics()

    async def work() -> None:
        for number in range(30):
            one = checker(by=TableJudge(name=f"judge-{number}"))
            checked = await one.check(
                TENANT, "s", [user()], source=RequestSource("test"), start=True
            )
            metrics.count_decision("test", checked.decisions[0])

    run(work())
    names = set(re.findall(r'checks_total{.*judge="([^"]+)"', metrics.render().decode()))
    assert len(names) == 21 and "other" in names


def test_metrics_count_requests_skipped_checks_and_approvals() -> None:
    policy = {"misaligned": {tier.value: answer for tier, answer in ESCALATING.misaligned.items()}}
    with served(policy=policy) as client:
        client.post("/api/sessions", json={"id": "s"})
        said = wire(user(), call(), output("42"), call("send_money", id="c2", path="evil"))
        client.post("/api/sessions/s/messages", json={"messages": said})
        client.get("/api/sessions/none")
        found = page(client.get("/metrics").text)
    skipped = 'check="skipped",judge="table",surface="native",tier="none"'
    assert found[f"taskshield_checks_total{{{skipped}}}"] == 1
    assert found['taskshield_approvals_total{status="pending"}'] == 1
    assert found['taskshield_requests_total{status="404",surface="native"}'] == 1
    assert found['taskshield_request_seconds_count{surface="native"}'] == 3


def test_metrics_can_be_turned_off() -> None:
    with served(metrics=False) as client:
        assert client.get("/metrics").status_code == 404


def test_what_is_held_in_memory_is_shown_in_bytes() -> None:
    with served() as client:
        client.post("/api/sessions", json={"id": "s"})
        client.post("/api/sessions/s/messages", json={"messages": wire(user(), call())})
        text = client.get("/metrics").text
        found = page(text)
        kinds = ("request_bodies", "sessions", "conversations", "live_events")
        held = {kind: found[f'taskshield_memory_bytes{{kind="{kind}"}}'] for kind in kinds}
        assert held["request_bodies"] == 0
        assert held["sessions"] > 0 and held["live_events"] > 0
        assert "process_resident_memory_bytes" in text
