import json
import logging
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from taskshield.core.errors import (
    ConfigError,
    ConversationError,
    MissingExtraError,
    StoreConflict,
    StoreError,
    WireFormatError,
)
from taskshield.core.store import AuditQuery, StoredSession
from taskshield.server import app as apps
from taskshield.server.http.errors import Problem, RequestError, problem_of
from taskshield.server.http.surfaces import Surface
from taskshield.server.operations import telemetry
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import HIJACKED, TENANT, Failing, checker, judge, served


def bluntly(problem: Problem) -> Response:
    return PlainTextResponse(f"no: {problem.code}", status_code=problem.status)


async def broken(request: Request) -> Response:
    raise ZeroDivisionError("canary")


async def half(request: Request) -> Response:
    async def body() -> Any:
        yield b"half"
        raise ZeroDivisionError("canary")

    return StreamingResponse(body())


async def fine(request: Request) -> Response:
    return JSONResponse({})


BLUNT = Surface(
    name="blunt",
    prefixes=("/blunt", "/api/blunt"),
    router=APIRouter(
        routes=[
            Route("/blunt/broken", broken),
            Route("/blunt/half", half),
            Route("/blunt/fine", fine, methods=["POST"]),
        ]
    ),
    render=bluntly,
)


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/blunt/none", 404, "no: not_found"),
        ("GET", "/api/blunt", 404, "no: not_found"),
        ("GET", "/blunt/fine", 405, "no: method_not_allowed"),
        ("GET", "/blunt/broken", 500, "no: internal"),
        ("POST", "/blunt/fine", 413, "no: too_large"),
    ],
)
def test_every_error_of_a_surface_has_its_own_body(
    method: str, path: str, status: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apps, "SURFACES", (*apps.SURFACES, BLUNT))
    with served(limits={"body_bytes": 10}) as client:
        answer = client.request(method, path, content=b"x" * 11 if status == 413 else None)
        assert (answer.status_code, answer.text) == (status, body)
        assert client.get("/api/none").json()["error"]["code"] == "not_found"


def test_a_response_that_failed_midway_closes_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apps, "SURFACES", (*apps.SURFACES, BLUNT))
    with served() as client:
        answer = client.get("/blunt/half")
        assert "canary" not in answer.text and "no:" not in answer.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RequestError(418, "teapot", "no coffee"), 418, "teapot"),
        (WireFormatError("messages[0]: wrong"), 400, "invalid_request"),
        (ConversationError("twice"), 409, "invalid_conversation"),
        (StoreConflict("canary"), 503, "conflict"),
        (StoreError("canary"), 503, "store_unavailable"),
        (ConfigError("canary"), 500, "internal"),
        (KeyError("canary"), 500, "internal"),
    ],
)
def test_each_error_has_its_status(error: Exception, status: int, code: str) -> None:
    problem = problem_of(error)
    assert (problem.status, problem.code) == (status, code)
    assert "canary" not in problem.message


def test_old_data_is_deleted_at_start() -> None:
    store = MemoryStore()
    run(checker(store).check_conversation(TENANT, HIJACKED, source=RequestSource("test")))
    old = datetime.now(UTC) - timedelta(days=31)
    for record in run(store.search(TENANT, AuditQuery())).items[:2]:
        aged = StoredSession(
            tenant=TENANT, id=record.id, version=1, state=None, created_at=old, updated_at=old
        )
        run(store.commit(aged, [replace(record, id=f"old-{record.id}", at=old)]))
    with served(store) as client:
        while len(items := client.get("/api/decisions").json()["items"]) != 5:
            pass
        assert not any(each["id"].startswith("old") for each in items)


def test_a_store_that_cannot_be_pruned_does_not_stop_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Full(Failing):
        async def prune(self, **limits: Any) -> int:
            raise StoreError("canary")

    with caplog.at_level(logging.ERROR, "taskshield"), served(Full()) as client:
        while "taskshield_store_errors_total 1.0" not in client.get("/metrics").text:
            pass
    assert [record.getMessage() for record in caplog.records] == ["pruning failed"]


def test_the_app_closes_its_judge_and_its_store() -> None:
    closed: list[str] = []

    class Closing(MemoryStore):
        async def aclose(self) -> None:
            closed.append("store")

    mine = judge()
    with served(Closing(), by=mine):
        assert not closed and not mine.closed
    assert closed == ["store"] and mine.closed


def test_traces_that_cannot_be_exported_are_a_wrong_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    telemetry.configure()  # nothing is asked for, so nothing is needed
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtraError, match=r"taskshield\[otel\]"):
        telemetry.configure()


def test_the_openapi_document_can_be_read_without_a_key() -> None:
    with served() as client:
        document = client.get("/api/openapi.json", headers={"host": "elsewhere.example"})
        assert set(json.loads(document.text)["components"]["securitySchemes"]) == {"key", "bearer"}
