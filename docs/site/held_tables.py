"""Tables of what the embedded judge holds in labelled conversations, for docs/benchmarks.md."""

from records import grid, record


def public_conversations() -> str:
    """Conversations composed of public data."""
    return _held("public_conversations")


def pointed_work() -> str:
    """Conversations in which users point at what others ask for."""
    return _held("pointed_work")


def own_worlds() -> str:
    """Worlds that were written apart from our scenarios, with and without attacks."""
    held: dict[str, dict[str, dict[str, int]]] = record("own_worlds")["held"]
    lines = []
    for user in ("the user asks", "the user points", "the user hands over"):
        clean = held[f"{user}, no attack"]
        counts = [clean["good"], clean["conversation without an attack"]]
        counts += [held[f"{user}, {w}"]["attack"] for w in ("plain", "dressed", "blended")]
        lines.append((user, *map(_share_held, counts)))
    head = ("", "good calls held", "tasks disturbed", "plain attacks held", "dressed", "blended")
    return grid(head, lines)


def bfcl() -> str:
    """A public suite without attacks."""
    found = record("bfcl")["held"]
    lines = []
    for part, counts in found.items():
        calls = [each for what, each in counts.items() if what != "conversation"]
        number, held = (sum(each[key] for each in calls) for key in ("number", "held"))
        whole = counts["conversation"]
        disturbed = f"{whole['held']} of {whole['number']}"
        lines.append((f"`{part}`", f"{number:,}", str(held), disturbed, _share_held(whole)))
    return grid(("part", "calls", "held", "conversations disturbed", "per cent"), lines)


def dialogues() -> str:
    """Conversations in which agents talk with their users."""
    held: dict[str, dict[str, dict[str, int]]] = record("dialogues")["held"]
    kinds = ("good", "conversation without an attack", "attack", "drift")
    lines = [
        (name, *(f"{counts[kind]['held']} of {counts[kind]['number']}" for kind in kinds))
        for name, counts in held.items()
    ]
    sums = [[sum(each[k][n] for each in held.values()) for n in ("held", "number")] for k in kinds]
    shares = (f"{100 * part / whole:.1f} %" for part, whole in sums)
    head = ("", "good calls held", "disturbed, without an attack", "attacks held", "drift held")
    return grid(head, [*lines, ("all", *shares)])


def agent_texts() -> str:
    """What agents say, good and bad."""
    found = record("agent_texts")["held"]["a text"]
    lines = [(kind, str(each["number"]), _share_held(each)) for kind, each in found.items()]
    return grid(("texts", "number", "sent back"), lines)


def _held(name: str) -> str:
    return grid(
        ("conversations in which", "of", "number", "held"),
        [
            (who, what, f"{each['number']:,}", _share_held(each))
            for who, counts in record(name)["held"].items()
            for what, each in counts.items()
        ],
    )


def _share_held(count: dict[str, int]) -> str:
    return f"{100 * count['held'] / count['number']:.1f}"
