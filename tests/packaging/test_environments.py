import tomllib
from pathlib import Path

from tests.packaging.environments import direct_requirements, make_environment
from tests.packaging.wheels import ROOT, Wheels

_SHOWN = "import taskshield, sys; print(taskshield.__file__, sys.version_info[:2])"


def test_an_environment_has_the_wheel_and_not_the_repository(
    wheels: Wheels, tmp_path: Path
) -> None:
    made = make_environment(tmp_path / "env", wheels)
    shown = made.run(made.python, "-c", _SHOWN, cwd=tmp_path).stdout
    assert shown.startswith(str(made.folder / "lib"))
    assert str(ROOT) not in made.run(made.python, "-m", "site", cwd=tmp_path).stdout


def test_the_requirements_of_a_wheel_are_those_of_the_project(wheels: Wheels) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = project["dependencies"]
    assert _names(direct_requirements(wheels)) == _names(base)
    extras = project["optional-dependencies"]
    (server, own) = extras["postgres"]
    assert server == "taskshield[server]"
    # An extra that names another one brings what that one asks for.
    wanted = _names([*base, *extras["server"], own])
    assert _names(direct_requirements(wheels, "postgres")) == wanted


def _names(requirements: list[str]) -> set[str]:
    return {text.split(">")[0].split("<")[0].strip() for text in requirements}
