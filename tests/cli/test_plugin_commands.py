import argparse
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from taskshield.cli import plugin_commands
from taskshield.cli.main import main
from tests.cli.stage import CLEAN

Install = Callable[..., None]
Captured = pytest.CaptureFixture[str]
HERE = "tests.cli.test_plugin_commands"


def add_greet(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("greet", help="say hello")
    parser.add_argument("--name", required=True)
    parser.set_defaults(run=greet)


def greet(given: argparse.Namespace) -> int:
    print(f"hello {given.name}")
    return 7


def add_half(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    commands.add_parser("half").add_argument("needed")
    raise RuntimeError("secret detail")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Gives a function that makes these the installed entry points, by name."""

    def installed(**values: str) -> None:
        def found(*, group: str) -> list[EntryPoint]:
            assert group == "taskshield.commands"
            return [EntryPoint(name, value, group) for name, value in values.items()]

        monkeypatch.setattr(plugin_commands, "entry_points", found)

    return installed


@pytest.mark.parametrize(("command", "extra"), [("bench", "eval"), ("train", "train")])
@pytest.mark.parametrize("arguments", [[], ["--help"], ["report", "--out", "x", "-q"]])
def test_without_the_lab_its_commands_say_what_to_install(
    command: str, extra: str, arguments: list[str], install: Install, capsys: Captured
) -> None:
    install()
    assert main([command, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "taskshield: error: The package 'taskshield-lab' is not installed."
        f" Run: pip install 'taskshield[{extra}]'\n"
    )


def test_without_the_lab_its_commands_are_listed(install: Install, capsys: Captured) -> None:
    install()
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert "run the benchmark (needs taskshield[eval])" in text
    assert "train the embedded judge's model (needs taskshield[train])" in text


def test_the_lab_brings_its_commands(capsys: Captured) -> None:
    for command in ("bench", "train"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert f"usage: taskshield {command}" in capsys.readouterr().out


def test_a_plugin_adds_a_command(install: Install, capsys: Captured) -> None:
    install(greet=f"{HERE}:add_greet")
    assert main(["greet", "--name", "Ada"]) == 7
    assert capsys.readouterr().out == "hello Ada\n"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package.cli:add", "ModuleNotFoundError"),
        (f"{HERE}:no_such_function", "AttributeError"),
        (f"{HERE}:HERE", "TypeError"),
        (f"{HERE}:add_half", "RuntimeError"),
    ],
)
def test_a_broken_plugin_has_its_error_to_itself(
    value: str, why: str, install: Install, capsys: Captured
) -> None:
    install(half=value, greet=f"{HERE}:add_greet")
    assert main(["half", "--any", "argument"]) == 2
    assert capsys.readouterr().err == (
        f"taskshield: error: The command 'half' cannot be loaded: its entry point {value} failed"
        f" ({why}). Reinstall the package that it comes with.\n"
    )
    assert main(["greet", "--name", "Ada"]) == 7
    assert main(["check", str(CLEAN), "--judge", "allow-all"]) == 0
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    assert "half" in capsys.readouterr().out


def test_a_broken_lab_does_not_look_like_a_missing_one(install: Install, capsys: Captured) -> None:
    install(bench="no_such_package.cli:add")
    assert main(["bench"]) == 2
    assert "The command 'bench' cannot be loaded" in capsys.readouterr().err


def test_a_plugin_cannot_replace_a_command(install: Install, capsys: Captured) -> None:
    install(check=f"{HERE}:add_greet")
    assert main(["check", str(CLEAN), "--judge", "allow-all"]) == 0
    assert capsys.readouterr().err == (
        f"taskshield: the entry point 'check' ({HERE}:add_greet) is ignored: taskshield has a"
        " command of this name\n"
    )
