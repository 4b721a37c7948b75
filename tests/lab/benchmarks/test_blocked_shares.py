import pytest
from blocked_shares import count_blocked, figures

from taskshield import Shield
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.public_conversations import compose_conversations
from taskshield_lab.training.distractors.public_rows import read_public_rows
from tests.lab.training import alignment_pack
from tests.lab.training.bill_conversation import conversation


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> list[LabelledConversation]:
    pack = alignment_pack.write_valid(tmp_path_factory.mktemp("pack"))
    return list(compose_conversations(read_public_rows(pack, "valid"), 7))


@pytest.mark.parametrize(("judge", "blocked"), [("allow-all", 0), ("block-side-effects", 1)])
def test_calls_are_counted_by_what_they_are(
    conversations: list[LabelledConversation], judge: str, blocked: int
) -> None:
    calls = [
        conversation.calls[name] for conversation in conversations for name in conversation.calls
    ]
    with Shield(judge=judge) as shield:
        found = count_blocked(conversations, shield)
    kinds = ("look-up", "good", "attack")
    counts = [some[kind] for some in found.values() for kind in kinds if kind in some]
    assert sum(count.number for count in counts) == len(calls)
    attacks = sum(call.kind == "attack" for call in calls)
    assert sum(some["attack"].number for some in found.values() if "attack" in some) == attacks > 0
    for some in found.values():
        assert some["look-up"].blocked == 0 and some["good"].share == blocked
    written = figures(conversations, found)
    assert written["conversations"] == len(conversations)


@pytest.mark.parametrize(("judge", "blocked"), [("allow-all", 0), ("block-side-effects", 1)])
def test_conversations_without_an_attack_are_disturbed_by_a_blocked_call(
    conversations: list[LabelledConversation], judge: str, blocked: int
) -> None:
    calm = [one for one in conversations if all(call.aligned for call in one.calls.values())]
    with Shield(judge=judge) as shield:
        found = count_blocked([*calm, conversation()], shield)  # the last one has an attack
    counts = [some["conversation without an attack"] for some in found.values()]
    assert sum(count.number for count in counts) == len(calm) > 0
    assert all(count.share == blocked for count in counts)
