"""Samples of Inspect's logs."""

from typing import Any

import pytest

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.traces.inspect_log import is_log, is_sample, name, parse, samples
from taskshield.core.errors import WireFormatError
from tests.adapters.message_tuples import MessageTuple, as_tuples

CALL = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a careful administrator."},
    {"role": "user", "content": "List the files.", "source": "input"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL], "source": "generate"},
    {"role": "tool", "content": "a.txt", "tool_call_id": "c1", "function": "bash"},
    {"role": "assistant", "content": [{"type": "text", "text": "There is a.txt."}]},
]
DONE: list[MessageTuple] = [
    ("system", "You are a careful administrator.", (), None),
    ("user", "List the files.", (), None),
    ("assistant", "I look.", ('bash({"cmd": "ls"})',), None),
    ("tool", "a.txt", (), "c1"),
    ("assistant", "There is a.txt.", (), None),
]


def sample(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "task-1", "epoch": 2, "input": "?", "messages": list(messages), **fields}


def read(value: dict[str, Any]) -> list[MessageTuple]:
    return as_tuples(parse(Field(value=value, key="sample")))


def test_a_sample() -> None:
    found = sample(*MESSAGES)
    assert is_sample(found) and not is_sample({"messages": []})
    assert name(Field(value=found, key="sample")) == "task-1/2"
    assert read(found) == DONE


def test_a_log_has_samples() -> None:
    log = {"version": 2, "status": "success", "eval": {"task": "x"}, "samples": [sample()]}
    assert is_log(log) and not is_log({"samples": []})
    assert len(list(samples(Field(value=log, key="record")))) == 1


def test_an_error_is_what_the_agent_saw() -> None:
    error = {"type": "timeout", "message": "Command timed out."}
    failed = {"role": "tool", "content": "", "tool_call_id": "c1", "error": error}
    conversation = parse(Field(value=sample(failed), key="sample"))
    assert conversation.messages[0].text == "Command timed out."
    assert conversation.messages[0].is_error
    partly = {**failed, "content": "a.txt"}
    assert read(sample(partly))[0][1] == "a.txt"


@pytest.mark.parametrize("reference", ["attachment://", "tc://"])
def test_content_that_stands_apart(reference: str) -> None:
    message = {"role": "user", "content": f"{reference}0f3a"}
    assert read(sample(message, attachments={"0f3a": "A long wish."}))[0][1] == "A long wish."
    assert read(sample(message))[0][1] == f"{reference}0f3a"


def test_reasoning_is_left_out_and_pictures_are_unreadable_parts() -> None:
    content = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "image", "image": "data:image/png;base64,aGk="},
        {"type": "text", "text": "A cat."},
    ]
    message = parse(Field(value=sample({"role": "assistant", "content": content}), key="s"))
    assert message.messages[0].text == "A cat."
    assert message.messages[0].unreadable == ("image",)


def test_a_tool_that_the_provider_ran_is_a_call_with_an_output() -> None:
    use = {"type": "tool_use", "tool_type": "web_search", "id": "s1", "name": "web_search"}
    use |= {"arguments": '{"query": "tides"}', "result": "Low at nine."}
    content = [{"type": "text", "text": "I search."}, use, {"type": "text", "text": "At nine."}]
    assert read(sample({"role": "assistant", "content": content})) == [
        ("assistant", "I search.", ('web_search({"query": "tides"})',), None),
        ("tool", "Low at nine.", (), "s1"),
        ("assistant", "At nine.", (), None),
    ]


def test_tools_come_from_the_first_call_of_a_model_that_had_any() -> None:
    tool = {"name": "bash", "description": "Runs a command.", "parameters": {"type": "object"}}
    events = [
        {"event": "sample_init"},
        {"event": "model", "tools": []},
        {"event": "model", "tools": [tool]},
    ]
    conversation = parse(Field(value=sample(*MESSAGES, events=events), key="sample"))
    assert [spec.name for spec in conversation.tools] == ["bash"]


@pytest.mark.parametrize(
    "message", [{"role": "wizard", "content": ""}, {"role": "user", "content": [{"text": "x"}]}]
)
def test_what_is_no_message_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(WireFormatError, match=r"messages\[0\]"):
        read(sample(message))
