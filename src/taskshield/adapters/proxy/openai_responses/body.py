"""OpenAI Responses, for a proxy.

Tools that run at the provider (web search, file search, code interpreter, remote MCP, ...) have run
when their items arrive and cannot be refused any more: they are unreadable parts of an answer. An
`mcp_approval_request` comes before the run, and is a call like any other.

The provider may store its answers. A call that was removed is then still open at the provider, and
the next request must have a result for it: see `results_of` and `resumed`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from taskshield.adapters.conversations import openai_responses
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body, Place, Reply, Request
from taskshield.adapters.proxy.feedback_rounds import GAP, answer
from taskshield.adapters.proxy.openai_responses.items import (
    as_read,
    calls_of,
    note_item,
    result,
    sendable,
    shell_chunk,
)
from taskshield.adapters.proxy.openai_responses.outlet import ResponsesOutlet
from taskshield.adapters.proxy.openai_responses.stream import ResponsesAssembly, check_response
from taskshield.adapters.proxy.output_edits import rewritten, with_texts
from taskshield.adapters.proxy.stream_gate import Gate
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque

_REWRITABLE = frozenset(
    {
        "apply_patch_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "mcp_call",
        "shell_call_output",
    }
)
"""Items whose `output` the proxy may rewrite."""


def read_request(body: object) -> Request:
    """Read a client's request."""
    request = Field(value=body, key="request")
    streams = request["stream"].flag() is True
    given = request["input"].value
    readable = {
        **request.mapping(),
        "input": [as_read(item) for item in given] if isinstance(given, list) else given,
    }
    conversation = openai_responses.parse(readable)
    turns = openai_responses.turns(readable)
    continues = _continued(request)
    return Request(
        conversation=conversation,
        places=tuple(_place(given, turn) for turn in turns),
        streams=streams,
        continues=continues,
        provider_conversation=continues if request["conversation"].given else None,
        in_background=bool(request["background"].value),
    )


def with_outputs(body: Body, texts: Mapping[Place, str]) -> Body:
    """The request with other texts for some tool outputs, and all else the same."""
    return with_texts(body, read_request(body), texts, _with_output)


def read_response(body: object) -> Reply:
    """Read a model's answer."""
    response = Field(value=body, key="response")
    check_response(response)
    if not response["output"].given:
        raise response["output"].wrong("a list of items")
    items = [dict(item.mapping()) for item in response["output"].elements()]
    calls = set(calls_of(items))
    read: list[Body] = []
    unreadable: list[Opaque] = []
    for number, item in enumerate(items):
        kind = str(item["type"])
        if number in calls or kind == "reasoning":
            read.append(as_read(item))
        elif kind == "message":
            read.append({**item, "role": "assistant"})
        else:
            unreadable.append(Opaque(kind=kind))
    # What stands in a call as if it were its output already is no message of the assistant.
    messages = [
        each for each in openai_responses.parse(read).messages if each.level is Level.ASSISTANT
    ]
    message = Message(
        level=Level.ASSISTANT,
        parts=(*(part for each in messages for part in each.parts), *unreadable),
        tool_calls=tuple(call for each in messages for call in each.tool_calls),
    )
    return Reply(
        id=response["id"].text_or("") or None,
        can_be_continued=True,
        messages=(message,),
    )


def without_calls(body: Body, refused: Collection[str], note: str) -> Body:
    """The answer without the calls of these ids, and with a note that says why."""
    items = body["output"]
    calls = list(_calls(body))
    dropped = {number for number, id in calls if id in refused}
    at = calls[0][0] if calls else len(items)
    kept = [item for number, item in enumerate(items) if number not in dropped]
    if any(item.get("type") == "message" and item.get("content") for item in kept[:at]):
        note = GAP + note  # clients join the texts
    return {**body, "output": [*kept[:at], note_item(body.get("id"), note), *kept[at:]]}


def with_feedback(body: Body, response: Body, refused: Collection[str], feedback: str) -> Body:
    """The next request of a feedback round.

    Raises:
        ConversationError: A call is of a type whose result cannot be a text.
    """
    items = response["output"]
    calls = list(_calls(response))
    results = [result(items[n], id, answer(id, refused, feedback)) for n, id in calls]
    if not any(id in refused for _, id in calls):
        results.append({"role": "user", "content": feedback})
    if body.get("conversation") is not None:
        # The provider has added the request and the answer to the conversation itself.
        return {**body, "input": results}
    sent_back = sendable(items, stored=body.get("store") is not False)
    return {**body, "input": [*_items(body), *sent_back, *results]}


def gate() -> Gate:
    """The gate for a streamed answer to one request, over all its rounds."""
    return Gate(assembly=ResponsesAssembly, outlet=ResponsesOutlet(), read=read_response)


def results_of(response: Body, refused: Collection[str], note: str) -> list[Body]:
    """Results for calls that were removed, for a request that continues this response.

    Raises:
        ConversationError: A call is of a type whose result cannot be a text.
    """
    items = response["output"]
    return [result(items[number], id, note) for number, id in _calls(response) if id in refused]


def resumed(body: Body, *, previous: str | None, results: Sequence[Body]) -> Body:
    """A request that continues a response from which calls were removed.

    Args:
        body: The client's request.
        previous: The id under which the provider stores the response: over several rounds of a
            stream the client sees the id of the first one, but must continue the last one.
        results: See `results_of`.
    """
    continues = body.get("previous_response_id") is not None and previous is not None
    renamed = {"previous_response_id": previous} if continues else {}
    return {**body, **renamed, "input": [*results, *_items(body)]}


def _place(items: object, turn: openai_responses.ResponseTurn) -> Place | None:
    number = turn.item
    if turn.message.level is not Level.TOOL or number is None or not isinstance(items, list):
        return None
    return ("input", number) if items[number].get("type") in _REWRITABLE else None


def _continued(request: Field) -> str | None:
    conversation = request["conversation"]
    if isinstance(conversation.value, dict):
        conversation = conversation["id"]
    return request["previous_response_id"].text_or("") or conversation.text_or("") or None


def _with_output(old: str, new: str, item: Body) -> Body:
    shell = item["type"] == "shell_call_output"
    return {**item, "output": rewritten(item.get("output"), old, new, _chunk if shell else _part)}


def _chunk(text: str) -> Body:
    return shell_chunk(text, status=0)


def _part(text: str) -> Body:
    return {"type": "input_text", "text": text}


def _items(body: Body) -> list[Body]:
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given or []


def _calls(response: Body) -> Iterator[tuple[int, str]]:
    """The number of each item that is a call, and the call's id."""
    (message,) = read_response(response).messages
    ids = (call.id for call in message.tool_calls)
    return zip(calls_of(response["output"]), ids, strict=True)
