"""People who approve on the page: with the cookie, and two of them at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from taskshield.core.tools import Tier
from taskshield.stores.memory import MemoryStore
from tests.server.dashboard.people import hijacked, logged_in, own_page, refusal

ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


def test_of_two_tabs_that_decide_at_once_one_does() -> None:
    store = MemoryStore()
    with logged_in(store, policy=ESCALATE) as client:
        headers = own_page(client)
        hijacked(client, headers=headers)
        (asked,) = client.get("/api/approvals?status=pending").json()["items"]

        def decide(verdict: str) -> tuple[int, str]:
            path = f"/api/approvals/{asked['id']}/{verdict}"
            answer = client.post(path, json={"note": verdict}, headers=headers)
            return (200, verdict) if answer.status_code == 200 else refusal(answer)

        with ThreadPoolExecutor(2) as tabs:
            outcomes = list(tabs.map(decide, ["approve", "deny"]))
        (winner,) = [verdict for status, verdict in outcomes if status == 200]
        assert (409, "already_decided") in outcomes
        (decided,) = client.get("/api/approvals?session=s").json()["items"]
        assert decided["note"] == winner and decided["decided_by"] == "default's key"
        assert decided["status"] == {"approve": "approved", "deny": "denied"}[winner]
        assert client.get("/api/approvals?session=other").json()["items"] == []


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_who_may_not_approve_cannot(verdict: str) -> None:
    store = MemoryStore()
    with logged_in(store, "check", policy=ESCALATE) as client:
        headers = own_page(client)
        hijacked(client, headers=headers)
        (asked,) = client.get("/api/approvals").json()["items"]
        answer = client.post(f"/api/approvals/{asked['id']}/{verdict}", headers=headers)
        assert refusal(answer) == (403, "forbidden")
