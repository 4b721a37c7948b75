"""One real server and one real browser for all tests of the page."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, Page, StorageState, ViewportSize, sync_playwright

from tests.dashboard.demo import POLICY
from tests.server.listening import OWNERS, in_terminal

CHROMIUM = shutil.which("chromium")
SIZE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 375, "height": 740}


def write_settings(folder: Path) -> Path:
    """A settings file under which people decide on money and access."""
    path = folder / "settings.yaml"
    path.write_text(yaml.safe_dump({"policy": POLICY}), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in a process of its own, with the embedded judge."""
    folder = tmp_path_factory.mktemp("page")
    store = f"sqlite:///{folder / 'store.db'}"
    options = ("--config", str(write_settings(folder)), "--store", store)
    with in_terminal(*options) as process:
        yield process.url


@pytest.fixture(scope="session")
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers=OWNERS[url], timeout=60) as client:
        yield client


def owner(url: str) -> StorageState:
    """What a browser keeps of a login with the link of this server."""
    kept = OWNERS[url]
    name, _, value = kept["cookie"].partition("=")
    return {
        "cookies": [
            {
                "name": name,
                "value": value,
                "domain": "127.0.0.1",
                "path": "/",
                "expires": -1,
                "httpOnly": True,
                "secure": False,
                "sameSite": "Strict",
            }
        ],
        "origins": [
            {
                "origin": url,
                "localStorage": [{"name": "taskshield-csrf", "value": kept["x-taskshield-csrf"]}],
            }
        ],
    }


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """While it runs, its event loop is that of this thread: no other test may need one."""
    assert CHROMIUM is not None, "the tests of the page need Debian's package chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """A tab of a new person. Every script error or refusal in it fails the test."""
    context = browser.new_context(
        base_url=url, viewport=SIZE, reduced_motion="reduce", storage_state=owner(url)
    )
    context.set_default_timeout(15_000)
    tab = context.new_page()
    wrong = watched(tab)
    yield tab
    context.close()
    assert wrong == []


def watched(tab: Page) -> list[str]:
    """All that goes wrong in a tab: errors of scripts, and what the browser refuses."""
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on(
        "console",
        lambda said: (
            wrong.append(said.text)
            if said.type == "error" and "Failed to load resource" not in said.text
            else None
        ),
    )
    tab.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
    return wrong
