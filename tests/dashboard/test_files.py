"""What the page is made of."""

import re
from pathlib import Path

STATIC = Path(__file__).parents[2] / "src" / "taskshield" / "server" / "dashboard" / "static"
IMPORTED = re.compile(r'^import [^;]*?from "\./(\w+\.js)"', re.MULTILINE)


def test_no_file_writes_markup() -> None:
    words = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        r"|DOMParser|createContextualFragment|srcdoc|setHTML"
    )
    files = sorted(STATIC.glob("*.js"))
    assert len(files) > 20
    for path in files:
        assert words.search(path.read_text(encoding="utf-8")) is None, path


def test_nothing_runs_inline_and_nothing_comes_from_elsewhere() -> None:
    for path in (*STATIC.glob("*.html"), *STATIC.glob("*.svg")):
        text = path.read_text(encoding="utf-8")
        assert re.search(r"<script(?![^>]*src=)|\son\w+=|style=|javascript:", text) is None, path
    for path in STATIC.glob("*.css"):
        assert re.search(r"url\(|@import", path.read_text(encoding="utf-8")) is None, path
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert re.search(r"https?://", text) is None, path


def test_files_stay_small_and_say_what_they_own() -> None:
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, path
        if path.suffix in (".js", ".css"):
            assert text.startswith("/*"), path


def test_the_page_names_what_the_first_view_needs_so_that_all_of_it_loads_at_once() -> None:
    """A module is otherwise found only when the one that imports it has come."""
    needed: set[str] = set()
    found = {"main.js"}
    while found:
        name = found.pop()
        needed.add(name)
        text = (STATIC / name).read_text(encoding="utf-8")
        found |= set(IMPORTED.findall(text)) - needed
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'"/page/(\w+\.js)"', text)) == needed
