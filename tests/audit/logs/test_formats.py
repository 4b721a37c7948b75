"""What a record is taken for."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.audit.logs.formats import Part, Whole, split
from taskshield.core.errors import WireFormatError
from tests.adapters.message_tuples import as_tuples
from tests.audit.log_files import agentdojo, chat_span, clean, hijacked, sample, spans

ASK = {"role": "user", "content": "What is new?"}
SAID = {"role": "assistant", "content": "Nothing."}
RUN = {"id": "r", "run_type": "llm", "trace_id": "t", "inputs": {"messages": [ASK]}, "outputs": {}}
OBSERVED = {"id": "o", "type": "GENERATION", "traceId": "t", "input": [ASK], "output": SAID}
ANTHROPIC = {"system": "You help.", "messages": [ASK, SAID]}
NATIVE = {"taskshield": 1, "messages": [{"level": "user", "text": "What is new?"}]}
LANGCHAIN = [{"type": "human", "content": "What is new?"}, {"type": "ai", "content": "Nothing."}]
EXCHANGE = {"request": {"messages": [ASK]}, "response": {"choices": [{"message": SAID}]}}


def read(payload: object) -> list[Whole | Part | None]:
    return [unread() for unread in split(payload, 1)]


@pytest.mark.parametrize(
    ("payload", "formats"),
    [
        ([ASK, SAID], ["openai-chat"]),
        ({"messages": [ASK, SAID]}, ["openai-chat"]),
        ([{"messages": [ASK]}, [ASK, SAID]], ["openai-chat"] * 2),
        (LANGCHAIN, ["openai-chat"]),
        ({"messages": LANGCHAIN}, ["openai-chat"]),
        (ANTHROPIC, ["anthropic-messages"]),
        (NATIVE, ["taskshield"]),
        ({"model": "gpt", "input": "What is new?"}, ["openai-responses"]),
        (EXCHANGE, ["exchanges"]),
        (spans(chat_span("t", 1, ASK, SAID)), ["opentelemetry"]),
        (chat_span("t", 1, ASK, SAID), ["opentelemetry"]),
        (RUN, ["langsmith"]),
        ([RUN, RUN], ["langsmith"] * 2),
        ({"runs": [RUN], "cursors": {}}, ["langsmith"]),
        (OBSERVED, ["langfuse"]),
        ({"data": [OBSERVED], "meta": {"page": 1}}, ["langfuse"]),
        ({"id": "t", "observations": [OBSERVED]}, ["langfuse"]),
        (sample(1), ["inspect"]),
        ({"eval": {}, "samples": [sample(1), sample(2)]}, ["inspect"] * 2),
        (agentdojo(), ["agentdojo"]),
        ([], []),
    ],
)
def test_formats_are_known_by_their_signs(payload: object, formats: list[str]) -> None:
    assert [None if each is None else each.format for each in read(payload)] == formats


def test_scores_of_langfuse_are_no_part_of_a_conversation() -> None:
    assert read([{"id": "s", "traceId": "t", "name": "good", "value": 1}]) == [None]


@pytest.mark.parametrize(
    ("payload", "id"),
    [
        ({**clean(), "id": 7}, "7"),
        ({**clean(), "conversation_id": "conv"}, "conv"),
        ([ASK], ""),
        (sample(3), "3/1"),
        (agentdojo(), "banking/model/user_task_1"),
    ],
)
def test_conversations_keep_their_names(payload: object, id: str) -> None:
    (found,) = read(payload)
    assert isinstance(found, Whole) and found.id == id


def test_the_system_message_of_an_agentdojo_run_comes_first() -> None:
    (found,) = read(agentdojo())
    assert isinstance(found, Whole)
    assert as_tuples(found.conversation)[0] == ("system", "You help.", (), None)


@pytest.mark.parametrize("payload", [{}, {"a": 1}, "words", 3, None, {"input": "words"}])
def test_what_is_in_no_known_format_is_refused(payload: object) -> None:
    with pytest.raises(WireFormatError):
        read(payload)


def test_one_broken_part_spoils_no_other() -> None:
    broken = {"run_type": "llm", "inputs": {"messages": [{"role": "wizard"}]}}
    first, second = split([broken, RUN], 1)
    with pytest.raises(WireFormatError):
        first()
    assert isinstance(second(), Part)


KEYS = st.sampled_from(
    "messages role content parts type text tool_calls function args name id request response body"
    " input output choices message generations run_type inputs outputs extra metadata traceId"
    " spanId attributes key value stringValue arrayValue values kvlistValue events resourceSpans"
    " scopeSpans spans observations sessionId startTime start_time samples eval epoch error"
    " child_runs lc kwargs data runs system tools taskshield suite_name pipeline_name".split()
)
WORDS = KEYS | st.sampled_from(
    "user assistant tool system human ai text tool_call tool_call_response GENERATION TOOL SPAN llm"
    " chain chat execute_tool gen_ai.operation.name gen_ai.input.messages gen_ai.choice"
    " gen_ai.user.message tool_use function_call constructor [{ 1e999 {}".split()
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)
SKELETONS: list[dict[str, Any]] = [
    RUN,
    OBSERVED,
    EXCHANGE,
    sample(1),
    agentdojo(),
    spans(chat_span("t", 1, ASK, SAID)),
    hijacked(),
]


def attempt(payload: object) -> None:
    try:
        unread = list(split(payload, 1))
    except WireFormatError:
        return
    for each in unread:
        try:
            each()
        except WireFormatError:
            pass


@given(JSON)
def test_whatever_a_record_holds_only_the_right_error_is_raised(payload: object) -> None:
    attempt(payload)


@given(st.sampled_from(SKELETONS), st.data())
def test_the_same_of_records_that_are_nearly_right(skeleton: Any, data: st.DataObject) -> None:
    payload = json.loads(json.dumps(skeleton))
    place = payload
    for _ in range(data.draw(st.integers(0, 6))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list):
            break
        place = place[key]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    if keys:
        place[data.draw(st.sampled_from(keys))] = data.draw(JSON)
    attempt(payload)
