"""Fixtures of every released format, which are kept for ever and never written again."""

import json
import subprocess
from pathlib import Path

import pytest

from taskshield.adapters.stored.cases import POLICY
from taskshield.adapters.stored.documents import NEWEST, write_json
from taskshield.server.sessions import serialization
from tests.adapters.stored import examples
from tests.adapters.stored.kinds import BY_FORMAT, STATE
from tests.stores import releases

FORMATS = Path(__file__).with_name("formats")
KINDS = [(version, name) for version, kinds in BY_FORMAT.items() for name in kinds]


def fixture(version: int, name: str) -> str:
    return (FORMATS / str(version) / f"{name}.json").read_text(encoding="utf-8").removesuffix("\n")


def test_every_format_has_a_fixture_of_every_kind() -> None:
    there = {path.relative_to(FORMATS).as_posix() for path in FORMATS.glob("*/*.json")}
    assert there == {f"{version}/{name}.json" for version, name in KINDS} | {"1/policy.json"}
    assert list(BY_FORMAT) == list(range(1, NEWEST + 1))


@pytest.mark.parametrize(("version", "name"), KINDS)
def test_a_document_of_any_format_is_read(version: int, name: str) -> None:
    kind = BY_FORMAT[version][name]
    assert kind.document.read(fixture(version, name)) == kind.value


@pytest.mark.parametrize(("version", "name"), KINDS)
def test_a_document_of_any_format_is_written_as_ever(version: int, name: str) -> None:
    kind = BY_FORMAT[version][name]
    assert kind.document.write(kind.value, version) == fixture(version, name)


def test_the_policy_in_the_names_of_conversations_is_written_as_ever() -> None:
    assert write_json(POLICY, examples.POLICY, "Policy") == fixture(1, "policy")


def test_a_session_of_the_server_in_format_1_is_read_whole() -> None:
    content = serialization.read(fixture(1, "session"))
    assert content.state == STATE
    assert content.decision_ids == ("decision-1", "decision-2")
    assert serialization.write(content, {}, str).text == fixture(1, "session")


def test_fixtures_of_format_1_are_what_release_0_1_0_writes(tmp_path: Path) -> None:
    source = releases.unpacked("0.1.0", tmp_path / "release")
    written = tmp_path / "written"
    written.mkdir()
    subprocess.run(
        [releases.python(), "-m", "tests.adapters.stored.write_format_1", written],
        env=releases.environment(source),
        check=True,
    )
    texts = {path.name: path.read_text() for path in written.iterdir()}
    assert texts == {path.name: path.read_text() for path in (FORMATS / "1").iterdir()}
    assert "version" not in json.loads(texts["case.json"])
