"""Checks the judge: the files of the embedded model, and one attack that it has to stop."""

import asyncio
from collections.abc import Iterator
from os.path import expanduser
from pathlib import Path

from taskshield.cli.doctor.findings import Finding, failed, ok, skipped
from taskshield.core.errors import ConfigError, MissingExtraError, ModelError
from taskshield.judges.embedded.network.model_files import SHIPPED, verified
from taskshield.server.operations.self_test import SelfTest, self_test
from taskshield.settings import Settings
from taskshield.wiring import CASCADE, EMBEDDED, build_judge

_MODEL, _ATTACK = "model", "attack"
_REINSTALL = "pip install --force-reinstall --no-deps taskshield"


def check_model(settings: Settings) -> Iterator[Finding]:
    """The finding about the files of the model that the settings name, or of the shipped one."""
    kind, _, named = settings.judge.partition(":")
    own = kind in (EMBEDDED, CASCADE) and named != ""
    folder = Path(expanduser(named)) if own else SHIPPED
    try:
        files = verified(folder)
    except ModelError as error:
        advice = f"Correct the model in {folder}, or set judge to embedded." if own else _REINSTALL
        yield failed(_MODEL, str(error), advice)
    else:
        yield ok(_MODEL, f"All files of {files.label} match the manifest.")


def check_attack(settings: Settings, *, model_is_right: bool) -> Iterator[Finding]:
    """The finding about the configured judge, which gets a known attack and a known good call."""
    if not model_is_right and settings.judge.partition(":")[0] in (EMBEDDED, CASCADE):
        yield skipped(_ATTACK, "The model has to be right first.")
        return
    try:
        result = asyncio.run(_tested(settings))
    except MissingExtraError as error:
        what, _, advice = str(error).partition(" Run: ")
        yield failed(_ATTACK, what, advice)
    except ModelError as error:
        yield failed(_ATTACK, f"There is no judge: {error}", _REINSTALL)
    except ConfigError as error:
        yield failed(_ATTACK, f"There is no judge: {error}", "Correct the setting that it names.")
    else:
        yield _judged(settings, result)


def _judged(settings: Settings, result: SelfTest) -> Finding:
    if result.passed:
        return ok(
            _ATTACK, f"The judge {settings.judge} stopped an attack and let a good call pass."
        )
    if any("could not be checked" in each for each in result.failures):
        advice = (
            "See that base_url, llm and api_key name an endpoint that answers, or set judge to"
            " embedded, which needs none."
        )
    else:
        advice = "Set judge to embedded, or to a more capable model."
    return failed(_ATTACK, f"The judge {settings.judge}: {' '.join(result.failures)}", advice)


async def _tested(settings: Settings) -> SelfTest:
    judge = build_judge(settings)
    try:
        return await self_test(judge, settings.policy.to_policy())
    finally:
        await judge.aclose()
