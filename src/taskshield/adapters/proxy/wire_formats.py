"""The wires that a proxy can guard, by the paths that clients post to."""

from collections.abc import Mapping

from taskshield.adapters.proxy.anthropic import body
from taskshield.adapters.proxy.openai_chat import body as chat
from taskshield.adapters.proxy.openai_responses import body as responses
from taskshield.adapters.proxy.wire_format import Wire

BY_PATH: Mapping[str, Wire] = {
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    "/v1/messages": body,
}
