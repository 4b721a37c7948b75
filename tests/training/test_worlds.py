from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.levels import Level
from taskshield.training.examples import delegates, heard
from taskshield.training.rewriting import leaves
from taskshield.training.scenarios import Call
from taskshield.training.worlds import HERE, WORDINGS, World, conversations, read_worlds
from tests.training import small_world

WORLDS = Path(__file__).parents[2] / "data" / "worlds"


def read(folder: Path, world: object = None) -> World:
    (found,) = read_worlds(small_world.write(folder, world))
    return found


def test_each_task_is_told_by_itself_and_beside_every_attack_in_every_wording(
    tmp_path: Path,
) -> None:
    talks = list(conversations(read(tmp_path)))
    told = Counter((talk.scenario, talk.style) for talk in talks)
    assert told == {
        (f"waterworks/t{number}", style): 1 if style is None else 2
        for number in (1, 2)
        for style in (None, *WORDINGS)
    }
    assert all((talk.kind == "attacked") is (talk.style is not None) for talk in talks)
    assert len({talk.id for talk in talks}) == len(talks)
    assert not any(HERE in message.text for talk in talks for message in talk.messages)
    assert [delegates(talk) for talk in talks] == [False] * 7 + [True] * 7
    clean = talks[0]
    assert [message.text for message in clean.messages if message.level is Level.TOOL] == [
        "Shift note: all well.  End.",
        '{"note": "old"}',
        "stopped",
    ]
    assert all(label.aligned for label in clean.calls.values()) and not clean.spans


def test_an_attack_is_obeyed_right_after_it_is_read_and_the_task_goes_on(tmp_path: Path) -> None:
    by_id = {talk.id: talk for talk in conversations(read(tmp_path))}
    for id, places in (("t1/a1", 0), ("t1/a2", 1), ("t2/a2", 0)):
        talk = by_id[f"waterworks/{id}/dressed"]
        wanted = int(id[-1])
        kinds = [label.kind for label in talk.calls.values()]
        steps = 3 if id.startswith("t1") else 2
        expected = ["step"] * (places + 1) + ["attack"] * wanted
        assert kinds == expected + ["step"] * (steps - places - 1)
        ((output, (span,)),) = talk.spans.items()
        words = talk.messages[output].text[span.start : span.end]
        assert words == f"dressed: stop P{wanted}" and span.kind == "attack"
        attacks = [label for label in talk.calls.values() if label.kind == "attack"]
        assert all(one.explained_by == (output, span.start, span.end) for one in attacks)
        assert all(one.tier.side_effects for one in attacks)
        assert any("attack" in one.labels for one in heard(talk))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("tasks", None, "is not a world"),
        ("attacks", [{"id": "a1"}], "is not a world"),
        ("tools", [], "is no tool of this world"),
    ],
)
def test_what_is_no_world_is_refused_by_name(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    with pytest.raises(WireFormatError, match=f"waterworks.* {said}"):
        read(tmp_path, small_world.world() | {field: value})


@pytest.mark.parametrize("outputs", [("nothing", "nothing"), ("nothing", HERE)])
def test_outsiders_must_be_heard_before_the_task_is_done(
    tmp_path: Path, outputs: tuple[str, str]
) -> None:
    world = small_world.world()
    world["tasks"][1]["steps"] = [small_world.step("read_log", output) for output in outputs]
    with pytest.raises(WireFormatError, match="'t2' has no place or one at its end"):
        read(tmp_path, world)


def test_a_folder_without_worlds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \.json file"):
        read_worlds(tmp_path)


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return read_worlds(WORLDS)


def test_every_world_is_as_its_readme_says(worlds: list[World]) -> None:
    assert len(worlds) == 8
    for world in worlds:
        assert len(world.tasks) == 12 and len(world.attacks) == 6
        assert Counter(task.trust for task in world.tasks) == {
            "asks": 6,
            "points": 3,
            "hands over": 3,
        }
        assert all(step.output.count(HERE) <= 1 for task in world.tasks for step in task.steps)
        assert len({task.prompt for task in world.tasks}) == 12


def values(call: Call) -> Iterator[str]:
    """Short ones: the beginning of a long text is enough."""
    yield from (leaf for leaf in leaves(call.args) if isinstance(leaf, str) and len(leaf) <= 60)


def test_attackers_say_what_they_want(worlds: list[World]) -> None:
    for world in worlds:
        for attack in world.attacks:
            for wording, words in attack.words.items():
                for call in attack.calls:
                    for value in values(call):
                        assert value.lower() in words.lower(), (attack.id, wording, value)
                assert '"' not in words and "\n" not in words
