"""Health, readiness and metrics, for orchestration and monitoring."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from taskshield.server.http.errors import RequestError
from taskshield.server.http.surfaces import Surface
from taskshield.server.operations.metrics import CONTENT_TYPE
from taskshield.server.services import services


async def alive(request: Request) -> Response:
    """Answer that the process runs."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """Answer 200 where the server is ready, or else 503 with the reasons."""
    problem = await services(request).readiness.problem()
    if problem is None:
        return JSONResponse({"status": "ready"})
    body: dict[str, object] = {"status": "not ready", "reasons": problem.reasons}
    if problem.store is not None:
        body["store"] = problem.store
    return JSONResponse(body, status_code=503)


async def metrics(request: Request) -> Response:
    """All metrics in the format of Prometheus."""
    server = services(request)
    if not server.settings.server.metrics:
        raise RequestError(
            404, "not_found", "Metrics are turned off. Set server.metrics to turn them on."
        )
    return Response(server.metrics.render(), media_type=CONTENT_TYPE)


SURFACE = Surface(
    name="health",
    prefixes=("/healthz", "/readyz", "/metrics"),
    router=APIRouter(
        routes=[
            Route("/healthz", alive, methods=["GET"]),
            Route("/readyz", ready, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
        ]
    ),
)
