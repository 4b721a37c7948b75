"""Shell commands and queries that only read, though their tool can do more: `git diff`, SELECT.

A tool that takes a command can do anything, so its risk tier is high; most of its calls only read.
This module lists what is harmless: any other command counts as more than reading.
"""

import re
import shlex
from collections.abc import Callable, Mapping

from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier, name_words

_LONGEST = 4_000
"""Longer commands are not read."""
_COMMANDS = ("command", "cmd")
_BESIDE_COMMANDS = frozenset(
    "description explanation reason timeout timeout_ms timeoutms cwd workdir working_dir"
    " working_directory directory".split()
)
_BESIDE_QUERIES = frozenset("database db schema limit max_rows timeout description".split())
"""Arguments that may stand beside a command or a query. With any other, such as the host that it is
sent to, a call may do more than read."""
_DATABASES = frozenset(
    "bigquery clickhouse database databricks db duckdb mssql mysql postgres postgresql redshift"
    " snowflake sql sqlite warehouse".split()
)
_SHELLS = ("bash", "sh", "zsh")
_QUIET = re.compile(r"\s[12]?>\s?(?:/dev/null|&1)(?=[\s;|)]|$)")
"""Redirections that discard output or merge it."""
_SINGLE = re.compile(r"'[^']*'")
_DOUBLE = re.compile(r'"[^"]*"')
_EXPANDED = frozenset("`${")
_WILD = re.compile(r"(?<![^\s\"'])[*?\[]")
"""A word that begins with it may become any name."""
_JOINTS = frozenset({";", "&&", "||", "|"})
_LISTING = re.compile(r"-(?:a|r|v|vv|-all|-remotes|-list|-verbose|-show-current|-sort=\S+)$")
"""Options with which git lists names."""
_LINES = re.compile(r"\A(?:\d++(?:,(?:\d++|\$))?p;?\s*+)++\Z")

Rule = Callable[[list[str]], bool]
"""Whether a program only reads when it is called with these arguments."""


def own_tier(call: ToolCall, tier: Tier) -> Tier:
    """The risk tier of one call: its tool's, unless it only reads.

    A call that reaches the guard itself has the highest tier, and keeps it.
    """
    lowered = tier.side_effects and tier is not Tier.ACCESS and only_looks(call)
    return Tier.READ if lowered else tier


def only_looks(call: ToolCall) -> bool:
    """Whether a call is a shell command or a query that only reads."""
    arguments = dict(call.parse_arguments() or {})
    for name in _COMMANDS:
        if name in arguments:
            command = _as_text(arguments.pop(name))
            return _BESIDE_COMMANDS.issuperset(map(str.lower, arguments)) and _reads(command)
    name = "sql" if "sql" in arguments else "query"
    query = arguments.pop(name, None)
    of_a_database = name == "sql" or not _DATABASES.isdisjoint(name_words(call.name))
    return (
        isinstance(query, str)
        and of_a_database
        and _BESIDE_QUERIES.issuperset(map(str.lower, arguments))
        and _selects(query)
    )


def _as_text(command: object) -> str:
    """A command as one line for a shell; ["bash", "-lc", "ls"] is `ls`."""
    match command:
        case str():
            return command
        case [str(shell), "-c" | "-lc", str(line)] if shell.rpartition("/")[2] in _SHELLS:
            return line
        case [*words] if all(isinstance(word, str) for word in words):
            return shlex.join(map(str, words))
        case _:
            return ""


def _reads(line: str) -> bool:
    line = _QUIET.sub(" ", line.strip())
    if not line or len(line) > _LONGEST or _is_replaced(line):
        return False
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a quotation without an end
        return False
    commands: list[list[str]] = [[]]
    for word in words:
        if word in _JOINTS:
            commands.append([])
        elif set(word) <= set("();<>|&"):
            return False
        else:
            commands[-1].append(word)
    return all(_looks(command, _RULES) for command in commands if command)


def _is_replaced(line: str) -> bool:
    """Whether a shell may replace a word: by names of files, by a variable.

    The replacement may be an option, or the output of another command.
    """
    if "\\" not in line and '"' not in line:  # then these are certainly quotes
        line = _SINGLE.sub("''", line)
    if not _EXPANDED.isdisjoint(line):
        return True
    if "\\" not in line and "'" not in line:
        line = _DOUBLE.sub('""', line)
    return _WILD.search(line) is not None


def _looks(command: list[str], rules: Mapping[str, Rule]) -> bool:
    rule = rules.get(command[0]) if command else None
    return rule is not None and rule(command[1:])


def _always(_: list[str]) -> bool:
    return True


def _without(*options: str, letters: str = "") -> Rule:
    """A rule: only without these options, however short they are cut, and without these letters."""

    def looks(arguments: list[str]) -> bool:
        return not any(
            one.startswith(options)
            or (one.startswith("--") and _begins_one_of(one.partition("=")[0], options))
            or (re.match(r"-[^-]", one) is not None and not set(letters).isdisjoint(one))
            for one in arguments
        )

    return looks


def _begins_one_of(name: str, options: tuple[str, ...]) -> bool:
    return name != "--" and any(option.startswith(name) for option in options)


def _prints_lines(arguments: list[str]) -> bool:
    """Whether sed only prints lines by their numbers."""
    rest = [one for one in arguments if one not in ("-n", "--quiet", "-E")]
    if not rest or rest == arguments:
        return False
    script, *files = rest
    return _LINES.match(script) is not None and not any(one.startswith("-") for one in files)


def _lists(arguments: list[str]) -> bool:
    """Whether git only lists branches, tags or remotes."""
    return all(map(_LISTING.match, arguments))


def _git(arguments: list[str]) -> bool:
    match arguments:
        case ["--no-pager", *rest] | ["-C", _, *rest]:
            return _git(rest)
        case _:
            return _looks(arguments, _GIT_RULES)


_GIT_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("status", "diff", "log", "show", "blame", "shortlog", "ls-files"),
        _without("--output", "--ext-diff", "--textconv"),
    ),
    **dict.fromkeys(
        ("rev-parse", "describe", "check-ignore", "ls-tree", "cat-file"),
        _without("--textconv", "--filters"),
    ),
    **dict.fromkeys(("branch", "tag", "remote"), _lists),
    "grep": _without("--open-files-in-pager", "--ext-grep", "--textconv", letters="O"),
    "stash": lambda arguments: arguments == ["list"],
}
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        "basename cat cd cmp comm cut df diff dirname du echo egrep fgrep grep head id jq ls md5sum"
        " nl pwd readlink realpath sha256sum stat tail tr true uname wc which whoami".split(),
        _always,
    ),
    "find": _without("-exec", "-ok", "-delete", "-fprint", "-fls"),
    "git": _git,
    "rg": _without("--pre", "--hostname-bin"),
    "sed": _prints_lines,
    "sort": _without("--output", "--compress-program", "--temporary-directory", letters="oT"),
    "tree": _without("--output", letters="o"),
}
"""By program, when it only reads."""

_QUOTED = re.compile(r"'(?:[^'\\]|'')*'|\"[^\"\\]*\"")
_ASKS = re.compile(r"\A\s*+(?:select|with|show|describe|desc|explain|values)\b", re.IGNORECASE)
_DOES = re.compile(
    r"--|/\*|#|[\\$@]|\b(?:insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|replace"
    r"|call|exec|execute|copy|into|set|vacuum|analy[sz]e|attach|detach|load|lock|unlock|do|handler|kill"
    r"|begin|commit|rollback|declare|for\s+(?:update|share)|nextval|setval|sleep|benchmark|load_\w+"
    r"|(?:pg|lo|xp|sp|dbms|utl|sys|dblink|query_to|http)_?\w*)\b",
    re.IGNORECASE,
)
"""Words of a query that does, or might do, more than read: a comment may hide anything."""


def _selects(query: str) -> bool:
    if len(query) > _LONGEST or _ASKS.match(query) is None:
        return False
    bare = _QUOTED.sub("''", query)
    return _DOES.search(bare) is None and ";" not in bare.rstrip().removesuffix(";")
