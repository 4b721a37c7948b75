"""What must hold for every format, whatever arrives."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taskshield.adapters.conversations import anthropic_messages, detect, native, openai_chat
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, HostMessage

Parse = Callable[[object], object]
PARSERS: list[Parse] = [openai_chat.parse, anthropic_messages.parse, native.parse, detect.parse]
ALL = pytest.mark.parametrize("parse", PARSERS, ids=lambda parse: parse.__module__.split(".")[-1])


SECRET = "hunter2"
WORDS = st.sampled_from(
    "taskshield messages tools role level content parts text type name id function arguments "
    "tool_calls function_call custom input tool_call_id tool_use_id answers is_error system user "
    "assistant tool tool_use tool_result thinking web_search_tool_result source data image url "
    "annotations readOnlyHint parameters input_schema kind".split()
)
TEXTS = WORDS | st.text(st.characters(exclude_categories=()), max_size=8) | st.just(SECRET)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)
BLOCKS = st.dictionaries(WORDS, ANYTHING, max_size=3).flatmap(
    lambda rest: st.fixed_dictionaries({"type": TEXTS, "text": TEXTS}).map(lambda b: {**rest, **b})
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]) | TEXTS
NEARLY_MESSAGES = st.fixed_dictionaries(
    {"role": ROLES},
    optional={
        "content": TEXTS | st.lists(BLOCKS | ANYTHING, max_size=4) | ANYTHING,
        "tool_calls": st.lists(
            st.fixed_dictionaries({"function": st.fixed_dictionaries({"name": TEXTS})}) | ANYTHING,
            max_size=3,
        ),
        "function_call": ANYTHING,
        "tool_call_id": ANYTHING,
        "name": ANYTHING,
        "level": ROLES,
    },
)
PAYLOADS = (
    ANYTHING
    | st.lists(NEARLY_MESSAGES, max_size=4)
    | st.fixed_dictionaries(
        {"messages": st.lists(NEARLY_MESSAGES, max_size=4)},
        optional={
            "tools": st.lists(st.dictionaries(WORDS, ANYTHING), max_size=3),
            "system": TEXTS | st.lists(BLOCKS, max_size=3),
            "taskshield": st.just(1),
        },
    )
)


@ALL
@given(payload=PAYLOADS)
def test_any_json_is_read_or_refused_without_quoting_it(parse: Parse, payload: object) -> None:
    try:
        parse(payload)
    except WireFormatError as error:
        assert SECRET not in str(error)


def nested(levels: int, wrap: Callable[[object], object]) -> object:
    value: object = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


@ALL
@pytest.mark.parametrize("levels", [150, 100_000])
def test_endless_nesting_is_refused(parse: Parse, levels: int) -> None:
    in_lists = nested(levels, lambda value: [value])
    in_objects = nested(levels, lambda value: {"content": value})
    for payload in (
        in_lists,
        in_objects,
        [{"role": "user", "content": in_lists}],
        {"messages": [], "tools": [{"name": "f", "parameters": in_objects}]},
        {
            "system": "x",
            "messages": [
                {"role": "user", "content": [{"type": "tool_result", "content": in_lists}]}
            ],
        },
        {"taskshield": 1, "messages": [], "tools": [{"name": "f", "parameters": in_objects}]},
    ):
        with pytest.raises(WireFormatError):
            parse(payload)


@ALL
def test_a_value_that_contains_itself_is_refused(parse: Parse) -> None:
    schema: dict[str, object] = {}
    schema["properties"] = [schema, schema]
    with pytest.raises(WireFormatError, match="nested more than"):
        parse({"taskshield": 1, "messages": [], "tools": [{"name": "f", "parameters": schema}]})


# Every text below says who wrote it, so that a text at a higher level than its author's stands out.
def said(level: Level) -> st.SearchStrategy[str]:
    return st.text("xyz \n", max_size=5).map(lambda words: f"<{level.value}>{words}")


def text_parts(level: Level) -> st.SearchStrategy[Any]:
    blocks = st.fixed_dictionaries({"type": st.just("text"), "text": said(level)})
    return said(level) | st.lists(blocks, max_size=3)


def openai_message(role: str, level: Level) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"role": st.just(role), "content": text_parts(level)})


OPENAI = st.lists(
    openai_message("system", Level.SYSTEM)
    | openai_message("developer", Level.SYSTEM)
    | openai_message("user", Level.USER)
    | openai_message("assistant", Level.ASSISTANT)
    | openai_message("tool", Level.TOOL)
    | openai_message("function", Level.TOOL)
)

RESULTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["tool_result", "web_fetch_tool_result", "odd_tool_result"]),
        "content": st.recursive(
            text_parts(Level.TOOL),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["role", "text", "system", "user", "output", "content"]), inner
                )
            ),
        ),
    }
)


def anthropic_message(role: str, level: Level) -> st.SearchStrategy[Any]:
    own = st.fixed_dictionaries({"type": st.just("text"), "text": said(level)})
    content = said(level) | st.lists(own | RESULTS, max_size=4)
    return st.fixed_dictionaries({"role": st.just(role), "content": content})


ANTHROPIC = st.lists(
    anthropic_message("system", Level.SYSTEM)
    | anthropic_message("user", Level.USER)
    | anthropic_message("assistant", Level.ASSISTANT)
)


@given(OPENAI)
def test_openai_text_keeps_the_level_of_its_author(payload: object) -> None:
    assert_levels_kept(payload, openai_chat.parse(payload))


@given(ANTHROPIC)
def test_anthropic_text_keeps_the_level_of_its_author(payload: object) -> None:
    assert_levels_kept(payload, anthropic_messages.parse(payload))


@given(ANTHROPIC, st.text("ab", min_size=1))
def test_a_system_prompt_changes_the_level_of_no_other_message(
    payload: object, prompt: str
) -> None:
    whole = anthropic_messages.parse({"system": f"<system>{prompt}", "messages": payload})
    assert whole.messages[1:] == anthropic_messages.parse(payload).messages


@given(OPENAI)
def test_detection_does_not_change_levels(payload: list[object]) -> None:
    assume(payload)
    assert detect.parse(payload).conversation == openai_chat.parse(payload)


def assert_levels_kept(payload: object, conversation: Conversation) -> None:
    for message in conversation.messages:
        for line in message.text.split("<")[1:]:
            author = Level(line.partition(">")[0])
            is_data = isinstance(message, HostMessage) and message.level is Level.TOOL
            assert is_data or author is message.level
            assert message.level <= author
    texts = [message.text for message in conversation.messages]
    assert "".join(texts).count("<") == str(payload).count("<")
