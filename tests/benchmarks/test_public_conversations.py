import json
import sys
from pathlib import Path

import public_conversations
import pytest
from public_conversations import counted

from taskshield import Shield
from taskshield.training.composed import composed
from taskshield.training.public_rows import read_pack
from tests.training import alignment_pack
from tests.training.alignment_pack import pair, text


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    rows = [
        pair(n, split="valid", task=n, goal=[f"Open valve V-{n}55 to 3{n}.5 percent."])
        for n in range(4)
    ]
    texts = [text(n, split="valid", label="benign") for n in range(2)]
    return alignment_pack.write(tmp_path / "pack", pairs=rows, texts=texts)


@pytest.mark.parametrize(("judge", "held"), [("allow-all", 0), ("block-side-effects", 1)])
def test_calls_are_counted_by_what_they_are(pack: Path, judge: str, held: int) -> None:
    talks = list(composed(read_pack(pack, "valid"), 7))
    calls = [(talk, name) for talk in talks for name in talk.calls]
    with Shield(judge=judge) as shield:
        found = counted(talks, shield)
    counts = [count for some in found.values() for count in some.values()]
    assert sum(count.calls for count in counts) == len(calls)
    attacks = sum(not talk.calls[name].aligned for talk, name in calls)
    assert sum(some["attack"].calls for some in found.values() if "attack" in some) == attacks > 0
    for some in found.values():
        assert some["look-up"].held == 0 and some["good"].share == held


def test_figures_are_written_down(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["public_conversations.py", str(pack), "--every", "2", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    public_conversations.main()
    told = json.loads((tmp_path / "public_conversations.json").read_text(encoding="utf-8"))
    assert told["inputs"] == ["pack"] and told["conversations"] > 2
    (asks, hands) = (told["held"][who] for who in ("the user asks", "the user hands over"))
    assert asks["good"]["calls"] > 0 and hands["good"]["calls"] == 2
    assert "the user hands over" in capsys.readouterr().out
