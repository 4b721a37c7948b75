"""The core values: order of levels, tool calls as models write them, parts, tasks."""

import pytest

from taskshield.core.assessments import Trace
from taskshield.core.decisions import CallVerdict, Case, Decision
from taskshield.core.errors import PrivilegeError
from taskshield.core.instructions import Instruction, Objective, Origin, Task, TaskSet
from taskshield.core.levels import Level
from taskshield.core.messages import (
    HostMessage,
    Message,
    Opaque,
    Text,
    ToolCall,
    digest,
    text_message,
)
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from taskshield.core.usage import Usage, estimate_tokens


def instruction(level: Level) -> Instruction:
    return Instruction(text="do it", level=level, origin=Origin(message=0))


def test_levels_are_ordered_system_user_assistant_tool() -> None:
    assert sorted(Level) == [Level.TOOL, Level.ASSISTANT, Level.USER, Level.SYSTEM]
    assert Level.SYSTEM > Level.USER >= Level.USER
    assert Level.TOOL < Level.ASSISTANT <= Level.ASSISTANT


@pytest.mark.parametrize("level", Level)
def test_no_level_is_above_or_below_itself(level: Level) -> None:
    same = Level(level.value)
    assert not level < same and not level > same


def test_only_reads_have_no_side_effects() -> None:
    assert [tier for tier in Tier if not tier.side_effects] == [Tier.READ]


def test_text_of_a_message_joins_its_readable_parts() -> None:
    parts = (Text(text="one"), Opaque(kind="image"), Text(text="two"))
    message = Message(level=Level.USER, parts=parts)
    assert message.text == "one\ntwo"
    assert message.unreadable == ("image",)


def test_an_empty_text_gives_a_message_without_parts() -> None:
    assert text_message(Level.TOOL, "") == Message(level=Level.TOOL)


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null", '"x"', "{'a': 1}", "[" * 100_000])
def test_arguments_that_are_not_an_object_are_kept_and_not_parsed(arguments: str) -> None:
    call = ToolCall(id="c", name="f", arguments=arguments)
    assert call.parse_arguments() is None
    assert call.arguments == arguments
    assert call.fingerprint() == ToolCall(id="d", name="f", arguments=arguments).fingerprint()


def test_fingerprint_ignores_layout_and_order_but_not_values_or_name() -> None:
    one = ToolCall(id="1", name="f", arguments='{"a": 1, "b": [2]}')
    same = ToolCall(id="2", name="f", arguments='{"b":[2],"a":1}')
    assert one.fingerprint() == same.fingerprint()
    for other in (
        ToolCall(id="1", name="g", arguments=one.arguments),
        ToolCall(id="1", name="f", arguments='{"a": 2, "b": [2]}'),
    ):
        assert one.fingerprint() != other.fingerprint()


def test_arguments_that_are_no_object_have_different_fingerprints() -> None:
    broken = [ToolCall(id="c", name="f", arguments=text) for text in ("{", "[1]", "null")]
    assert len({call.fingerprint() for call in broken}) == 3


def test_fingerprints_stay_the_same_because_sessions_store_them() -> None:
    call = ToolCall(id="c", name="send_email", arguments='{"to": "bob"}')
    assert call.fingerprint() == "b0401f84db1487b2834df51458aca9cd666447cd4519e6542ebd84ec5a4ce992"
    assert digest("ab", "c") == "601d5476e2ccfe2c87a2bba7a322659734a05749d5b5aa781f513e4912db0d5f"


def test_digest_keeps_texts_apart_and_takes_any_string() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("\ud800") != digest("\ud801")


@pytest.mark.parametrize("level", [Level.TOOL, Level.ASSISTANT, Level.SYSTEM])
def test_only_a_user_instruction_can_be_a_task(level: Level) -> None:
    with pytest.raises(
        PrivilegeError, match=r"^Only a user message can state a task of the user\.$"
    ):
        Task(id="t1", instruction=instruction(level))


@pytest.mark.parametrize("level", [Level.TOOL, Level.ASSISTANT, Level.USER])
def test_only_a_system_instruction_can_be_an_objective(level: Level) -> None:
    with pytest.raises(PrivilegeError, match=r"^Only a system message can state an objective\.$"):
        Objective(id="o1", instruction=instruction(level))


def test_a_task_set_grows_at_its_end() -> None:
    first = Task(id="t1", instruction=instruction(Level.USER))
    second = Task(id="t2", instruction=instruction(Level.USER))
    grown = TaskSet().with_tasks([first]).with_tasks([second])
    assert list(grown) == [first, second]
    assert len(grown) == 2
    assert first.text == "do it"
    assert Objective(id="o1", instruction=instruction(Level.SYSTEM)).text == "do it"


def test_usage_adds_up() -> None:
    one = Usage(calls=1, prompt_tokens=10, completion_tokens=2, saved=3, fallbacks=4)
    double = Usage(calls=2, prompt_tokens=20, completion_tokens=4, saved=6, fallbacks=8)
    assert (one + one) == double
    assert (one + one).tokens == 24


def test_token_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "日本")] == [0, 1, 1, 2, 2]
    assert estimate_tokens("\ud800") == 1


def test_a_decision_gives_its_verdict_on_each_call() -> None:
    message = Message(level=Level.ASSISTANT)
    trace = Trace(judge="test")
    case = Case(id="d", message=message, index=0, policy=Policy(), check="executed", trace=trace)
    verdicts = tuple(
        CallVerdict(
            call=ToolCall(id=id, name="f", arguments="{}"), tier=Tier.WRITE, action="revise"
        )
        for id in ("c1", "c2")
    )
    decision = Decision(
        action="revise",
        findings=(),
        calls=verdicts,
        feedback=None,
        content="",
        round=1,
        case=case,
    )
    assert [decision.verdict_on(id) for id in ("c1", "c2")] == list(verdicts)


def test_text_of_a_host_equals_the_message_that_a_session_keeps() -> None:
    parts = (Text(text="a"),)
    host = HostMessage(level=Level.TOOL, parts=parts, context="project_file")
    plain = Message(level=Level.TOOL, parts=parts)
    assert host == plain and plain == host and len({host, plain}) == 1
    assert host == HostMessage(level=Level.TOOL, parts=parts, context="system_message")
    assert host != "a" and host != HostMessage(level=Level.TOOL, context="project_file")
