"""Which surface checks what, as the tests show it.

`python -m tests.matrix` writes the table to docs/integrations/index.md.

A test that proves something says so with `@pytest.mark.shows(SURFACE, *COLUMNS)`. All tests run in
CI, and one of them compares the page with these marks, so the table cannot say more than they do.
A mark counts only on a test that pytest collects and that is neither skipped nor expected to fail.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "integrations" / "index.md"
BEGIN, END = "<!-- matrix: written by tests/matrix.py -->\n", "<!-- end of matrix -->\n"
COLUMNS = (
    "user turn",
    "plan text",
    "tool call",
    "tool output",
    "streaming",
    "HITL",
    "feedback",
)
SURFACES = {
    "Library": "../library.md",
    "Proxy": "../proxy.md",
    "Azure Task Adherence": "../azure.md",
    "Agent Hooks": "../agent-hooks.md",
    "Claude Code": "../claude-code.md",
    "LangChain": "langchain.md",
    "OpenAI Agents SDK": "openai-agents.md",
    "Pydantic AI": "pydantic-ai.md",
    "Google ADK": "google-adk.md",
    "MCP": "mcp.md",
    "AgentDojo": "../agentdojo.md",
}
"""In the order of the table, each with its page, as linked from the page of the table."""


def shown(folder: Path = TESTS) -> dict[str, set[str]]:
    """What the tests show, by surface."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for surface, columns in marks(path.read_text(encoding="utf-8")):
            found.setdefault(surface, set()).update(columns)
    return found


def marks(source: str) -> Iterator[tuple[str, list[str]]]:
    """The surface and the columns of each mark in a test file.

    Raises:
        ValueError: A mark is on something that proves nothing, because it does not run as a test.
    """
    tree = ast.parse(source)
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.shows":
                    if node not in tree.body or not _runs(node):
                        raise ValueError(f"{node.name} has a mark, but does not run as a test")
                    surface, *columns = (_value(argument, constants) for argument in mark.args)
                    yield surface, columns


def table(found: Mapping[str, Iterable[str]]) -> str:
    """The table of the page."""
    lines = [f"| | {' | '.join(COLUMNS)} |", f"| --- |{' :-: |' * len(COLUMNS)}"]
    for surface, page in SURFACES.items():
        cells = ["✓" if column in found.get(surface, ()) else "" for column in COLUMNS]
        lines.append(f"| [{surface}]({page}) | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def with_table(text: str, made: str) -> str:
    """A text with this table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{made}{END}{after}"


def _runs(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether pytest collects the function, and always runs it to a result that counts."""
    decorators = {ast.unparse(mark).partition("(")[0] for mark in node.decorator_list}
    doubtful = {f"pytest.mark.{name}" for name in ("skip", "skipif", "xfail")}
    asserts = any(isinstance(part, ast.Assert) or _asserts(part) for part in ast.walk(node))
    return node.name.startswith("test_") and decorators.isdisjoint(doubtful) and asserts


def _asserts(part: ast.AST) -> bool:
    """Whether it is a call of `pytest.raises` or of a helper named `assert_...`."""
    name = ast.unparse(part.func) if isinstance(part, ast.Call) else ""
    return name == "pytest.raises" or name.startswith("assert_")


def _value(node: ast.expr, constants: Mapping[str, object]) -> str:
    value = constants[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)
    assert isinstance(value, str)
    return value


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(shown())), encoding="utf-8")
