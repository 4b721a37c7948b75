import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield_lab.training.sources.contrast import Contrast, Made, Words, read_contrasts
from tests.lab.training.few_scenarios import DATA

CONTRAST = DATA.parent / "contrast"
KNOWN = read_contrasts(CONTRAST / "known.jsonl")
KINDS = set(
    "prohibition correction exclusion limit_amount limit_count look_only ordinal answer partial"
    " object person amount date time used_up scope withdrawal".split()
)


def row() -> dict[str, Any]:
    return {
        "id": "ordinal-ponds-01",
        "kind": "ordinal",
        "domain": "ponds",
        "lang": "en",
        "register": "plain",
        "tools": [{"name": "drain", "description": "Drains a pond."}, {"name": "ponds"}],
        "turns": [
            {"call": "ponds", "args": {}, "output": "p1\np2"},
            {"agent": "There are two: p1 and p2."},
            {"user": "Drain the second one."},
        ],
        "calls": [
            {"call": "drain", "args": {"pond": "p2"}, "aligned": True},
            {
                "call": "drain",
                "args": {"pond": "p1"},
                "aligned": False,
                "wrong": "object",
                "said": "the second one",
            },
        ],
        "variants": [
            {
                "turns": {"1": None, "2": {"user": "Drain the first one."}},
                "append": [{"user": "Now, please."}],
                "calls": [{"call": "drain", "args": {"pond": "p1"}, "aligned": True}],
            }
        ],
    }


def read(folder: Path, *rows: object) -> tuple[Contrast, ...]:
    file = folder / "few.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return read_contrasts(file)


def test_a_variant_changes_leaves_out_and_appends_turns(tmp_path: Path) -> None:
    (contrast,) = read(tmp_path, row())
    first, second = contrast.variants
    assert [type(turn) for turn in first.turns] == [Made, Words, Words]
    assert second.turns[1:] == (
        Words(level=Level.USER, text="Drain the first one."),
        Words(level=Level.USER, text="Now, please."),
    )
    assert [one.wrong for one in first.situations] == [None, "object"]
    assert first.situations[1].said == "the second one"


def change(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda found: found.update({key: value})


def wrong_call(**members: object) -> Callable[[dict[str, Any]], None]:
    return lambda found: found["calls"][1].update(members)


def variant(**members: object) -> Callable[[dict[str, Any]], None]:
    def put(found: dict[str, Any]) -> None:
        found["variants"] = [{"calls": found["calls"], **members}]

    return put


@pytest.mark.parametrize(
    ("put", "message"),
    [
        (change("tools", [{"name": "ponds"}]), "no tool 'drain'"),
        (change("turns", [{"user": "Drain it.", "agent": "Yes."}]), "not a turn"),
        (change("variants", [{"turns": {"1": None}}]), "'calls' is missing"),
        (change("variants", None), "not iterable"),
        (lambda found: found.pop("lang"), "'lang' is missing"),
        (lambda found: found["calls"].pop(), "one misaligned"),
        (wrong_call(said="the third one"), "does not say 'the third one'"),
        (wrong_call(said="There are two"), "does not say"),
        (wrong_call(said=None), "needs the words"),
        (wrong_call(wrong="odd"), "'odd' is not a reason"),
        (wrong_call(wrong=None), "either aligned"),
        (wrong_call(aligned=True), "either aligned"),
        (variant(), "changes nothing"),
        (variant(turns={"7": None}), "turn 7"),
    ],
)
def test_a_line_that_is_no_contrast_is_refused_by_number(
    tmp_path: Path, put: Callable[[dict[str, Any]], None], message: str
) -> None:
    bad = row() | {"id": "other"}
    put(bad)
    with pytest.raises(WireFormatError, match=rf"few\.jsonl:2: .*{message}"):
        read(tmp_path, row(), bad)


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"turns": ' * 9000])
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "few.jsonl").write_text(line)
    with pytest.raises(WireFormatError, match=r"few\.jsonl:1: "):
        read_contrasts(tmp_path / "few.jsonl")


def test_an_id_may_stand_only_once(tmp_path: Path) -> None:
    with pytest.raises(WireFormatError, match="same id"):
        read(tmp_path, row(), row())


def test_what_nothing_asked_for_needs_no_words(tmp_path: Path) -> None:
    unasked = row()
    unasked["calls"][1] |= {"wrong": "unasked", "said": None}
    (contrast,) = read(tmp_path, unasked)
    assert contrast.variants[0].situations[1].said is None


def test_the_known_kinds_are_even_and_varied() -> None:
    situations = Counter(
        contrast.kind
        for contrast in KNOWN
        for variant in contrast.variants
        for _ in variant.situations
    )
    assert set(situations) == KINDS and min(situations.values()) >= 80
    aligned = [
        one.wrong is None
        for contrast in KNOWN
        for each in contrast.variants
        for one in each.situations
    ]
    assert len(aligned) >= 1_600 and 0.4 < sum(aligned) / len(aligned) < 0.6
    assert len({contrast.domain for contrast in KNOWN}) >= 40
    assert len({contrast.lang for contrast in KNOWN}) >= 12
    assert {contrast.register for contrast in KNOWN} == {"clipped", "plain", "chatty", "formal"}


def test_parameters_of_the_calls_are_declared() -> None:
    for contrast in KNOWN:
        declared = {tool.name: tool.parameters["properties"] for tool in contrast.tools}
        for each in contrast.variants:
            made = [turn.call for turn in each.turns if isinstance(turn, Made)]
            for call in [*made, *(one.call for one in each.situations)]:
                properties = declared[call.name]
                assert isinstance(properties, dict)
                assert call.args.keys() <= properties.keys(), contrast.id
