"""Finds words that this project does not use, in everything that people read.

    python tools/check_words.py [--limit N] [--counts] [PATH ...]

`tools/words.tsv` lists the words, each with what to use instead. The check reads Markdown pages,
comments, docstrings, messages of exceptions, logs and commands, names of tests, and the dashboard.
It does not read code spans, fenced code, link targets, short quotations, and texts that were not
written here. A page that has to name a listed word puts it into a code span.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_READ = re.compile(
    r"^lab/data/|^lab/benchmarks/results/|/prompts/|/golden|/weights/|^NOTICE$|^LICENSE$"
    r"|^tools/words\.tsv$"
)
"""Data, recordings, prompts and licences: their words are not ours to choose."""
HELP = {"help", "description", "epilog", "detail", "summary", "title"}
"""Arguments of calls that people read."""
SAYS = {"print", "debug", "info", "warning", "error", "exception", "critical", "warn", "exit"}
"""Functions whose arguments people read, beside the constructors of exceptions."""

_CODE_SPAN = re.compile(r"(`+)(?!`)(?:[^`\n]|\n(?!\s*\n))+?\1")
_QUOTATION = re.compile(r'"[^"\n]{1,60}"')
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_ADDRESS = re.compile(r"https?://\S+")
_TAG = re.compile(r"<[^<>\n]+>")
_HTML_TEXT = re.compile(
    r"<(script|style)\b.*?</\1>|\b(?:title|alt|placeholder|aria-label)=\"[^\"]*\"|<[^<>]+>",
    re.DOTALL | re.IGNORECASE,
)
_SCRIPT_TEXT = re.compile(
    r"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)",
    re.DOTALL,
)

Prose = Iterable[tuple[int, str]]
"""Pieces of text, each with the number of its first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One listed word."""

    word: str
    """As the list has it: a regular expression."""
    instead: str
    """What to write."""
    pattern: re.Pattern[str]
    """Finds the word between word boundaries, also across the end of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A listed word, and where it stands."""

    path: str
    line: int
    found: str
    rule: Rule

    def __str__(self) -> str:
        """As an editor can jump to it."""
        return f"{self.path}:{self.line}: {self.found!r}, use instead: {self.rule.instead}"


def rules(table: str) -> list[Rule]:
    """The words of a table, whose first line names the columns."""
    found = []
    for line in table.splitlines()[1:]:
        word, instead, *_ = line.split("\t")
        pattern = re.compile(rf"\b(?:{word})\b".replace(" ", r"\s"), re.IGNORECASE)
        found.append(Rule(word=word, instead=instead, pattern=pattern))
    return found


def hits(path: str, text: str, listed: list[Rule]) -> list[Hit]:
    """All listed words in one file, in the order of its lines."""
    read = plain(joined(prose(path, text)))
    found = [
        Hit(path=path, line=read.count("\n", 0, match.start()) + 1, found=match[0], rule=rule)
        for rule in listed
        for match in rule.pattern.finditer(read)
    ]
    return sorted(found, key=lambda hit: hit.line)


def prose(path: str, text: str) -> Prose:
    """What people read of a file, by the kind of file."""
    match Path(path).suffix:
        case ".py":
            return python_prose(text, is_test=path.startswith("tests/"))
        case ".md":
            return markdown_prose(text)
        case ".html" | ".svg":
            return html_prose(text)
        case ".js" | ".css" | ".mjs":
            return script_prose(text)
        case _:
            return hash_comments(text)


def joined(pieces: Prose) -> str:
    """Pieces as one text in which each stands on its line, so that phrases may cross lines."""
    lines: dict[int, str] = {}
    for first, piece in dict.fromkeys(pieces):
        for number, line in enumerate(piece.split("\n"), first):
            lines[number] = f"{lines[number]} . {line.strip()}" if number in lines else line.strip()
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def plain(text: str) -> str:
    """Text without what is not prose; every line keeps its number."""
    for pattern in (_CODE_SPAN, _QUOTATION, _LINK_TARGET, _ADDRESS, _TAG):
        text = pattern.sub(lambda match: " ` " + "\n" * match[0].count("\n"), text)
    return text


def markdown_prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that are not code."""
    fence = ""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        marker = re.match(r"\s*(`{3,}|~{3,})", line)
        indented = line.startswith("    ") and (not before.strip() or before.startswith("    "))
        if marker and not fence:
            fence = marker[1]
        elif marker and marker[1].startswith(fence) and line.strip() == marker[1]:
            fence = ""
        elif not fence and not indented:
            yield number, line
        before = line


def python_prose(text: str, *, is_test: bool = False) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and messages of a module; of tests, their names as well."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# ?(noqa|type: ignore)", token.string):
            yield token.start[0], token.string.lstrip("#")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(said))):
                yield node.lineno, said
            case ast.Raise(exc=ast.expr() as raised):
                yield from sentences(raised)
            case ast.Call(func=function) if _says(function):
                yield from sentences(*node.args)
            case ast.keyword(arg=name) if name in HELP:
                yield from sentences(node.value)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if is_test:
                if name.startswith("test_"):
                    yield node.lineno, name.replace("_", " ")


def sentences(*expressions: ast.expr) -> Iterator[tuple[int, str]]:
    """The strings of more than one word in expressions."""
    for expression in expressions:
        for inner in ast.walk(expression):
            match inner:
                case ast.Constant(value=str(said)) if " " in said.strip():
                    yield inner.lineno, said.replace("\n", " ")


def _says(function: ast.expr) -> bool:
    """Whether people read what a function is given."""
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    return name in SAYS or name.endswith(("Error", "Exception", "Warning", "Refusal"))


def html_prose(text: str) -> Iterator[tuple[int, str]]:
    """The text of a page, and of attributes that are shown or read aloud."""

    def kept(match: re.Match[str]) -> str:
        shown = re.findall(r"\b(?:title|alt|placeholder|aria-label)=\"([^\"]*)\"", match[0])
        return " " + " . ".join(shown) + " " + "\n" * match[0].count("\n")

    yield from enumerate(_HTML_TEXT.sub(kept, text).split("\n"), 1)


def script_prose(text: str) -> Iterator[tuple[int, str]]:
    """Comments of scripts and style sheets, and strings that look like text."""
    for match in _SCRIPT_TEXT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        said = match["line"] or match["block"] or ""
        quoted = (match["string"] or "")[1:-1].strip()
        if " " in quoted or quoted[:1].isupper():
            said = re.sub(r"\$\{[^}]*\}", " ` ", quoted)
        yield line, re.sub(r"(?m)^\s*\*", "", said)


def hash_comments(text: str) -> Iterator[tuple[int, str]]:
    """What follows a # in a Makefile or a file of settings."""
    for number, line in enumerate(text.splitlines(), 1):
        if comment := re.search(r"(?:^|\s)#+\s(.*)", line):
            yield number, comment[1]


def tracked(paths: list[str]) -> list[str]:
    """The files of the repository that are read, below the given paths."""
    kinds = "*.py *.md *.html *.svg *.js *.css *.toml *.yml *.yaml Makefile .ci/run".split()
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", *kinds],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [
        path
        for path in listed
        if not NOT_READ.search(path)
        and (not paths or any(Path(path).is_relative_to(wanted) for wanted in paths))
        and (ROOT / path).is_file()
    ]


def main(arguments: list[str] | None = None) -> int:
    """Prints the hits; 1 where there are more than the limit."""
    parser = argparse.ArgumentParser(description="Find words of tools/words.tsv.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="read only these files or folders")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="hits that are accepted")
    parser.add_argument("--counts", action="store_true", help="print one line per word and folder")
    options = parser.parse_args(arguments)
    listed = rules((ROOT / "tools" / "words.tsv").read_text(encoding="utf-8"))
    found = [
        hit
        for path in tracked(options.paths)
        for hit in hits(path, (ROOT / path).read_text(encoding="utf-8"), listed)
    ]
    if options.counts:
        for table in (
            Counter(hit.rule.word for hit in found),
            Counter("/".join(Path(hit.path).parts[:4]) for hit in found),
        ):
            print(*(f"{count:5}  {name}" for name, count in table.most_common()), sep="\n")
    elif len(found) > options.limit:
        print(*found, sep="\n")
    print(f"{len(found)} words found, {options.limit} accepted", file=sys.stderr)
    return int(len(found) > options.limit)


if __name__ == "__main__":
    sys.exit(main())
