"""Tool outputs as training examples: segments, each with a label that says whose words it holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from taskshield.core.levels import Level
from taskshield.judges.embedded.evidence.conversation_index import tool_name_words
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.text.segments import Segment, segments
from taskshield_lab.training.conversations.labelled import LabelledConversation, SpanLabel
from taskshield_lab.training.conversations.pointed_requests import label_pointed_spans

Label = Literal["attack", "benign", "pointed", "obey", "wish", "echo", "plain"]
"""Whose words a segment holds. The names are stored in prediction files.

- attack: an attacker's
- benign: a third party's that harm no one: an imperative, or an inserted neutral sentence
- pointed: an imperative that the user's task leads to
- obey: a directive that the user's delegation covers
- "wish": a third party's request that is no task of the user's
- echo: a third party's request that is a task of the user's as well
- plain: no directive
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputExample:
    """A tool output in segments, each with its label."""

    message: int
    head: str
    """The tool's name in words."""
    request: str = ""
    """What the user wants; empty where the network is not shown it."""
    pieces: tuple[str, ...]
    """The texts of the segments."""
    labels: tuple[Label, ...]

    @property
    def heading(self) -> str:
        """What the network reads before the segments."""
        return inputs.heading(self.head, self.request)


def output_examples(
    conversation: LabelledConversation, *, with_request: bool = True
) -> Iterator[OutputExample]:
    """The tool outputs of a conversation, each with what the user has asked for so far.

    Args:
        conversation: The conversation.
        with_request: Whether the network is shown what the user wants.
    """
    calls = {call.id: call for message in conversation.messages for call in message.tool_calls}
    spans = label_pointed_spans(conversation)
    requests: list[str] = []
    for number, message in enumerate(conversation.messages):
        if message.level is Level.USER and with_request:
            requests.append(message.text)
        if message.level is not Level.TOOL:
            continue
        found = segments(message.text)
        call = calls.get(message.answers or "")
        yield OutputExample(
            message=number,
            head="" if call is None else tool_name_words(call.name),
            request="\n".join(requests),
            pieces=tuple(segment.text for segment in found),
            labels=tuple(label_of(segment, spans[number], otherwise="plain") for segment in found),
        )


def label_of(segment: Segment, spans: Iterable[SpanLabel], *, otherwise: Label) -> Label:
    """The label of the span that covers at least half of a segment; an attack comes first."""
    best = otherwise
    for span in spans:
        shared = min(segment.end, span.end) - max(segment.start, span.start)
        if shared * 2 >= segment.end - segment.start and best != "attack":
            best = span.kind
    return best
