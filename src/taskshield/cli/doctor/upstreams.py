"""Checks the endpoints that the settings name: providers of the proxy, and that of the judge.

Each gets a request for its list of models without a key: a refusal shows that it is reached. What
the settings do not name is not asked, so nothing is sent to a default provider.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from taskshield.cli.doctor.addresses import Answer, NoAnswer, ask, host_of, scheme_of
from taskshield.cli.doctor.findings import Finding, failed, note, ok, skipped
from taskshield.settings import ServerSettings, Settings

_CHECK = "upstream"
_ANTHROPIC = {"anthropic-version": "2023-06-01"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Endpoint:
    setting: str
    """The key of the setting that names it."""
    base: str
    anthropic: bool

    @property
    def url(self) -> str:
        """Where its models are listed."""
        return f"{self.base.rstrip('/')}{'/v1/models' if self.anthropic else '/models'}"

    @property
    def shown(self) -> str:
        """Host and port."""
        return host_of(self.base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstreams:
    """The findings, and the clocks of those that answered."""

    findings: tuple[Finding, ...]
    clocks: tuple[tuple[str, datetime], ...]
    """Host and time, where a response had a date."""


def check_upstreams(settings: Settings) -> Upstreams:
    """Ask all endpoints at once."""
    endpoints = list(_named(settings))
    if not endpoints:
        what = "The settings name no endpoint; the default providers are not asked."
        return Upstreams(findings=(skipped(_CHECK, what),), clocks=())
    with ThreadPoolExecutor(len(endpoints)) as pool:
        asked = list(pool.map(lambda each: _check(each, settings.server), endpoints))
    return Upstreams(
        findings=tuple(finding for finding, _ in asked),
        clocks=tuple(
            (endpoint.shown, moment)
            for endpoint, (_, moment) in zip(endpoints, asked, strict=True)
            if moment is not None
        ),
    )


def _named(settings: Settings) -> Iterator[_Endpoint]:
    upstream = settings.server.upstream
    for name in ("openai", "anthropic"):
        if name in upstream.model_fields_set:
            yield _Endpoint(
                setting=f"server.upstream.{name}",
                base=getattr(upstream, name),
                anthropic=name == "anthropic",
            )
    if settings.base_url is not None:
        judge = settings.judge if settings.llm is None else settings.llm
        yield _Endpoint(
            setting="base_url", base=settings.base_url, anthropic=judge.startswith("anthropic:")
        )


def _check(endpoint: _Endpoint, server: ServerSettings) -> tuple[Finding, datetime | None]:
    name = endpoint.setting
    if scheme_of(endpoint.base) not in ("http", "https"):
        advice = f"Set {name} to an address such as https://host/v1."
        return failed(_CHECK, f"{name} is not an HTTP address.", advice), None
    parts = urlsplit(endpoint.base)
    own = {"localhost", "127.0.0.1", "::1", server.host}
    if name != "base_url" and parts.port == server.port and parts.hostname in own:
        what = f"{name} is the address of this server: it would send requests to itself."
        return failed(_CHECK, what, f"Set {name} to the provider's own address."), None
    try:
        answer = ask(endpoint.url, _ANTHROPIC if endpoint.anthropic else None, over_proxy=True)
    except NoAnswer as error:
        what = f"{name}: {endpoint.shown} is not reached: {error}."
        return failed(_CHECK, what, error.advice), None
    return _answered(endpoint, answer), _moment(answer)


def _answered(endpoint: _Endpoint, answer: Answer) -> Finding:
    name, shown, status = endpoint.setting, endpoint.shown, answer.status
    if 300 <= status < 400:
        return failed(
            _CHECK,
            f"{name}: {shown} redirects, and redirects are not followed.",
            f"Set {name} to the address that it redirects to.",
        )
    if status == 407:
        return failed(_CHECK, f"{name}: the HTTP proxy asks for a login.", "Add it to HTTPS_PROXY.")
    if status >= 500:
        return failed(
            _CHECK,
            f"{name}: {shown} answers with an error (status {status}).",
            "Look at that endpoint, or try again later.",
        )
    if status == 404:
        return note(
            _CHECK,
            f"{name}: {shown} answers, but lists no models (status 404).",
            f"See that the path in {name} is right; most end in /v1.",
        )
    return ok(_CHECK, f"{name}: {shown} answers (status {status}; no key was sent).")


def _moment(answer: Answer) -> datetime | None:
    try:
        moment = parsedate_to_datetime(answer.headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
