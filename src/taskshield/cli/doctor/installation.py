"""Checks the installation: Python, the package's own version, and the packages of each extra.

An extra counts as installed if all its packages are. What each needs, and in which versions, is
read from the metadata of the installed distribution.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from itertools import zip_longest

from taskshield._version import __version__
from taskshield.cli.doctor.findings import Finding, failed, ok

_CHECK = "install"
_DISTRIBUTION = "taskshield"
_NOT_FOR_USERS = ("dev", "docs", "train")
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?(?P<bounds>[^;)]*)\)?\s*(?:;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([\w.-]+)['"]""")
_PLATFORM = re.compile(r"""sys_platform\s*(==|!=)\s*['"](\w+)['"]""")
_BOUND = re.compile(r"(>=|<=|==|!=|>|<)\s*([\w.]+)")
_MOST = 0.5
"""Where more than this share of the server's packages is there, someone meant to install it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A package that taskshield or one of its extras needs."""

    name: str
    bounds: tuple[tuple[str, str], ...]
    """Operators and versions, such as (">=", "1.2")."""
    extra: str | None

    @property
    def present(self) -> str | None:
        """The version that is installed."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    def allows(self, present: str) -> bool:
        """Whether a version is within the bounds."""
        return all(_holds(present, operator, bound) for operator, bound in self.bounds)

    @property
    def wanted(self) -> str:
        """The bounds, for people."""
        lowest_first = sorted(self.bounds, reverse=True)
        return ",".join(f"{operator}{bound}" for operator, bound in lowest_first)


def check_installation() -> Iterator[Finding]:
    """The findings about Python, the version and the packages."""
    try:
        declared = metadata(_DISTRIBUTION)
    except PackageNotFoundError:
        yield failed(
            _CHECK,
            "taskshield runs from a folder, without an installed distribution.",
            "pip install taskshield",
        )
        return
    yield from _check_versions(str(declared["Version"]), str(declared["Requires-Python"]))
    yield from dict.fromkeys(_check_packages())


def _check_packages() -> Iterator[Finding]:
    """The findings about packages; one that several extras need is in several of them."""
    groups: dict[str | None, list[Requirement]] = defaultdict(list)
    for each in requirements(_DISTRIBUTION):
        if each.extra not in _NOT_FOR_USERS:
            groups[each.extra].append(each)
    installed = []
    for extra, group in sorted(groups.items(), key=lambda item: str(item[0] or "")):
        missing = [each.name for each in group if each.present is None]
        meant = extra is None or (
            extra == "server" and len(missing) < len(group) * _MOST and bool(missing)
        )
        if missing and meant:
            yield failed(_CHECK, f"Missing: {', '.join(missing)}.", _install(extra))
        if not missing and extra is not None:
            installed.append(extra)
        if not missing or meant:
            yield from _check_bounds(group)
    extras = ", ".join(installed) if installed else "none"
    yield ok(_CHECK, f"taskshield {__version__}, Python {_python()}; extras: {extras}")


def requirements(distribution: str) -> Iterator[Requirement]:
    """The packages that a distribution needs on this platform."""
    lines = requires(distribution)
    for line in () if lines is None else lines:
        found = _REQUIREMENT.match(line)
        if found is None or found["name"].lower().startswith(_DISTRIBUTION):
            continue
        marker = "" if found["marker"] is None else found["marker"]
        platform, extra = _PLATFORM.search(marker), _EXTRA.search(marker)
        if platform is not None and (platform[2] == sys.platform) != (platform[1] == "=="):
            continue
        yield Requirement(
            name=found["name"],
            bounds=tuple((each[1], each[2]) for each in _BOUND.finditer(found["bounds"])),
            extra=None if extra is None else extra[1],
        )


def has_extra(extra: str) -> bool:
    """Whether all packages of an extra are installed."""
    return all(each.present for each in requirements(_DISTRIBUTION) if each.extra == extra)


def _check_versions(noted: str, python: str) -> Iterator[Finding]:
    if noted != __version__:
        yield failed(
            _CHECK,
            f"The files are of version {__version__}, but pip noted version {noted}.",
            "pip install --force-reinstall taskshield",
        )
    bounds = [(each[1], each[2]) for each in _BOUND.finditer(python)]
    if not all(_holds(_python(), *bound) for bound in bounds):
        yield failed(
            _CHECK,
            f"Python {_python()} is not supported; taskshield needs {python}.",
            f"Make an environment with Python {python}, and install taskshield there.",
        )


def _check_bounds(group: list[Requirement]) -> Iterator[Finding]:
    for each in group:
        present = each.present
        if present is not None and not each.allows(present):
            yield failed(
                _CHECK,
                f"{each.name} {present} is installed; taskshield needs {each.wanted}.",
                f"pip install '{each.name}{each.wanted}'",
            )


def _install(extra: str | None) -> str:
    if extra is None:
        return "pip install --force-reinstall taskshield"
    return f"pip install 'taskshield[{extra}]'"


def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _holds(present: str, operator: str, bound: str) -> bool:
    """Whether a version satisfies one bound. Only the numbers of a release are compared."""
    order = 0
    for left, right in zip_longest(_numbers(present), _numbers(bound), fillvalue=0):
        if left != right:
            order = -1 if left < right else 1
            break
    match operator:
        case ">=":
            return order >= 0
        case "<=":
            return order <= 0
        case ">":
            return order > 0
        case "<":
            return order < 0
        case "!=":
            return order != 0
    return order == 0


def _numbers(text: str) -> list[int]:
    release = re.match(r"\d+(?:\.\d+)*", text)
    return [] if release is None else [int(step) for step in release[0].split(".")]
