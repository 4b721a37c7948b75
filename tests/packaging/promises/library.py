"""What `pip install taskshield` promises, and what the extras of LLM judges add to it."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskshield.core.chat import ChatRequest, ChatTurn
from tests.cli.stage import CLEAN, EXAMPLE_RULES, HIJACKED, endpoint
from tests.clients.upstream import Behaviour, Seen, Upstream, answer, anthropic_body, by_request
from tests.packaging.environments import Environment
from tests.test_docs import blocks


def readme(made: Environment, folder: Path) -> None:
    """The README's ten lines print what it shows."""
    (code,) = blocks("README.md", "python")
    (printed,) = blocks("README.md", "text")
    (folder / "quickstart.py").write_text(code)
    assert made.run("python", "quickstart.py", cwd=folder).stdout == printed


def check(made: Environment, folder: Path) -> None:
    """`taskshield check` finds the hijacked conversation, and nothing in the clean one."""
    for example, status in ((HIJACKED, 1), (CLEAN, 0)):
        shutil.copy(example, folder)
        done = made.run("taskshield", "check", "--json", example.name, cwd=folder, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        assert json.loads(done.stdout)


def openai_judge(made: Environment, folder: Path) -> None:
    """`taskshield check` asks an endpoint with OpenAI's API."""
    with endpoint() as upstream:
        _judged_by(f"{upstream.url}/v1", "openai:test", made, folder)
        assert upstream.seen


def anthropic_judge(made: Environment, folder: Path) -> None:
    """`taskshield check` asks an endpoint with Anthropic's API."""

    def think(seen: Seen) -> Behaviour:
        return answer(anthropic_body(EXAMPLE_RULES(_request(seen.body))))

    with Upstream(by_request(think)) as upstream:
        _judged_by(upstream.url, "anthropic:test", made, folder)
        assert upstream.seen


def _judged_by(url: str, judge: str, made: Environment, folder: Path) -> None:
    shutil.copy(HIJACKED, folder)
    words = ("check", HIJACKED.name, "--judge", judge, "--base-url", url)
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    done = made.run("taskshield", *words, cwd=folder, check=False, **keys)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "MISALIGNED  3 of 9 messages" in done.stdout


def _request(body: Mapping[str, Any]) -> ChatRequest:
    """What a client asks by Anthropic's API, which does not name the schema."""
    schema = body["output_config"]["format"]["schema"]
    scored = "verdict" if '"scores"' in json.dumps(schema) else "directives"
    name = "task_instructions" if "tasks" in schema["properties"] else scored
    return ChatRequest(
        system=body["system"],
        turns=tuple(ChatTurn(role=turn["role"], text=turn["content"]) for turn in body["messages"]),
        schema_name=name,
        schema=schema,
        max_tokens=body["max_tokens"],
    )
