"""Whether a text names a file of the guard."""

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from taskshield.engine.own_resources.values import AGENT_SETTINGS, OwnResources, Reach

_TOKEN = re.compile(r"[^\s'\"`;|&<>(),]+")
_BRACES = re.compile(r"\{[^{}/\s]*+\}")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)(?=/|$)", re.IGNORECASE)
_WILD = frozenset("*?[")
_MORE_SETTINGS = re.compile(
    r"(?<![\w.-])\.(?:claude|codex|gemini|cursor)/?(?=[\s'\";&|]|$)|\.claude\.json\b"
    r"|(?<![\w-])\.?mcp\.json\b|claude_desktop_config\.json\b|managed-settings\.json\b"
    r"|\bmcp_config\.json\b"
)
"""Settings of agents and of their MCP servers, which may be read."""
_CHANGES = re.compile(
    r">|\b(?:rm|mv|cp|tee|ln|dd|truncate|unlink|shred|del|ren|move|copy|install|sed\s{1,9}-\w{0,5}i"
    r"|set-content|out-file|remove-item|move-item|rename-item|write_text|writefile\w*|os\.remove)\b"
)
_TAKES = re.compile(
    r"\b(?:ln|cp|mv|rm|rsync|scp|tar|zip|7z|chmod|chown|mount|mklink|find|xargs|rename|shred|robocopy"
    r"|move-item|copy-item|remove-item)\b"
)
_ENTERS = re.compile(r"\b(?:cd|pushd|-c|chdir)\s{1,9}([^\s;&|]{1,200})")
_LONGEST, _LONGEST_PATTERN = 4_096, 256
_SURE = 3
"""Letters that a path from an unknown folder needs, so that `*` is not taken for ours."""


def named_file(
    text: str, own: OwnResources, *, changes: bool, hooks: bool = True, patterns: bool = True
) -> Reach | None:
    """The file of the guard that a text names.

    Args:
        text: A path, or a command with paths in it.
        own: What belongs to the guard.
        changes: Whether the call may change a file.
        hooks: Whether the files count in which agents are told to ask the guard.
        patterns: Whether patterns of names are read as a shell reads them.
    """
    folders = (*own.folders, own.package) if changes and own.package is not None else own.folders
    settings = AGENT_SETTINGS if hooks else ()
    named = (*own.files, *folders, *own.around, *settings)
    last_steps = {posixpath.basename(path).casefold() for path in named}
    last_steps.update(name.partition("/")[0] for name in settings)
    plain = _BRACES.sub("*", text.replace("\\", "/").casefold())
    if changes and (step := _moves_agent_settings(plain) if hooks else None) is not None:
        return _reach(step, step, "mcp", "hook")
    if patterns and own.store is not None and _takes_folder(plain, own.store.casefold()):
        return _reach("the folder of its store", posixpath.basename(posixpath.dirname(own.store)))
    for token in _TOKEN.findall(plain):
        wild = patterns and len(token) <= _LONGEST_PATTERN and not _WILD.isdisjoint(token)
        if len(token) > _LONGEST or not (wild or any(step in token for step in last_steps)):
            continue
        for path in _paths(token, own):
            for file in own.files:
                if _is_file(path, file.casefold()):
                    return _reach(posixpath.basename(file), posixpath.basename(file).casefold())
            if any(_is_in(path, folder.casefold()) for folder in folders) or any(
                _is_folder(path, folder.casefold(), pattern=posixpath.dirname(folder) in own.around)
                for folder in own.around
            ):
                return _reach("its files")
            for name in settings:
                folder, _, file = name.partition("/")
                if _is_file(path, f"/{name}") or (
                    posixpath.basename(path) == folder and file in plain
                ):
                    return _reach(name, file, folder, "hook")
    return None


def _moves_agent_settings(plain: str) -> str | None:
    """The settings of an agent, or of its MCP servers, that a text changes or takes away."""
    match = _MORE_SETTINGS.search(plain)
    if match is None:
        return None
    is_path = not any(map(str.isspace, plain.strip()))
    changes = is_path or _CHANGES.search(plain) is not None
    return match[0].rpartition("/")[2] if changes else None


def _takes_folder(plain: str, store: str) -> bool:
    """Whether a command moves, copies, links or lists all of the folder of the store."""
    folder, name = posixpath.split(store)
    entered = {posixpath.normpath(match[1]) for match in _ENTERS.finditer(plain)}
    tokens = _TOKEN.findall(plain)
    if folder in entered and any(_is_pattern_of(token, name) for token in tokens):
        return True
    if _TAKES.search(plain) is None:
        return False
    if any(posixpath.normpath(token) == folder for token in tokens):
        return True
    if {"-exec", "-delete", "xargs"}.isdisjoint(tokens):
        return False
    roots = [posixpath.normpath(token) for token in tokens if token.startswith("/")]
    within = any(f"{folder}/".startswith(f"{root.rstrip('/')}/") for root in roots)
    return within and any(_is_pattern_of(token, name) for token in tokens)


def _is_pattern_of(token: str, name: str) -> bool:
    fits = 1 < len(token) <= _LONGEST_PATTERN and not _WILD.isdisjoint(token)
    return fits and fnmatchcase(name, token)


def _paths(token: str, own: OwnResources) -> Iterator[str]:
    """The paths that a word of a command may name: `if=/a/b`, `@b`, `sqlite:////a/b`."""
    home = None if own.home is None else own.home.casefold()
    begins = {0, *(match.end() for match in re.finditer(r"[=@:]", token))}
    for begin in sorted(begins)[:8]:
        path = token[begin:]
        if home is not None:
            path = _HOME.sub(lambda _: home, path, count=1)
        if path.startswith("///"):  # of a URL without a host
            path = f"/{path.lstrip('/')}"
        yield posixpath.normpath(path)


def _is_file(path: str, file: str) -> bool:
    """Whether a path may name a file, or one that SQLite keeps beside it (`-wal`)."""
    wanted, given = _steps(file), _steps(path)
    if _is_ending(file):
        given = given[-len(wanted) :]
    elif not path.startswith("/"):
        wanted = wanted[-len(given) :]
    elif len(given) > len(wanted) > 1:
        given = given[-len(wanted) :]  # of a file system that is mounted elsewhere: /host/srv/a.db
    if not _is_sure("".join(given)):
        return False
    return len(given) == len(wanted) and all(
        _fits(name, step) or (step == wanted[-1] and name.startswith(f"{step}-"))
        for name, step in zip(given, wanted, strict=True)
    )


def _is_in(path: str, folder: str) -> bool:
    """Whether a path names a folder or something in it."""
    wanted, given = _steps(folder), _steps(path)
    if not path.startswith("/"):
        ending = wanted[-2:]
        sure = _is_sure("".join(given[: len(ending)]))
        return sure and len(given) >= len(ending) and all(map(_fits, given, ending))
    return len(given) >= len(wanted) and all(map(_fits, given, wanted))


def _is_folder(path: str, folder: str, *, pattern: bool) -> bool:
    """Whether a path names a folder itself.

    A pattern does not where it stands for anything in the home folder: `~/.*`.
    """
    given, wanted = _steps(path), _steps(folder)
    if not pattern or len(given) != len(wanted):
        return given == wanted
    return _is_in(path, folder)


def _is_ending(file: str) -> bool:
    return file.removeprefix("/") in AGENT_SETTINGS


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".", "..")]


def _fits(name: str, step: str) -> bool:
    return name == step or (not _WILD.isdisjoint(name) and fnmatchcase(step, name))


def _is_sure(name: str) -> bool:
    """Whether a path from an unknown folder says enough of the name: `*` does not."""
    return sum(map(str.isalnum, name)) >= _SURE


def _reach(what: str, *names: str) -> Reach:
    return Reach(what=what, names=names)
