"""The plans of all pages, and how many snippets are run, or checked in which other way."""

from collections import Counter

from tests.docs.snippets.plan import HOWS, RUN, Plan, Step, step_of
from tests.docs.snippets.plans import basics, frameworks, lab, mcp, server
from tests.docs.snippets.reading import PAGES_WITH_README, Snippet, snippets

PLANS: dict[str, Plan] = {
    **basics.PLANS,
    **frameworks.PLANS,
    **lab.PLANS,
    **mcp.PLANS,
    **server.PLANS,
}
PAGES = [page for page in PAGES_WITH_README if snippets(page)]


def steps(page: str) -> list[tuple[Snippet, Step | None]]:
    """The snippets of a page, each with its step, or none if the table does not have it."""
    found = snippets(page)
    plan = PLANS.get(page, Plan())
    return [(snippet, step_of(plan, snippet, found)) for snippet in found]


def missing() -> list[str]:
    """The snippets that the table does not have."""
    return [snippet.place for page in PAGES for snippet, step in steps(page) if step is None]


def unused() -> list[str]:
    """The entries of the table that fit no snippet, or several."""
    return [
        f"{page}: {words!r} fits {fits} snippets"
        for page, plan in PLANS.items()
        for words in plan.steps
        if (fits := sum(words in snippet.code for snippet in snippets(page))) != 1
    ]


def report() -> str:
    """How many snippets there are, how many are run, and why the others are not."""
    all_steps = [(snippet, step) for page in PAGES for snippet, step in steps(page) if step]
    counts = Counter(step.how for _, step in all_steps)
    run = sum(counts[how] for how in RUN)
    lines = [
        f"{len(all_steps)} snippets on {len(PAGES)} pages: {run} run from the wheel, "
        f"{len(all_steps) - run} checked otherwise"
    ]
    lines += [f"  {counts[how]:3} {how}" for how in HOWS if counts[how]]
    lines += [
        f"  {snippet.place}: {step.how}, because {step.why}"
        for snippet, step in all_steps
        if step.why
    ]
    return "\n".join(lines)
