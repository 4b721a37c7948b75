"""Explains an import that failed: which package is missing, and which extra brings it.

Which extra brings which package is read from the metadata of the installed distribution, so there
is no list here that could become wrong.
"""

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

from taskshield.core.errors import ConfigError, MissingExtraError

_DISTRIBUTION = "taskshield"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([\w.-]+)['"]""")
_EVERYTHING = "dev"
"""The extra of developers brings nearly all packages; it is not what a user should install."""


def explain(error: ModuleNotFoundError, extra: str | None = None) -> ConfigError:
    """The error to show where a module could not be imported.

    Args:
        error: What the import raised.
        extra: The extra of the command. It is named where several extras bring the package, and
            where it is not installed and nothing says which of its packages brings the module.
    """
    module = "" if error.name is None else error.name
    if module.partition(".")[0] in ("", _DISTRIBUTION):
        return ConfigError(
            f"The module {module!r} of taskshield is missing, so its installation is damaged."
            " Run: pip install --force-reinstall taskshield"
        )
    brought = [each for each in _requirements(_DISTRIBUTION) if each[1] != _EVERYTHING]
    brought.sort(key=lambda each: (each[1] is not None, each[1] != extra))
    found = _package_of(module, [package for package, _ in brought])
    for package, by in brought:
        if package == found:
            return _missing(package, by)
    for package, by in brought:  # it may be one that a package of taskshield needs
        needed = [name for name, _ in _requirements(package)]
        if _package_of(module, needed) is not None:
            return _missing(module.partition(".")[0], by)
    if extra is not None and not all(_is_installed(name) for name, by in brought if by == extra):
        return _missing(module.partition(".")[0], extra)
    return ConfigError(
        f"The Python module {module!r} is not installed, and no extra of taskshield brings it."
        " Install the package that it belongs to."
    )


def _missing(package: str, extra: str | None) -> ConfigError:
    if extra is None:
        return ConfigError(
            f"The package {package!r} is not installed, though taskshield needs it."
            " Run: pip install --force-reinstall taskshield"
        )
    return MissingExtraError(package, extra)


def _requirements(distribution: str) -> Iterator[tuple[str, str | None]]:
    """The packages that a distribution requires, each with its extra."""
    try:
        given = requires(distribution)
    except PackageNotFoundError:
        return
    for line in () if given is None else given:
        name, extra = _NAME.match(line), _EXTRA.search(line)
        if name is not None:
            yield name[0], None if extra is None else extra[1]


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _package_of(module: str, packages: Sequence[str]) -> str | None:
    """The package that a module belongs to, by their names: the module is not there to be asked.

    `prometheus_client` belongs to prometheus-client, `opentelemetry.trace` to opentelemetry-api and
    `yaml` to pyyaml.
    """
    steps = module.lower().replace("_", "-").split(".")
    names = {package: re.sub(r"[._-]+", "-", package).lower() for package in packages}
    for length in range(len(steps), 0, -1):
        start = "-".join(steps[:length])
        for package, name in names.items():
            if name in (start, f"py{start}"):
                return package
        for package, name in names.items():
            if name.startswith(f"{start}-"):
                return package
    return None
