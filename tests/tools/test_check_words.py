"""The word check: what it reads, what it leaves alone, and its limit."""

import subprocess
from pathlib import Path

import pytest

from tools import check_words

TABLE = "word\tuse instead\tnote\nanew\tagain\t\nlet go of\treleases\t\n"
RULES = check_words.rules(TABLE)


def found(path: str, text: str) -> list[tuple[int, str]]:
    return [(hit.line, hit.found) for hit in check_words.hits(path, text, RULES)]


def test_a_word_is_found_with_its_line_and_what_to_use() -> None:
    (hit,) = check_words.hits("docs/a.md", "# Title\n\nIt starts Anew.\n", RULES)
    assert str(hit) == "docs/a.md:3: 'Anew', use instead: again"


def test_a_phrase_may_cross_lines_but_not_paragraphs() -> None:
    assert found("a.md", "They let\ngo of it.\n") == [(1, "let\ngo of")]
    assert found("a.md", "They let\n\ngo of it.\n") == []
    assert found("a.py", "# They let\n# go of it.\n") == [(1, "let\ngo of")]


def test_parts_of_words_are_not_words() -> None:
    assert found("a.md", "renewed anewly\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "Not `anew`.",
        "Not ``anew``.",
        "Not `one\nanew` either.",
        "```text\nanew\n```",
        "~~~\nanew\n~~~",
        "Text:\n\n    anew\n",
        "[link](anew.md)",
        "https://example.com/anew",
        'They say "anew" there.',
    ],
)
def test_code_and_quotations_are_not_read(text: str) -> None:
    assert found("a.md", text) == []


def test_prose_after_code_is_read() -> None:
    assert found("a.md", "```\nx\n```\nanew\n") == [(4, "anew")]
    assert found("a.md", "Text that\n    goes on anew\n") == [(2, "anew")]


@pytest.mark.parametrize(
    "code",
    [
        '"""Anew."""',
        "x = 1  # anew",
        'raise ValueError("it began anew")',
        'raise ValueError(f"{1} began anew")',
        'log.warning("it began anew")',
        'print("it began anew")',
        'error = ConfigError("it began anew")',
        'parser.add_argument("--x", help="begins anew")',
    ],
)
def test_what_python_says_is_read(code: str) -> None:
    assert [word for _, word in found("src/a.py", code)] in (["anew"], ["Anew"])


@pytest.mark.parametrize("code", ['x = "it began anew"', "anew = 1", "x = 1  # noqa: anew"])
def test_data_and_names_of_python_are_not_read(code: str) -> None:
    assert found("src/a.py", code) == []


def test_names_of_tests_are_read() -> None:
    code = "def test_it_starts_anew() -> None: ...\n"
    assert found("tests/test_a.py", code) == [(1, "anew")]
    assert found("src/a.py", code) == []


def test_the_dashboard_is_read() -> None:
    page = '<p title="anew">x</p>\n<script>anew()</script>\n<p class="anew">anew</p>'
    assert found("a.html", page) == [(1, "anew"), (3, "anew")]
    calls = "say('it began anew');\nsay(`it ${anew}`, 'anew', 'Anew');"
    script = f"// anew\nanew();\n{calls}\n/* a\n * anew */\n"
    assert found("a.js", script) == [(1, "anew"), (3, "anew"), (4, "Anew"), (6, "anew")]


def test_comments_of_makefiles_and_settings_are_read() -> None:
    assert found("Makefile", "anew: ## run it anew\n") == [(1, "anew")]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "words.tsv").write_text(TABLE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("anew\n\nanew\n")
    (tmp_path / "NOTICE").write_text("anew\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("limit", "status"), [("0", 1), ("1", 1), ("2", 0), ("3", 0)])
def test_more_hits_than_the_limit_fail(
    repository: Path, limit: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_words.main(["--limit", limit]) == status
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"docs/a.md:{line}: 'anew', use instead: again" for line in (1, 3) if status
    ]
    assert printed.err == f"2 words found, {limit} accepted\n"


@pytest.mark.usefixtures("repository")
def test_one_folder_can_be_read_alone() -> None:
    assert check_words.main(["docs"]) == 1
    assert check_words.main(["src"]) == 0


def test_every_listed_word_says_what_to_use() -> None:
    table = Path(check_words.__file__).with_name("words.tsv").read_text(encoding="utf-8")
    listed = check_words.rules(table)
    assert len(listed) == len(table.splitlines()) - 1
    assert all(rule.instead for rule in listed)
    assert len({rule.word for rule in listed}) == len(listed)
