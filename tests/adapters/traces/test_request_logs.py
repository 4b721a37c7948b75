"""Requests and responses as gateways and SDK wrappers log them."""

import json
from typing import Any

import pytest

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.traces.assembly import Piece, conversations
from taskshield.adapters.traces.request_logs import is_exchange, read
from taskshield.core.errors import WireFormatError
from tests.adapters.message_tuples import (
    ANSWER,
    CALL,
    DONE,
    FUNCTION,
    OUTPUT,
    TASK,
    MessageTuple,
    as_tuples,
)


def completion(message: object) -> dict[str, Any]:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def pieces(*payloads: dict[str, Any]) -> list[Piece]:
    assert all(map(is_exchange, payloads))
    return [
        read(Field(value=payload, key="record"), number) for number, payload in enumerate(payloads)
    ]


def only(*payloads: dict[str, Any]) -> list[MessageTuple]:
    found = pieces(*payloads)
    assert len({piece.group for piece in found}) == 1
    (conversation,) = conversations(found)
    return as_tuples(conversation)


def test_what_is_an_exchange() -> None:
    assert not is_exchange({"messages": []}) and not is_exchange({"response": {}})
    assert not is_exchange([])


def test_exchanges_of_one_conversation_are_found_by_how_it_began() -> None:
    first = {"request": {"messages": [TASK]}, "response": completion(CALL)}
    second = {
        "request": {"messages": [TASK, CALL, OUTPUT]},
        "response": completion(ANSWER),
    }
    assert only(first, second) == DONE


def test_a_conversation_that_has_a_name() -> None:
    exchange = {"request": {"messages": [TASK]}, "response": completion(CALL)}
    (piece,) = pieces({**exchange, "conversation_id": "conv-1"})
    assert (piece.group, piece.named) == ("conv-1", True)


@pytest.mark.parametrize(
    ("request_", "response"),
    [
        ({"body": {"messages": [TASK]}}, {"status_code": 200, "body": completion(CALL)}),
        (json.dumps({"messages": [TASK]}), json.dumps(completion(CALL))),
        ({"url": "/v1", "json": json.dumps({"messages": [TASK]})}, completion(CALL)),
    ],
)
def test_what_logs_wrap_around(request_: object, response: object) -> None:
    assert only({"request": request_, "response": response}) == DONE[:2]


def test_a_record_that_is_the_request_itself() -> None:
    assert only({"messages": [TASK], "response": completion(CALL)}) == DONE[:2]


def test_several_answers_are_one_message() -> None:
    choices = [{"message": CALL}, {"message": CALL}, {"message": ANSWER}]
    found = only({"request": {"messages": [TASK]}, "response": {"choices": choices}})
    assert found == [DONE[0], ("assistant", "Lunch on Friday.", DONE[1][2], None)]


def test_an_exchange_in_anthropics_format() -> None:
    use = {"type": "tool_use", "id": "c1", "name": "read_mail", "input": {"folder": "in"}}
    asked = {"system": "You help.", "messages": [TASK], "tools": [{"name": "read_mail"}]}
    response = {"type": "message", "role": "assistant", "content": [use]}
    found = pieces({"request": asked, "response": response})
    assert [spec.name for spec in found[0].step.tools] == ["read_mail"]
    assert as_tuples(conversations(found)[0]) == [("system", "You help.", (), None), *DONE[:2]]


def test_an_exchange_in_the_format_of_openai_responses() -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "c1", **FUNCTION}
    reasoning = {"type": "reasoning", "summary": []}
    response = {"object": "response", "output": [reasoning, call]}
    assert only({"request": {"input": DONE[0][1]}, "response": response}) == DONE[:2]


@pytest.mark.parametrize("response", [None, {"error": {"message": "overloaded"}}])
def test_a_request_that_failed_has_no_answer(response: object) -> None:
    assert only({"request": {"messages": [TASK]}, "response": response}) == DONE[:1]


def test_a_value_that_is_no_request_is_refused() -> None:
    with pytest.raises(WireFormatError):
        pieces({"request": {"prompt": "?"}, "response": None})
