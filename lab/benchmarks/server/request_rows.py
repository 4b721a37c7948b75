"""Measures requests of one kind to one server. Each measurement is a row of the results.

No request is made twice, and each row has its own conversations. If a row measures a step inside a
conversation, the earlier messages are sent and checked before the measurement.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from statistics import quantiles
from typing import Any

import uvloop
from load_clients import ClientRequest, Clients, Load
from mail_conversations import FIRST, azure_body, chat_body
from prometheus_client.parser import text_string_to_metric_families
from scripted_provider import model
from server_processes import Running, fetched

Figures = dict[str, Any]

AZURE = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview"
CHAT = "/v1/chat/completions"

_NUMBERS = count(FIRST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kind of request."""

    name: str
    length: int
    """Messages of the conversation that are sent."""
    known: int = 0
    """Messages that were sent and checked before."""


AZURE_CASES = (
    Case(name="a look-up", length=2, known=1),
    Case(name="a call with side effects", length=4, known=3),
    Case(name="an output and a call", length=4, known=2),
    Case(name="a whole conversation", length=4),
)
"""The new messages of a request. The last one is always a call."""
CHAT_CASES = (Case(name="user", length=1), Case(name="tool output", length=5, known=3))
"""The newest message. The model answers the user with text and a call, and the second output with
a few sentences. The earlier messages are known to the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A measured server."""

    name: str
    running: Running
    checks: bool = False
    """Whether it checks messages, and so stores conversations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Number of requests and of parallel clients."""

    clients: int
    requests: int


def azure_row(target: Target, case: Case, amount: Amount) -> Figures:
    """Measure one kind of request to the Azure route."""

    def ask(number: int, length: int) -> ClientRequest:
        return ClientRequest(path=AZURE, body=azure_body(number, length))

    return {"new": case.name, **_measured(target, case, amount, ask, ask)}


def chat_row(target: Target, case: Case, amount: Amount, *, delay_ms: int, stream: bool) -> Figures:
    """Measure one kind of request for a chat completion."""

    def asking(delay_ms: int) -> Callable[[int, int], ClientRequest]:
        def ask(number: int, length: int) -> ClientRequest:
            body = chat_body(number, length, model=model(delay_ms), stream=stream)
            return ClientRequest(path=CHAT, body=body)

        return ask

    return {
        "target": target.name,
        "newest": case.name,
        "stream": stream,
        "delay_ms": delay_ms,
        **_measured(target, case, amount, asking(delay_ms), asking(0)),
    }


def _measured(
    target: Target,
    case: Case,
    amount: Amount,
    ask: Callable[[int, int], ClientRequest],
    before: Callable[[int, int], ClientRequest],
) -> Figures:
    """Send the earlier messages or a few warm-up requests, and then the measured ones."""
    numbers = list(islice(_NUMBERS, amount.requests))
    if target.checks and case.known:
        first = [before(number, case.known) for number in numbers]
    else:
        first = [ask(number, case.length) for number in islice(_NUMBERS, amount.clients)]
    requests = [ask(number, case.length) for number in numbers]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        load, spent = runner.run(_sent(target, amount.clients, first, requests))
    return {
        "clients": amount.clients,
        "requests": amount.requests,
        "per_second": round(amount.requests / load.seconds, 1),
        "first_ms": percentiles([each.first_ms for each in load.answers]),
        "whole_ms": percentiles([each.whole_ms for each in load.answers]),
        "cpu_ms": round(spent.cpu_s * 1000 / amount.requests, 2),
        "checks": round(spent.checks / amount.requests, 2),
        "held_back": spent.held_back,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    cpu_s: float
    checks: int = 0
    held_back: int = 0


async def _sent(
    target: Target, clients: int, first: Sequence[ClientRequest], requests: Sequence[ClientRequest]
) -> tuple[Load, _Spent]:
    async with Clients(target.running.port, clients) as crowd:
        await crowd.send(first)
        before = _spent(target)
        load = await crowd.send(requests)
        after = _spent(target)
    return load, _Spent(
        cpu_s=after.cpu_s - before.cpu_s,
        checks=after.checks - before.checks,
        held_back=after.held_back - before.held_back,
    )


def _spent(target: Target) -> _Spent:
    """What a server has spent since its start; ours also tells what it has checked."""
    cpu_s = target.running.cpu_s()
    page = fetched(f"{target.running.url}/metrics") if target.checks else None
    if page is None:
        return _Spent(cpu_s=cpu_s)
    samples = [each for family in text_string_to_metric_families(page) for each in family.samples]
    executed = [
        each.value
        for each in samples
        if each.name == "taskshield_checks_total" and each.labels["check"] == "executed"
    ]
    held = [each.value for each in samples if each.name == "taskshield_blocked_total"]
    return _Spent(cpu_s=cpu_s, checks=int(sum(executed)), held_back=int(sum(held)))


def percentiles(times: Sequence[float | None]) -> dict[str, float] | None:
    """The median and the 99th percentile. None if nothing was timed."""
    known = [each for each in times if each is not None]
    if not known:
        return None
    cuts = quantiles(known, n=100, method="inclusive")
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2)}
