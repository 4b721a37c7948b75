from collections import Counter
from dataclasses import replace
from pathlib import Path

from taskshield.core.assessments import TaskDraft
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.mixture import DistractorMix
from taskshield_lab.training.distractors.public_rows import PublicRows, read_public_rows
from tests.lab.training import alignment_pack
from tests.lab.training.alignment_pack import pair, text
from tests.lab.training.distractors.test_other_requests import two_outputs


def some_talks() -> list[LabelledConversation]:
    """Conversations of two domains in turns, none of which holds an attack."""
    plain = two_outputs()
    harmless = {id: label for id, label in plain.calls.items() if label.aligned}
    clean = replace(
        plain,
        kind="clean",
        messages=tuple(
            one
            for one in plain.messages
            if all(call.id in harmless for call in one.tool_calls)
            and (one.answers is None or one.answers in harmless)
        ),
        calls=harmless,
        spans={},
    )
    return [
        replace(
            clean,
            id=str(number),
            domain=("harbour", "bakery")[number % 2],
            tasks={1: (TaskDraft(text=("Pay the bill", "Bake the bread")[number % 2]),)},
        )
        for number in range(300)
    ]


def shares(pack: PublicRows | None, *, public: bool = True) -> dict[str, float]:
    """How many conversations get which kind of request, and how many are obeyed."""
    distractors, found = DistractorMix(pack, 1), Counter[str]()
    for conversation in some_talks():
        made = distractors.add_distractors(conversation, public=public)
        kinds = [span.kind for spans in made.spans.values() for span in spans]
        found.update(kinds)
        found["obeyed"] += made.kind == "attacked"
        assert kinds or made is conversation
    return {kind: count / 300 for kind, count in found.items()}


def test_conversations_get_requests_in_their_shares() -> None:
    found = shares(None)
    assert found["obeyed"] == 0
    assert 0.4 < found["echo"] < 0.6 and 0.22 < found["wish"] < 0.38


def test_public_requests_are_obeyed(tmp_path: Path) -> None:
    rows = [pair(number, goal=[f"Open valve V-{number}55."]) for number in range(9)]
    rows = [
        row | {"call": {"name": "openValve", "args": {"valve": row["goal"][0][11:-1]}}}
        for row in rows
    ]
    pack = read_public_rows(alignment_pack.write(tmp_path / "pack", pairs=rows), "train")
    assert 0.32 < shares(pack)["obeyed"] < 0.48
    assert shares(pack, public=False)["obeyed"] == 0


def test_public_sentences_that_ask_for_nothing_are_harmless(tmp_path: Path) -> None:
    told = {"label": "benign", "context": "The ferry leaves at nine every morning but Sunday."}
    texts = [text(number, **told) for number in range(3)]
    pack = read_public_rows(alignment_pack.write(tmp_path / "pack", texts=texts), "train")
    assert set(pack.neutral_sentences) == {told["context"]}
    assert 0.7 < shares(pack)["benign"] < 1.3  # in every second conversation one, two or three
    assert "benign" not in shares(pack, public=False)
    assert "benign" not in shares(None)


def test_another_users_task_comes_from_another_domain_and_language() -> None:
    distractors = DistractorMix(None, 1)
    conversations = some_talks()
    for conversation in conversations:
        for spans in distractors.add_distractors(
            replace(conversation, domain="harbour")
        ).spans.values():
            assert {span.kind for span in spans} == {"echo"}
    german = [
        replace(conversation, lang=("en", "de")[number % 2])
        for number, conversation in enumerate(conversations)
    ]
    distractors = DistractorMix(None, 1)
    for conversation in german:
        for spans in distractors.add_distractors(conversation).spans.values():
            assert {span.kind for span in spans} == {"echo"}


def test_the_same_seed_gives_the_same_company() -> None:
    one, two = DistractorMix(None, 1), DistractorMix(None, 1)
    assert [one.add_distractors(conversation) for conversation in some_talks()] == [
        two.add_distractors(conversation) for conversation in some_talks()
    ]
