"""The native API against its own OpenAPI document: every response is as described."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
)

from taskshield.core.tools import Tier
from taskshield.server.app import create_app
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from taskshield.stores.paging import page, place
from tests.engine.sessions import run
from tests.server.listening import in_thread
from tests.server.stage import HIJACKED, judge, keyed, wire
from tests.stores.rows import SESSION

DOCUMENT = schemathesis.openapi.from_dict(
    create_app(load({}, environment={}), judge=judge(), store=MemoryStore()).openapi()
)
OPERATIONS = [
    operation
    for found in DOCUMENT.get_all_operations()
    if isinstance(found, Ok) and (operation := found.ok()).path != "/api/live"  # it has no end
]
TELLS_LESS = {"/api/playground"}
"""Paths that take a conversation in several formats, which the document describes loosely."""
ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}
CURSORS = st.builds(
    lambda at, id: page([replace(SESSION, updated_at=at, id=id)] * 2, 1, place).next,
    st.datetimes(timezones=st.just(UTC)),
    st.text(max_size=10),
)
schemathesis.openapi.format("cursor", CURSORS)


@dataclass(frozen=True)
class Target:
    """A server, a key for it, and ids that exist there."""

    url: str
    headers: dict[str, str]
    ids: dict[str, str]


@pytest.fixture(scope="module", params=["key", "link"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    store = MemoryStore()
    headers = {}
    if request.param == "key":
        headers["x-taskshield-key"] = run(keyed(store, "admin"))
    with (
        in_thread(judge(), store, policy=ESCALATE, limits={"per_minute": None}) as server,
        httpx.Client(base_url=server.url, headers=headers or server.owner) as client,
    ):
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        said = {"messages": wire(*HIJACKED.messages)}
        decided = client.post("/api/sessions/s/messages", json=said).json()["decisions"]
        held = next(decision for decision in decided if decision["approval"])
        path = f"/api/approvals/{held['approval']}"
        client.post(f"{path}/deny").raise_for_status()  # so that no request waits for a decision
        ids = {"session": "s", "decision": held["id"], "approval": held["approval"]}
        yield Target(server.url, headers or server.owner, ids)


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.label)
def test_responses_match_the_openapi_document(
    operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, target: Target
) -> None:
    @given(case=operation.as_strategy(generation_mode=mode), there=st.booleans())
    @settings(max_examples=12, derandomize=True, phases=[Phase.generate])
    def check(case: Case[Any], there: bool) -> None:
        if there:
            case.path_parameters.update(
                {name: id for name, id in target.ids.items() if name in case.path_parameters}
            )
        case.call_and_validate(
            base_url=target.url,
            headers=target.headers,
            excluded_checks=[
                negative_data_rejection,  # unknown parameters of a query are ignored
                *([] if "x-taskshield-key" in target.headers else [ignored_auth]),
                *([positive_data_acceptance] if operation.path in TELLS_LESS else []),
            ],
        )

    check()
