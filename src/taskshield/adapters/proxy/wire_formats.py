"""The wire formats that a proxy can guard, by the paths that clients post to."""

from collections.abc import Mapping

from taskshield.adapters.proxy.anthropic import body as anthropic_format
from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.wire_format import WireFormat

BY_PATH: Mapping[str, WireFormat] = {
    "/v1/chat/completions": chat_format,
    "/v1/responses": responses_format,
    "/v1/messages": anthropic_format,
}
