"""Which hosts words name, and to which hosts a program sends what it reads."""

import re
from collections.abc import Iterable
from itertools import islice

UNKNOWN = "?"
"""Stands for a host that the command does not name: a variable, or the default of a service."""
URL = re.compile(r"\w{2,10}://(?:[^/@\s'\"]{0,200}@)?(\[[\da-fA-F:.]+\]|[^\s/:?#'\"\\),;]{1,253})")
HOST = re.compile(r"(?:[\w-]{1,63}\.){1,8}[A-Za-z][\w-]{1,62}\.?|\d{1,3}(?:\.\d{1,3}){3}|localhost")
REMOTE = re.compile(r"(?:[\w.+-]{1,64}@)?(\[[\da-fA-F:.]+\]|[\w.-]{2,253}):(?!//)(?!\\)")
_PART = 100_000
"""Characters of a program that are searched at once, so that other threads need not wait long."""
_MOST_HOSTS = 50
_READING_CODE = re.compile(
    r"open\s*\((?![^)\n]{0,100}['\"][wax]b?\+?['\"])|\bread_?(?:file|text|bytes|lines?|all)\b"
    r"|readFile|file_get_contents|File\.read|environ\b|process\.env|getenv|ENV\[|%ENV|check_output"
    r"|popen|subprocess|-InFile\b|Get-Content|ReadAll|\bgc\s|slurp|\blistdir|\bglob\b|make_archive",
    re.IGNORECASE,
)
_SENDING_CODE = re.compile(
    r"\.(?:post|put|patch|request|send\w{0,20}|upload\w{0,20}|stor\w{1,20}|put_object|write)\s{0,9}\("
    r"|['\"](?:POST|PUT|PATCH)['\"]|\b(?:data|files|body)\s*[=:]"
    r"|(?:get|urlopen|fetch|gethostbyname|getaddrinfo|lookup|resolve\w{0,20})\s{0,9}\([^;\n]{0,120}?"
    r"(?:open|read|environ|process\.env|getenv)"
    r"|-(?:InFile|Body|Form)\b|Upload(?:File|String|Data)|TransferType\s+Upload",
    re.IGNORECASE,
)
_QUOTED_HOST = re.compile(
    r"['\"]((?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})['\"]"
)


def url_hosts(words: Iterable[str], *, bare: bool = True) -> list[str]:
    """The hosts that words name, as addresses or by themselves."""
    hosts: list[str] = []
    for word in words:
        found = [match[1] for match in URL.finditer(word)]
        if not found and bare:
            match = HOST.match(word)
            found = [match[0]] if match is not None else []
        hosts += found
    return hosts


def code_hosts(code: str) -> list[str]:
    """The hosts that a program reads files for."""
    parts = [code[at : at + _PART] for at in range(0, len(code), _PART)]
    if not all(any(map(one.search, parts)) for one in (_READING_CODE, _SENDING_CODE)):
        return []
    named = (match[1] for part in parts for match in URL.finditer(part))
    quoted = (host for part in parts for host in _QUOTED_HOST.findall(part))
    return _first(named) or _first(quoted)


def _first(hosts: Iterable[str]) -> list[str]:
    return list(islice(dict.fromkeys(hosts), _MOST_HOSTS))
