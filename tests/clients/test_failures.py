"""What every client makes of an endpoint that fails."""

import json
import traceback
from dataclasses import replace

import pytest

from taskshield.clients.failures import refused, unexpected
from taskshield.core.errors import UpstreamError
from tests.clients.providers import KEY, PROMPT, REQUEST, Provider, ask, failure, for_every_provider
from tests.clients.upstream import (
    RETRY_AT_ONCE,
    Behaviour,
    Upstream,
    answer,
    cut_off,
    hang,
    hang_up,
)


def shown(error: UpstreamError) -> str:
    """All that a log could show of an error."""
    return "".join([str(error), repr(error), *traceback.format_exception(error)])


@for_every_provider
def test_too_many_requests_is_tried_again(provider: Provider) -> None:
    busy = answer({"error": {"message": "slow down"}}, status=429, headers=RETRY_AT_ONCE)
    with Upstream(busy, busy, answer(provider.ok("done"))) as upstream:
        assert ask(provider.client(upstream, retries=2))[0].text == "done"
        assert len(upstream.seen) == 3


@for_every_provider
def test_a_connection_closed_without_an_answer_is_tried_again(provider: Provider) -> None:
    with Upstream(hang_up, answer(provider.ok("done"))) as upstream:
        assert ask(provider.client(upstream, retries=1))[0].text == "done"


@for_every_provider
def test_retries_end(provider: Provider) -> None:
    broken = answer({"error": {"message": "oops"}}, status=500, headers=RETRY_AT_ONCE)
    with Upstream(broken) as upstream:
        error = failure(provider.client(upstream, retries=2))
        assert (error.status, error.timeout) == (500, False)
        assert len(upstream.seen) == 3


@for_every_provider
def test_a_hang_is_a_timeout(provider: Provider) -> None:
    with Upstream(hang) as upstream:
        error = failure(provider.client(upstream, timeout_s=0.2))
    assert (error.status, error.timeout) == (None, True)


@for_every_provider
@pytest.mark.parametrize("status", [408, 504])
def test_a_status_that_means_timeout_is_a_timeout(provider: Provider, status: int) -> None:
    with Upstream(answer({}, status=status)) as upstream:
        error = failure(provider.client(upstream))
    assert (error.status, error.timeout) == (status, True)


@for_every_provider
@pytest.mark.parametrize("behaviour", [hang_up, cut_off({"choices": [], "content": []})])
def test_a_broken_connection_is_an_upstream_error(provider: Provider, behaviour: Behaviour) -> None:
    with Upstream(behaviour) as upstream:
        error = failure(provider.client(upstream))
    assert str(error) == "The connection to the endpoint failed."
    assert (error.status, error.timeout) == (None, False)


@for_every_provider
def test_an_endpoint_that_is_not_there_is_an_upstream_error(provider: Provider) -> None:
    with Upstream(hang_up) as upstream:
        pass
    assert failure(provider.client(upstream)).status is None


@for_every_provider
@pytest.mark.parametrize("status", [401, 400])
def test_an_error_body_is_never_shown(provider: Provider, status: int) -> None:
    said = f"Incorrect API key provided: {KEY}, for: {PROMPT}"
    body = {"error": {"message": said, "code": KEY, "type": "authentication_error"}}
    with Upstream(answer(body, status=status)) as upstream:
        error = failure(provider.client(upstream))
    assert error.status == status
    assert str(error) == f"The endpoint answered with status {status} (authentication_error)."
    assert KEY not in shown(error)
    assert PROMPT not in shown(error)
    assert error.__cause__ is None
    assert error.__context__ is None


@for_every_provider
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b'"text"',
        b"[]",
        b"{}",
        b"<html>login</html>",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"error": {"message": PROMPT}}).encode(),
        b'{"choices": null, "content": null}',
        b'{"choices": [null], "content": [null]}',
        b'{"choices": [{"message": "hi"}], "content": "hi"}',
        b'{"choices": [{"message": {"content": 3}}], "content": [{"type": "text", "text": 3}]}',
        b'{"choices": [], "content": [], "usage": "lots"}',
        b'{"choices": [], "content": [], "usage": {"prompt_tokens": -1, "input_tokens": -1}}',
    ],
    ids=lambda body: body[:30].decode(errors="replace"),
)
def test_an_answer_of_the_wrong_shape_is_an_upstream_error(provider: Provider, body: bytes) -> None:
    with Upstream(answer(body)) as upstream:
        error = failure(provider.client(upstream))
    assert str(error) == "The endpoint's answer could not be read."
    assert error.status == 200
    assert PROMPT not in shown(error)
    assert error.__context__ is None


@for_every_provider
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
def test_half_a_json_is_an_upstream_error(provider: Provider, content_type: str) -> None:
    whole = json.dumps(provider.ok("a private answer")).encode()
    half = answer(whole[: len(whole) // 2], headers={"Content-Type": content_type})
    with Upstream(half) as upstream:
        error = failure(provider.client(upstream))
    assert "private" not in shown(error)


@for_every_provider
@pytest.mark.parametrize(
    ("flaw", "raised"), [(f"{PROMPT} \ud800", "UnicodeEncodeError"), (object(), "TypeError")]
)
def test_a_request_that_cannot_be_written_is_an_upstream_error(
    provider: Provider, flaw: object, raised: str
) -> None:
    with Upstream(hang_up) as upstream:
        error = failure(provider.client(upstream), replace(REQUEST, schema={"title": flaw}))
        assert upstream.seen == []
    assert str(error) == f"The request to the endpoint failed ({raised})."
    assert PROMPT not in shown(error)
    assert error.__context__ is None


@for_every_provider
def test_a_client_works_on_after_a_failure(provider: Provider) -> None:
    with Upstream(answer(b"half", status=503), answer(provider.ok("done"))) as upstream:
        client = provider.client(upstream, retries=1)
        assert [reply.text for reply in ask(client, REQUEST, REQUEST)] == ["done", "done"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"code": "content_filter"}}, "status 400 (content_filter)"),
        ({"code": "context_length_exceeded"}, "status 400 (context_length_exceeded)"),
        ({"error": {"code": 400, "type": "BadRequestError"}}, "status 400 (BadRequestError)"),
        ({"error": {"code": "sk-1234", "type": None}}, "status 400"),
        ({"error": "bad", "type": "two words"}, "status 400"),
        ({"error": {"code": "x" * 41}}, "status 400"),
        (["bad"], "status 400"),
        ("bad", "status 400"),
        (None, "status 400"),
    ],
)
def test_only_a_plain_code_is_shown(body: object, message: str) -> None:
    assert str(refused(400, body, "").error) == f"The endpoint answered with {message}."


def test_complaints_do_not_show_in_a_failure() -> None:
    assert "secret" not in repr(refused(400, {"param": "secret"}, "a secret"))
    assert "secret" not in repr(unexpected(ValueError("secret")))


@pytest.mark.parametrize("status", [401, 404, 429, 502])
def test_only_a_rejected_request_has_complaints(status: int) -> None:
    assert refused(status, {"error": {"param": "temperature"}}, "temperature").complaints == ()


def test_a_server_error_may_be_about_the_request_but_does_not_say_so() -> None:
    failure = refused(500, {}, "response_format is odd")
    assert failure.complaints == ("response_format is odd",) and not failure.rejected
    assert refused(400, {}, "").rejected


def test_the_parameter_that_was_named_comes_first() -> None:
    body = {"error": {"param": "temperature", "message": "..."}}
    assert refused(422, body, "all of it").complaints == ("temperature", "all of it")
