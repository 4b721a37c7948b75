"""Accessibility (keyboard, screen reader, phone, colours), and who may see the page."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.dashboard import demo
from tests.dashboard.conftest import PHONE, SIZE, owner, watched
from tests.server.listening import SCRIPT, in_process

VIEWS = {
    "live": ".row",
    "sessions/story": ".matrix",
    "approvals": ".approval .message",
    "playground": ".verdict",
    "health": ".review-row",
    "benchmarks": ".compare",
}
"""Routes, and what is shown once everything has loaded."""
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module", autouse=True)
def stories(client: httpx.Client) -> None:
    demo.fill(client, [("story", demo.TIDAL), ("waiting", demo.BILL)])


def opened(page: Page, view: str) -> None:
    page.goto(f"/#/{view}")
    if view == "playground":
        page.locator(".sample:has(.dot.bad)").first.click()
        page.get_by_role("button", name="Run").click()
    page.locator(VIEWS[view]).first.wait_for()
    expect(page.get_by_text("Loading")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, url: str, theme: str) -> None:
    context = browser.new_context(
        storage_state=owner(url),
        base_url=url,
        viewport=SIZE,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        bypass_csp=True,  # for axe alone, which is put into the page as a script
    )
    page = context.new_page()
    found: list[str] = []
    for view in VIEWS:
        opened(page, view)
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in GRAVE:
                nodes = [node["html"][:160] for node in violation["nodes"][:3]]
                found.append(f"{view}: {violation['id']}: {violation['help']}: {nodes}")
    context.close()
    assert found == []


def test_a_phone_is_wide_enough(browser: Browser, url: str) -> None:
    context = browser.new_context(
        storage_state=owner(url), base_url=url, viewport=PHONE, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    for view in VIEWS:
        opened(page, view)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE["width"], view
        assert page.locator("nav a").last.is_visible()
    context.close()


def test_all_controls_are_reached_by_keyboard_with_visible_focus(page: Page) -> None:
    opened(page, "live")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Filter sessions")).to_be_focused()
    page.keyboard.type("story")
    for _ in range(3):  # outcome, pause, the row
        page.keyboard.press("Tab")
    row = page.locator(".row:visible").filter(has=page.locator("a:focus"))
    assert row.evaluate("row => getComputedStyle(row).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="story")).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator(".argument:focus").count() == 1:
            break
    outline = page.locator(".argument:focus").evaluate("row => getComputedStyle(row).outlineStyle")
    assert outline == "solid"
    expect(page.locator(".link.on")).not_to_have_count(0)


def test_colours_follow_the_system_and_the_switch(page: Page) -> None:
    opened(page, "live")

    def ground() -> str:
        found: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return found

    light = ground()
    page.emulate_media(color_scheme="dark")
    dark = ground()
    assert light != dark
    switch = page.get_by_role("button", name=re.compile("Colours"))
    switch.click()
    assert ground() == light
    page.reload()
    expect(switch).to_have_accessible_name("Colours: light")
    assert ground() == light
    switch.click()
    assert ground() == dark


def test_reduced_motion_is_respected(page: Page) -> None:
    opened(page, "live")
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter((element) => {
            const style = getComputedStyle(element);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


@pytest.mark.parametrize("view", ["live", "health", "benchmarks"])
def test_the_layout_does_not_shift(browser: Browser, url: str, view: str) -> None:
    context = browser.new_context(storage_state=owner(url), base_url=url, viewport=SIZE)
    context.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.shift += entry.value;
        }).observe({type: 'layout-shift', buffered: true});"""
    )
    page = context.new_page()
    opened(page, view)
    page.wait_for_timeout(200)
    assert page.evaluate("window.shift") < 0.1  # "good", by the measure of the web vitals
    context.close()


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """A server that needs keys: its address, a key with all scopes, and one with check only."""
    store = f"sqlite:///{tmp_path_factory.mktemp('locked') / 'store.db'}"

    def key(*scopes: str) -> str:
        options = [word for scope in scopes for word in ("--scope", scope)]
        made = subprocess.run(
            [SCRIPT, "keys", "create", "--store", store, "--name", "tester", *options],
            capture_output=True,
            text=True,
            check=True,
        )
        found = re.search(r"tsk_[\w-]+", made.stdout)
        assert found is not None
        return found[0]

    everything, looking = key("check", "approve"), key("check")
    with in_process("--judge", "allow-all", "--store", store) as process:
        yield process.url, everything, looking


def test_an_unknown_person_has_to_log_in(browser: Browser, locked: tuple[str, str, str]) -> None:
    address, key, _ = locked
    context = browser.new_context(base_url=address, viewport=SIZE)
    page = context.new_page()
    wrong = watched(page)
    page.goto("/#/health")
    entry = page.get_by_label("API key")
    expect(entry).to_be_focused()
    entry.fill("tsk_nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("unknown")
    entry.fill(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    expect(page.locator(".connection")).to_have_text("live")
    kept = json.dumps(context.storage_state())
    assert key not in kept and key not in page.content()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()
    assert wrong == []
    context.close()


def test_two_judges_of_a_server_are_compared_side_by_side(
    browser: Browser, locked: tuple[str, str, str]
) -> None:
    """The judge of this server, which allows everything, and the embedded one."""
    address, key, _ = locked
    context = browser.new_context(base_url=address, viewport=SIZE)
    page = context.new_page()
    page.goto("/#/playground")
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    page.locator(".sample:has(.dot.bad)").first.click()
    for judge in ("allow-all", "embedded"):
        page.get_by_label(judge).check()
    page.get_by_role("button", name="Run").click()
    for judge, verdict in (
        ("allow-all", "Everything serves the user's tasks"),
        ("embedded", "Blocks 1 step"),
    ):
        run = page.locator(".run", has_text=judge)
        # The embedded model of this server is loaded by this first run.
        expect(run.locator(".verdict")).to_contain_text(verdict, timeout=30_000)
    boxes = [box.bounding_box() for box in page.locator(".run").all()]
    assert len({box["y"] for box in boxes if box is not None}) == 1
    assert len({box["x"] for box in boxes if box is not None}) == 2
    context.close()


def test_a_key_without_approve_sees_no_buttons_to_decide(
    browser: Browser, locked: tuple[str, str, str]
) -> None:
    address, everything, looking = locked
    headers = {"x-taskshield-key": everything}
    with httpx.Client(base_url=address, headers=headers) as client:
        demo.begin(client, "seen", demo.MAIL)
        demo.say(client, "seen", *demo.CONTACT[1])
    context = browser.new_context(base_url=address, viewport=SIZE)
    page = context.new_page()
    for key, buttons in ((everything, True), (looking, False)):
        page.goto("/#/sessions/seen")
        page.get_by_label("API key").fill(key)
        page.keyboard.press("Enter")
        expect(page.get_by_text("No more messages.")).to_be_visible()
        assert (page.get_by_role("button", name="Mark as wrong").count() > 0) is buttons
        if buttons:
            page.locator("#message-1").get_by_role("button", name="Mark as wrong").click()
            expect(page.get_by_role("button", name="Marked as wrong")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("API key")).to_be_visible()
    context.close()


def test_pictures_are_there_for_every_view() -> None:
    folder = Path(__file__).parents[2] / "docs" / "screenshots"
    names = ("live", "session", "approvals", "playground", "health", "benchmarks", "phone")
    wanted = {f"{name}-{theme}.png" for name in names for theme in ("light", "dark")}
    assert wanted == {path.name for path in folder.iterdir()}
    assert all(path.stat().st_size < 300_000 for path in folder.iterdir())
