"""The records in tool outputs and in the agent's lists: rows with cells, from any of their formats.

Records bind the user's words to things. Nothing in a record restricts or allows anything.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from taskshield.core import deadline
from taskshield.core.json_limits import is_excessive
from taskshield.judges.embedded.restrictions.wording.words import TOKEN, lowered

_READ = 60_000
"""Characters of an output that are read."""
_MOST_ROWS = 400
_DEPTH = 6
_COLUMNS = re.compile(r"\||\t+|\s{2,}|\s[-–—·•]\s|;\s|,\s(?=\S)")
_PAIR = re.compile(
    r"^\s{0,12}(?:[-*•]\s{1,4})?\"?(?P<key>[^\W\d][\w .'/()-]{0,30}?)\"?"
    r"\s{0,4}[:=]\s{1,12}(?P<value>\S.*)$"
)
_ITEM = re.compile(
    r"^\s{0,6}(?:(?P<number>\d{1,2})[.):]|\(\d{1,2}\)|[-*•])"
    r"\s{1,8}(?P<text>\S.*)$"
)
_RULE = re.compile(r"^[\s|+:=_-]+$")


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its cells with their keys, and all its words."""

    cells: tuple[tuple[str, str], ...]
    """Keys are empty where the format has none; all in lower case."""
    tokens: frozenset[str]

    def column(self, value: str) -> str | None:
        """The key of the cell that is this value; its place where cells have no keys."""
        for number, (key, cell) in enumerate(self.cells):
            if cell == value:
                return key or str(number)
            if cell.startswith(value) and cell[len(value) : len(value) + 1] in (" ", ":", ","):
                return f"{key or number} begins"
        return None

    def called(self, column: str) -> str | None:
        """The value in a column, as `column` names it."""
        for number, (key, cell) in enumerate(self.cells):
            if column == (key or str(number)):
                return cell
            if column == f"{key or number} begins":
                first = TOKEN.search(cell)
                return None if first is None else first[0]
        return None


@dataclass(slots=True)
class Listing:
    """Rows of the same kind."""

    rows: list[Row]
    ordered: bool = False
    """Whether it is a list that the agent numbered or itemised."""
    with_token: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the rows that have a token."""

    def __post_init__(self) -> None:
        found: defaultdict[str, list[int]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            for token in row.tokens:
                found[token].append(number)
        self.with_token = dict(found)

    def rows_of(self, value: str) -> list[int]:
        """The rows that have a value as a cell or as one of their words."""
        tokens = TOKEN.findall(value)
        if not tokens:
            return []
        rows = set(self.with_token.get(tokens[0], ()))
        for token in tokens[1:]:
            rows &= set(self.with_token.get(token, ()))
        return sorted(rows)

    def rarity(self, token: str) -> int:
        """In how many rows a token stands."""
        return len(self.with_token.get(token, ()))


def shape(text: str) -> str:
    """How a value is written: W-31 and P-19 have the same shape."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text))


def row_of(cells: Sequence[tuple[str, str]]) -> Row:
    """A row with its tokens."""
    tokens: set[str] = set()
    for _, cell in cells:
        for token in TOKEN.findall(cell):
            tokens.add(token)
            if len(token) > 3 and any(mark in token for mark in "@./_'’"):
                tokens.update(part for part in re.split(r"[@./_'’]", token) if len(part) > 1)
    return Row(tuple(cells), frozenset(tokens))


def listings(text: str) -> list[Listing]:
    """The listings in an output, the outermost first."""
    text = text[:_READ]
    bare = text.strip()
    if bare[:1] in ("{", "[") and not is_excessive(bare):
        try:
            return [Listing(rows) for rows in _of_json(json.loads(bare), 0) if rows]
        except (ValueError, RecursionError):
            pass
    return [Listing(rows) for rows in _of_lines(lowered(text)) if rows]


def agent_list(text: str) -> Listing | None:
    """The list that the agent's text puts to the user, if it has just one."""
    groups: list[list[Row]] = []
    kind, last = "", -9
    for number, line in enumerate(lowered(text[:_READ]).splitlines()[: 4 * _MOST_ROWS]):
        match = _ITEM.match(line)
        if match is None:
            continue
        new = "number" if match["number"] else "item"
        first = match["number"] == "1"
        if new != kind or first or number - last > 6:
            groups.append([])
        kind, last = new, number
        groups[-1].append(row_of([("", match["text"].strip("* "))]))
    groups = [rows for rows in groups if len(rows) > 1]
    return Listing(groups[0], ordered=True) if len(groups) == 1 else None


def _of_json(value: object, depth: int) -> Iterator[list[Row]]:
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        objects = [one for one in value[:_MOST_ROWS] if isinstance(one, dict)]
        if objects:
            yield [row_of(_flat(one)) for one in objects]
        else:
            plain = [one for one in value[:_MOST_ROWS] if isinstance(one, (str, int, float))]
            if len(plain) > 1:
                yield [row_of([("", lowered(str(one)))]) for one in plain]
        for one in value[:_MOST_ROWS]:
            if isinstance(one, (dict, list)):
                inner = one.values() if isinstance(one, dict) else one
                for deeper in inner:
                    if isinstance(deeper, (list, dict)):
                        yield from _of_json(deeper, depth + 1)
    elif isinstance(value, dict):
        inner = list(value.items())[:_MOST_ROWS]
        if len(inner) > 1 and all(isinstance(one, dict) for _, one in inner):
            yield [row_of([("", lowered(str(key))), *_flat(one)]) for key, one in inner]
        elif any(not isinstance(one, (dict, list)) for _, one in inner):
            yield [row_of(_flat(value))]
        for _, one in inner:
            if isinstance(one, (dict, list)):
                yield from _of_json(one, depth + 1)


def _flat(value: dict[str, object], lead: str = "", depth: int = 0) -> list[tuple[str, str]]:
    cells: list[tuple[str, str]] = []
    for key, one in list(value.items())[:60]:
        name = lowered(f"{lead}{key}")
        if isinstance(one, dict) and depth < 3:
            cells.extend(_flat(one, f"{name}.", depth + 1))
        elif isinstance(one, list):
            cells.extend(
                (name, lowered(str(each)))
                for each in one[:20]
                if isinstance(each, (str, int, float))
            )
        elif one is not None:
            cells.append((name, lowered(str(one)[:300])))
    return cells


def _of_lines(low: str) -> Iterator[list[Row]]:
    """Paragraphs of keys and values are one row each; any other lines are a row each."""
    blocks: list[list[tuple[str, str]]] = [[]]
    lines: list[str] = []
    deadline.check()
    for line in low.splitlines()[: 2 * _MOST_ROWS]:
        pair = _PAIR.match(line)
        if not line.strip():
            blocks.append([])
        elif pair is not None and "  " not in pair["key"]:
            blocks[-1].append((pair["key"].strip(), pair["value"].strip().strip('",')))
            lines.append(line)
        elif not _RULE.match(line):
            lines.append(line)
    records = [row_of(cells) for cells in blocks if len(cells) > 1]
    numbered = [cell for cells in blocks for cell in cells if re.search(r"\d", cell[0])]
    if len(numbered) > 1 and 2 * len(numbered) >= len(lines):  # "room 4: Ana"
        yield [row_of([("", key), ("", cell)]) for key, cell in numbered]
        return
    pairs = sum(len(cells) for cells in blocks)
    if records and pairs >= 0.5 * len(lines):
        yield records
        return
    rows = [row_of([("", cell) for cell in _cells(line)]) for line in lines[:_MOST_ROWS]]
    if len(rows) > 1:
        yield rows
        head, body = rows[0], rows[1:]
        if len(head.cells) > 1 and sum(
            len(row.cells) == len(head.cells) for row in body
        ) >= 0.7 * len(body):
            keyed = [
                row_of(
                    [(key, cell) for (_, key), (_, cell) in zip(head.cells, row.cells, strict=True)]
                )
                for row in body
                if len(row.cells) == len(head.cells)
            ]
            if not any(re.search(r"[\d@]", key) for _, key in head.cells) and any(
                re.search(r"\d", cell) for row in body for _, cell in row.cells
            ):
                yield keyed
    elif rows:
        yield rows


def _cells(line: str) -> list[str]:
    cells = (cell.strip() for cell in _COLUMNS.split(line.strip(" |")))
    return [cell for cell in cells if cell][:30]
