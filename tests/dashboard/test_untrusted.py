"""Whatever is in a conversation is text: it never runs, never hides, never reorders the page."""

import json
import re
import unicodedata

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from taskshield.core.safe_text import visible
from tests.dashboard import demo
from tests.dashboard.conftest import owner

MARKUP = (
    '<img src=x onerror="alert(1)"><script>alert(2)</script>'
    "<a href='javascript:alert(3)'>x</a></textarea></style><svg onload=alert(4)>{{7*7}}"
)
BIDI = "pay \u202e1000\u202c to \u2066ada\u2069"
ESCAPES = "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x07 \x00nul\r\u0085"
INVISIBLE = "zero\u200bwidth \U000e0041tag \u3164filler \ufeffbom \u2028line"
PAYLOAD = f"{MARKUP} {BIDI} {ESCAPES} {INVISIBLE}"
SHOWN = ("<img src=x onerror", "<script>alert(2)", "<U+202E>", "\\x1b[31m", "<U+200B>", "<U+E0041>")
"""How parts of it must look on the page."""
HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u3164\u2028\U000e0041\x00-\x08\x1b\x7f-\x9f]"
)


@pytest.fixture(scope="module")
def session(client: httpx.Client) -> str:
    """A session in which every text is hostile, with an approval of a call."""
    id = "hostile"
    demo.begin(client, id, [*demo.BANK, {"name": f"tool {PAYLOAD}", "description": PAYLOAD}])
    known, said = demo.BILL
    demo.say(client, id, {"level": "system", "text": PAYLOAD}, demo.user(PAYLOAD))
    demo.say(client, id, demo.agent(PAYLOAD, x={"tool": f"tool {PAYLOAD}", PAYLOAD: PAYLOAD}))
    demo.say(client, id, demo.output("x", PAYLOAD))
    demo.say(client, id, *said[:2], demo.output("c1", f"{said[2]['text']} {PAYLOAD}"))
    call = said[3]["tool_calls"][0]["arguments"]
    decision = demo.say(client, id, demo.agent(PAYLOAD, c2={"tool": "send_money", **call}))[-1]
    answer = client.post(f"/api/approvals/{decision['approval']}/deny", json={"note": PAYLOAD})
    answer.raise_for_status()
    labelled = client.put(
        f"/api/decisions/{decision['id']}/label", json={"label": "wrong", "note": PAYLOAD}
    )
    labelled.raise_for_status()
    return id


def inert(page: Page) -> None:
    """Nothing of the payloads became an element, and nothing of them is hidden."""
    expect(page.locator("main")).not_to_be_empty()
    assert page.locator("img, iframe, object, embed, base, main script").count() == 0
    assert page.locator("[onerror], [onload], [href^='javascript:']").count() == 0
    text = page.locator("body").text_content() or ""
    assert HIDDEN.search(text) is None


def test_hostile_texts_of_a_session_are_shown_as_they_are(page: Page, session: str) -> None:
    page.goto(f"/#/sessions/{session}")
    expect(page.get_by_text("No more messages.")).to_be_visible()
    for number in (0, 1, 2, 3):
        text = page.locator(f"#message-{number} .text").inner_text()
        assert all(part in text for part in SHOWN), text
    name = page.locator("#message-2 .tool-name").inner_text()
    assert all(part in name for part in SHOWN)
    row = page.locator("#message-2 .argument").first.inner_text()
    assert row.count("<U+202E>") == 2, "in the argument's name and in its value"
    expect(page.locator(".tasks")).to_contain_text("<U+202E>")
    inert(page)


def test_hostile_texts_in_lists_are_shown_as_they_are(page: Page, session: str) -> None:
    page.goto("/#/live")
    expect(page.locator(".row", has_text=session).locator(".row-task")).to_contain_text("<")
    inert(page)
    page.goto("/#/health")
    expect(page.locator(".review-row", has_text=session).first).to_be_visible()
    inert(page)
    expect(page.locator(".review-row input").first).to_be_visible()
    page.goto("/#/approvals")
    settled = page.locator(".approvals[aria-label=Decided] .approval", has_text=session)
    expect(settled.locator(".answer")).to_contain_text("<U+202E>")
    expect(settled.locator(".answer")).to_contain_text("<script>alert(2)")
    inert(page)


def test_hostile_ids_in_the_address_are_shown_as_they_are(page: Page) -> None:
    page.goto("/#/sessions/" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%E2%80%AE")
    expect(page.locator("h1")).to_have_text("<img src=x onerror=alert(1)><U+202E>")
    expect(page.get_by_role("alert")).to_be_visible()
    page.goto("/#/sessions/%E0%A4%A")
    expect(page.locator("h1")).to_have_text("%E0%A4%A")
    inert(page)


@pytest.mark.parametrize("surface", ["azure"])
def test_hostile_ids_from_other_surfaces_are_shown_as_they_are(
    page: Page, client: httpx.Client, surface: str
) -> None:
    name = '"><img src=x onerror=alert(1)>'
    demo.ask_azure(client, PAYLOAD, f"tool {PAYLOAD}", '{"x": "' + BIDI + '"}', by=name)
    page.goto("/#/live")
    row = page.locator(".row", has_text=surface).first
    expect(row.locator(".row-agent")).to_have_text(name)
    row.locator("a").click()
    expect(page.locator(".message").first).to_contain_text("<U+202E>")
    inert(page)


def test_hostile_conversations_in_the_playground_are_shown_as_they_are(page: Page) -> None:
    page.goto("/#/playground")
    expect(page.locator(".sample[aria-pressed=true]")).to_have_count(1)
    said = [demo.user(PAYLOAD), demo.agent(PAYLOAD, c1={"tool": PAYLOAD, PAYLOAD: PAYLOAD})]
    page.get_by_role("button", name="JSON").click()
    written = json.dumps({"taskshield": 1, "tools": [], "messages": said})
    page.get_by_label("Conversation as JSON").fill(written)
    page.get_by_text("As cURL, Python or Azure request").click()
    copied = page.locator(".requests")
    expect(copied).to_contain_text("<script>alert(2)")
    assert HIDDEN.search(copied.inner_text()) is None
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".run .text").first).to_contain_text("<U+202E>")
    page.get_by_role("button", name="Form").click()
    assert page.locator("main img, main script").count() == 0


def test_hostile_answers_of_the_server_are_shown_as_they_are(page: Page) -> None:
    """Even if the API passed on an error with markup in it."""
    error = {"error": {"code": "x", "message": PAYLOAD}}
    page.route("**/api/sessions?*", lambda route: route.fulfill(status=500, json=error))
    page.goto("/#/live")
    expect(page.get_by_role("alert")).to_contain_text("<U+202E>")
    inert(page)


def test_the_page_requests_only_its_own_server(page: Page, url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in ("live", "approvals", "playground", "health", "benchmarks"):
        page.goto(f"/#/{view}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".connection")).to_have_text("live")
    assert asked and all(address.startswith(url) for address in asked), asked


def test_injected_markup_cannot_run(browser: Browser, url: str) -> None:
    tab = browser.new_page(base_url=url, storage_state=owner(url))
    tab.goto("/#/live")
    expect(tab.locator(".connection")).to_have_text("live")
    tab.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'document.title = "ran"';
            const image = document.createElement('img');
            image.setAttribute('onerror', 'document.title = "ran"');
            image.src = 'http://evil.example/';
            document.body.append(script, image);
        }"""
    )
    tab.wait_for_timeout(100)
    assert "ran" not in tab.title()
    tab.close()


def test_hidden_characters_are_those_of_the_command_line(page: Page) -> None:
    """The same characters, spelled the same way, as far as both know the same Unicode."""
    page.goto("/#/live")
    known = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) not in ("Cn", "Cs", "Co") and char not in "\t\r"
    ]
    text = "|".join(known)
    code = "async (text) => (await import('/page/visible.js')).visibleText(text)"
    shown: str = page.evaluate(code, text)
    expected = visible(text, 10 * len(text))
    differing = [
        (left, right)
        for left, right in zip(shown.split("|"), expected.split("|"), strict=True)
        if left != right
    ]
    assert differing == []
