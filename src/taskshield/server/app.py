"""Assembles the ASGI app from the settings."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from taskshield._version import __version__
from taskshield.core import cache_sizes
from taskshield.core.errors import StoreError
from taskshield.core.judge import Judge
from taskshield.core.store import Approval, Store
from taskshield.engine.own_resources.values import OwnResources
from taskshield.own_surroundings import own_resources
from taskshield.server.access.auth import Auth
from taskshield.server.access.login_link import LoginLink
from taskshield.server.dashboard.playground import Playground
from taskshield.server.http.errors import problem_of, problem_of_validation
from taskshield.server.http.limits import Limits
from taskshield.server.http.open_bodies import OpenBodies
from taskshield.server.http.surfaces import Surface
from taskshield.server.middleware import RequestMiddleware
from taskshield.server.operations import telemetry
from taskshield.server.operations.live_events import LiveEvents
from taskshield.server.operations.logs import log
from taskshield.server.operations.metrics import Metrics
from taskshield.server.operations.readiness import Readiness
from taskshield.server.routes import dashboard, health, proxy
from taskshield.server.routes.agent_hooks import evaluate
from taskshield.server.routes.api import live, router
from taskshield.server.routes.azure import task_adherence
from taskshield.server.routes.claude_code import hook
from taskshield.server.services import Services
from taskshield.server.sessions.approvals import Approvals
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.configured_store import open_configured
from taskshield.server.sessions.judgement import CheckResult
from taskshield.settings import Settings
from taskshield.wiring import build_judge

SURFACES: tuple[Surface, ...] = (
    proxy.SURFACE,
    task_adherence.SURFACE,
    evaluate.SURFACE,
    hook.SURFACE,
    health.SURFACE,
    router.SURFACE,
    live.SURFACE,
    dashboard.SURFACE,
)
"""All surfaces; the most used ones first, because routes are tried in this order."""

_PRUNING_S = 3600.0
"""Seconds between two deletions of old data."""


def create_app(
    settings: Settings,
    *,
    judge: Judge | None = None,
    store: Store | None = None,
    link: LoginLink | None = None,
    own: OwnResources | None = None,
) -> FastAPI:
    """Make the app.

    Args:
        settings: All settings, those of the server under `server`.
        judge: Used instead of the judge that the settings name.
        store: An open store, used instead of the one that the settings name; the app closes it.
        link: With it the person who started the server logs in, as long as there are no keys.
        own: What belongs to this server; as the settings say, where not given.

    Raises:
        ConfigError: A setting is wrong.
    """
    chosen_judge = build_judge(settings) if judge is None else judge
    open_bodies = OpenBodies(settings.server.limits)
    known = own_resources(settings, serves=True) if own is None else own
    metrics = Metrics()
    metrics.show_sizes(
        lambda: {
            "request_bodies": open_bodies.bytes - open_bodies.answers,
            "provider_answers": open_bodies.answers,
            **cache_sizes.sizes(),
        }
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        opened = await open_configured(settings.server) if store is None else store
        app.state.services = running = _services(
            settings, chosen_judge, opened, metrics, link, known
        )
        background = [
            _in_background(running.readiness.run_until_passed()),
            _in_background(_prune_regularly(running)),
        ]
        try:
            yield
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await running.checker.aclose()
            await running.playground.aclose()
            await chosen_judge.aclose()
            await opened.aclose()
            await asyncio.to_thread(telemetry.flush)

    app = FastAPI(
        title="taskshield",
        version=__version__,
        description="Does this serve the user's task?",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            Middleware(RequestMiddleware, surfaces=SURFACES, metrics=metrics),
            Middleware(Limits, limits=settings.server.limits, open_bodies=open_bodies),
        ],
        exception_handlers={
            HTTPException: _render_http_error,
            RequestValidationError: _render_validation_error,
        },
    )
    for surface in SURFACES:
        app.include_router(surface.router)
    return app


def _services(
    settings: Settings,
    judge: Judge,
    store: Store,
    metrics: Metrics,
    link: LoginLink | None,
    own: OwnResources,
) -> Services:
    server = settings.server
    policy = settings.policy.to_policy()
    live_events = LiveEvents()

    def observe(surface: str, checked: CheckResult) -> None:
        for decision in checked.decisions:
            metrics.count_decision(surface, decision)
            telemetry.record_decision(surface, checked.session, decision)
        for approval in checked.approvals.values():
            metrics.count_approval(approval.status)
        live.publish_decisions(live_events, checked)

    def publish_decided(approval: Approval) -> None:
        metrics.count_approval(approval.status)
        live.publish_approval(live_events, approval)

    checker = SessionChecker(
        judge=judge,
        policy=policy,
        store=store,
        redaction=TextRedaction(texts=server.store_texts, redact=server.redact_secrets),
        approval_time=timedelta(seconds=server.approval_s),
        cached=server.live_sessions,
        cached_bytes=server.cache_bytes,
        max_messages=server.limits.messages,
        own=own,
        observe=observe,
    )
    metrics.show_sizes(lambda: {**checker.cached_bytes, "live_events": live_events.bytes})
    return Services(
        settings=settings,
        store=store,
        checker=checker,
        auth=Auth(store, host=server.host, per_minute=server.limits.per_minute, link=link),
        approvals=Approvals(store, checker, publish_decided),
        metrics=metrics,
        readiness=Readiness(judge, policy, store),
        live=live_events,
        playground=Playground(settings, judge, own),
    )


def _in_background(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """Run work beside the requests. If it fails, the error is logged."""

    def ended(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            log("background task failed", level=logging.ERROR, error=error)

    task = asyncio.create_task(work)
    task.add_done_callback(ended)
    return task


async def _prune_regularly(running: Services) -> None:
    """Delete old data, so that the store stays within its limits."""
    server = running.settings.server
    age = None if server.retention_days is None else timedelta(days=server.retention_days)
    while True:
        try:
            rows = await running.store.prune(older_than=age, keep=server.max_records)
            log("pruned", rows=rows)
        except StoreError as error:
            running.metrics.count_store_failure()
            log("pruning failed", level=logging.ERROR, error=error)
        await asyncio.sleep(_PRUNING_S)


async def _render_http_error(request: Request, error: Exception) -> Response:
    """Render a `RequestError`, or an error of the framework such as an unknown path."""
    surface: Surface = request.state.surface
    return surface.render(problem_of(error))


async def _render_validation_error(request: Request, error: Exception) -> Response:
    """Render the error for an invalid parameter or body."""
    assert isinstance(error, RequestValidationError)
    surface: Surface = request.state.surface
    return surface.render(problem_of_validation(error.errors()))
