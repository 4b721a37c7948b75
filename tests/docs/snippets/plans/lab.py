"""The pages of the benchmark, of training and of audits."""

import json
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import zstandard

from tests.clients.providers import OPENAI
from tests.clients.upstream import Upstream
from tests.docs.snippets.plan import (
    FLAGS,
    Plan,
    Step,
    checked,
    driven,
    has_the_options,
    less,
    python,
    shell,
)
from tests.docs.snippets.plan import check as right
from tests.docs.snippets.reading import Snippet
from tests.docs.snippets.stage import Stage
from tests.endtoend.modelled_upstream import modelled
from tests.lab.bench.hijackable import CLEAN, Hijackable, openai_endpoint
from tests.model import Rules
from tests.packaging.wheels import ROOT

_ONE_TASK = "--suite banking --user-task user_task_0 --injection-task injection_task_0 --workers 1"
_MINUTES = "the whole benchmark takes minutes; here it has one task"


def with_models(stage: Stage) -> None:
    """An agent's model that solves one task of AgentDojo, and a judge's model."""
    judge = modelled(Rules(serves=lambda text, task: 1.0), OPENAI)
    agents = stage.ends.enter_context(Upstream(openai_endpoint(Hijackable(item=CLEAN))))
    judges = stage.ends.enter_context(Upstream(judge))
    stage.variables |= {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": f"{agents.url}/v1",
        "TASKSHIELD_BASE_URL": f"{judges.url}/v1",
    }
    stage.replaced["http://127.0.0.1:8000/v1"] = f"{agents.url}/v1"


def with_logs(stage: Stage) -> None:
    """Logs of every kind that the page names."""
    conversation = (ROOT / "examples" / "clean.json").read_text()
    stage.write("logs/monday.json", conversation)
    line = json.dumps(json.loads(conversation))
    path = stage.folder / "traces" / "a" / "monday.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(zstandard.compress(f"{line}\n".encode()))
    hijacked = json.loads((ROOT / "examples" / "hijacked.json").read_text())
    table = pyarrow.Table.from_pylist([hijacked])
    pyarrow.parquet.write_table(table, stage.folder / "export.parquet")


def script_has_the_options(why: str) -> Step:
    """A script of the repository, which needs recorded runs or an idle machine."""

    def do(stage: Stage, snippet: Snippet) -> None:
        for line in snippet.code.splitlines():
            program, script, *options = line.partition("#")[0].split()
            right(program == "python", snippet, line)
            done = subprocess.run(
                [sys.executable, ROOT / script, "--help"], capture_output=True, text=True
            )
            right(done.returncode == 0, snippet, done.stderr)
            for option in options:
                known = not option.startswith("--") or option in done.stdout
                right(known, snippet, f"{script} has no {option}")

    return checked(FLAGS, why, do)


PLANS = {
    "docs/agentdojo.md": Plan(
        before=with_models,
        steps={
            "run_task_with_pipeline": python(prints="True 6\n"),
            "def decisions_on": driven("agentdojo", "decisions_on"),
        },
    ),
    "docs/attacks.md": Plan(steps={"polite_request": driven("agentdojo", "polite_request")}),
    "docs/bench.md": Plan(
        before=with_models,
        not_installed=frozenset({"agentdojo[transformers]"}),
        steps={
            "taskshield bench worst-case": less(
                _MINUTES,
                ("bench worst-case ", f"bench worst-case {_ONE_TASK} "),
            ),
            "taskshield bench live": less(
                _MINUTES,
                ("--suite banking", f"{_ONE_TASK} --no-clean"),
                ("--judge none", f"--judge none {_ONE_TASK} --no-clean"),
            ),
            "taskshield bench report": shell(),
            "embedded_latency.py": script_has_the_options(
                "it measures for minutes, and needs recorded runs; tests/lab/benchmarks runs it"
            ),
            "server_speed.py": script_has_the_options(
                "it measures for minutes; tests/lab/benchmarks runs it"
            ),
        },
    ),
    "docs/audit.md": Plan(
        before=with_logs,
        not_installed=frozenset({"taskshield[audit,ray]"}),
        steps={
            "traces/**": shell(1),
            "--ray auto": has_the_options(
                "Ray takes longer to start than all other snippets; tests/audit runs it"
            ),
        },
    ),
}
