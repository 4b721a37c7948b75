"""Health, readiness and metrics: for whatever looks after the server."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from taskshield.server.http.errors import RequestError
from taskshield.server.http.surfaces import Surface
from taskshield.server.operations.metrics import CONTENT_TYPE
from taskshield.server.services import services


async def alive(request: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """The self-test has passed, and the store can be used; otherwise 503 with the reasons."""
    reasons = await services(request).readiness.reasons()
    if reasons:
        return JSONResponse({"status": "not ready", "reasons": reasons}, status_code=503)
    return JSONResponse({"status": "ready"})


async def metrics(request: Request) -> Response:
    """All metrics, as Prometheus reads them."""
    served = services(request)
    if not served.settings.server.metrics:
        raise RequestError(404, "not_found", "metrics are turned off")
    return Response(served.metrics.page(), media_type=CONTENT_TYPE)


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
