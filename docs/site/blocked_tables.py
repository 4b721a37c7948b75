"""Tables of docs/benchmarks.md about what the embedded judge blocks in labelled conversations.

The files of results keep the keys that they were written with. `_LABELS` maps them to plain words.
"""

from result_files import grid, results

_LABELS = {
    "look-up": "read calls",
    "good": "legitimate calls with side effects",
    "attack": "calls of the attacker",
    "conversation without an attack": "conversations without an attack",
    "drift": "calls that drift from the task",
    "the user asks": "user gives the task",
    "the user points": "user refers to data",
    "the user hands over": "user delegates",
    "errands": "web tasks",
    "bad": "injected",
    "good texts": "legitimate",
    "known": "known kinds",
    "azure_documented": "Azure's documented calls",
    "paper_examples": "the paper's examples",
    "held_out": "kinds held out",
}
_CONTRAST = ("misaligned", "aligned")
_FIRST = ("the user asks", "the user points", "the user hands over")


def public_conversations() -> str:
    """Conversations made from public data."""
    return _blocked("public_conversations")


def pointed_work() -> str:
    """Conversations whose task leads to a request of a third party."""
    return _blocked("pointed_work")


def own_worlds() -> str:
    """Test environments that were not used for training, with and without attacks."""
    record = results("own_worlds")
    counts: dict[str, dict[str, dict[str, int]]] = record["held"]
    lines = []
    for user in _FIRST:
        clean = counts[f"{user}, no attack"]
        row = [clean["good"], clean["conversation without an attack"]]
        row += [
            counts[f"{user}, {wording}"]["attack"] for wording in ("plain", "dressed", "blended")
        ]
        lines.append((_LABELS[user], *map(_of, row)))
    head = (
        "",
        "legitimate calls",
        "conversations without an attack",
        "attacks, plain",
        "dressed as an order",
        "blended",
    )
    return f"{grid(head, lines)}\n\n{_conversations(record)}"


def bfcl() -> str:
    """A public suite without attacks."""
    lines = []
    for part, counts in results("bfcl")["held"].items():
        calls = [each for what, each in counts.items() if what != "conversation"]
        number, blocked = (sum(each[key] for each in calls) for key in ("number", "held"))
        whole = counts["conversation"]
        row = (f"{number:,}", str(blocked), f"{whole['number']}", str(whole["held"]))
        lines.append((f"`{part}`", *row, _share(whole)))
    head = ("part", "calls", "blocked", "conversations", "with a blocked call", "per cent")
    return grid(head, lines)


def dialogues() -> str:
    """Dialogues between users and agents."""
    record = results("dialogues")
    counts: dict[str, dict[str, dict[str, int]]] = record["held"]
    kinds = ("good", "conversation without an attack", "attack", "drift")
    lines = [
        (_LABELS.get(name, name), *(_count(each[kind]) for kind in kinds))
        for name, each in counts.items()
    ]
    sums = [
        {key: sum(each[kind][key] for each in counts.values()) for key in ("held", "number")}
        for kind in kinds
    ]
    head = ("", *(_LABELS[kind] for kind in kinds))
    table = grid(head, [*lines, ("all", *(f"{_share(each)} %" for each in sums))])
    return f"{table}\n\n{_conversations(record)}"


def contrast() -> str:
    """Contrast sets, by kind and by what is wrong with a call."""
    record = results("contrast")
    files = [name.removesuffix(".jsonl") for name in record["inputs"]]
    lines = []
    for file in files:
        for row, counts in record[file]["held"].items():
            cells = [_of(counts[what]) if what in counts else "" for what in _CONTRAST]
            lines.append((f"{_LABELS[file]}, {row}", *cells))
    talks = [f"{record[file]['conversations']} ({_LABELS[file]})" for file in files]
    return f"{grid(('', *_CONTRAST), lines)}\n\nFrom {', '.join(talks)} distinct conversations."


def agent_texts() -> str:
    """Texts of agents, legitimate and injected."""
    record = results("agent_texts")
    counts = record["held"]["a text"]
    labels = {"good": "legitimate", "bad": "injected"}
    lines = [(labels[kind], _of(each)) for kind, each in counts.items()]
    return f"{grid(('texts', 'sent back, per cent'), lines)}\n\n{_conversations(record)}"


def _blocked(name: str) -> str:
    record = results(name)
    lines = [
        (_LABELS[who], _LABELS[what], f"{each['number']:,}", _share(each))
        for who, counts in record["held"].items()
        for what, each in counts.items()
    ]
    table = grid(("", "of", "number", "blocked, per cent"), lines)
    return f"{table}\n\n{_conversations(record)}"


def _conversations(record: dict[str, int]) -> str:
    return f"From {record['conversations']:,} distinct conversations."


def _of(count: dict[str, int]) -> str:
    return f"{_share(count)} of {count['number']:,}"


def _count(count: dict[str, int]) -> str:
    return f"{count['held']} of {count['number']:,}"


def _share(count: dict[str, int]) -> str:
    return f"{100 * count['held'] / count['number']:.1f}"
