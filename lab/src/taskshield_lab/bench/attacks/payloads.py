"""From a text to a payload: the same words in every place that the agent will read."""

from taskshield_lab.bench.attacks.context import AttackContext, Payload


def everywhere(scene: AttackContext, text: str, *, essential: str | None = None) -> Payload | None:
    """The text in all slots; None where the attacker can write nowhere.

    Args:
        scene: What the attacker knows.
        text: What he writes.
        essential: What must survive of it; None means the goal, which then stands there verbatim.
    """
    if not scene.slots:
        return None
    kept = scene.goal if essential is None else essential
    return Payload(slots=dict.fromkeys(scene.slots, text), essential=kept)
