"""Packages, extras and bounds, from distributions that are made for the test."""

import sys
from pathlib import Path

import pytest

from taskshield._version import __version__
from taskshield.cli.doctor import installation
from taskshield.cli.doctor.findings import Finding
from taskshield.cli.doctor.installation import check_installation, has_extra, requirements


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of distributions that come before all others."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site: Path, name: str, version: str, *lines: str) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir()
    head = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", *lines)
    (folder / "METADATA").write_text("".join(head))


def declare(site: Path, *needs: str, version: str = __version__, python: str = ">=3.11") -> None:
    """A distribution of taskshield that needs these packages."""
    lines = [f"Requires-Dist: {each}\n" for each in needs]
    install(site, "taskshield", version, f"Requires-Python: {python}\n", *lines)


def found(state: str) -> list[Finding]:
    return [each for each in check_installation() if each.state == state]


def test_what_is_installed_here_is_right() -> None:
    (good,) = check_installation()
    assert good.state == "ok" and "server" in good.what and f"taskshield {__version__}" in good.what


def test_a_package_of_the_base_is_missing(site: Path) -> None:
    declare(site, "nothing-of-this-name>=1")
    (bad,) = found("failed")
    assert "Missing: nothing-of-this-name." == bad.what
    assert bad.advice == "pip install --force-reinstall taskshield"


def test_an_extra_that_is_not_installed_is_no_failure(site: Path) -> None:
    declare(site, "nothing-of-this-name>=1; extra == 'otel'", "numpy<1; extra == 'otel'")
    assert found("failed") == []
    assert "extras: none" in found("ok")[0].what


def test_a_server_without_one_of_its_packages_was_meant_to_be_one(site: Path) -> None:
    declare(site, *(f"{name}; extra == 'server'" for name in ("numpy", "pyyaml", "none-such")))
    (bad,) = found("failed")
    assert (bad.what, bad.advice) == ("Missing: none-such.", "pip install 'taskshield[server]'")


def test_a_version_out_of_bounds_is_named_once(site: Path) -> None:
    install(site, "shared", "0.9")
    declare(site, "shared<3,>=1.2; extra == 'otel'", "shared<3,>=1.2; extra == 'ray'")
    (bad,) = found("failed")
    assert bad.what == "shared 0.9 is installed; taskshield needs >=1.2,<3."
    assert bad.advice == "pip install 'shared>=1.2,<3'"


def test_files_of_another_version_than_pip_noted(site: Path) -> None:
    declare(site, version="9.9")
    (bad,) = found("failed")
    assert "9.9" in bad.what and bad.advice == "pip install --force-reinstall taskshield"


def test_a_python_that_is_not_supported(site: Path) -> None:
    declare(site, python=">=9.1")
    (bad,) = found("failed")
    assert "needs >=9.1" in bad.what


def test_no_distribution_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_DISTRIBUTION", "none-such")
    (bad,) = check_installation()
    assert bad.advice == "pip install taskshield"


def test_a_package_of_another_platform_is_not_needed(site: Path) -> None:
    declare(
        site,
        f"never; (sys_platform != '{sys.platform}') and extra == 'server'",
        f"always; (sys_platform == '{sys.platform}') and extra == 'server'",
        "taskshield[audit]; extra == 'server'",
    )
    assert [each.name for each in requirements("taskshield")] == ["always"]
    assert not has_extra("server") and has_extra("no-such-extra")


@pytest.mark.parametrize(
    ("version", "bound", "holds"),
    [
        ("1.10", ">=1.9", True),
        ("1.2.0", "<=1.2", True),
        ("1.2.1", "<=1.2", False),
        ("2.0b1", "<2", False),
        ("1.2", "==1.2.0", True),
        ("1.2", "!=1.2", False),
        ("1.3", ">1.2", True),
        ("unknown", ">=1", False),
    ],
)
def test_bounds_compare_numbers(site: Path, version: str, bound: str, holds: bool) -> None:
    declare(site, f"shared{bound}")
    (needed,) = requirements("taskshield")
    assert needed.allows(version) is holds
