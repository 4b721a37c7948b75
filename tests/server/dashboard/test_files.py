"""The files of the page: what is served, and what every answer carries."""

import re
from pathlib import Path

import pytest

from taskshield.server.dashboard.files import FOLDER, read_files
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import keyed, served

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FILES = sorted(read_files())


@pytest.mark.parametrize("path", ["/", "/page/nothing", "/page/me", "/page/login", *FILES])
def test_every_answer_carries_the_policy(path: str) -> None:
    with served() as client:
        answer = client.get(path if path.startswith("/") else f"/page/{path}")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] in ("no-cache", "no-store")


def test_the_page_and_its_files_are_there_without_a_key() -> None:
    store = MemoryStore()
    run(keyed(store, "check"))
    with served(store) as client:
        page = client.get("/")
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        for name in FILES:
            answer = client.get(f"/page/{name}")
            assert answer.status_code == 200
            assert answer.content == (FOLDER / name).read_bytes()
        assert client.head("/").status_code == 200


def test_every_file_in_the_folder_is_served() -> None:
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert set(FILES) == there


def test_nothing_in_the_page_is_inline_or_from_elsewhere() -> None:
    page = (FOLDER / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son\w+=|javascript:", page)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)


def test_a_browser_that_has_a_file_is_told_so() -> None:
    with served() as client:
        tag = client.get("/").headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = client.get("/", headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["content-security-policy"] == POLICY
        assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["..%2ffiles.py", "%2e%2e/files.py", "//etc/passwd", "static/index.html", "", "index.html%00"],
)
def test_nothing_else_can_be_asked_for(path: str) -> None:
    with served() as client:
        answer = client.get(f"/page/{path}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_only_kinds_that_a_page_is_made_of_are_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.js", "sub/b.css", "c.py", ".env", "d"):
        (tmp_path / name).write_text(name)
    assert set(read_files(tmp_path)) == {"a.js", "sub/b.css"}


def test_a_file_that_changes_has_another_tag(tmp_path: Path) -> None:
    path = tmp_path / "a.js"
    tags = []
    for text in ("1", "2", "1"):
        path.write_text(text)
        tags.append(read_files(tmp_path)["a.js"].tag)
    assert tags[0] == tags[2] != tags[1]
