"""Makes labelled conversations of openings, each with one call."""

from collections.abc import Iterator

from taskshield.core.levels import Level
from taskshield.core.messages import Message, text_message
from taskshield_lab.training.conversations.labelled import CallKind, CallLabel, LabelledConversation
from taskshield_lab.training.conversations.plans import Kind
from taskshield_lab.training.conversations.toolsets import tool_specs
from taskshield_lab.training.sources.scenarios import Call, Opening


def opening_conversations(
    opening: Opening, wrong: slice = slice(None)
) -> Iterator[LabelledConversation]:
    """A conversation for each right call and for each wrong one in the slice."""
    for number, call in enumerate(opening.right):
        yield _conversation(opening, call, "step", "clean", f"{opening.id}:right-{number}")
    for number, call in list(enumerate(opening.wrong))[wrong]:
        yield _conversation(opening, call, "drift", "drift", f"{opening.id}:wrong-{number}")


def _conversation(
    opening: Opening, call: Call, why: CallKind, kind: Kind, id: str
) -> LabelledConversation:
    tiers = {tool.name: tool.tier for tool in opening.tools}
    made = call.to_tool_call("call_0")
    said = [text_message(Level.USER, text) for text in opening.turns]
    if opening.system is not None:
        said.insert(0, text_message(Level.SYSTEM, opening.system))
    label = CallLabel(aligned=why == "step", kind=why, tier=tiers[call.name])
    return LabelledConversation(
        id=id,
        scenario=opening.id,
        domain=opening.domain,
        lang=opening.lang,
        kind=kind,
        style=None,
        tools=tool_specs(opening.tools),
        tiers=tiers,
        system=opening.system,
        messages=(*said, Message(level=Level.ASSISTANT, parts=(), tool_calls=(made,))),
        tasks={},
        calls={made.id: label},
        spans={},
    )
