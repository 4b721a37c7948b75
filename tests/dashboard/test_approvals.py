"""The queue of approvals: two people at once, and no mouse."""

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.dashboard import demo


@pytest.fixture
def asked(client: httpx.Client, request: pytest.FixtureRequest) -> str:
    """A call that waits for a person; the id of its approval."""
    return ask(client, f"ask-{request.node.name}")


def ask(client: httpx.Client, session: str) -> str:
    known, said = demo.BILL
    demo.begin(client, session, known)
    approval: str = demo.say(client, session, *said)[-1]["approval"]
    assert approval
    return approval


def card(approval: str) -> str:
    return f".approval[data-id='{approval}']"


def test_of_two_answers_the_first_counts_and_the_other_person_is_informed(
    page: Page, asked: str, client: httpx.Client
) -> None:
    other = page.context.new_page()
    paused: list[Route] = []
    for tab, answer in ((page, "Approve"), (other, "Deny")):
        tab.route(f"**/api/approvals/{asked}/*", lambda route: paused.append(route))
        tab.goto("/#/approvals")
        tab.locator(card(asked)).get_by_role("button", name=answer).click()
        expect(tab.locator(card(asked)).get_by_label("Reason")).to_be_focused()
    for tab in (page, other):
        with tab.expect_request(f"**/api/approvals/{asked}/*"):
            tab.keyboard.press("Enter")
    for route in paused:  # both answers are on their way before either arrives
        route.continue_()
    for tab in (page, other):
        expect(tab.locator(".approvals[aria-label=Decided]").locator(card(asked))).to_be_visible()
    status = client.get(f"/api/approvals/{asked}").json()["status"]
    for tab in (page, other):
        expect(tab.locator(card(asked))).to_contain_text(status, ignore_case=True)
    late = other if status == "approved" else page
    expect(late.locator(card(asked)).locator(".card-notice")).to_contain_text("too late")
    expect(
        (page if late is other else other).locator(card(asked)).locator(".card-notice")
    ).to_be_empty()


def test_the_decision_of_another_reviewer_is_shown(
    page: Page, asked: str, client: httpx.Client
) -> None:
    page.goto("/#/approvals")
    waiting = page.locator(".approvals[aria-label=Waiting]").locator(card(asked))
    expect(waiting).to_contain_text("left")
    expect(page.locator(".connection")).to_have_text("live")
    client.post(f"/api/approvals/{asked}/deny", json={"note": "not ours"}).raise_for_status()
    settled = page.locator(".approvals[aria-label=Decided]").locator(card(asked))
    expect(settled).to_contain_text("Denied")
    expect(settled).to_contain_text("not ours")
    expect(settled).to_contain_text("Another reviewer decided")


def test_the_queue_works_without_a_mouse(page: Page, client: httpx.Client) -> None:
    first, second = ask(client, "keys-1"), ask(client, "keys-2")
    page.goto("/#/approvals")
    for approval in (first, second):
        expect(page.locator(card(approval)).get_by_role("button").first).to_be_visible()
    focused = page.locator(".approval:focus")
    for _ in range(20):  # others may wait, too
        page.keyboard.press("j")
        if focused.get_attribute("data-id") == second:
            break
    page.keyboard.press("k")
    expect(focused).to_have_attribute("data-id", first)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.keyboard.type("jkad no")
    page.keyboard.press("Enter")
    expect(page.locator(card(first))).to_contain_text("Denied")
    expect(focused).to_have_attribute("data-id", second)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(card(second))).to_contain_text("Approved")
    decided = client.get(f"/api/approvals/{first}").json()
    assert (decided["status"], decided["note"]) == ("denied", "jkad no")


def test_the_call_and_the_users_task_are_shown_with_the_question(page: Page, asked: str) -> None:
    page.goto("/#/approvals")
    shown = page.locator(card(asked))
    expect(shown).to_contain_text("Please pay the bill in rent-march.txt")
    expect(shown.locator(".argument", has_text="GB29")).to_contain_text("injected")
    expect(page.locator("nav .waiting-count")).to_be_visible()
