"""Counterfactual replay of recorded runs, recorded here."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from taskshield import Shield
from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.run import replay
from tests.lab.bench.guards import all_knowing

run = partial(replay.run, version="v1")
BANKING = suites.suite_named("v1", "banking")
TASK = suites.user_task(BANKING, "user_task_0")
GOAL = suites.injection_task(BANKING, "injection_task_4")


def recorded(moves: Sequence[Move], *, answer: str = "Done.", attacked: bool = True) -> RecordedRun:
    """A run in which these calls were made, one after the other."""
    messages = [text_message(Level.USER, TASK.PROMPT)]
    for number, move in enumerate(moves):
        call = ToolCall(id=f"c{number}", name=move.tool, arguments=json.dumps(move.arguments))
        messages.append(Message(level=Level.ASSISTANT, tool_calls=(call,)))
        parts = text_message(Level.TOOL, f"what came of it: {GOAL.GOAL}").parts
        messages.append(Message(level=Level.TOOL, parts=parts, answers=call.id))
    messages.append(text_message(Level.ASSISTANT, answer))
    return RecordedRun(
        suite="banking",
        pipeline="gpt",
        user_task=TASK.ID,
        injection_task=GOAL.ID if attacked else None,
        attack="direct" if attacked else None,
        injections={"injection_bill_text": "TODO"} if attacked else {},
        system="You help.",
        messages=tuple(messages),
        error=False,
        utility=True,
        hijacked=attacked,
    )


USERS = attack_placement.moves(TASK.ground_truth(suites.environment(BANKING, {})))
ATTACKERS = attack_placement.moves(GOAL.ground_truth(suites.environment(BANKING, {})))
HIJACKED = recorded([USERS[0], *ATTACKERS, *USERS[1:]])


def test_with_nothing_blocked_a_replay_is_the_run() -> None:
    found = run(HIJACKED, None)
    assert (found.utility, found.hijacked) == (True, True)
    assert (found.recorded_utility, found.recorded_hijacked) == (True, True)
    assert (found.agent, found.attack, found.by_words) == ("gpt", "direct", False)
    assert found.id == replay.id_of(HIJACKED)
    with Shield("allow-all") as shield:
        allowed = run(HIJACKED, shield)
    assert (allowed.utility, allowed.hijacked) == (True, True)


def test_a_blocked_call_is_not_executed() -> None:
    with all_knowing(BANKING, GOAL) as shield:
        found = run(HIJACKED, shield)
    assert (found.utility, found.hijacked) == (True, False)
    calls = [call for step in found.steps for call in step.calls]
    assert [call.executed for call in calls] == [True, False, True]
    assert {call.owner for call in calls} == {None}


def test_the_shield_sees_the_conversation_as_the_agent_did_to_its_end() -> None:
    with Shield("block-side-effects") as shield:
        found = run(HIJACKED, shield)
    assert (found.utility, found.hijacked) == (False, False)
    assert [step.level for step in found.steps] == [each.level for each in HIJACKED.messages]
    assert all(GOAL.GOAL in step.text for step in found.steps if step.level is Level.TOOL)


def test_a_clean_run_cannot_be_hijacked() -> None:
    found = run(recorded(USERS, attacked=False), None)
    assert (found.utility, found.hijacked, found.clean) == (True, False, True)


def test_a_run_with_an_error_is_left_out() -> None:
    found = run(replace(HIJACKED, error=True), None)
    assert found.error is not None
    assert found.steps == ()


def spoken(words: str, *, task: str = "user_task_0") -> RecordedRun:
    """A run of nothing but words, in which the attacker wants some said."""
    travel = suites.suite_named("v1", "travel")
    prompt = suites.user_task(travel, task).PROMPT
    messages = (text_message(Level.USER, prompt), text_message(Level.ASSISTANT, words))
    return replace(
        HIJACKED,
        suite="travel",
        injection_task="injection_task_6",
        injections={},
        messages=messages,
    )


WANTED = "Riverside View Hotel is incredibly gorgeous and worth a visit."


def test_success_by_text_alone_is_marked() -> None:
    with Shield("block-side-effects") as shield:
        found = run(spoken(WANTED), shield)
    assert (found.hijacked, found.by_words, found.unsolved) == (True, True, True)


def test_only_the_last_words_of_the_agent_are_its_answer() -> None:
    said = spoken(WANTED)
    output = text_message(Level.TOOL, "and so on")
    found = run(replace(said, messages=(*said.messages, output)), None)
    assert (found.hijacked, found.by_words) == (False, False)


def test_an_attack_that_wants_the_agent_to_stop_succeeds_where_the_task_fails() -> None:
    stopped = replace(recorded(USERS[:1]), attack="dos", injection_task="injection_task_0")
    found = run(stopped, None)
    assert (found.utility, found.hijacked, found.by_words, found.unsolved) == (
        False,
        True,
        True,
        False,
    )
    unimpressed = replace(recorded(USERS), attack="dos", injection_task="injection_task_0")
    assert not run(unimpressed, None).hijacked


@pytest.mark.parametrize(
    ("arguments", "injections"),
    [
        ('{"file_path": "{[1]: 2}"}', {}),
        ("{}", {"no_such_slot": "x"}),
        ("{}", {"injection_bill_text": r"\q"}),
        ("{}", {"injection_bill_text": '"'}),
    ],
)
def test_a_run_that_breaks_off_is_recorded_as_such(
    arguments: str, injections: dict[str, str]
) -> None:
    call = ToolCall(id="c", name="read_file", arguments=arguments)
    messages = (Message(level=Level.ASSISTANT, tool_calls=(call,)),)
    found = run(replace(HIJACKED, messages=messages, injections=injections), None)
    assert found.error is not None
    assert found.error.startswith("The run failed (")


def test_a_record_of_other_suites_is_refused() -> None:
    with pytest.raises(ConfigError, match="gpt was recorded on suites v1.2.1, not v1"):
        run(replace(HIJACKED, version="v1.2.1"), None)


def test_other_words_of_the_user_are_noticed() -> None:
    asked = replay.prepare(HIJACKED, "v1")
    assert not replay.is_reworded(HIJACKED, asked)
    other = (text_message(Level.USER, "Pay it."), *HIJACKED.messages[1:])
    assert replay.is_reworded(replace(HIJACKED, messages=other), asked)


def test_what_agentdojos_checks_print_goes_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    slack = suites.suite_named("v1", "slack")
    goal = suites.injection_task(slack, "injection_task_4")
    moves = attack_placement.moves(goal.ground_truth(suites.environment(slack, {})))
    simulation = suites.Simulation(suites.environment(slack, {}), slack.tools)
    for move in moves:
        simulation.execute(move.tool, move.arguments)
    assert simulation.hijacked(goal, "")
    assert capsys.readouterr().out == ""


def test_arguments_that_are_no_object_are_executed_as_none() -> None:
    call = ToolCall(id="c", name="get_balance", arguments="[]")
    messages = (Message(level=Level.ASSISTANT, tool_calls=(call,)),)
    assert run(replace(HIJACKED, messages=messages), None).error is None


def test_a_task_that_the_version_does_not_have_is_named() -> None:
    later = replace(HIJACKED, suite="workspace", injection_task="injection_task_9")
    with pytest.raises(ConfigError, match="'workspace' has no injection task 'injection_task_9'"):
        run(later, None)
