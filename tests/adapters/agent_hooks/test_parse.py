"""agent:evaluate: reading what hosts send, measured by the SDK's own builder and validation."""

import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from agent_hooks import AgentContextBuilder, AgentHooksCoreError, InterceptionPoint, _core
from hypothesis import given
from hypothesis import strategies as st

from taskshield.adapters.agent_hooks import parse
from taskshield.adapters.agent_hooks.events import (
    AgentShutdown,
    AgentStartup,
    Input,
    Output,
    PostModelCall,
    PostToolCall,
    PreModelCall,
    PreToolCall,
)
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec

Context = dict[str, Any]


def contexts() -> dict[str, Context]:
    """One event of each kind, as the SDK builds them."""
    host = AgentContextBuilder(
        agent_id="mailer", framework="my-fw", session_id="s-1", agent_name="Mailer"
    )
    events = [
        host.agent_startup(tools_registered=["send_email", "read_email"]),
        host.input(content="Read my mail."),
        host.pre_model_call(
            model_id="m",
            messages=[
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Read my mail."},
            ],
            tools=[{"name": "read_email", "description": "Reads.", "schema": {"type": "object"}}],
        ),
        host.post_model_call(
            model_id="m",
            content=[{"type": "text", "text": "Reading."}],
            tool_calls=[{"id": "c1", "name": "read_email", "args": {"n": 1}}],
            finish_reason="tool_calls",
        ),
        host.pre_tool_call(call_id="c1", name="read_email", args={"n": 1}),
        host.post_tool_call(
            call_id="c1", name="read_email", args={"n": 1}, value={"body": ["Hi", 3]}
        ),
        host.output(content="You have mail."),
        host.agent_shutdown(reason="completed"),
    ]
    return {event["interception_point"]: event for event in events}


def payload(point: str) -> Any:
    return parse.parse(contexts()[point]).payload


def test_all_points_of_the_sdk_are_known() -> None:
    assert set(contexts()) == {point.value for point in InterceptionPoint}
    for context in contexts().values():
        _core.validate_envelope(json.dumps(context))
        parse.parse(context)
        parse.parse(json.dumps(context).encode())


def test_the_version_is_the_one_that_the_sdk_speaks() -> None:
    assert parse.SPEC == _core.SPEC_VERSION


def test_the_envelope_is_read() -> None:
    context = {**contexts()["input"], "timestamp": "2026-11-15T12:00:00.1234567+01:00"}
    event = parse.parse(context)
    assert event.timestamp == datetime(2026, 11, 15, 11, 0, 0, 123456, tzinfo=UTC)
    assert (event.sequence, event.session) == (1, "s-1")
    assert (event.agent.id, event.agent.framework, event.agent.name) == (
        "mailer",
        "my-fw",
        "Mailer",
    )
    assert event.target.value == context["input"]


def test_each_point_has_its_payload() -> None:
    assert payload("agent_startup") == AgentStartup(tools_registered=("send_email", "read_email"))
    spoken = payload("input")
    assert isinstance(spoken, Input) and spoken.message.level is Level.USER
    assert spoken.message.text == "Read my mail."
    asked = payload("pre_model_call")
    assert isinstance(asked, PreModelCall)
    assert [message.text for message in asked.system] == ["Be kind."]
    answered = payload("post_model_call")
    assert isinstance(answered, PostModelCall) and answered.message.text == "Reading."
    assert answered.message.tool_calls == (
        ToolCall(id="c1", name="read_email", arguments='{"n": 1}'),
    )
    assert payload("pre_tool_call") == PreToolCall(
        call=ToolCall(id="c1", name="read_email", arguments='{"n": 1}')
    )
    result = payload("post_tool_call")
    assert isinstance(result, PostToolCall)
    assert (result.message.level, result.message.text) == (Level.TOOL, "Hi")
    assert result.message.answers == "c1" and not result.message.is_error
    said = payload("output")
    assert isinstance(said, Output) and said.message.text == "You have mail."
    assert payload("agent_shutdown") == AgentShutdown(reason="completed")


def test_tools_are_read_with_their_schema() -> None:
    (tool,) = parse.parse(contexts()["pre_model_call"]).tools
    assert tool == ToolSpec(name="read_email", description="Reads.", parameters={"type": "object"})


@pytest.mark.parametrize(
    ("role", "level"),
    [("user", Level.USER), ("system", Level.SYSTEM), ("external", Level.TOOL)],
)
def test_only_the_user_speaks_as_the_user(role: str, level: Level) -> None:
    host = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    read = parse.parse(host.input(content="Do it.", role=role)).payload
    assert isinstance(read, Input) and read.message.level is level


def test_calls_without_an_id_get_a_generated_one() -> None:
    host = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    calls = [{"name": "f", "args": {}}, {"id": "x", "name": "f", "args": {}}]
    context = host.post_model_call(
        model_id="m", content=None, tool_calls=calls, finish_reason="stop"
    )
    read = parse.parse(context).payload
    assert isinstance(read, PostModelCall)
    assert [call.id for call in read.message.tool_calls] == ["call_0_0", "x"]
    assert read.unnamed == {"call_0_0"}


@pytest.mark.parametrize("point", sorted(contexts()))
def test_a_target_that_is_not_the_payload_is_refused(point: str) -> None:
    context = {**contexts()[point], "target": {"something": "else"}}
    with pytest.raises(WireFormatError, match=r"^target: must equal"):
        parse.parse(context)


def test_true_is_not_one() -> None:
    context = contexts()["pre_tool_call"]
    context["target"] = {"n": True}
    with pytest.raises(WireFormatError, match="target"):
        parse.parse(context)


def with_value(value: object) -> Context:
    context = copy.deepcopy(contexts()["post_tool_call"])
    context["tool_result"]["value"] = context["target"] = value
    return context


def test_a_body_may_have_so_many_bytes_and_not_one_more() -> None:
    body = json.dumps(contexts()["output"]).encode()
    parse.parse(body.ljust(parse.MAX_BYTES))
    with pytest.raises(WireFormatError, match="^body: larger than 1048576 bytes"):
        parse.parse(body.ljust(parse.MAX_BYTES + 1))


def test_a_body_may_be_so_deep_and_not_one_level_more() -> None:
    def nested(levels: int) -> object:
        value: object = "x"
        for _ in range(levels):
            value = [value]
        return value

    parse.parse(with_value(nested(62)))  # inside "tool_result", inside the body
    with pytest.raises(WireFormatError, match="nested more than 64"):
        parse.parse(with_value(nested(63)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}])
def test_what_json_has_no_words_for_is_refused(value: object) -> None:
    with pytest.raises(WireFormatError):
        parse.parse(with_value(value))
    with pytest.raises(WireFormatError):
        parse.parse(json.dumps(with_value(value)).encode())


@pytest.mark.parametrize(
    ("point", "path", "value"),
    [
        ("input", "spec", "agent-hooks/0.2"),
        ("input", "interception_point", "tool_call"),
        ("input", "timestamp", "yesterday"),
        ("input", "timestamp", "2026-11-15T12:00:00"),
        ("input", "timestamp", "0001-01-01T00:00:00+23:00"),
        ("input", "sequence", -1),
        ("input", "sequence", True),
        ("input", "agent.framework", "My Framework"),
        ("input", "agent.id", ""),
        ("input", "session.id", ""),
        ("input", "input.role", "assistant"),
        ("agent_startup", "agent_init.tools_registered", "all"),
        ("agent_shutdown", "summary.reason", "bored"),
        ("pre_model_call", "messages", None),
        ("pre_model_call", "tools", [{}]),
        ("post_model_call", "response.tool_calls", None),
        ("post_model_call", "response.finish_reason", None),
        ("pre_tool_call", "tool_call.id", ""),
        ("pre_tool_call", "tool_call.args", "{}"),
        ("post_tool_call", "tool_result.is_error", None),
        ("output", "output", []),
    ],
)
def test_what_the_specification_asks_for_is_needed(point: str, path: str, value: object) -> None:
    context = copy.deepcopy(contexts()[point])
    *parents, last = path.split(".")
    place = context
    for step in parents:
        place = place[step]
    place[last] = value
    with pytest.raises(WireFormatError, match=f"^{path.split('.')[0]}"):
        parse.parse(context)


def test_two_calls_with_one_id_are_refused() -> None:
    host = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    calls = [{"id": "x", "name": "f", "args": {}}] * 2
    with pytest.raises(WireFormatError, match="share an id"):
        parse.parse(
            host.post_model_call(model_id="m", content="", tool_calls=calls, finish_reason="stop")
        )


SECRET = "hunter2"
NAMES = st.sampled_from(
    sorted({name for context in contexts().values() for name in context})
    + "id name args content role value is_error text type schema".split()
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just(SECRET),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)


@st.composite
def damaged(draw: st.DrawFn) -> Context:
    """An event of the SDK in which something was left out or replaced, here or there."""
    context = copy.deepcopy(contexts()[draw(st.sampled_from(sorted(contexts())))])
    for _ in range(draw(st.integers(min_value=0, max_value=3))):
        place: Any = context
        while True:
            inside = [key for key in place if isinstance(place[key], dict) and place[key]]
            if not inside or draw(st.booleans()):
                break
            place = place[draw(st.sampled_from(sorted(inside)))]
        key = draw(st.sampled_from(sorted(place)) | NAMES)
        if draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = draw(ANYTHING)
        if not place:
            break
    return context


@given(context=damaged() | ANYTHING)
def test_any_json_is_read_or_refused_without_quoting_it(context: object) -> None:
    try:
        parse.parse(context)
    except WireFormatError as error:
        path, separator, reason = str(error).partition(": ")
        assert path and separator and reason
        assert SECRET not in str(error)
        return
    _core.validate_envelope(json.dumps(context))


@given(context=damaged())
def test_what_the_sdk_refuses_is_refused(context: Context) -> None:
    try:
        _core.validate_envelope(json.dumps(context))
    except AgentHooksCoreError:
        with pytest.raises(WireFormatError):
            parse.parse(context)


@given(body=st.binary())
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with pytest.raises(WireFormatError):
        parse.parse(body)
