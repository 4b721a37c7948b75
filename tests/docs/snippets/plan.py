"""What is done with each snippet: the kinds of steps, and which step belongs to which snippet.

A Python program, and the text below it, need no entry: the program runs, and has to print the text.
Every other snippet has a step in the plan of its page, under words that stand in it and in no other
snippet of the page. A step that does not run the snippet says why.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.docs.snippets.reading import Snippet
from tests.docs.snippets.stage import SnippetFailed, Stage, shown

RAN = "ran as it stands"
PART = "ran, with less work"
OUTPUT = "compared with what came out"
FILE = "used as a file"
PARSED = "read by its parser"
FLAGS = "arguments checked"
ELSEWHERE = "done by another step of CI"

HOWS = (RAN, PART, OUTPUT, FILE, PARSED, FLAGS, ELSEWHERE)
RUN = (RAN, PART, OUTPUT, FILE)
"""The kinds in which the snippet itself is at work."""

Action: TypeAlias = Callable[[Stage, Snippet], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is done with one snippet."""

    how: str
    do: Action
    why: str = ""
    """Why it does not run as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is done with the snippets of a page."""

    steps: dict[str, Step] = field(default_factory=dict)
    before: Callable[[Stage], object] | None = None
    """Makes what the page takes for granted: files, a provider, a database."""
    not_installed: frozenset[str] = frozenset()
    """Packages that the page names for something that no step runs."""
    installed: frozenset[str] = frozenset()
    """Packages that a check needs instead."""


def python(prints: str | None = None) -> Step:
    """Run the program.

    Args:
        prints: What it prints, where the page does not show it.
    """

    def do(stage: Stage, snippet: Snippet) -> None:
        printed = stage.python(snippet.code)
        right = prints is None or printed == prints
        check(right, snippet, f"printed was {printed!r}, not {prints!r}")

    return Step(how=RAN, do=do)


def driven(driver: str, part: str) -> Step:
    """Run the program, and use what it defines: with an agent, a model, tools."""
    return Step(how=RAN, do=lambda stage, snippet: stage.driven(driver, part, snippet.code))


def shell(
    *statuses: int,
    first: Callable[[Stage], object] | None = None,
    then: Action | None = None,
) -> Step:
    """Run the lines.

    Args:
        statuses: Exit statuses that are right; without any, 0.
        first: Makes what the lines need.
        then: Looks at what the lines did.
    """

    def do(stage: Stage, snippet: Snippet) -> None:
        if first is not None:
            first(stage)
        stage.shell(snippet.code, statuses=statuses or (0,))
        if then is not None:
            then(stage, snippet)

    return Step(how=RAN, do=do)


def less(why: str, *changes: tuple[str, str], then: Action | None = None) -> Step:
    """Run the lines with words replaced, so that they take seconds and not minutes."""

    def do(stage: Stage, snippet: Snippet) -> None:
        code = snippet.code
        for words, other in changes:
            check(words in code, snippet, f"the page does not say {words!r} any more")
            code = code.replace(words, other)
        stage.shell(code)
        if then is not None:
            then(stage, snippet)

    return Step(how=PART, do=do, why=why)


def output(of: Callable[[Stage], str] | None = None) -> Step:
    """Compare the text with what the snippet above printed, or with what this returns."""

    def do(stage: Stage, snippet: Snippet) -> None:
        printed = stage.printed if of is None else of(stage)
        compare(snippet, printed)

    return Step(how=OUTPUT, do=do)


def file(name: str, then: Action | None = None) -> Step:
    """Write the text into a file, which later snippets or `then` use."""

    def do(stage: Stage, snippet: Snippet) -> None:
        stage.write(name, stage.here(snippet.code))
        if then is not None:
            then(stage, snippet)

    return Step(how=FILE, do=do)


def checked(how: str, why: str, do: Action) -> Step:
    """Check the snippet in another way than by running it."""
    return Step(how=how, do=do, why=why)


def has_the_options(why: str) -> Step:
    """Lines of `taskshield` that cannot run here: their subcommand knows every option."""

    def do(stage: Stage, snippet: Snippet) -> None:
        for line in snippet.code.splitlines():
            if line.startswith("pip install"):
                continue
            program, command, *words = line.partition("#")[0].split()
            told = stage.shell(f"{program} {command} --help")
            for option in [word for word in words if word.startswith("--")]:
                check(option in told, snippet, f"{command} has no {option}")

    return checked(FLAGS, why, do)


def compare(snippet: Snippet, printed: str) -> None:
    """Check that this was printed."""
    check(shown(snippet.code, printed), snippet, f"printed was:\n{printed}")


def step_of(plan: Plan, snippet: Snippet, all_of_page: Sequence[Snippet]) -> Step | None:
    """The step of a snippet; none if there is none for it."""
    found = [step for words, step in plan.steps.items() if words in snippet.code]
    if len(found) > 1:
        raise SnippetFailed(f"{snippet.place}: two entries of the table fit")
    if found:
        return found[0]
    place = all_of_page.index(snippet)
    before = all_of_page[place - 1] if place else None
    if snippet.language == "python":
        return python()
    if snippet.language == "text" and before is not None and before.language == "python":
        return output()
    only_installs = all(line.startswith("pip install ") for line in snippet.code.splitlines())
    return shell() if snippet.language == "" and only_installs else None


def check(right: bool, snippet: Snippet, what: str) -> None:
    """Fail with what is wrong about a snippet."""
    if not right:
        raise SnippetFailed(f"{snippet.place}: {what}\n\nThe page shows:\n{snippet.code}")
