"""The server as an ASGI app, made from settings."""

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
from taskshield.core.errors import StoreError
from taskshield.core.judge import Judge
from taskshield.core.store import Approval, Store
from taskshield.server.access.auth import Auth
from taskshield.server.dashboard.playground import Playground
from taskshield.server.http.errors import problem_of, problem_of_validation
from taskshield.server.http.limits import Limits
from taskshield.server.http.surfaces import Surface
from taskshield.server.middleware import RequestMiddleware
from taskshield.server.operations import telemetry
from taskshield.server.operations.live_events import Live
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
from taskshield.server.sessions.checker import CheckResult, SessionChecker
from taskshield.server.sessions.configured_store import open_configured
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
"""All surfaces, those first that people wait for. Another one is one more line here."""

_PRUNING_S = 3600.0
"""How often what is too old is forgotten."""


def create_app(
    settings: Settings, *, judge: Judge | None = None, store: Store | None = None
) -> FastAPI:
    """The server.

    Args:
        settings: All settings, those of the server under `server`.
        judge: Who judges, where it is not the one that the settings name.
        store: An open store, where it is not the one that the settings name; the app closes it.

    Raises:
        ConfigError: A setting is wrong.
    """
    judging = build_judge(settings) if judge is None else judge
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        opened = await open_configured(settings.server) if store is None else store
        app.state.services = running = _services(settings, judging, opened, metrics)
        chores = [
            _begun(running.readiness.test_until_passed()),
            _begun(_forget_regularly(running)),
        ]
        try:
            yield
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            await running.checker.aclose()
            await running.playground.aclose()
            await judging.aclose()
            await opened.aclose()

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
            Middleware(Limits, limits=settings.server.limits),
        ],
        exception_handlers={
            HTTPException: _refused,
            RequestValidationError: _invalid,
        },
    )
    for surface in SURFACES:
        app.include_router(surface.router)
    return app


def _services(settings: Settings, judge: Judge, store: Store, metrics: Metrics) -> Services:
    server = settings.server
    policy = settings.policy.to_policy()
    now = Live()

    def observe(surface: str, checked: CheckResult) -> None:
        for decision in checked.decisions:
            metrics.decided(surface, decision)
            telemetry.decided(surface, checked.session, decision)
        for approval in checked.approvals.values():
            metrics.approval(approval.status)
        live.tell_decisions(now, checked)

    def approved(approval: Approval) -> None:
        metrics.approval(approval.status)
        live.tell_approval(now, approval)

    checker = SessionChecker(
        judge=judge,
        policy=policy,
        store=store,
        redaction=TextRedaction(texts=server.store_texts, redact=server.redact_secrets),
        approval_time=timedelta(seconds=server.approval_s),
        cached=server.live_sessions,
        max_messages=server.limits.messages,
        observe=observe,
    )
    return Services(
        settings=settings,
        store=store,
        checker=checker,
        auth=Auth(store, host=server.host, per_minute=server.limits.per_minute),
        approvals=Approvals(store, checker, approved),
        metrics=metrics,
        readiness=Readiness(judge, policy, store),
        live=now,
        playground=Playground(settings, judge),
    )


def _begun(chore: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """Something that goes on beside all requests; if it breaks off, that is at least known."""

    def ended(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            log("broke off", level=logging.ERROR, error=error)

    task = asyncio.create_task(chore)
    task.add_done_callback(ended)
    return task


async def _forget_regularly(running: Services) -> None:
    """Keep the store within its limits."""
    server = running.settings.server
    age = None if server.retention_days is None else timedelta(days=server.retention_days)
    while True:
        try:
            gone = await running.store.prune(older_than=age, keep=server.max_records)
            log("pruned", rows=gone)
        except StoreError as error:
            running.metrics.store_failed()
            log("pruning failed", level=logging.ERROR, error=error)
        await asyncio.sleep(_PRUNING_S)


async def _refused(request: Request, error: Exception) -> Response:
    """Refused by us, or by the framework: no such path, not this method."""
    surface: Surface = request.state.surface
    return surface.render(problem_of(error))


async def _invalid(request: Request, error: Exception) -> Response:
    """A parameter or a body that is not what it should be."""
    assert isinstance(error, RequestValidationError)
    surface: Surface = request.state.surface
    return surface.render(problem_of_validation(error.errors()))
