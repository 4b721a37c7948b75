"""Runs every Python example of the documentation, or names the test that does."""

import re
from collections import Counter

import pytest

from tests.docs.pages import PAGES, ROOT, text
from tests.test_docs import run

ELSEWHERE = {
    "docs/agent-hooks.md": (1, "tests/server/test_agent_hooks.py"),
    "docs/agentdojo.md": (2, "tests/lab/bench/agentdojo/test_docs.py"),
    "docs/attacks.md": (1, "tests/lab/bench/attacks/test_attacks.py"),
    "docs/azure.md": (1, "tests/server/test_azure.py"),
    "docs/integrations/google-adk.md": (2, "tests/integrations/google_adk/test_docs.py"),
    "docs/integrations/langchain.md": (4, "tests/integrations/langchain/test_docs.py"),
    "docs/integrations/mcp.md": (1, "tests/integrations/mcp/test_docs.py"),
    "docs/integrations/openai-agents.md": (2, "tests/integrations/openai_agents/test_docs.py"),
    "docs/integrations/pydantic-ai.md": (2, "tests/integrations/pydantic_ai/test_docs.py"),
    "docs/judges.md": (1, "tests/test_docs.py"),
    "docs/library.md": (1, "tests/test_docs.py"),
}
"""Pages whose examples need a setup: how many examples they have, and which test runs them."""

_EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n\n```text\n(?P<printed>.*?)^```$", re.MULTILINE | re.DOTALL
)


def counted() -> Counter[str]:
    """The number of Python examples of each page, in any spelling of the fence."""
    fence = re.compile(r"^ *(?:```+|~~~+) *\{?\.?(?:python|py|pycon)\b", re.MULTILINE)
    return Counter({page: len(fence.findall(text(page))) for page in PAGES})


def here() -> list[tuple[str, str, str]]:
    """Examples that need no setup: page, code and the output that the page shows."""
    return [
        (page, example["code"], example["printed"])
        for page in PAGES
        if page not in ELSEWHERE
        for example in _EXAMPLE.finditer(text(page))
    ]


def test_every_example_is_run_somewhere() -> None:
    run_here = Counter(page for page, _, _ in here())
    run_elsewhere = Counter({page: count for page, (count, _) in ELSEWHERE.items()})
    assert run_here + run_elsewhere == +counted()


@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_test_that_runs_examples_names_their_page(page: str) -> None:
    source = (ROOT / ELSEWHERE[page][1]).read_text(encoding="utf-8")
    assert page in source or f'"docs" / "{page.removeprefix("docs/")}"' in source


@pytest.mark.parametrize(
    ("code", "printed"), [pytest.param(code, out, id=page) for page, code, out in here()]
)
def test_an_example_prints_what_its_page_says(
    code: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(code)
    assert capsys.readouterr().out == printed
