"""Each transition of the proxy's state machine, and what happens to tasks and responses in each."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.core.errors import StoreError
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message
from taskshield.server.http.errors import RequestError
from taskshield.server.proxy import round_trip as machine
from taskshield.server.proxy.provider import ProviderError, incomplete
from taskshield.server.proxy.round_trip import RoundTrip
from taskshield.server.proxy.states import (
    Answering,
    Checked,
    Checking,
    Declined,
    Failed,
    Forwarded,
    Received,
    Released,
    Releasing,
    Revising,
    outcome,
)
from tests.adapters.proxy.streams import Said
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.proxy.machine import (
    ScriptedProvider,
    ScriptedResponse,
    answering,
    round_trip,
)
from tests.server.proxy.stage import EVIL, GOOD, INJECTED, TASK
from tests.server.stage import Failing

FINAL = (Declined, Released, Failed)
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["complete", "stream"])
PLAIN: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": TASK}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}


def with_output(text: str) -> dict[str, Any]:
    """A request whose newest message is a tool's output."""
    output = {"role": "tool", "tool_call_id": "c1", "content": text}
    messages = [*PLAIN["messages"], {"role": "assistant", "tool_calls": [CALL]}, output]
    return {**PLAIN, "messages": messages}


CLEAN, POISONED = with_output("Total: 98.70"), with_output(INJECTED)
ALIGNED, MISALIGNED = Said("Hm.", [GOOD]), Said("Hm.", [EVIL])
DOWN = ProviderError(502, "upstream_unreachable", "The provider cannot be reached.")
ERROR = ScriptedResponse(b"busy", status=429)
REDIRECT = ScriptedResponse(status=307)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request, what the provider does, and the states that this leads through."""

    name: str
    body: dict[str, Any]
    script: Sequence[Said | ScriptedResponse | Exception]
    states: Sequence[type]
    early: bool = False
    rounds: int = 3


ENDING = (Answering, Checking, Releasing, Released)
CASES = [
    Case(
        name="sent while it is checked",
        body=PLAIN,
        script=[ALIGNED],
        states=[Received, Forwarded, *ENDING],
    ),
    Case(
        name="checked before it is sent",
        body=CLEAN,
        script=[ALIGNED],
        states=[Received, Checked, *ENDING],
    ),
    Case(
        name="forwarded early, and not changed",
        body=CLEAN,
        script=[ALIGNED],
        states=[Received, Forwarded, Checked, *ENDING],
        early=True,
    ),
    Case(
        name="forwarded early, changed, and sent again",
        body=POISONED,
        script=[MISALIGNED, ALIGNED],
        states=[Received, Forwarded, Checked, *ENDING],
        early=True,
    ),
    Case(
        name="declined before it is checked",
        body=PLAIN,
        script=[ERROR],
        states=[Received, Forwarded, Declined],
    ),
    Case(
        name="declined after it is checked",
        body=CLEAN,
        script=[ERROR],
        states=[Received, Checked, Declined],
    ),
    Case(
        name="misaligned, no round left",
        body=PLAIN,
        script=[MISALIGNED],
        states=[Received, Forwarded, *ENDING],
        rounds=0,
    ),
    Case(
        name="revised",
        body=PLAIN,
        script=[MISALIGNED, ALIGNED],
        states=[Received, Forwarded, Answering, Checking, Revising, *ENDING],
    ),
    Case(
        name="revised until no round is left",
        body=PLAIN,
        script=[MISALIGNED, MISALIGNED],
        states=[Received, Forwarded, Answering, Checking, Revising, *ENDING],
        rounds=1,
    ),
    Case(
        name="no answer to the feedback",
        body=PLAIN,
        script=[MISALIGNED, DOWN],
        states=[Received, Forwarded, Answering, Checking, Revising, Releasing, Released],
    ),
    Case(
        name="an error in answer to the feedback",
        body=PLAIN,
        script=[MISALIGNED, ERROR],
        states=[Received, Forwarded, Answering, Checking, Revising, Releasing, Released],
    ),
]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def provider_of(case: Case, *, streams: bool) -> ScriptedProvider:
    return ScriptedProvider(
        *(
            answering(each, streams=streams) if isinstance(each, Said) else each
            for each in case.script
        )
    )


def begun(case: Case, provider: ScriptedProvider, **more: Any) -> RoundTrip:
    return round_trip(provider, case.body, early=case.early, rounds=case.rounds, **more)


async def path_of(trip: RoundTrip) -> tuple[list[type], bytes]:
    """All states up to the last one, each but once in a row, and what the client is sent."""
    states: list[type] = [type(trip.state)]
    sent = list(trip.state.output)
    while not isinstance(trip.state, FINAL):
        await trip.step()
        sent += trip.state.output
        if type(trip.state) is not states[-1]:
            states.append(type(trip.state))
    return states, b"".join(sent)


async def until(trip: RoundTrip, state: type) -> None:
    while not isinstance(trip.state, state):
        assert not isinstance(trip.state, FINAL)
        await trip.step()


async def check_nothing_is_left(provider: ScriptedProvider) -> None:
    assert all(response.closed for response in provider.answered)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@STREAMS
@EACH
def test_the_states_that_a_request_passes(case: Case, streams: bool) -> None:
    async def check() -> None:
        provider = provider_of(case, streams=streams)
        trip = begun(case, provider)
        states, sent = await path_of(trip)
        assert states == list(case.states)
        assert len(provider.asked) == len(case.script)
        if states[-1] is Released:
            aligned = case.script[-1] is ALIGNED
            assert (GOOD.id.encode() in sent) is aligned and EVIL.id.encode() not in sent
            assert (b"Not carried out" in sent) is not aligned
            known = outcome(trip.state)
            assert set(known) == {"session", "decision", "verdict", "time-ms"}
            assert (known["verdict"] == "allow") is aligned
        await trip.aclose()
        await check_nothing_is_left(provider)

    run(check())


def rows() -> set[tuple[str, str]]:
    """Where each transition in the module's table begins and ends."""
    found: set[tuple[str, str]] = set()
    for row in re.findall(r"^\| ([A-Z].*) \| \w+ \| .* \| (\w+) \|$", str(machine.__doc__), re.M):
        found |= {(name.strip(), row[1]) for name in row[0].split(",")}
    return found


def test_the_table_lists_exactly_the_transitions_that_are_tested() -> None:
    tested = {("Answering", "Answering")}  # in a row, see below
    for case in CASES:
        names = [state.__name__ for state in case.states]
        tested |= set(zip(names, names[1:], strict=False))
    assert rows() == tested


def test_a_chunk_of_text_goes_to_the_client_before_the_answer_is_complete() -> None:
    async def check() -> None:
        provider = ScriptedProvider(answering(ALIGNED, streams=True))
        trip = round_trip(provider, PLAIN)
        await until(trip, Answering)
        assert not trip.state.output
        await trip.step()
        assert isinstance(trip.state, Answering) and trip.state.output
        assert GOOD.name.encode() not in b"".join(trip.state.output)
        await trip.aclose()

    run(check())


def test_the_request_of_a_feedback_round_has_the_refused_call_and_the_feedback() -> None:
    async def check() -> None:
        provider = ScriptedProvider(answering(MISALIGNED), answering(ALIGNED))
        await path_of(round_trip(provider, PLAIN))
        *_, call, result = json.loads(provider.asked[1].content)["messages"]
        assert call["tool_calls"][0]["id"] == result["tool_call_id"] == EVIL.id
        assert "[Task Shield" in result["content"]

    run(check())


def test_an_early_answer_is_closed_unread_where_the_check_changes_the_request() -> None:
    async def check() -> None:
        provider = ScriptedProvider(None, answering(ALIGNED))
        trip = round_trip(provider, POISONED, early=True)
        await until(trip, Answering)
        assert provider.cancelled == 1
        first, second = (json.loads(each.content)["messages"][-1] for each in provider.asked)
        assert first["content"] == INJECTED and "[Task Shield" in second["content"]
        await trip.aclose()

    run(check())


def test_a_feedback_round_that_is_no_stream_is_not_mixed_into_one() -> None:
    async def check() -> None:
        provider = ScriptedProvider(answering(MISALIGNED, streams=True), answering(ALIGNED))
        trip = round_trip(provider, PLAIN)
        states, sent = await path_of(trip)
        assert states[-3:] == [Revising, Releasing, Released]
        assert GOOD.id.encode() not in sent and provider.answered[1].closed

    run(check())


# Responses that the provider stores: removed calls are a step of Checked and of Released


def test_removed_calls_are_stored_on_release_and_sent_by_the_next_check() -> None:
    async def check() -> None:
        store, path = Failing(), "/v1/responses"
        first = ScriptedProvider(answering(Said("", [EVIL], id="1"), path=path))
        asked = {"model": "m", "input": TASK}
        await path_of(round_trip(first, asked, wire_format=responses_format, store=store, rounds=0))
        second = ScriptedProvider(answering(Said("Ok.", id="2"), path=path))
        continued = {"model": "m", "input": "Go on.", "previous_response_id": "resp_1"}
        trip = round_trip(second, continued, wire_format=responses_format, store=store)
        states, _ = await path_of(trip)
        assert states == [Received, Checked, *ENDING]
        (result, _) = json.loads(second.asked[0].content)["input"]
        assert (result["call_id"], result["type"]) == (EVIL.id, "function_call_output")

    run(check())


# Failures


def store_fails(trip: RoundTrip, store: Failing, provider: ScriptedProvider) -> None:
    store.gone = True


def provider_fails(trip: RoundTrip, store: Failing, provider: ScriptedProvider) -> None:
    provider.script.insert(0, ZeroDivisionError())


Break = Callable[[RoundTrip, Failing, ScriptedProvider], None]
FAILURES: list[tuple[type, dict[str, Any], bool, Break, type[Exception]]] = [
    (Received, CLEAN, False, store_fails, StoreError),
    (Forwarded, PLAIN, False, store_fails, StoreError),
    (Forwarded, CLEAN, True, store_fails, StoreError),
    (Checking, PLAIN, False, store_fails, StoreError),
    (Revising, PLAIN, False, provider_fails, ZeroDivisionError),
    (Releasing, PLAIN, False, store_fails, StoreError),
]


@STREAMS
@pytest.mark.parametrize(("state", "body", "early", "fail", "error"), FAILURES)
def test_an_error_in_any_state_ends_in_failed_with_everything_closed(
    state: type,
    body: dict[str, Any],
    early: bool,
    fail: Break,
    error: type[Exception],
    streams: bool,
) -> None:
    async def check() -> None:
        store = Failing()
        provider = ScriptedProvider(answering(MISALIGNED, streams=streams))
        rounds = 0 if state is Releasing else 3
        trip = round_trip(provider, body, store=store, early=early, rounds=rounds)
        await until(trip, state)
        fail(trip, store, provider)
        await trip.step()
        if isinstance(trip.state, Answering):  # its check fails later, when the answer is complete
            await path_of(trip)
        assert isinstance(trip.state, Failed) and isinstance(trip.state.error, error)
        answered = state not in (Received, Forwarded) or body is PLAIN
        assert trip.state.in_stream is (streams and answered)
        # A relay that has released an answer writes no error event any more.
        told = trip.state.in_stream and state is not Releasing
        assert any(b"Task Shield" in data for data in trip.state.output) is told
        assert EVIL.id.encode() not in b"".join(trip.state.output)
        await check_nothing_is_left(provider)

    run(check())


@pytest.mark.parametrize(
    ("body", "answer", "code"),
    [
        (PLAIN, DOWN, "upstream_unreachable"),
        (CLEAN, DOWN, "upstream_unreachable"),
        (PLAIN, REDIRECT, "upstream_redirects"),
        (CLEAN, REDIRECT, "upstream_redirects"),
        (PLAIN, ScriptedResponse(b"<html>"), "upstream_invalid"),
        (PLAIN, ScriptedResponse(b"{", incomplete()), "upstream_broke_off"),
        (PLAIN, ScriptedResponse(b"data: x\n\n", is_stream=True), "upstream_invalid"),
        (PLAIN, ScriptedResponse(b": x\n\n", is_stream=True), "upstream_broke_off"),
        (PLAIN, ScriptedResponse(incomplete(), is_stream=True), "upstream_broke_off"),
    ],
)
def test_a_provider_without_a_valid_answer_is_a_failure(
    body: dict[str, Any], answer: ScriptedResponse | Exception, code: str
) -> None:
    async def check() -> None:
        provider = ScriptedProvider(answer)
        trip = round_trip(provider, body)
        states, _ = await path_of(trip)
        assert states[1] is (Forwarded if body is PLAIN else Checked)
        assert isinstance(trip.state, Failed) and isinstance(trip.state.error, RequestError)
        assert trip.state.error.problem.code == code
        await check_nothing_is_left(provider)

    run(check())


def test_text_before_an_event_that_cannot_be_read_still_reaches_the_client() -> None:
    async def check() -> None:
        first, second, *_ = answering(Said("Hello there.", id="1"), streams=True)._chunks
        assert isinstance(first, bytes) and isinstance(second, bytes)
        broken = ScriptedResponse(first + second + b"data: {nonsense\n\n", is_stream=True)
        trip = round_trip(ScriptedProvider(broken), PLAIN)
        _, sent = await path_of(trip)
        assert sent.startswith(first + second) and b"not in the expected format" in sent

    run(check())


@pytest.mark.parametrize("early", [False, True])
def test_a_refused_request_does_not_wait_for_the_provider(early: bool) -> None:
    async def check() -> None:
        store, provider = Failing(), ScriptedProvider(None)
        trip = round_trip(provider, CLEAN if early else PLAIN, store=store, early=early)
        store.gone = True
        states, _ = await path_of(trip)
        assert states == [Received, Forwarded, Failed]
        assert provider.cancelled == 1
        await check_nothing_is_left(provider)

    run(check())


def test_start_raises_and_chunks_raise_what_the_client_cannot_be_told_in_a_stream() -> None:
    async def check() -> None:
        with pytest.raises(ProviderError, match="cannot be reached"):
            await round_trip(ScriptedProvider(DOWN), PLAIN).start()
        trip = round_trip(ScriptedProvider(ScriptedResponse(b"<html>")), PLAIN)
        await trip.start()
        with pytest.raises(ProviderError, match="not in the expected format"):
            async for _ in trip.chunks():
                raise AssertionError
        streaming = ScriptedProvider(ScriptedResponse(incomplete(), is_stream=True))
        trip = round_trip(streaming, PLAIN)
        await trip.start()
        (told,) = [data async for data in trip.chunks()]
        assert b"closed the connection before its response was complete. The response was" in told

    run(check())


# Clients that disconnect


@STREAMS
@EACH
def test_closing_in_any_state_leaves_no_task_and_no_response_open(
    case: Case, streams: bool
) -> None:
    async def check(steps: int) -> bool:
        provider = provider_of(case, streams=streams)
        trip = begun(case, provider)
        for _ in range(steps):
            if isinstance(trip.state, FINAL):
                return False
            await trip.step()
        await trip.aclose()
        await check_nothing_is_left(provider)
        return True

    steps = 0
    while run(check(steps)):
        steps += 1
    assert steps >= len(case.states)


class Waiting(TableJudge):
    """A judge that never gets to the end of a call."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.cancelled = False

    async def assess(self, message: Message, view: SessionView) -> Any:
        if message.tool_calls:
            self.asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled = True
        return await super().assess(message, view)


@pytest.mark.parametrize("body", [PLAIN, CLEAN], ids=["of the answer", "of the request"])
def test_a_check_that_is_still_running_is_cancelled_with_the_round_trip(
    body: dict[str, Any],
) -> None:
    async def check() -> None:
        judge, provider = Waiting(), ScriptedProvider(answering(ALIGNED))
        trip = round_trip(provider, body, judge=judge)
        running = asyncio.create_task(path_of(trip))
        await judge.asked.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await trip.aclose()
        assert judge.cancelled
        await check_nothing_is_left(provider)

    run(check())


@pytest.mark.parametrize("body", [PLAIN, CLEAN], ids=["of the answer", "of the request"])
def test_all_checks_of_a_message_list_together_have_a_time_limit(body: dict[str, Any]) -> None:
    async def check() -> None:
        judge, provider = Waiting(), ScriptedProvider(answering(ALIGNED))
        trip = round_trip(provider, body, judge=judge, check_s=0.05)
        await path_of(trip)
        assert isinstance(trip.state, Failed) and isinstance(trip.state.error, RequestError)
        assert (trip.state.error.problem.status, trip.state.error.problem.code) == (504, "timeout")
        assert judge.cancelled
        await check_nothing_is_left(provider)

    run(check())


@STREAMS
def test_an_answer_that_does_not_fit_into_memory_is_given_up(streams: bool) -> None:
    def hold(count: int) -> None:
        raise RequestError(503, "busy", "The server holds as much as it may.")

    async def check() -> None:
        provider = ScriptedProvider(answering(ALIGNED, streams=streams))
        trip = round_trip(provider, PLAIN, hold=hold)
        _, sent = await path_of(trip)
        assert isinstance(trip.state, Failed) and isinstance(trip.state.error, RequestError)
        assert trip.state.error.problem.code == "busy"
        assert streams is (b"holds as much as it may. The response was stopped." in sent)
        await check_nothing_is_left(provider)

    run(check())
