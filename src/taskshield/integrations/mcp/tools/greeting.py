"""The greeting of a server: its instructions are for the agent, its names for people."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.tools.review import Reviewer
from taskshield.integrations.mcp.words.spelling import is_plain

_log = logging.getLogger(__name__)

_VERSION = re.compile(r"[\d.-]{1,20}", re.ASCII)
_VERSIONS = ("protocolVersion", "supportedVersions")


async def reviewed(reviewer: Reviewer, greeting: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """The greeting as the client may see it.

    Args:
        reviewer: Who reads it.
        greeting: The server's result.
        more: Instructions of the gateway, which follow those of the server.
    """
    given = greeting.get("instructions")
    rest = {key: value for key, value in greeting.items() if key != "instructions"}
    said = {
        key: value for key, value in rest.items() if key not in _VERSIONS or not _is_version(value)
    }
    if await reviewer.about(said) != "clean":
        _log.warning("withheld the names that the wrapped server gives itself")
        rest = _bare(rest)
    instructions = list(more)
    if isinstance(given, str) and given:
        instructions.insert(0, await _instructions(reviewer, given))
    return {**rest, "instructions": "\n\n".join(instructions)} if instructions else rest


async def _instructions(reviewer: Reviewer, text: str) -> str:
    verdict = await reviewer.about(text)
    if verdict == "clean":
        return text
    _log.warning("withheld the instructions of the wrapped server: %s", verdict)
    return notes.INSTRUCTIONS_REMOVED if verdict == "poisoned" else notes.INSTRUCTIONS_UNCHECKED


def _bare(greeting: Mapping[str, Any]) -> dict[str, Any]:
    """What a client needs of a greeting, without words."""
    bare: dict[str, Any] = {
        key: value for key in _VERSIONS if _is_version(value := greeting.get(key))
    }
    bare["capabilities"] = _switches(greeting.get("capabilities"))
    info = greeting.get("serverInfo")
    if isinstance(info, Mapping):
        name, version = str(info.get("name")), str(info.get("version"))
        bare["serverInfo"] = {
            "name": name if is_plain(name) else "server",
            "version": version if is_plain(version) else "0",
        }
    if greeting.get("resultType") == "complete":
        bare["resultType"] = "complete"
    return bare


def _switches(capabilities: object) -> dict[str, Any]:
    """What a server says that it can do, as far as it says so with true and false."""
    if not isinstance(capabilities, Mapping):
        return {}
    return {
        name: {key: on for key, on in options.items() if isinstance(on, bool) and is_plain(key)}
        for name, options in capabilities.items()
        if isinstance(options, Mapping) and is_plain(name)
    }


def _is_version(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_version(each) for each in value)
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None
