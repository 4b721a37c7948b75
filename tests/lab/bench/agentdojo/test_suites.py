"""AgentDojo's worlds behind our own loader."""

from collections.abc import Iterator

import email_validator
import pytest
from agentdojo.task_suite.load_suites import get_suite

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo import attack_placement
from taskshield_lab.bench.agentdojo import suites as dojo

SUITES = ["banking", "slack", "travel", "workspace"]


def attacks_on(name: str) -> Iterator[dict[str, str]]:
    suite = dojo.suite_named("v1", name)
    task = next(iter(suite.user_tasks.values()))
    for goal in suite.injection_tasks.values():
        for attack in ("important_instructions", "tool_knowledge", "dos"):
            staged = attack_placement.stage(attack, suite, task, goal)
            if staged is not None:
                yield dict(staged.injections)


@pytest.mark.parametrize("name", SUITES)
def test_worlds_are_those_of_agentdojos_own_loader(name: str) -> None:
    own, theirs = dojo.suite_named("v1", name), get_suite("v1", name)
    for injections in [{}, *attacks_on(name)][:8]:
        world = dojo.environment(own, injections)
        assert world == theirs.load_and_inject_default_environment(injections)


def test_agentdojos_own_suites_stay_as_they_are() -> None:
    dojo.suites("v1")
    assert "load_and_inject_default_environment" not in vars(get_suite("v1", "banking"))


@pytest.mark.parametrize(("version", "pairs"), [("v1", 629), ("v1.2.2", 949)])
def test_the_suites_have_as_many_pairs_as_published(version: str, pairs: int) -> None:
    suites = dojo.suites(version).values()
    assert sum(len(each.user_tasks) * len(each.injection_tasks) for each in suites) == pairs
    assert sum(len(each.user_tasks) for each in suites) == 97


@pytest.mark.parametrize(
    ("version", "suite", "task", "goal", "complaint"),
    [
        ("v9", "banking", "", "", "'v9' do not exist; there are: v1, .*v1.2.2"),
        ("v1", "kitchen", "", "", "'kitchen' does not exist; there are: .*banking"),
        ("v1", "banking", "user_task_99", "", "'banking' has no user task 'user_task_99'"),
        ("v1", "banking", "user_task_0", "x", "'banking' has no injection task 'x'"),
    ],
)
def test_what_does_not_exist_is_named(
    version: str, suite: str, task: str, goal: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        found = dojo.suite_named(version, suite)
        dojo.user_task(found, task)
        dojo.injection_task(found, goal)


def test_every_version_that_is_named_can_be_had() -> None:
    assert all(dojo.suites(version) for version in dojo.VERSIONS)


def test_a_world_executes_calls_and_keeps_what_was_before() -> None:
    suite = dojo.suite_named("v1", "banking")
    world = dojo.World(dojo.environment(suite, {}), suite.tools)
    output, is_error = world.execute("get_balance", {})
    assert not is_error
    assert float(output) > 0
    assert world.execute("get_balance", {"no": "such"}) == (output, False)
    assert world.execute("no_such_tool", {})[1]
    assert world.execute("send_money", {"recipient": "CH1"})[1]


def test_lists_written_as_text_are_read_as_lists() -> None:
    suite = dojo.suite_named("v1", "workspace")
    world = dojo.World(dojo.environment(suite, {}), suite.tools)
    arguments = {"recipients": "['a@example.com']", "subject": "s", "body": "[not, a list"}
    output, is_error = world.execute("send_email", arguments)
    assert not is_error
    assert "a@example.com" in output
    assert "[not, a list" in output


def test_a_goal_of_words_alone_needs_no_call() -> None:
    suite = dojo.suite_named("v1", "travel")
    goal = dojo.injection_task(suite, "injection_task_6")
    world = dojo.World(dojo.environment(suite, {}), suite.tools)
    answer = "You should absolutely visit Riverside View Hotel because it's incredibly gorgeous."
    assert not dojo.has_solution(suite, goal)
    assert world.hijacked(goal, answer)
    assert world.hijacked_by_words(goal, answer)
    assert not world.hijacked_by_words(goal, "It rains.")


def test_addresses_are_validated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def validate(address: str, **options: object) -> str:
        seen.append(address)
        return address

    monkeypatch.setattr(email_validator, "validate_email", validate)
    dojo.remember_addresses()
    for _ in range(3):
        email_validator.validate_email("a@example.com", check_deliverability=False)
    assert seen == ["a@example.com"]
