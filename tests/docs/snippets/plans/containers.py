"""Lines that need a container engine or a cluster: what they name has to be there."""

import re
import shlex
import subprocess
import sys

import yaml

from tests.docs.snippets.plan import FLAGS, PARSED, check, checked
from tests.docs.snippets.reading import Snippet
from tests.docs.snippets.stage import Stage
from tests.packaging.wheels import ROOT

_DEPLOY = ROOT / "deploy"


def image_is_built(stage: Stage, snippet: Snippet) -> None:
    """The verb and the options of the tool are there."""
    verb, tool = (line.split() for line in snippet.code.splitlines())
    check(f"\n{verb[1]}:" in (ROOT / "Makefile").read_text(), snippet, f"no verb {verb[1]}")
    _has_options(snippet, tool)


def commands_of_the_image(stage: Stage, snippet: Snippet) -> None:
    """What stands behind the image or the service is a command of taskshield."""
    for line in snippet.code.replace("\\\n", " ").splitlines():
        _, found, rest = re.sub(r"#.*", "", line).rpartition(" taskshield")
        words = shlex.split(rest.partition(" ")[2]) if found else []
        if words:
            stage.shell(f"taskshield {shlex.join(words)} --help")


def publishing(stage: Stage, snippet: Snippet) -> None:
    """The tool has the options, and the chart is there."""
    (tool,) = (line.split() for line in snippet.code.splitlines() if "tools.image" in line)
    _has_options(snippet, tool)
    (chart,) = re.findall(r"helm package (\S+)", snippet.code)
    check((ROOT / chart / "Chart.yaml").is_file(), snippet, f"no chart in {chart}")


def services_of_compose(stage: Stage, snippet: Snippet) -> None:
    """The file has the service, and needs the variable."""
    text = (_DEPLOY / "compose.yaml").read_text()
    check("taskshield" in yaml.safe_load(text)["services"], snippet, "no such service")
    (variable,) = re.findall(r"export (\w+)=", snippet.code)
    check(variable in text, snippet, f"the file does not use {variable}")
    commands_of_the_image(stage, snippet)


def values_of_the_chart(stage: Stage, snippet: Snippet) -> None:
    """The chart has the values that are set."""
    values = yaml.safe_load((_DEPLOY / "helm" / "taskshield" / "values.yaml").read_text())
    keys = re.findall(r"--set ([\w.]+)=", snippet.code)
    check(bool(keys), snippet, "no values")
    for key in keys:
        found = values
        for part in key.split("."):
            check(part in found, snippet, f"the chart has no {key}")
            found = found[part]


def _has_options(snippet: Snippet, tool: list[str]) -> None:
    told = subprocess.run(
        [sys.executable, *tool[1:3], "--help"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    for option in [word for word in tool if word.startswith("--")]:
        check(option in told, snippet, f"{tool[2]} has no {option}")


_ENGINE = "there is no container engine here; other tests check the files"

STEPS = {
    "make image": checked(FLAGS, _ENGINE, image_is_built),
    "docker run": checked(FLAGS, _ENGINE, commands_of_the_image),
    "docker compose": checked(PARSED, _ENGINE, services_of_compose),
    "helm install": checked(
        PARSED, "there is no cluster here; its values are in the chart", values_of_the_chart
    ),
}
