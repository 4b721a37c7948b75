"""Endpoints that the settings name, on real sockets. None of them gets a key."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from taskshield.cli.doctor.upstreams import Upstreams, check_upstreams
from taskshield.settings import load
from tests.cli.doctor.stage import answering

THEN = datetime(2020, 5, 17, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def checked(**settings: object) -> Upstreams:
    return check_upstreams(load(settings, environment={}))


def test_only_what_the_settings_name_is_asked() -> None:
    (finding,) = checked(judge="openai:m", api_key="canary").findings
    assert finding.state == "skipped"


@pytest.mark.parametrize(
    ("status", "headers", "state", "words"),
    [
        (200, {}, "ok", "status 200"),
        (401, {}, "ok", "status 401"),
        (404, {}, "note", "lists no models"),
        (500, {}, "failed", "with an error"),
        (407, {}, "failed", "HTTP proxy asks"),
        (302, {"location": "http://127.0.0.1:9/canary"}, "failed", "redirects"),
    ],
)
@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_what_a_provider_answers(
    name: str, status: int, headers: dict[str, str], state: str, words: str
) -> None:
    with answering(status, headers) as provider:
        path = "/v1/" if name == "openai" else ""
        base = provider.url.replace("http://", "http://user:canary@")
        (finding,) = checked(server={"upstream": {name: f"{base}{path}"}}).findings
    assert (finding.state, words in finding.what) == (state, True), finding
    assert bool(finding.advice) == (state != "ok") and "canary" not in str(finding)
    assert provider.paths == ["/v1/models"]
    (sent,) = provider.headers
    assert ("anthropic-version" in sent) == (name == "anthropic")
    assert not {"authorization", "x-api-key", "cookie"} & set(sent)


def test_the_endpoint_of_the_judge_gets_no_key_either() -> None:
    with answering(401) as provider:
        for judge in ("openai:m", "anthropic:m"):
            checked(judge=judge, base_url=provider.url, api_key="canary")
    assert provider.paths == ["/models", "/v1/models"]
    assert "canary" not in str(provider.headers)


def test_the_date_of_a_response_is_a_clock() -> None:
    upstream = {"upstream": {"openai": ""}}
    for header, clocks in (
        ({"date": format_datetime(THEN)}, [THEN]),
        ({"date": "yesterday"}, []),
        ({}, []),
    ):
        with answering(200, header) as provider:
            upstream["upstream"]["openai"] = provider.url
            assert [moment for _, moment in checked(server=upstream).clocks] == clocks


def test_a_request_goes_over_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with answering() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        (finding,) = checked(server={"upstream": {"openai": "http://provider.test/v1"}}).findings
    assert finding.state == "ok"
    assert proxy.paths == ["http://provider.test/v1/models"]


@pytest.mark.parametrize(
    "base", ["file:///etc/passwd", "ftp://host/v1", "host/v1", "http://", "http://[", "http://h:x"]
)
def test_an_address_must_be_one_of_http(base: str) -> None:
    (finding,) = checked(server={"upstream": {"openai": base}}).findings
    assert finding.state == "failed" and "is not an HTTP address" in finding.what


def test_a_program_that_does_not_speak_http() -> None:
    with answering(body=b"") as provider:
        base = provider.url.replace("http:", "https:")
        (finding,) = checked(base_url=base).findings
    assert "does not speak TLS" in finding.what and finding.advice
