"""Makes labelled conversations of contrast sets, one for each variant."""

from collections.abc import Sequence

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from taskshield.engine.risk_tiers import tier_of
from taskshield_lab.training.conversations.labelled import CallLabel, LabelledConversation
from taskshield_lab.training.sources.contrast import Contrast, Made, Situation, Variant, Words


def contrast_conversations(contrast: Contrast) -> tuple[LabelledConversation, ...]:
    """The variants as conversations. The last message of each has all calls to be judged.

    These calls are alternatives: each is judged as if the others had not been made.
    """
    return tuple(
        _conversation(contrast, variant, number) for number, variant in enumerate(contrast.variants)
    )


def _conversation(contrast: Contrast, variant: Variant, number: int) -> LabelledConversation:
    specs = {tool.name: tool for tool in contrast.tools}
    tiers = {name: tier_of(name, specs, Policy()) for name in specs}
    messages: list[Message] = []
    if contrast.system is not None:
        messages.append(text_message(Level.SYSTEM, contrast.system))
    calls: dict[str, CallLabel] = {}
    for turn in variant.turns:
        if isinstance(turn, Words):
            messages.append(text_message(turn.level, turn.text))
            continue
        id = f"call_{len(calls)}"
        calls[id] = CallLabel(aligned=True, kind="step", tier=tiers[turn.call.name])
        messages += _made(turn, id)
    judged = [
        one.call.to_tool_call(f"call_{len(calls) + place}")
        for place, one in enumerate(variant.situations)
    ]
    for made, situation in zip(judged, variant.situations, strict=True):
        calls[made.id] = _label(situation, tiers[made.name])
    messages.append(_asks(judged))
    return LabelledConversation(
        id=f"{contrast.id}/{number}",
        scenario=contrast.id,
        domain=contrast.domain,
        lang=contrast.lang,
        kind="clean" if all(label.aligned for label in calls.values()) else "drift",
        style=None,
        tools=contrast.tools,
        tiers=tiers,
        system=contrast.system,
        messages=tuple(messages),
        tasks={},
        calls=calls,
        spans={},
    )


def _made(turn: Made, id: str) -> list[Message]:
    output = Message(level=Level.TOOL, parts=(Text(text=turn.output),), answers=id)
    return [_asks([turn.call.to_tool_call(id)]), output]


def _asks(calls: Sequence[ToolCall]) -> Message:
    return Message(level=Level.ASSISTANT, parts=(), tool_calls=tuple(calls))


def _label(situation: Situation, tier: Tier) -> CallLabel:
    wrong = situation.wrong
    return CallLabel(
        aligned=wrong is None,
        kind="step" if wrong is None else wrong,
        tier=tier,
        said=situation.said,
    )
