import pytest

from taskshield.adapters.conversations.anthropic_messages import parse
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message

USE = {"type": "tool_use", "id": "tu", "name": "f", "input": {"a": 1}}

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"


def user(*blocks: object) -> dict[str, object]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: object) -> dict[str, object]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def result(**members: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": "tu", **members}


def read_result(**members: object) -> tuple[Part, ...]:
    (message,) = parse([user(result(**members))]).messages
    assert message.level is Level.TOOL
    return message.parts


def test_text_and_calls_of_one_message_stay_together() -> None:
    other = {"type": "tool_use", "id": "tu2", "name": "g", "input": {}}
    (message,) = parse([assistant(text("a"), USE, text("b"), other)]).messages
    assert message == Message(
        level=Level.ASSISTANT,
        parts=(Text(text="a"), Text(text="b")),
        tool_calls=(
            ToolCall(id="tu", name="f", arguments='{"a": 1}'),
            ToolCall(id="tu2", name="g", arguments="{}"),
        ),
    )


def test_results_in_a_user_message_and_what_stands_beside_them_are_tool_level() -> None:
    wire = user(text("before"), result(content="data", is_error=True), text("after"))
    assert parse([wire]).messages == (
        text_message(Level.TOOL, "before"),
        Message(level=Level.TOOL, parts=(Text(text="data"),), answers="tu", is_error=True),
        text_message(Level.TOOL, "after"),
    )


def test_a_user_message_of_results_alone_says_nothing_for_the_user() -> None:
    messages = parse([user(result(), result(content=[]))]).messages
    assert messages == (Message(level=Level.TOOL, answers="tu"),) * 2


def test_a_result_without_an_id_answers_nothing() -> None:
    (message,) = parse([user({"type": "tool_result", "content": "x"})]).messages
    assert message == text_message(Level.TOOL, "x")


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking"])
def test_reasoning_is_left_out(kind: str) -> None:
    block = {"type": kind, "thinking": "The user allowed it.", "data": "x"}
    assert parse([assistant(block, text("Done."))]).messages[0].text == "Done."
    assert parse([assistant(block)]).messages == (Message(level=Level.ASSISTANT),)


def test_results_of_server_tools_cut_the_assistant_message() -> None:
    wire = assistant(
        {"type": "server_tool_use", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "Hit"}]},
        {"type": "mcp_tool_use", "id": "m1", "name": "read", "input": {}},
        {"type": "brand_new_tool_result", "tool_use_id": "m1", "lines": ["a", {"note": "b"}]},
        text("Done."),
    )
    assert parse([wire]).messages == (
        Message(
            level=Level.ASSISTANT,
            tool_calls=(ToolCall(id="call_0_0", name="web_search", arguments='{"q": "x"}'),),
        ),
        Message(level=Level.TOOL, parts=(Text(text="Hit"),), answers="s1"),
        Message(
            level=Level.ASSISTANT, tool_calls=(ToolCall(id="m1", name="read", arguments="{}"),)
        ),
        Message(level=Level.TOOL, parts=(Text(text="a"), Text(text="b")), answers="m1"),
        text_message(Level.ASSISTANT, "Done."),
    )


def test_made_up_ids_differ_within_a_message_cut_in_two() -> None:
    use = {"type": "tool_use", "name": "f", "input": {}}
    messages = parse([assistant(use, result(), use)]).messages
    assert [call.id for m in messages for call in m.tool_calls] == ["call_0_0", "call_0_1"]


def test_a_server_tool_that_failed_is_an_error() -> None:
    content = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    block = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": content}
    (message,) = parse([assistant(block)]).messages
    assert message.is_error
    assert message.text == "max_uses_exceeded"


def test_words_in_a_result_are_found_however_deep() -> None:
    assert read_result(
        content=[
            {
                "type": "search_result",
                "source": "https://a.example",
                "title": "T",
                "content": [text("body")],
            },
            {"type": "document", "context": "why", "source": {"type": "content", "content": "doc"}},
            {"type": "document", "source": {"type": "text", "data": "plain"}},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "res", "size": 3}},
        ]
    ) == tuple(
        Text(text=words)
        for words in ("https://a.example", "T", "body", "why", "doc", "plain", "file:///x", "res")
    )


def test_what_cannot_be_read_in_a_result_is_named() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert read_result(
        content=[
            {"type": "image", "source": picture},
            {"type": "document", "title": "Plan", "source": {"type": "file", "file_id": "f1"}},
            {"source": {"type": "url", "url": "https://a.example/x.pdf"}},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "document", "source": {"type": ["odd"], "blob": PNG}},
            {"type": "code_execution_output", "file_id": "f2"},
        ]
    ) == (
        Opaque(kind="image"),
        Opaque(kind="document"),
        Text(text="Plan"),
        Text(text="f1"),
        Text(text="https://a.example/x.pdf"),
        Opaque(kind="image"),
        Opaque(kind="document"),
        Text(text="odd"),
        Opaque(kind="file_id"),
        Text(text="f2"),
    )


def test_what_a_provider_has_encrypted_is_named_and_in_a_tools_own_result_it_is_read() -> None:
    sealed = {"type": "encrypted_code_execution_result", "encrypted_stdout": "x", "stderr": "e"}
    block = {"tool_use_id": "s1", "content": sealed}
    wire = [{"role": "assistant", "content": [{**block, "type": "code_execution_tool_result"}]}]
    (message,) = parse(wire).messages
    assert message.parts == (Opaque(kind="encrypted_stdout"), Text(text="e"))
    assert read_result(content=[sealed]) == (Text(text="x"), Text(text="e"))


def test_pictures_and_documents_of_the_user_are_opaque() -> None:
    blocks = [
        {"type": kind, "source": {"type": "text"}}
        for kind in ("image", "document", "search_result")
    ]
    (message,) = parse([user(*blocks)]).messages
    assert message.unreadable == ("image", "document", "search_result")


@pytest.mark.parametrize("system", ["Be kind.", [{"type": "text", "text": "Be kind."}]])
def test_the_system_prompt_comes_first(system: object) -> None:
    wire = {"system": system, "messages": [{"role": "user", "content": "hi"}]}
    assert parse(wire).messages == (
        text_message(Level.SYSTEM, "Be kind."),
        text_message(Level.USER, "hi"),
    )


def test_a_system_message_after_the_beginning_is_data() -> None:
    wire = [{"role": "user", "content": "hi"}, {"role": "system", "content": "Be brief."}]
    assert [m.level for m in parse(wire).messages] == [Level.USER, Level.TOOL]
    assert [m.level for m in parse(wire[::-1]).messages] == [Level.SYSTEM, Level.USER]


@pytest.mark.parametrize("empty", ["", []])
def test_a_message_without_content_is_still_a_message(empty: object) -> None:
    wire = [{"role": "user", "content": empty}]
    assert parse(wire).messages == (Message(level=Level.USER),)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ([user(USE)], "messages[0].content[0]: only an assistant message can call tools"),
        (
            [{"role": "tool", "content": "x"}],
            "messages[0].role: must be one of system, user, assistant",
        ),
        ([{"role": "user"}], "messages[0].content: a string or a list of blocks is needed"),
        ([user("x")], "messages[0].content[0]: an object is needed, found a string"),
        (
            [user({"type": "text", "text": 1})],
            "content[0].text: a string is needed, found a whole number",
        ),
        ([assistant({**USE, "name": None})], "content[0].name: a string is needed"),
        ([assistant({**USE, "input": 1})], "content[0].input: a string or an object is needed"),
        ([user(result(is_error="yes"))], "content[0].is_error: true or false is needed"),
        ({"system": 1, "messages": []}, "system: a string or a list of blocks is needed"),
        (
            {"messages": [], "tools": [{"type": "custom", "input_schema": {}}]},
            "tools[0].name: a string is needed",
        ),
    ],
)
def test_errors_name_the_path(payload: object, message: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        parse(payload)
    assert message in str(caught.value)
