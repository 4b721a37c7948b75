"""The table of all shapes, with what becomes of them."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from taskshield.core.messages import Message
from taskshield.integrations.mcp import Address
from tests.integrations.mcp import hidden_orders, hostile, test_hidden_orders
from tests.server.proxy.odd_answers import shapes as odd_answers
from tests.shapes import host_texts
from tests.shapes.frameworks import FRAMEWORKS
from tests.shapes.mcp_places import PLACES
from tests.shapes.surfaces import SURFACES, outcome
from tests.shapes.values import shapes

READERS: Mapping[str, Callable[[Any], Message]] = {**SURFACES, **FRAMEWORKS, **PLACES}
COLUMNS = ("judged", "refused", "harmless", "unread", "passed")
"""The last two are those that a guard must not have: what no judge reads, and what reaches an agent
although it is misaligned."""

Row = tuple[str, Counter[str]]


def rows() -> Iterator[Row]:
    """Outcomes counted by kind."""
    for name, read in READERS.items():
        yield f"tool output: {name}", Counter(outcome(read, *each) for each in shapes())
    for host, counts in host_texts.counts().items():
        yield f"text of a host: {host}", counts
    answers: dict[str, Counter[str]] = {}
    for shape in odd_answers.shapes():
        kind = f"answer of a provider: {shape.format}, {shape.kind}"
        answers.setdefault(kind, Counter())[shape.outcome()] += 1
    yield from answers.items()
    yield "hostile MCP server: order in a message", asyncio.run(_scenes())


async def _scenes() -> Counter[str]:
    async with hostile.over_http() as url:
        target = Address(url=url)
        names = hidden_orders.SCENES
        return Counter([await test_hidden_orders.outcome(name, target) for name in names])


def written(found: Iterator[Row]) -> Iterator[str]:
    """The lines of the table, and the sum."""
    yield f"| | shapes | {' | '.join(COLUMNS)} |"
    yield "| --- " * (len(COLUMNS) + 2) + "|"
    total: Counter[str] = Counter()
    for name, counts in found:
        yield _line(name, counts)
        total += counts
    yield _line("all", total)


def _line(name: str, counts: Counter[str]) -> str:
    cells = " | ".join(str(counts[column]) for column in COLUMNS)
    return f"| {name} | {counts.total()} | {cells} |"


def main() -> None:
    """Print the table, line by line, because it takes a minute."""
    logging.disable(logging.CRITICAL)
    for line in written(rows()):
        print(line, flush=True)
