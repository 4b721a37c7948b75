"""Pictures of every view, light and dark: `python -m tests.dashboard.screenshots [FOLDER]`.

It fills a server of its own with made-up sessions.
"""

import asyncio
import random
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from taskshield.adapters.conversations.detect import parse
from taskshield.core.policy import Policy
from taskshield.core.store import AuditRecord, StoredSession
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from taskshield.stores.open_store import open_store
from taskshield.wiring import build_judge
from tests.dashboard import demo
from tests.dashboard.conftest import CHROMIUM, PHONE, SIZE, owner, write_settings
from tests.server.listening import in_terminal, person

DAY = 60
"""Sessions of the last hours."""
ASKING = ("rent-march", "calendar-88fd")
"""Conversations in which a person is asked: these stay in the present."""
SURFACES = ("proxy", "native", "azure")
AGENTS = ("support-desk", "invoice-clerk", None, "travel-planner")
FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"


@contextmanager
def filled_server() -> Iterator[str]:
    """A server in which agents have been at work for a day."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/store.db"
        asyncio.run(work_a_day(store))
        options = ("--config", str(write_settings(Path(folder))), "--store", store)
        with in_terminal(*options) as process:
            with person(process, timeout=60) as client:
                while client.get("/readyz").status_code != 200:
                    pass
                demo.fill(client)
            yield process.url


async def work_a_day(url: str) -> None:
    """Sessions of the last hours: judged now, and stored with an earlier time."""
    chance = random.Random(7)
    now = datetime.now(UTC)
    judged = [await originals(story) for name, story in demo.STORIES if name not in ASKING]
    store = await open_store(url)
    times = sorted(now - timedelta(hours=chance.gammavariate(2, 3), minutes=9) for _ in range(DAY))
    for number, at in enumerate(times):
        session, records = chance.choice(judged)
        name = f"job-{4096 + 37 * number:x}"
        surface, agent = SURFACES[number % 3], AGENTS[number % 4]
        dated = replace(
            session,
            id=name,
            version=1,
            created_at=at,
            updated_at=at,
            last_at=at,
            surface=surface,
            agent=agent,
        )
        copies = [
            replace(each, id=uuid.uuid4().hex, session=name, at=at, surface=surface, agent=agent)
            for each in records
        ]
        await store.commit(dated, copies)
    await store.aclose()


async def originals(
    story: tuple[list[demo.Json], list[demo.Json]],
) -> tuple[StoredSession, tuple[AuditRecord, ...]]:
    """A conversation as the store keeps it."""
    store, judge = MemoryStore(), build_judge(load({}, environment={}))
    checker = SessionChecker(judge=judge, policy=Policy(), store=store, redaction=TextRedaction())
    tools, messages = story
    told = parse({"taskshield": 1, "tools": tools, "messages": messages}).conversation
    await checker.create_session("default", id="s", tools=told.tools)
    await checker.check("default", "s", told.messages, source=RequestSource("native"))
    session = await store.session("default", "s")
    records = await store.timeline("default", "s", limit=len(messages))
    await checker.aclose()
    await judge.aclose()
    assert session is not None
    return session, records


def take(browser: Browser, url: str, folder: Path, theme: str) -> None:
    """All views in one theme."""
    context = browser.new_context(
        storage_state=owner(url),
        base_url=url,
        viewport=SIZE,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    for name, path in {
        "live": "/#/live",
        "session": "/#/sessions/mail-summary-5b09",
        "approvals": "/#/approvals",
        "health": "/#/health",
        "benchmarks": "/#/benchmarks",
    }.items():
        page.goto(path)
        settle(page)
        if name == "session":
            page.locator(".argument", has_text="desk@").hover()
        save(page, folder / f"{name}-{theme}.png")
    page.goto("/#/playground")
    settle(page)
    page.locator(".sample:has(.dot.bad)").first.click()
    page.get_by_role("button", name="Run").click()
    page.locator(".verdict").first.wait_for()
    settle(page)
    save(page, folder / f"playground-{theme}.png")
    page.set_viewport_size(PHONE)
    page.goto("/#/sessions/mail-summary-5b09/4")
    settle(page)
    save(page, folder / f"phone-{theme}.png")
    context.close()


def settle(page: Page) -> None:
    """Wait until everything has loaded."""
    page.locator("main h1").wait_for()
    page.wait_for_timeout(500)
    expect(page.get_by_text("Loading")).to_have_count(0)


def save(page: Page, path: Path) -> None:
    page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").save(path, optimize=True)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with filled_server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            take(browser, url, folder, theme)
        browser.close()
    for path in sorted(folder.iterdir()):
        print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
