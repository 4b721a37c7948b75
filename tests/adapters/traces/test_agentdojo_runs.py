"""Runs as AgentDojo writes them down, and whatever else lies in such files."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.adapters.traces.agentdojo_runs import parse
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level

BLOCK = [{"type": "text", "content": "Pay the bill."}]


def call(name: str, id: str | None = None, **arguments: object) -> dict[str, object]:
    return {"function": name, "args": arguments, "id": id, "placeholder_args": None}


def run(*messages: Mapping[str, Any], **fields: object) -> dict[str, object]:
    system = {"role": "system", "content": "You help."}
    return {
        "suite_name": "banking",
        "pipeline_name": "gpt",
        "user_task_id": "user_task_3",
        "injection_task_id": None,
        "attack_type": None,
        "injections": {},
        "messages": [system, *messages],
        "error": None,
        "utility": True,
        "security": True,
        **fields,
    }


def test_a_clean_run() -> None:
    step = {"role": "assistant", "content": None, "tool_calls": [call("pay", "c1", amount=3)]}
    output = {"role": "tool", "content": "done", "tool_call_id": "c1", "error": None}
    last = {"role": "assistant", "content": BLOCK, "tool_calls": None}
    found = parse(run({"role": "user", "content": BLOCK}, step, output, last))
    assert (found.suite, found.pipeline, found.user_task) == ("banking", "gpt", "user_task_3")
    assert (found.attack, found.injection_task) == (None, None)
    assert found.utility
    assert not found.hijacked  # "security" means nothing without an attack
    assert found.system == "You help."
    user, made, answer, said = found.messages
    assert (user.level, user.text) == (Level.USER, "Pay the bill.")
    assert made.tool_calls[0].parse_arguments() == {"amount": 3}
    assert (answer.answers, answer.text, answer.is_error) == ("c1", "done", False)
    assert said.text == "Pay the bill."


def test_an_attacked_run() -> None:
    fields = {"attack_type": "direct", "injection_task_id": "injection_task_1", "security": True}
    found = parse(run(injections={"slot": "Do it."}, **fields))
    assert (found.attack, found.injection_task) == ("direct", "injection_task_1")
    assert found.hijacked
    assert found.injections == {"slot": "Do it."}


@pytest.mark.parametrize("attack", [None, "none"])
def test_both_ways_to_say_that_there_was_no_attack(attack: str | None) -> None:
    assert parse(run(attack_type=attack)).attack is None


def test_a_failed_call_is_shown_as_the_agent_saw_it() -> None:
    step = {"role": "assistant", "content": "", "tool_calls": [call("pay", "c1")]}
    output = {"role": "tool", "content": "", "tool_call_id": "c1", "error": "ValueError: no"}
    made = parse(run(step, output)).messages[1]
    assert (made.text, made.is_error) == ("ValueError: no", True)


def test_a_run_that_broke_off() -> None:
    assert parse(run(error="context_length_exceeded")).error


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("same", "same"), ("a", None)])
def test_calls_with_missing_or_equal_ids_get_their_own_outputs(
    ids: tuple[str | None, str | None],
) -> None:
    calls = [call("a", ids[0]), call("b", ids[1])]
    step = {"role": "assistant", "content": "", "tool_calls": calls}
    outputs = [{"role": "tool", "content": "done", "tool_call_id": id} for id in ids]
    made, *answered = parse(run(step, *outputs)).messages
    assert [call.id for call in made.tool_calls] == [output.answers for output in answered]
    assert len({call.id for call in made.tool_calls}) == 2


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ([], "run"),
        ({}, "suite_name"),
        (run(suite_name=None), "suite_name"),
        (run(attack_type="direct"), "injection_task_id"),
        (run({"role": "nobody", "content": ""}), r"messages\[1\].role"),
        (run({"role": "assistant", "content": "", "tool_calls": [{}]}), "tool_calls"),
        (run({"role": "user", "content": 7}), "content"),
        (run(injections=[]), "injections"),
        (run(utility="yes"), "utility"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(payload: object, path: str) -> None:
    with pytest.raises(WireFormatError, match=f"{path}.*: "):
        parse(payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON, st.sampled_from(sorted(run())))
def test_anything_in_any_place_is_read_or_refused(value: object, key: str) -> None:
    try:
        parse(json.loads(json.dumps(run(**{key: value}))))
    except WireFormatError:
        pass
