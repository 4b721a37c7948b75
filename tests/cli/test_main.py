import re
from pathlib import Path

import pytest

from taskshield import __version__
from taskshield.cli.main import main
from tests.cli.stage import CLEAN

Captured = pytest.CaptureFixture[str]


def complaint(capsys: Captured, *arguments: object) -> str:
    """What a command that must fail with 2 writes, which must be one line."""
    assert main(["check", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def stopped(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_the_version_is_printed(capsys: Captured) -> None:
    assert stopped("--version") == 0
    assert capsys.readouterr().out == f"taskshield {__version__}\n"


def test_help_tells_exit_statuses_and_where_the_key_comes_from(capsys: Captured) -> None:
    assert stopped("check", "--help") == 0
    text = capsys.readouterr().out
    assert [status for status in "0123" if f"\n  {status}  " in text] == ["0", "1", "2", "3"]
    assert "OPENAI_API_KEY" in text
    assert "--api-key" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("arguments", [("check",), ("chek", "x"), ("check", "x", "--api-key", "k")])
def test_a_wrong_command_line_exits_with_2(arguments: tuple[str, ...], capsys: Captured) -> None:
    assert stopped(*arguments) == 2
    assert "usage: taskshield" in capsys.readouterr().err


def test_no_command_shows_what_there_is(capsys: Captured) -> None:
    assert main([]) == 2
    said = capsys.readouterr().out
    assert "find what is wrong with a set-up" in said
    assert "needs the extra: 'taskshield[server]'" in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_missing_file_is_one_line(capsys: Captured) -> None:
    assert complaint(capsys, "none.json") == (
        "taskshield: error: none.json: No such file or directory.\n"
    )


def test_a_file_name_is_shown_as_its_user_writes_it(capsys: Captured) -> None:
    assert "Grüße/日本.json" in complaint(capsys, "Grüße/日本.json")


def test_the_home_folder_of_an_unknown_user_is_one_line(capsys: Captured) -> None:
    assert "~no-such-user" in complaint(capsys, CLEAN, "--judge", "embedded:~no-such-user/model")


def test_an_unknown_judge_is_one_line(capsys: Captured) -> None:
    assert "'oracle' is not a known judge" in complaint(capsys, CLEAN, "--judge", "oracle:x")


def test_no_key_is_one_line(capsys: Captured) -> None:
    assert "OPENAI_API_KEY" in complaint(capsys, CLEAN, "--judge", "openai:m")


def test_a_wrong_address_is_one_line(capsys: Captured) -> None:
    err = complaint(capsys, CLEAN, "--judge", "openai:m", "--base-url", "nonsense")
    assert "base_url must look like" in err


def test_several_wrong_settings_are_still_one_line(capsys: Captured, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    config.write_text("retires: 1\ntimeout_s: -1\n")
    err = complaint(capsys, CLEAN, "--config", config)
    assert re.search("retires: no such setting .*; timeout_s|timeout_s.*; retires", err)


def test_a_file_name_cannot_command_the_terminal(capsys: Captured) -> None:
    err = complaint(capsys, "\x1b[31m\u202ex\udcff.json")
    assert "\\x1b[31m<U+202E>x<U+DCFF>.json" in err
