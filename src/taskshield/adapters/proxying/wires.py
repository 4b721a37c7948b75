"""The wires that a proxy can guard, by the paths that clients post to."""

from collections.abc import Mapping

from taskshield.adapters.proxying import anthropic, chat, responses
from taskshield.adapters.proxying.wire import Wire

BY_PATH: Mapping[str, Wire] = {
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    "/v1/messages": anthropic,
}
