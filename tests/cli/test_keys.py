import re
from pathlib import Path

import pytest

from taskshield.cli.main import main
from taskshield.core.store import ApiKey
from taskshield.server.access.api_keys import key_hash
from taskshield.stores.open_store import open_store
from tests.engine.sessions import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


def stored(url: str) -> tuple[ApiKey, ...]:
    async def work() -> tuple[ApiKey, ...]:
        store = await open_store(url)
        try:
            return await store.keys()
        finally:
            await store.aclose()

    return run(work())


def made(store: str, capsys: Captured, *options: str) -> str:
    assert main(["keys", "create", "--name", "laptop", "--store", store, *options]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"tsk_[\w-]{40,}\n", out) and "It is not shown again" in err
    return out.strip()


def test_a_key_is_printed_once_and_its_hash_stored(store: str, capsys: Captured) -> None:
    secret = made(store, capsys)
    (key,) = stored(store)
    assert key.hash == key_hash(secret)
    assert (key.tenant, key.name, set(key.scopes)) == ("default", "laptop", {"check", "proxy"})
    assert (key.per_minute, key.expires_at) == (None, None)
    files = b"".join(path.read_bytes() for path in Path(store[10:]).parent.iterdir())
    assert secret.encode() not in files


def test_a_key_may_have_scopes_a_tenant_and_limits(store: str, capsys: Captured) -> None:
    made(
        store, capsys, "--scope", "approve", "--scope", "admin", "--tenant", "acme",
        "--per-minute", "10", "--days", "7",
    )  # fmt: skip
    (key,) = stored(store)
    assert (key.tenant, set(key.scopes), key.per_minute) == ("acme", {"approve", "admin"}, 10)
    assert key.expires_at is not None and (key.expires_at - key.created_at).days == 7


def test_keys_are_listed_without_the_keys(store: str, capsys: Captured) -> None:
    secret = made(store, capsys)
    made(store, capsys, "--days", "7", "--tenant", "acme", "--name", "mine\x1b")
    assert main(["keys", "list", "--store", store]) == 0
    listed = capsys.readouterr().out
    assert secret not in listed and "\x1b" not in listed
    assert "laptop" in listed and "mine" in listed and "good until" in listed and "acme" in listed


def test_a_revoked_key_stays_in_the_list(store: str, capsys: Captured) -> None:
    made(store, capsys)
    (key,) = stored(store)
    assert main(["keys", "revoke", key.id, "--store", store]) == 0
    assert "Revoked the key" in capsys.readouterr().err
    assert main(["keys", "revoke", key.id, "--store", store]) == 2
    assert "no key" in capsys.readouterr().err
    assert main(["keys", "list", "--store", store]) == 0
    assert "revoked" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [["create"], ["create", "--name", "x", "--scope", "root"], ["list", "x"], [],
     ["create", "--name", "x", "--days", "0"]],
)  # fmt: skip
def test_a_wrong_command_line_exits_with_2(options: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["keys", *options])
    assert caught.value.code == 2


def test_the_store_is_a_file_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["keys", "create", "--name", "x"]) == 0
    file = tmp_path / "taskshield" / "taskshield.db"
    assert file.exists() and file.parent.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert main(["keys", "list"]) == 0
    assert (tmp_path / "home" / ".local" / "state" / "taskshield" / "taskshield.db").exists()


def test_a_folder_that_cannot_be_made_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert main(["keys", "list"]) == 2
    assert "cannot create the folder" in capsys.readouterr().err


def test_a_user_without_a_home_folder_has_to_name_the_store(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert main(["keys", "list"]) == 2
    assert "Set server.store, XDG_STATE_HOME or HOME." in capsys.readouterr().err
