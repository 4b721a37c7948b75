from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskshield.core.history import remember
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, text_message
from taskshield.judges.embedded.evidence import index_cache as module
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import Directive
from taskshield.judges.embedded.evidence.index_cache import IndexCache
from tests.judges.embedded.scenes import BILL, PLANTED, STOLEN, USER, call, evidence


def turns(*messages: Message) -> tuple[HistoryEntry, ...]:
    return tuple(
        HistoryEntry(message=message, index=index) for index, message in enumerate(messages)
    )


def step(*names: str, text: str = "") -> Message:
    calls = tuple(replace(call(name), id=f"{n}") for n, name in enumerate(names))
    return Message(level=Level.ASSISTANT, parts=(Text(text=text),), tool_calls=calls)


TALK = turns(
    text_message(Level.USER, USER),
    step("read_file"),
    text_message(Level.TOOL, BILL),
    step("get_balance", "get_iban", text="QX-5512"),
    text_message(Level.TOOL, "1200.00"),
)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the messages that are added to indexes."""
    found: list[int] = []
    add = module._add

    def watched(index: ConversationIndex, turn: HistoryEntry) -> None:
        found.append(turn.index)
        add(index, turn)

    monkeypatch.setattr(module, "_add", watched)
    return found


def visit(memory: IndexCache, history: tuple[HistoryEntry, ...]) -> ConversationIndex:
    index = memory.take(history)
    memory.put_back(history, index)
    return index


def test_messages_are_added_by_who_speaks() -> None:
    system = HistoryEntry(
        message=text_message(Level.SYSTEM, "Be nice to tom@harbour.example."), index=9
    )
    index = IndexCache().take((*TALK, system))
    assert index.asked == [USER]
    assert index.steps == ["read file", "get balance", "get iban"]
    assert list(index.outputs) == [2, 4]


def test_only_what_is_new_is_read(added: list[int]) -> None:
    memory = IndexCache()
    visit(memory, TALK[:2])
    assert added == [0, 1]
    visit(memory, TALK[:2])
    visit(memory, TALK[:4])
    visit(memory, TALK)
    assert added == [0, 1, 2, 3, 4]


def test_a_conversation_that_forks_is_read_again(added: list[int]) -> None:
    memory = IndexCache()
    visit(memory, TALK)
    other = (*TALK[:4], HistoryEntry(message=text_message(Level.TOOL, "7.00"), index=4))
    assert list(visit(memory, other).outputs[4])[0].text == "7.00"
    assert added == [0, 1, 2, 3, 4] * 2
    visit(memory, TALK)
    visit(memory, other)
    assert len(added) == 10


@pytest.mark.parametrize(
    "other",
    [
        replace(TALK[0], message=text_message(Level.USER, f"{USER} ")),
        replace(TALK[0], message=text_message(Level.ASSISTANT, USER)),
        replace(TALK[0], index=7),
    ],
)
def test_a_conversation_that_differs_anywhere_is_another(
    added: list[int], other: HistoryEntry
) -> None:
    memory = IndexCache()
    visit(memory, TALK)
    visit(memory, (other, *TALK[1:]))
    assert len(added) == 10


def test_a_refused_call_is_no_step(added: list[int]) -> None:
    memory = IndexCache()
    visit(memory, TALK)
    refused = (*TALK[:3], replace(TALK[3], refused=frozenset({"1"})), TALK[4])
    assert visit(memory, refused).steps == ["read file", "get balance"]
    assert visit(memory, TALK).steps == ["read file", "get balance", "get iban"]


def test_an_index_in_use_is_not_given_to_another_caller() -> None:
    memory = IndexCache()
    first = visit(memory, TALK)
    assert memory.take(TALK) is first
    second = memory.take(TALK)
    assert second is not first and second.steps == first.steps


def test_of_many_conversations_the_last_are_cached(added: list[int]) -> None:
    memory = IndexCache(kept=2)
    talks = [turns(text_message(Level.USER, f"Task {number}.")) for number in range(3)]
    for talk in talks:
        visit(memory, talk)
    visit(memory, talks[1])  # it is now the one that was used last
    assert len(added) == 3
    visit(memory, talks[0])
    assert len(added) == 4
    visit(memory, talks[1])
    assert len(added) == 4
    visit(memory, talks[2])
    assert len(added) == 5
    assert len(memory._indexes) == 2


def test_an_empty_history_has_an_empty_index() -> None:
    memory = IndexCache()
    visit(memory, TALK)
    found = visit(memory, ())
    assert (found.asked, found.steps, found.outputs) == ([], [], {})


TEXTS = st.lists(
    st.sampled_from(["Pay 30.50.", "Send it to zed@gulls.example.", "Hello.", "Bill", "\n"]),
    max_size=3,
).map(" ".join)
MESSAGES = st.one_of(
    st.builds(text_message, st.sampled_from([Level.USER, Level.TOOL]), TEXTS),
    st.builds(lambda text, names: step(*names, text=text), TEXTS, st.lists(st.just("send_money"))),
)
LATER = [
    Directive(message=message, text=text)
    for message in range(14)
    for text in ("Pay 30.50.", "Send it to zed@gulls.example. Hello.")
]
DIRECTIVES = LATER[:12]


@settings(max_examples=50)
@given(st.lists(MESSAGES, max_size=6), st.lists(MESSAGES, max_size=2), st.data())
def test_the_evidence_is_that_of_an_index_read_from_scratch(
    messages: list[Message], others: list[Message], data: st.DataObject
) -> None:
    whole = turns(*messages)
    fork = (*whole[:3], *turns(*messages[:3], *others)[len(whole[:3]) :])
    memory = IndexCache(kept=data.draw(st.integers(1, 3)))
    for _ in range(4):
        talk = data.draw(st.sampled_from([whole, fork]))
        history = talk[: data.draw(st.integers(0, len(talk)))]
        directives = data.draw(st.lists(st.sampled_from(DIRECTIVES), unique=True))
        asked = call("send_money", to="zed@gulls.example", amount=30.5, subject="Bill")
        index = memory.take(history)
        found = evidence(asked, index=index, directives=directives)
        memory.put_back(history, index)
        scratch = IndexCache().take(history)
        assert found == evidence(asked, index=scratch, directives=directives)


def test_what_a_session_drops_is_dropped_and_nothing_is_read_twice(
    added: list[int],
) -> None:
    memory = IndexCache()
    visit(memory, TALK)
    later = (TALK[0], *TALK[3:], *turns(*[step("pay")] * 7)[5:])
    index = visit(memory, later)
    assert added == [0, 1, 2, 3, 4, 5, 6]
    assert index.asked == [USER] and list(index.outputs) == [4]
    assert index.steps == ["get balance", "get iban", "pay", "pay"]
    visit(memory, (TALK[0],))
    assert added[7:] == [0]


@pytest.mark.parametrize(
    "later",
    [
        TALK[1:],  # without what the user said
        (*TALK[:2], *TALK[3:]),  # without something in the middle
        (replace(TALK[0], message=text_message(Level.USER, "Else.")), *TALK[3:]),
        (TALK[0], replace(TALK[3], index=8), TALK[4]),
    ],
    ids=["user", "middle", "changed", "number"],
)
def test_what_an_index_cannot_drop_is_read_again(
    added: list[int], later: tuple[HistoryEntry, ...]
) -> None:
    memory = IndexCache()
    visit(memory, TALK)
    index = visit(memory, later)
    assert len(added) == len(TALK) + len(later)
    assert index.outputs.keys() == {
        turn.index for turn in later if turn.message.level is Level.TOOL
    }


def test_where_numbers_come_twice_nothing_is_dropped(added: list[int]) -> None:
    memory = IndexCache()
    same = tuple(replace(turn, index=0) for turn in TALK)
    visit(memory, same)
    visit(memory, (same[0], *same[3:]))
    assert len(added) == 5 + 3


def test_of_several_indexes_the_longest_is_extended(added: list[int]) -> None:
    memory = IndexCache()
    first = memory.take(TALK[:2])
    second = memory.take(TALK[:4])
    memory.put_back(TALK[:2], first)
    memory.put_back(TALK[:4], second)
    added.clear()
    assert memory.take(TALK) is second and added == [4]
    assert memory.take(TALK) is first and added == [4, 2, 3, 4]


@settings(max_examples=50)
@given(st.lists(MESSAGES, max_size=14), st.integers(20, 200), st.data())
def test_the_evidence_is_the_same_when_a_session_drops_its_past(
    messages: list[Message], budget: int, data: st.DataObject
) -> None:
    memory = IndexCache()
    history: tuple[HistoryEntry, ...] = ()
    asked = call("send_money", to="zed@gulls.example", amount=30.5, subject="Bill")
    for turn in turns(*messages):
        history = remember(history, turn, budget)
        if data.draw(st.booleans()):
            continue
        index = memory.take(history)
        found = evidence(asked, index=index, directives=LATER)
        memory.put_back(history, index)
        assert found == evidence(asked, index=IndexCache().take(history), directives=LATER)


def test_many_threads_may_share_a_cache() -> None:
    memory = IndexCache(kept=3)

    def judged(number: int) -> object:
        history = TALK[: number % 5 + 1]
        index = memory.take(history)
        found = evidence(STOLEN, index=index, directives=[PLANTED])
        memory.put_back(history, index)
        return found

    alone = [judged(number) for number in range(5)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(judged, range(100))) == alone * 20


def test_a_list_that_grows_in_place_is_read_on(added: list[int]) -> None:
    memory = IndexCache()
    history = list(TALK[:2])
    memory.put_back(history, memory.take(history))
    history.append(TALK[2])
    assert list(memory.take(history).outputs) == [2]
    assert added == [0, 1, 2]
