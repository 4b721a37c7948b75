"""Checks the hooks in Claude Code's settings: a hook that fails leaves the agent without a guard.

The settings of a project come from its repository, so nothing in them is trusted: a command is run
only if it is `taskshield` as the shell finds it, with options that are known, without a shell and
with a store of its own. A server that a hook names gets no key.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskshield.cli.doctor.addresses import NoAnswer, host_of, running_at
from taskshield.cli.doctor.findings import Finding, failed, note, ok, skipped

_CHECK = "hooks"
_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")
_COMMAND = "hook claude-code"
_PATH = "/hooks/claude-code"
_BLOCKS = "|| exit 2"
_TIMEOUT_S = 60.0
_LONGEST = 1024 * 1024
_OPTIONS = {"--url", "--key-env", "--config", "--store"}
_DOCS = "See docs/claude-code.md."
_EVENT = {
    "hook_event_name": "PreToolUse",
    "session_id": "taskshield-doctor",
    "tool_name": "Bash",
    "tool_input": {"command": "true"},
    "tool_use_id": "doctor",
}
"""A call in a session without a task, which every guard denies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    """A hook that is meant to be ours."""

    command: str | None
    url: str | None
    variables: tuple[str, ...]
    """The variables that the headers of an HTTP hook need."""
    allowed: tuple[str, ...]


def check_hooks(folder: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """The findings about the settings of the user and of the project in a folder."""
    project = folder / ".claude"
    files = {project / "settings.json": False, project / "settings.local.json": False}
    named = environment.get("CLAUDE_CONFIG_DIR")
    with suppress(RuntimeError):  # a user without a home folder has no settings of their own
        home = Path(named) if named else Path.home() / ".claude"
        files[home / "settings.json"] = True
    found = list(_in_files(files, environment))
    if found:
        yield from found
    else:
        yield skipped(_CHECK, "Claude Code's settings have no hook of taskshield.")


def _in_files(files: Mapping[Path, bool], environment: Mapping[str, str]) -> Iterator[Finding]:
    for path, trusted in files.items():
        try:
            with path.open("rb") as file:
                content = json.loads(file.read(_LONGEST))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield failed(
                _CHECK, f"{path} cannot be read ({error.strerror}).", f"chmod u+r '{path}'"
            )
            continue
        except (ValueError, RecursionError):
            what = f"{path} is not valid JSON, so Claude Code runs none of its hooks."
            yield failed(
                _CHECK, what, "Correct the file, for instance with: python -m json.tool FILE"
            )
            continue
        yield from _in_settings(path, content, environment, trusted=trusted)


def _in_settings(
    path: Path, content: Any, environment: Mapping[str, str], *, trusted: bool
) -> Iterator[Finding]:
    events = content.get("hooks") if isinstance(content, dict) else None
    hooks = {event: list(_ours(events, event)) for event in _EVENTS}
    if not any(hooks.values()):
        return
    problems = []
    missing = [event for event in _EVENTS if not hooks[event]]
    if missing:
        what = f"{path} has no hook of taskshield for {', '.join(missing)}."
        problems.append(failed(_CHECK, what, f"Add the same hook for these events. {_DOCS}"))
    if hooks["PreToolUse"] and not any(_matches_all(events, "PreToolUse")):
        what = f"{path}: the hook for PreToolUse has a matcher, so other tools are not guarded."
        problems.append(note(_CHECK, what, 'Set its "matcher" to "*".'))
    for hook in dict.fromkeys(hook for each in hooks.values() for hook in each):
        if hook.command is not None:
            problems += _check_command(path, hook.command, environment, trusted=trusted)
        else:
            problems += _check_http(path, hook, environment)
    yield from problems
    if all(each.state != "failed" for each in problems):
        yield ok(_CHECK, f"The hooks in {path} work.")


def _ours(events: Any, event: str) -> Iterator[_Hook]:
    for group in _groups(events, event):
        hooks = group.get("hooks")
        for hook in hooks if isinstance(hooks, list) else ():
            if not isinstance(hook, dict):
                continue
            command, url = hook.get("command"), hook.get("url")
            if isinstance(command, str) and _COMMAND in command:
                yield _Hook(command=command, url=None, variables=(), allowed=())
            elif isinstance(url, str) and url.rstrip("/").endswith(_PATH):
                headers, allowed = hook.get("headers"), hook.get("allowedEnvVars")
                values = headers.values() if isinstance(headers, dict) else ()
                yield _Hook(
                    command=None,
                    url=url,
                    variables=tuple(re.findall(r"\$\{?(\w+)", " ".join(map(str, values)))),
                    allowed=tuple(map(str, allowed)) if isinstance(allowed, list) else (),
                )


def _groups(events: Any, event: str) -> list[Mapping[str, Any]]:
    groups = events.get(event) if isinstance(events, dict) else None
    return [each for each in groups if isinstance(each, dict)] if isinstance(groups, list) else []


def _matches_all(events: Any, event: str) -> Iterator[bool]:
    for group in _groups(events, event):
        if any(_ours({event: [group]}, event)):
            yield group.get("matcher") in (None, "", "*", ".*")


def _check_command(
    path: Path, command: str, environment: Mapping[str, str], *, trusted: bool
) -> Iterator[Finding]:
    body = command.strip()
    if body.endswith(_BLOCKS):
        body = body.removesuffix(_BLOCKS).rstrip()
    else:
        what = f"{path}: where the hook cannot be started, Claude Code continues without it."
        yield failed(_CHECK, what, f"End its command with: {_BLOCKS}")
    try:
        words = shlex.split(body)
    except ValueError:
        words = []
    options = _options(words[3:])
    if words[1:3] != _COMMAND.split() or options is None or re.search(r"[$`;&|<>()\\\n]", body):
        what = f"{path}: the hook's command has more than taskshield in it, so it was not run."
        yield note(_CHECK, what, f"Use: taskshield {_COMMAND} {_BLOCKS}")
        return
    program = shutil.which(words[0], path=environment.get("PATH"))
    if program is None:
        advice = f"Give its full path: {_this_program()}"
        yield failed(_CHECK, f"{path}: the hook's command {words[0]!r} is not found.", advice)
        return
    if "--url" in options:
        yield from _check_server(path, options["--url"])
        if "--key-env" in options:
            yield from _check_variables(path, [options["--key-env"]], environment)
    elif not trusted and "--config" in options:
        # Such settings may name a judge's endpoint, which would get the user's key.
        yield note(_CHECK, f"{path}: the hook has a settings file of the project; it was not run.")
    elif words[0] != "taskshield" and Path(program) != _this_program():
        yield note(_CHECK, f"{path}: the hook runs {words[0]!r}, which was not tried.")
    else:
        yield from _run(path, [program, *words[1:]], environment)


def _options(words: list[str]) -> dict[str, str] | None:
    """The options of the command; None where there is an unknown one."""
    found = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in _OPTIONS:
            return None
        found[name] = value if equals else next(rest, "")
    return found


def _this_program() -> Path:
    """The command beside the Python that runs now."""
    return Path(sys.executable).with_name("taskshield")


def _run(path: Path, argv: list[str], environment: Mapping[str, str]) -> Iterator[Finding]:
    """Run the command on a call that no guard allows, with a store of its own."""
    with tempfile.TemporaryDirectory(prefix="taskshield-") as folder:
        store = f"sqlite:///{Path(folder) / 'doctor.db'}"
        try:
            done = subprocess.run(
                [*argv, "--store", store],
                input=json.dumps(_EVENT).encode(),
                capture_output=True,
                timeout=_TIMEOUT_S,
                env=dict(environment),
                check=False,
            )
        except subprocess.TimeoutExpired:
            what = f"{path}: the hook did not answer within {_TIMEOUT_S:.0f} seconds."
            yield failed(
                _CHECK, what, "Use a running server: taskshield hook claude-code --url URL"
            )
            return
        except OSError as error:
            what = f"{path}: the hook's command cannot be run ({error.strerror})."
            yield failed(_CHECK, what, f"Reinstall taskshield, or use its full path. {_DOCS}")
            return
    complaint = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0 or "The hook failed" in complaint:
        why = complaint.splitlines()[-1] if complaint else f"exit status {done.returncode}"
        _, _, install = why.partition(" Run: ")
        advice = install or "Run the command by hand, with an event on its standard input."
        yield failed(_CHECK, f"{path}: the hook blocks everything: {why}", advice)
    elif b'"deny"' not in done.stdout:
        what = f"{path}: the hook did not deny a call that serves no task."
        yield failed(
            _CHECK, what, "Reinstall taskshield, and see policy.misaligned in the settings."
        )


def _check_http(path: Path, hook: _Hook, environment: Mapping[str, str]) -> Iterator[Finding]:
    assert hook.url is not None
    yield from _check_server(path, hook.url.rstrip("/").removesuffix(_PATH))
    yield from _check_variables(path, hook.variables, environment)
    hidden = [each for each in hook.variables if each not in hook.allowed]
    if hidden:
        what = f"{path}: the hook's header needs {', '.join(hidden)}, which it may not read."
        yield failed(_CHECK, what, 'Add the variable to "allowedEnvVars" of the hook.')


def _check_variables(
    path: Path, names: Iterable[str], environment: Mapping[str, str]
) -> Iterator[Finding]:
    for name in names:
        if not environment.get(name):
            what = f"{path}: the hook reads its key from {name}, which is not set."
            yield failed(
                _CHECK, what, f"export {name}=KEY, with a key from: taskshield keys create"
            )


def _check_server(path: Path, url: str) -> Iterator[Finding]:
    root, host = url.rstrip("/"), host_of(url)
    try:
        running = running_at(root)
    except NoAnswer as error:
        what = f"{path}: the hook's server {host} is not reached: {error}."
        yield failed(_CHECK, what, f"Start it with taskshield serve, or correct the URL. {_DOCS}")
        return
    if running is None:
        what = f"{path}: {host} is not a server of taskshield."
        yield failed(_CHECK, what, "Correct the URL of the hook.")
    elif running.reasons:
        what = f"{path}: the hook's server {host} is not ready: {' '.join(running.reasons)}"
        yield failed(_CHECK, what, "Read its log, and look at its page /readyz.")
