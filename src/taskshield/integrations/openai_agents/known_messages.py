"""Which messages of a run the session has, so that none is added twice."""

from taskshield.core.messages import Message
from taskshield.integrations.openai_agents.conversations import Messages


class KnownMessages:
    """The calls and results of one run that the session has."""

    def __init__(self, start: Messages = ()) -> None:
        self._start = start
        """The messages at the start of the run."""
        self._calls: set[str] = set()
        """Ids of the calls that the session has."""
        self._results: set[str] = set()
        """Ids of the calls whose result the session has, or does not need."""
        for message in start:
            self.add(message)

    def add(self, message: Message) -> bool:
        """Note a message; whether its calls or its result were new."""
        calls = {call.id for call in message.tool_calls}
        results = set() if message.answers is None else {message.answers}
        new = not (calls <= self._calls and results <= self._results)
        self._calls |= calls
        self._results |= results
        return new

    def add_result(self, call_id: str) -> None:
        """Note that the session does not need the result of this call."""
        self._results.add(call_id)

    def are_in(self, messages: Messages) -> bool:
        """Whether all that the session has of this run is in these messages."""
        calls = {call.id for message in messages for call in message.tool_calls}
        results = {message.answers for message in messages}
        same_start = messages[: len(self._start)] == self._start
        return same_start and self._calls <= calls and self._results <= results
