"""Runs all checks of the doctor, each so that its own failure is a finding, too."""

import argparse
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from taskshield.cli.doctor.addresses import check_port
from taskshield.cli.doctor.clock import check_clock
from taskshield.cli.doctor.findings import Finding, failed, note, ok, skipped
from taskshield.cli.doctor.hooks import check_hooks
from taskshield.cli.doctor.installation import check_installation, has_extra
from taskshield.cli.doctor.judging import check_attack, check_model
from taskshield.cli.doctor.stores import StoreFacts, check_store
from taskshield.cli.doctor.upstreams import Upstreams, check_upstreams
from taskshield.cli.missing_packages import explain
from taskshield.cli.serve import given_settings
from taskshield.core.errors import ConfigError
from taskshield.settings import CONFIG_VARIABLE, PREFIX, Settings, load, paths
from taskshield.settings_variables import of_settings


def examine(given: argparse.Namespace) -> Iterator[Finding]:
    """The findings of all checks."""
    yield from _tried("install", check_installation)
    settings, found = _settings(given)
    yield from found
    if settings is None:
        yield from _tried("model", lambda: check_model(Settings()))
        for check in ("store", "port", "upstream", "attack"):
            yield skipped(check, "The settings have to be right first.")
        yield from _tried("hooks", lambda: check_hooks(Path.cwd(), os.environ))
        return
    model = list(_tried("model", lambda: check_model(settings)))
    yield from model
    facts = StoreFacts(findings=())
    if has_extra("server") or settings.server.model_fields_set:
        facts = _stored(settings)
        yield from facts.findings
        yield from _tried("port", lambda: check_port(settings.server, facts.keys))
    else:
        for check in ("store", "port"):
            yield skipped(check, "Without taskshield[server] there is no server.")
    asked = _asked(settings)
    yield from asked.findings
    clocks = [] if facts.now is None else [("Postgres", facts.now)]
    yield from _tried("clock", lambda: check_clock([*clocks, *asked.clocks], facts.newest))
    yield from _tried("hooks", lambda: check_hooks(Path.cwd(), os.environ))
    sound = all(each.state != "failed" for each in model)
    yield from _tried("attack", lambda: check_attack(settings, model_is_right=sound))


def _settings(given: argparse.Namespace) -> tuple[Settings | None, list[Finding]]:
    try:
        settings = load(given_settings(given), config=given.config)
    except ConfigError as error:
        advice = "Correct what is named there; all settings are in docs/settings.md."
        return None, [failed("settings", line, advice) for line in str(error).splitlines()]
    named = os.environ.get(CONFIG_VARIABLE) if given.config is None else given.config
    found = [ok("settings", "No settings file." if named is None else f"{named} is valid.")]
    mine = of_settings(os.environ, prefix=PREFIX, besides=CONFIG_VARIABLE, paths=paths())
    ignored = {name for name in os.environ if name.startswith(PREFIX)} - {*mine, CONFIG_VARIABLE}
    if ignored:
        what = f"These variables are no settings, and are ignored: {', '.join(sorted(ignored))}."
        found.append(note("settings", what))
    if named is not None and _others_may_read(Path(named)) and settings.api_key is not None:
        what = f"Other users of this machine can read {named}, and a key may be in it."
        found.append(note("settings", what, f"chmod 600 '{named}'"))
    return settings, found


def _others_may_read(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _stored(settings: Settings) -> StoreFacts:
    facts = StoreFacts(findings=())

    def look() -> Iterable[Finding]:
        nonlocal facts
        facts = check_store(settings.server)
        return facts.findings

    findings = tuple(_tried("store", look))
    return StoreFacts(findings=findings, newest=facts.newest, now=facts.now, keys=facts.keys)


def _asked(settings: Settings) -> Upstreams:
    asked = Upstreams(findings=(), clocks=())

    def ask() -> Iterable[Finding]:
        nonlocal asked
        asked = check_upstreams(settings)
        return asked.findings

    return Upstreams(findings=tuple(_tried("upstream", ask)), clocks=asked.clocks)


def _tried(check: str, work: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a check; where it fails itself, that is one."""
    try:
        yield from list(work())
    except ModuleNotFoundError as error:
        what, _, advice = str(explain(error, "server")).partition(" Run: ")
        yield failed(check, what, advice)
    except ConfigError as error:
        yield failed(check, str(error), "Correct the setting that it names.")
    except Exception as error:
        yield failed(
            check,
            f"The check itself failed ({type(error).__name__}).",
            "Report this as a bug of taskshield, with the output of: taskshield doctor --json",
        )
