"""Runs as LangSmith gives them: of LangChain, of wrapped SDKs, from the API and from Parquet."""

import json
from typing import Any
from unittest.mock import MagicMock

import pytest

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.traces.assembly import Piece, conversations
from taskshield.adapters.traces.langsmith import is_run, read, runs
from taskshield.core.errors import WireFormatError
from tests.adapters.message_tuples import MessageTuple, as_tuples

TRACE = "0190e1f2-0000-7000-8000-000000000001"
DONE: list[MessageTuple] = [
    ("user", "Summarise my newest mail.", (), None),
    ("assistant", "", ('read_mail({"folder": "in"})',), None),
    ("tool", "Lunch on Friday?", (), "c1"),
    ("assistant", "Lunch on Friday.", (), None),
]
CALLS = [{"name": "read_mail", "args": {"folder": "in"}, "id": "c1", "type": "tool_call"}]


def lc(kind: str, content: object, **more: object) -> dict[str, object]:
    """A message as LangChain's serialisation writes it."""
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, **more}}


TASK = lc("HumanMessage", "Summarise my newest mail.", type="human")
CALL = lc("AIMessage", "", type="ai", tool_calls=CALLS)
OUTPUT = lc("ToolMessage", "Lunch on Friday?", type="tool", tool_call_id="c1")
ANSWER = lc("AIMessage", "Lunch on Friday.", type="ai", tool_calls=[])


def run(at: int, kind: str, inputs: object, outputs: object, **more: object) -> dict[str, Any]:
    return {
        "id": f"run-{at}",
        "name": kind,
        "run_type": kind,
        "trace_id": TRACE,
        "parent_run_id": "run-0",
        "start_time": f"2026-03-01T10:00:0{at}.000000+00:00",
        "end_time": f"2026-03-01T10:00:0{at}.900000+00:00",
        "inputs": inputs,
        "outputs": outputs,
        "extra": {"metadata": {}},
        "error": None,
        **more,
    }


def llm(at: int, given: list[object], answered: object, **more: object) -> dict[str, Any]:
    generation = {"text": "", "type": "ChatGeneration", "message": answered}
    return run(at, "llm", {"messages": [given]}, {"generations": [[generation]]}, **more)


def pieces(*payloads: dict[str, Any]) -> list[Piece]:
    found = (
        read(each) for payload in payloads for each in runs(Field(value=payload, key="record"))
    )
    return [piece for piece in found if piece is not None]


def only(*payloads: dict[str, Any]) -> list[MessageTuple]:
    (conversation,) = conversations(pieces(*payloads))
    return as_tuples(conversation)


def test_a_run_is_known_by_its_type_and_inputs() -> None:
    assert is_run(llm(1, [TASK], CALL))
    assert not is_run({"run_type": "llm"}) and not is_run([])


def test_calls_of_a_model_are_one_conversation() -> None:
    first = llm(1, [TASK], CALL)
    second = llm(3, [TASK, CALL, OUTPUT], ANSWER)
    assert only(second, first) == DONE


def test_constructors_that_do_not_say_their_type() -> None:
    bare = lc("HumanMessage", "Summarise my newest mail.")
    chunk = lc("AIMessageChunk", ["Lunch on ", {"type": "text", "text": "Friday."}])
    assert only(llm(1, [bare], chunk))[1] == ("assistant", "Lunch on \nFriday.", (), None)


def test_duplicates_within_a_message_are_read_once() -> None:
    blocks = [
        {"type": "thinking", "thinking": "The mail first."},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "read_mail", "input": {"folder": "in"}},
    ]
    answer = lc("AIMessage", blocks, type="ai", tool_calls=CALLS)
    assert only(llm(1, [TASK], answer))[1] == (
        "assistant",
        "I look.",
        ('read_mail({"folder": "in"})',),
        None,
    )


def test_calls_that_langchain_could_not_parse_count() -> None:
    broken = [{"name": "pay", "args": "{amount: 3", "id": "c2", "error": "no JSON"}]
    answer = lc("AIMessage", "", type="ai", tool_calls=[], invalid_tool_calls=broken)
    assert only(llm(1, [TASK], answer))[1][2] == ("pay({amount: 3)",)


def test_calls_as_openai_wrote_them() -> None:
    function = {"name": "read_mail", "arguments": '{"folder": "in"}'}
    extra = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    answer = lc("AIMessage", "", type="ai", additional_kwargs=extra)
    assert only(llm(1, [TASK], answer))[1] == DONE[1]


def test_a_wrapped_sdk() -> None:
    asked = {"messages": [{"role": "user", "content": DONE[0][1]}], "model": "gpt-4o-mini"}
    call = {"id": "c1", "function": {"name": "read_mail", "arguments": '{"folder": "in"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert only(run(1, "llm", asked, {"choices": [{"message": message}]})) == DONE[:2]


def test_a_wrapped_sdk_of_anthropic() -> None:
    asked = {"messages": [{"role": "user", "content": DONE[0][1]}], "system": "You help."}
    use = {"type": "tool_use", "id": "c1", "name": "read_mail", "input": {"folder": "in"}}
    answer = {"type": "message", "role": "assistant", "content": [use]}
    found = only(run(1, "llm", asked, answer))
    assert found == [("system", "You help.", (), None), *DONE[:2]]


def test_a_prompt_that_is_bare_text() -> None:
    outputs = {"generations": [[{"text": "Lunch on Friday."}]]}
    found = only(run(1, "llm", {"prompts": [DONE[0][1]]}, outputs))
    assert found == [DONE[0], DONE[3]]


def test_a_tool_run_adds_output_that_no_model_call_holds() -> None:
    output = {"output": {"content": "Lunch on Friday?", "type": "tool", "tool_call_id": "c1"}}
    tool = run(2, "tool", {"folder": "in"}, output, name="read_mail")
    assert only(llm(1, [TASK], CALL), tool) == DONE[:3]
    plain = run(2, "tool", {"input": '{"folder":"in"}'}, {"output": "Lunch on Friday?"})
    assert only(llm(1, [TASK], CALL), {**plain, "name": "read_mail"}) == DONE[:3]


def test_a_failed_tool_reports_its_error() -> None:
    tool = run(2, "tool", {"folder": "in"}, None, name="read_mail", error="no such folder")
    assert only(llm(1, [TASK], CALL), tool)[2] == ("tool", "no such folder", (), "c1")


def test_the_outermost_run_is_read_where_there_is_no_call_of_a_model() -> None:
    messages = [
        {"type": "human", "content": DONE[0][1]},
        {"type": "ai", "content": "", "tool_calls": CALLS},
        {"type": "tool", "content": "Lunch on Friday?", "tool_call_id": "c1"},
        {"type": "ai", "content": "Lunch on Friday."},
    ]
    asked = {"messages": [{"role": "user", "content": DONE[0][1]}]}
    root = run(1, "chain", asked, {"messages": messages}, parent_run_id=None)
    assert only(root) == DONE
    assert only(run(1, "chain", {"input": DONE[0][1]}, {"output": DONE[3][1]}, parent_run_id=None))
    inner = run(2, "chain", asked, {"messages": messages})
    assert pieces(inner, run(3, "retriever", {"query": "lunch"}, {"documents": []})) == []


def test_a_thread_of_several_traces_is_one_conversation() -> None:
    extra = {"metadata": {"thread_id": "t-7"}}
    first = llm(1, [TASK], ANSWER, extra=extra)
    more = lc("HumanMessage", "And the one before?", type="human")
    last = lc("AIMessage", "A bill.", type="ai")
    second = llm(3, [TASK, ANSWER, more], last, extra=extra, trace_id="other")
    found = pieces(first, second)
    assert {(piece.group, piece.named) for piece in found} == {("t-7", True)}
    (conversation,) = conversations(found)
    assert [message.text for message in conversation.messages[2:]] == [
        "And the one before?",
        "A bill.",
    ]


def test_columns_of_an_export_are_json_text() -> None:
    whole = llm(1, [TASK], CALL)
    whole["extra"]["invocation_params"] = {"tools": [{"function": {"name": "read_mail"}}]}
    for column in ("inputs", "outputs", "extra"):
        whole[column] = json.dumps(whole[column])
    (conversation,) = conversations(pieces(whole))
    assert as_tuples(conversation) == DONE[:2]
    assert [spec.name for spec in conversation.tools] == ["read_mail"]


def test_runs_within_a_run_are_read() -> None:
    root = run(0, "chain", {}, {}, parent_run_id=None, child_runs=[llm(1, [TASK], CALL)])
    assert only(root) == DONE[:2]


def test_times_in_milliseconds() -> None:
    first = llm(1, [TASK], CALL, start_time=1_000, end_time=1_500)
    second = llm(3, [TASK, CALL, OUTPUT], ANSWER, start_time=3_000, end_time=None)
    assert only(second, first) == DONE


def test_a_value_that_is_no_message_is_refused() -> None:
    with pytest.raises(WireFormatError):
        pieces(run(1, "llm", {"messages": [{"role": "wizard", "content": "?"}]}, {}))


def test_real_runs_of_langchain() -> None:
    """What LangChain's own tracer sends, in the letters in which it sends it."""
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith._internal._serde import dumps_json

    sent: list[Any] = []

    class Capturing(LangChainTracer):
        def _persist_run_single(self, run: Any) -> None:
            pass

        @staticmethod
        def _update_run_single(run: Any) -> None:
            names = "id name run_type trace_id parent_run_id inputs outputs extra error start_time"
            fields = {name: getattr(run, name) for name in [*names.split(), "end_time"]}
            sent.append(json.loads(dumps_json(fields)))

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **more: Any) -> Any:
            return self

    @tool
    def read_mail(folder: str) -> str:
        """Reads the newest mail."""
        return "Lunch on Friday?"

    call: Any = CALLS[0]
    script = iter([AIMessage("", tool_calls=[call]), AIMessage("Lunch on Friday.")])
    agent: Any = create_agent(Scripted(messages=script), [read_mail])
    asked = {"messages": [{"role": "user", "content": DONE[0][1]}]}
    agent.invoke(asked, config={"callbacks": [Capturing(client=MagicMock())]})
    assert only(*sent) == DONE
