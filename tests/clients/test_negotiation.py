"""What every client makes of an endpoint that rejects a part of the request."""

import asyncio
from collections.abc import Mapping

import pytest

from taskshield.clients.failures import Failure, refused, timed_out
from taskshield.clients.negotiation import Dialect, Feature, Negotiator
from taskshield.core.chat import ChatRequest
from taskshield.core.errors import UpstreamError
from tests.clients.providers import OPENAI, REQUEST, Provider, ask, failure, for_every_provider
from tests.clients.upstream import Behaviour, Seen, Upstream, answer, by_request


def rejection(message: str, *, param: str | None = None, status: int = 400) -> Behaviour:
    details = {"type": "invalid_request_error", "message": message, "param": param}
    return answer({"type": "error", "error": details}, status=status)


@for_every_provider
def test_a_rejected_temperature_is_left_out_and_that_is_remembered(provider: Provider) -> None:
    fussy = rejection("`temperature` is deprecated for this model.")
    with Upstream(fussy, answer(provider.ok("done"))) as upstream:
        ask(provider.client(upstream), REQUEST, REQUEST)
        assert ["temperature" in body for body in upstream.bodies] == [True, False, False]
        assert all(provider.format_field in body for body in upstream.bodies)


@for_every_provider
@pytest.mark.parametrize("status", [400, 422])
def test_a_rejected_format_is_left_out_and_that_is_remembered(
    provider: Provider, status: int
) -> None:
    def choose(seen: Seen) -> Behaviour:
        if provider.format_field in seen.body:
            return rejection(
                f"{provider.format_field}: Extra inputs are not permitted", status=status
            )
        return answer(provider.ok("done"))

    with Upstream(by_request(choose)) as upstream:
        ask(provider.client(upstream), REQUEST)
        first = len(upstream.seen)
        assert provider.format_field not in upstream.bodies[-1]
        assert upstream.bodies[-1]["temperature"] == 0
        ask(provider.client(upstream), REQUEST, REQUEST)
        assert len(upstream.seen) == 2 * first + 1


@for_every_provider
def test_several_features_can_be_rejected_one_after_the_other(provider: Provider) -> None:
    def choose(seen: Seen) -> Behaviour:
        if "temperature" in seen.body:
            return rejection("no temperature here")
        if provider.format_field in seen.body:
            return rejection(f"no {provider.format_field} either")
        return answer(provider.ok("done"))

    with Upstream(by_request(choose)) as upstream:
        assert ask(provider.client(upstream))[0].text == "done"


@for_every_provider
def test_a_rejection_that_names_nothing_is_blamed_on_the_format(provider: Provider) -> None:
    def choose(seen: Seen) -> Behaviour:
        if provider.format_field in seen.body:
            return answer(b"Bad Request", status=400)
        return answer(provider.ok("done"))

    with Upstream(by_request(choose)) as upstream:
        assert ask(provider.client(upstream))[0].text == "done"
        assert upstream.bodies[-1]["temperature"] == 0


@for_every_provider
def test_a_rejection_that_nothing_helps_is_an_error_and_is_not_remembered(
    provider: Provider,
) -> None:
    def choose(seen: Seen) -> Behaviour:
        if "too long" in str(seen.body):
            return rejection("the prompt is too long")
        return answer(provider.ok("done"))

    long = ChatRequest(
        system="too long", turns=REQUEST.turns, schema_name="s", schema={}, max_tokens=1
    )
    with Upstream(by_request(choose)) as upstream:
        client = provider.client(upstream)

        async def run() -> None:
            with pytest.raises(UpstreamError) as caught:
                await client.complete(long)
            assert caught.value.status == 400
            assert len(upstream.seen) <= 4
            await client.complete(REQUEST)
            assert provider.format_field in upstream.bodies[-1]
            before = len(upstream.seen)
            with pytest.raises(UpstreamError):
                await client.complete(long)
            # The endpoint has shown by now that it takes the format.
            assert len(upstream.seen) == before + 1
            await client.aclose()

        asyncio.run(run())


@for_every_provider
def test_an_endpoint_that_rejects_everything_is_left_after_a_few_attempts(
    provider: Provider,
) -> None:
    every_name = f"temperature, max_tokens, max_completion_tokens, {provider.format_field}"
    with Upstream(rejection(every_name)) as upstream:
        assert failure(provider.client(upstream)).status == 400
        assert len(upstream.seen) <= 6


@for_every_provider
def test_other_statuses_do_not_change_the_request(provider: Provider) -> None:
    with Upstream(answer({"error": {"message": "temperature"}}, status=403)) as upstream:
        failure(provider.client(upstream))
        assert len(upstream.seen) == 1


def test_the_parameter_that_an_error_names_counts_more_than_its_message() -> None:
    said = rejection("with response_format set, temperature must be 1", param="response_format")
    with Upstream(said, answer(OPENAI.ok("done"))) as upstream:
        ask(OPENAI.client(upstream))
        assert upstream.bodies[1]["response_format"]["type"] == "json_object"
        assert upstream.bodies[1]["temperature"] == 0


def _variant(value: int) -> Mapping[str, object]:
    return {"a": value}


def _dialect() -> Dialect:
    feature = Feature(variants=(lambda _: _variant(1), lambda _: _variant(2)), names=("thing",))
    return Dialect((feature,))


def test_an_exhausted_feature_leads_nowhere() -> None:
    simpler = _dialect().simpler(("Thing not supported",), guess=False)
    assert simpler is not None
    assert simpler.fields(REQUEST) == {"a": 2}
    assert simpler.simpler(("Thing not supported",), guess=True) is None


def test_a_failure_that_is_no_rejection_leads_nowhere() -> None:
    assert _dialect().simpler(timed_out().complaints, guess=True) is None


def test_a_slow_success_does_not_undo_what_another_request_has_learnt() -> None:
    negotiator = Negotiator(_dialect())
    sent: list[object] = []

    async def run() -> None:
        learnt = asyncio.Event()

        async def slow(request: ChatRequest, fields: Mapping[str, object]) -> bytes | Failure:
            await learnt.wait()
            return b"slow"

        async def picky(request: ChatRequest, fields: Mapping[str, object]) -> bytes | Failure:
            sent.append(fields["a"])
            return b"quick" if fields["a"] == 2 else refused(400, None, "no such thing")

        waiting = asyncio.create_task(negotiator.ask(REQUEST, slow))
        await asyncio.sleep(0)
        await negotiator.ask(REQUEST, picky)
        learnt.set()
        await waiting
        await negotiator.ask(REQUEST, picky)

    asyncio.run(run())
    assert sent == [1, 2, 2]
