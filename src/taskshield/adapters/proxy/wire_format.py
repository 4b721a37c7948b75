"""What a proxy needs of a wire format. The modules `body` of each format provide it.

All of it is pure. Unknown fields of a body stay as they are. A body that is given to a function
other than a `read_` one must have been read without an error.
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from taskshield.adapters.proxy.exchange import Body, Place, Reply, Request
from taskshield.adapters.proxy.stream_gate import Gate


class WireFormat(Protocol):
    """One wire format between agents and models."""

    def read_request(self, body: object) -> Request:
        """Read a client's request.

        Raises:
            WireFormatError: The body is not in this format; the message names the path.
        """

    def with_outputs(self, body: Body, texts: Mapping[Place, str]) -> Body:
        """The request with other texts for some tool outputs, and all else the same."""

    def read_response(self, body: object) -> Reply:
        """Read a model's answer.

        Raises:
            WireFormatError: The body is not in this format; the message names the path.
        """

    def without_calls(self, body: Body, refused: Collection[str], note: str) -> Body:
        """The answer without the calls of these ids, and with a note that says why.

        The other calls stay. Where none is left, the answer ends as one without calls does.
        """

    def with_feedback(
        self, body: Body, response: Body, refused: Collection[str], feedback: str
    ) -> Body:
        """The next request of a feedback round: the old one, the answer, and its results.

        The result of each refused call is the feedback. The results of the other calls say that
        they were not run either. Where none was refused, the feedback is about the text, and
        follows it.

        Raises:
            ConversationError: No feedback round is possible after this answer. Use `without_calls`.
        """

    def gate(self) -> Gate:
        """The gate for a streamed answer to one request, over all its rounds."""
