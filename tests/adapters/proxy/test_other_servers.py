"""What servers with these wire formats add to them passes as it came."""

import json
from typing import Any

import pytest

from taskshield.adapters.proxy.openai_chat import body as chat_format
from tests.adapters.proxy.sdks import BENCHES, Bench, fed
from tests.adapters.proxy.streams import Call, Said, sse

HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
DELTAS: list[dict[str, Any]] = [
    {"reasoning_content": "Hm."},
    {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
    {"tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "x"}}}]},
    {"tool_calls": [CALL], "function_call": None},
    {"content": "x", "annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}]},
]
MEMBERS: list[dict[str, Any]] = [
    {"x_groq": {"id": "r", "usage": {"queue_time": 0.1}}},
    {"provider": "P", "native_finish_reason": None},
    {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {}}}]},
    {"timings": {"prompt_n": 1}, "search_results": [{"title": "t", "url": "u"}]},
    {"usage": {"prompt_tokens_details": {"cached_tokens": 0}}, "service_tier": "x"},
]


@pytest.mark.parametrize("delta", DELTAS, ids=str)
@pytest.mark.parametrize("members", MEMBERS, ids=str)
def test_members_of_other_servers_pass(delta: dict[str, Any], members: dict[str, Any]) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": None, "stop_reason": None}
    ending = {**choice, "delta": {}, "finish_reason": "stop", "content_filter_results": {"a": {}}}
    chunks = [{**HEAD, **members, "choices": [each]} for each in (choice, ending)]
    stream = [b": PROCESSING\n\n", *(sse(each) for each in chunks), b"data: [DONE]\n\n"]
    gate = chat_format.gate()
    assert fed(gate, stream) + b"".join(gate.release()) == b"".join(stream)


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_usual_lines_pass_as_they_came(bench: Bench, end: bytes) -> None:
    said = Said(text="Hi.", calls=[Call("a", "f", "{}")])
    stream = [b"id: 7\n" + each.replace(b"data: ", b"data:") for each in bench.stream(said)]
    stream = [each.replace(b"\n", end) for each in [b"retry: 3000\n\n", *stream]]
    gate = bench.wire_format.gate()
    assert fed(gate, stream) + b"".join(gate.release()) == b"".join(stream)


def test_a_message_beside_a_delta_is_left_out() -> None:
    """Some servers repeat the text so far."""
    so_far = {"role": "assistant", "content": "Hi."}
    choice = {"index": 0, "delta": {"content": "Hi."}, "message": so_far, "finish_reason": "stop"}
    gate = chat_format.gate()
    fed(gate, [sse({**HEAD, "choices": [choice]}), b"data: [DONE]\n\n"])
    (chunk, _) = b"".join(gate.release()).split(b"\n\n", 1)
    (sent,) = json.loads(chunk.removeprefix(b"data: "))["choices"]
    assert sent["delta"] == {"content": "Hi."} and "message" not in sent
