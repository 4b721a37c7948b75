"""A payload with the same text in every slot that the agent reads."""

from taskshield_lab.bench.attacks.context import AttackContext, Payload


def in_every_slot(
    context: AttackContext, text: str, *, essential: str | None = None
) -> Payload | None:
    """The text in all slots. None if there is no slot.

    Args:
        context: What the attacker knows.
        text: The injected text.
        essential: The part that must survive. None means the goal, which is then in the text.
    """
    if not context.slots:
        return None
    needed = context.goal if essential is None else essential
    return Payload(slots=dict.fromkeys(context.slots, text), essential=needed)
