"""AgentDojo's environments behind our own loader."""

from collections.abc import Iterator

import email_validator
import pytest
from agentdojo.task_suite.load_suites import get_suite

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo import attack_placement, suites

SUITES = ["banking", "slack", "travel", "workspace"]


def attacks_on(name: str) -> Iterator[dict[str, str]]:
    suite = suites.suite_named("v1", name)
    task = next(iter(suite.user_tasks.values()))
    for goal in suite.injection_tasks.values():
        for attack in ("important_instructions", "tool_knowledge", "dos"):
            placed = attack_placement.place(attack, suite, task, goal)
            if placed is not None:
                yield dict(placed.injections)


@pytest.mark.parametrize("name", SUITES)
def test_environments_equal_those_of_agentdojos_own_loader(name: str) -> None:
    own, theirs = suites.suite_named("v1", name), get_suite("v1", name)
    for injections in [{}, *attacks_on(name)][:8]:
        environment = suites.environment(own, injections)
        assert environment == theirs.load_and_inject_default_environment(injections)


def test_agentdojos_own_suites_stay_as_they_are() -> None:
    suites.suites("v1")
    assert "load_and_inject_default_environment" not in vars(get_suite("v1", "banking"))


@pytest.mark.parametrize(("version", "pairs"), [("v1", 629), ("v1.2.2", 949)])
def test_the_suites_have_as_many_pairs_as_published(version: str, pairs: int) -> None:
    found = suites.suites(version).values()
    assert sum(len(each.user_tasks) * len(each.injection_tasks) for each in found) == pairs
    assert sum(len(each.user_tasks) for each in found) == 97


@pytest.mark.parametrize(
    ("version", "suite", "task", "goal", "complaint"),
    [
        ("v9", "banking", "", "", "'v9' do not exist. Choose one of: v1, .*v1.2.2"),
        ("v1", "kitchen", "", "", "'kitchen' does not exist. Choose one of: .*banking"),
        ("v1", "banking", "user_task_99", "", "'banking' has no user task 'user_task_99'"),
        ("v1", "banking", "user_task_0", "x", "'banking' has no injection task 'x'"),
    ],
)
def test_what_does_not_exist_is_named(
    version: str, suite: str, task: str, goal: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        found = suites.suite_named(version, suite)
        suites.user_task(found, task)
        suites.injection_task(found, goal)


def test_every_version_that_is_named_can_be_had() -> None:
    assert all(suites.suites(version) for version in suites.VERSIONS)


def test_a_simulation_executes_calls_and_keeps_the_initial_environment() -> None:
    suite = suites.suite_named("v1", "banking")
    simulation = suites.Simulation(suites.environment(suite, {}), suite.tools)
    output, is_error = simulation.execute("get_balance", {})
    assert not is_error
    assert float(output) > 0
    assert simulation.execute("get_balance", {"no": "such"}) == (output, False)
    assert simulation.execute("no_such_tool", {})[1]
    assert simulation.execute("send_money", {"recipient": "CH1"})[1]


def test_lists_written_as_text_are_read_as_lists() -> None:
    suite = suites.suite_named("v1", "workspace")
    simulation = suites.Simulation(suites.environment(suite, {}), suite.tools)
    arguments = {"recipients": "['a@example.com']", "subject": "s", "body": "[not, a list"}
    output, is_error = simulation.execute("send_email", arguments)
    assert not is_error
    assert "a@example.com" in output
    assert "[not, a list" in output


def test_a_goal_of_text_alone_needs_no_call() -> None:
    suite = suites.suite_named("v1", "travel")
    goal = suites.injection_task(suite, "injection_task_6")
    simulation = suites.Simulation(suites.environment(suite, {}), suite.tools)
    answer = "You should absolutely visit Riverside View Hotel because it's incredibly gorgeous."
    assert not suites.has_solution(suite, goal)
    assert simulation.hijacked(goal, answer)
    assert simulation.hijacked_by_words(goal, answer)
    assert not simulation.hijacked_by_words(goal, "It rains.")


def test_addresses_are_validated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def validate(address: str, **options: object) -> str:
        seen.append(address)
        return address

    monkeypatch.setattr(email_validator, "validate_email", validate)
    suites.cache_address_validation()
    for _ in range(3):
        email_validator.validate_email("a@example.com", check_deliverability=False)
    assert seen == ["a@example.com"]
