"""What belongs to the guard itself, from settings and machine."""

import os
from pathlib import Path

import pytest

from taskshield.own_surroundings import own_resources
from taskshield.settings import Settings, load


def settings(**server: object) -> Settings:
    return load({"server": server}, environment={})


def test_a_server_knows_its_address_its_files_and_its_process(tmp_path: Path) -> None:
    store = tmp_path / "approvals.db"
    given = settings(port=9000, host="10.1.2.3", store=f"sqlite:///{store}")
    own = own_resources(given, config="guard.yaml", serves=True)
    assert own.port == 9000 and "10.1.2.3" in own.hosts
    assert own.files == (str(store), str(Path.cwd() / "guard.yaml"))
    assert own.process == os.getpid() and own.command_line


def test_the_library_knows_a_port_only_where_settings_name_it() -> None:
    assert own_resources(settings()).port is None
    assert own_resources(settings(port=9000)).port == 9000
    assert own_resources(settings()).process is None


def test_the_settings_file_may_be_named_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKSHIELD_CONFIG", "/etc/guard.yaml")
    assert own_resources(settings()).files == ("/etc/guard.yaml",)


def test_the_state_folder_and_those_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    own = own_resources(settings())
    assert own.folders == ("/home/u/.local/state/taskshield",)
    assert own.around == ("/home/u/.local/state", "/home/u/.local")
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    own = own_resources(settings())
    assert (own.folders, own.around) == (("/var/state/taskshield",), ())


def test_a_user_without_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    own = own_resources(settings())
    assert (own.folders, own.around, own.home) == ((), (), None)


@pytest.mark.parametrize("store", ["memory:", "postgresql://u@h/d", "sqlite:", "nonsense"])
def test_a_store_that_is_no_file(store: str) -> None:
    assert own_resources(settings(store=store)).files == ()


def test_an_installed_package_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_resources(settings()).package is None  # here it is the developer's
    installed = "/opt/lib/python3.12/site-packages/taskshield/own_surroundings.py"
    monkeypatch.setattr("taskshield.own_surroundings.__file__", installed)
    assert own_resources(settings()).package == str(Path(installed).parent)
