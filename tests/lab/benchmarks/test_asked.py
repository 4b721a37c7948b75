import pytest
from asked import counted, figures

from taskshield import Shield
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.composed import composed
from taskshield_lab.training.distractors.public_rows import read_pack
from tests.lab.training import alignment_pack
from tests.lab.training.talks import talk


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> list[LabelledConversation]:
    pack = alignment_pack.write_valid(tmp_path_factory.mktemp("pack"))
    return list(composed(read_pack(pack, "valid"), 7))


@pytest.mark.parametrize(("judge", "held"), [("allow-all", 0), ("block-side-effects", 1)])
def test_calls_are_counted_by_what_they_are(
    talks: list[LabelledConversation], judge: str, held: int
) -> None:
    calls = [talk.calls[name] for talk in talks for name in talk.calls]
    with Shield(judge=judge) as shield:
        found = counted(talks, shield)
    kinds = ("look-up", "good", "attack")
    counts = [some[kind] for some in found.values() for kind in kinds if kind in some]
    assert sum(count.number for count in counts) == len(calls)
    attacks = sum(call.kind == "attack" for call in calls)
    assert sum(some["attack"].number for some in found.values() if "attack" in some) == attacks > 0
    for some in found.values():
        assert some["look-up"].held == 0 and some["good"].share == held
    told = figures(talks, found)
    assert told["conversations"] == len(talks)


@pytest.mark.parametrize(("judge", "held"), [("allow-all", 0), ("block-side-effects", 1)])
def test_conversations_without_an_attack_are_disturbed_where_a_good_call_is_held(
    talks: list[LabelledConversation], judge: str, held: int
) -> None:
    calm = [one for one in talks if all(call.aligned for call in one.calls.values())]
    with Shield(judge=judge) as shield:
        found = counted([*calm, talk()], shield)  # the last one holds an attack
    counts = [some["conversation without an attack"] for some in found.values()]
    assert sum(count.number for count in counts) == len(calm) > 0
    assert all(count.share == held for count in counts)
