"""The link that `taskshield serve` shows in its terminal, opened in a real browser."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.dashboard import demo
from tests.dashboard.conftest import SIZE, watched, write_settings
from tests.server.listening import SCRIPT, listening


@dataclass
class Terminal:
    """What the person sees who started the server."""

    url: str
    lines: Iterator[str]

    def link(self) -> str:
        """The next link that is shown."""
        return next(line.strip() for line in self.lines if "#/login/" in line)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    ours, theirs = os.openpty()
    options = ("--port", "0", "--config", str(write_settings(tmp_path)), "--store", "memory:")
    with open(ours, encoding="utf-8") as shown:
        with listening([str(SCRIPT), "serve", *options], {}, output=theirs) as process:
            yield Terminal(process.url, shown)


@pytest.fixture
def person(browser: Browser, terminal: Terminal) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=terminal.url, viewport=SIZE)
    context.set_default_timeout(15_000)
    yield context
    context.close()


def begin(url: str) -> str:
    """An agent without a key asks for something that waits for a person."""
    known, said = demo.BILL
    with httpx.Client(base_url=url, timeout=60) as agent:
        demo.begin(agent, "bill", known)
        approval: str = demo.say(agent, "bill", *said)[-1]["approval"]
        assert agent.post(f"/api/approvals/{approval}/approve").status_code == 401
    return approval


def logged_in(page: Page) -> None:
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def test_one_click_on_the_link_is_enough_to_approve(
    person: BrowserContext, terminal: Terminal
) -> None:
    link, approval = terminal.link(), begin(terminal.url)
    token = link.rpartition("/")[2]
    page = person.new_page()
    wrong, asked = watched(page), []
    page.on("request", lambda request: asked.append(request.url + str(request.headers)))
    page.goto(link)
    logged_in(page)
    assert token not in page.url and not any(token in each for each in asked)
    page.get_by_role("link", name=re.compile("Approvals")).click()
    card = page.locator(f".approval[data-id='{approval}']")
    card.get_by_role("button", name="Approve").click()
    page.keyboard.press("Enter")
    expect(card).to_contain_text("Approved")
    expect(card).to_contain_text("owner")
    page.reload()
    logged_in(page)
    (cookie,) = person.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["expires"] > 0
    kept = page.evaluate("JSON.stringify(localStorage)") + page.evaluate("String(history.length)")
    assert token not in kept and cookie["value"] not in kept
    assert wrong == []


def test_the_link_opened_twice_is_no_obstacle(person: BrowserContext, terminal: Terminal) -> None:
    link = terminal.link()
    for page in (person.new_page(), person.new_page()):
        page.goto(link)
        logged_in(page)


def test_another_browser_needs_the_next_link(
    browser: Browser, person: BrowserContext, terminal: Terminal
) -> None:
    link = terminal.link()
    page = person.new_page()
    page.goto(link)
    logged_in(page)
    following = terminal.link()
    context = browser.new_context(base_url=terminal.url, viewport=SIZE)
    other = context.new_page()
    other.goto(link)
    expect(other.get_by_role("alert")).to_contain_text("was used already")
    expect(other.get_by_label("API key")).to_be_visible()
    other.goto(following)
    logged_in(other)
    context.close()


def test_without_the_link_the_page_says_where_it_is(
    person: BrowserContext, terminal: Terminal
) -> None:
    page = person.new_page()
    page.goto("/")
    expect(page.get_by_text("Or open the link")).to_be_visible()
    page.goto(terminal.link())
    logged_in(page)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()
    page.goto(terminal.link())
    logged_in(page)


def test_a_page_on_another_port_of_this_machine_gets_nothing_it_can_use(
    person: BrowserContext, terminal: Terminal
) -> None:
    """The browser sends it the cookie, but the token stays with the page."""
    page = person.new_page()
    page.goto(terminal.link())
    logged_in(page)
    stolen = {"cookie": "; ".join(f"{each['name']}={each['value']}" for each in person.cookies())}
    me = httpx.get(f"{terminal.url}/page/me", headers=stolen).json()
    assert "csrf" not in me
    answer = httpx.post(f"{terminal.url}/api/self-test", headers={**stolen, "origin": terminal.url})
    assert answer.status_code == 403
