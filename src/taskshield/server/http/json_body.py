"""The JSON of a request: within the limits, and read in a thread where it is long.

Every surface reads its requests here. What they mean is a matter of the adapters.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from starlette.requests import Request

from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import Excess, JsonLimits, JsonTooLarge, read_json
from taskshield.server.http.errors import RequestError
from taskshield.server.threads import off_loop
from taskshield.settings import LimitSettings

_MESSAGES = ("messages", "input")
"""Members of a conversation that list its messages, in any wire format."""
_PARTS = ("parts", "content", "contents", "tool_calls", "toolCalls")
"""Members of a message that list its parts or calls."""


class BoundedRequest(Request):
    """A request whose JSON is read within the limits, for routes that the framework parses."""

    async def json(self) -> Any:
        """The body as JSON.

        Raises:
            RequestError: It is not JSON, or beyond a limit.
        """
        return await json_body(self)


async def json_body(request: Request) -> object:
    """The body of a request as JSON.

    Raises:
        RequestError: It is not JSON, or beyond a limit.
    """
    limits: LimitSettings = request.state.limits
    body = await request.body()
    return await off_loop(len(body), partial(_read, body, limits))


def _read(body: bytes, limits: LimitSettings) -> object:
    most = JsonLimits(depth=limits.depth, values=limits.values, keys=limits.keys)
    try:
        read = read_json(body, most)
    except JsonTooLarge as error:
        raise _beyond(error.excess, limits) from None
    except WireFormatError:
        raise RequestError(400, "invalid_request", "The body is not valid JSON.") from None
    _check_counts(read, limits)
    return read


def _check_counts(body: object, limits: LimitSettings) -> None:
    """Check how many messages, parts and tools there are, before any of them is read."""
    for conversation in _conversations(body):
        if len(_listed(conversation, "tools")) > limits.tools:
            raise _too_many("tools", limits.tools)
        for name in _MESSAGES:
            messages = _listed(conversation, name)
            if len(messages) > limits.messages:
                raise _too_many("messages", limits.messages)
            for message in messages:
                if any(len(_listed(message, each)) > limits.parts for each in _PARTS):
                    raise _too_many("parts", limits.parts, "A message of the request")


def _conversations(body: object) -> Iterator[object]:
    """The body, or the conversation in it, as an object."""
    for each in (body, body.get("conversation") if isinstance(body, Mapping) else None):
        yield {"messages": each} if isinstance(each, list) else each


def _listed(value: object, name: str) -> list[object]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def _too_many(what: str, most: int, where: str = "The request") -> RequestError:
    return RequestError(413, f"too_many_{what}", f"{where} has more than {most} {what}.")


def _beyond(excess: Excess, limits: LimitSettings) -> RequestError:
    match excess:
        case "depth":
            message = f"The body is nested more than {limits.depth} levels deep."
            return RequestError(400, "too_deep", message)
        case "values":
            message = f"The body has more than {limits.values} JSON values."
            return RequestError(413, "too_many_values", message)
        case "keys":
            message = f"An object in the body has more than {limits.keys} members."
            return RequestError(413, "too_many_keys", message)
