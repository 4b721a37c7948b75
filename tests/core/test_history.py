"""What is kept of the past, and what a judge is shown of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.history import Memory, recent, remember
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.usage import estimate_tokens


def told(*messages: Message, budget: int) -> tuple[HistoryEntry, ...]:
    turns: tuple[HistoryEntry, ...] = ()
    for message in messages:
        turns = remember(turns, HistoryEntry(message=message), budget)
    return turns


def user(text: str) -> Message:
    return text_message(Level.USER, text)


def call(id: str, arguments: str = "{}") -> Message:
    calls = (ToolCall(id=id, name="f", arguments=arguments),)
    return Message(level=Level.ASSISTANT, tool_calls=calls)


def output(id: str, text: str) -> Message:
    return Message(level=Level.TOOL, parts=(Text(text=text),), answers=id)


def test_recent_turns_are_kept_up_to_the_budget() -> None:
    said = [text_message(Level.ASSISTANT, f"{number:04}" * 10) for number in range(20)]
    each = 10 + 16  # the text and its quotation marks
    kept = [turn.message for turn in told(*said, budget=5 * each)]
    assert kept == said[-5:]


def test_the_users_messages_are_never_cut_or_dropped() -> None:
    first, second = user("please " * 500), user("and " * 500)
    noise = [text_message(Level.ASSISTANT, "x" * 100) for _ in range(50)]
    kept = [turn.message for turn in told(first, *noise, second, *noise, budget=100)]
    assert [message for message in kept if message.level is Level.USER] == [first, second]
    assert kept[0] == first


def test_a_call_is_never_separated_from_its_outputs() -> None:
    both = Message(
        level=Level.ASSISTANT,
        tool_calls=tuple(ToolCall(id=id, name="f", arguments="{}") for id in ("a", "b")),
    )
    later = [text_message(Level.ASSISTANT, "y" * 40) for _ in range(3)]
    conversation = (both, output("a", "1" * 40), *later, output("b", "2" * 40))
    assert [turn.message for turn in told(*conversation, budget=180)] == list(conversation)
    dropped = [turn.message for turn in told(*conversation, budget=179)]
    assert dropped == later


def test_nothing_older_than_what_was_left_out_is_kept() -> None:
    ids = ("a", "b", "c", "d", "e")
    calls = tuple(ToolCall(id=id, name="f", arguments="{}") for id in ids)
    many = Message(level=Level.ASSISTANT, tool_calls=calls)
    outputs = [output(id, "x" * 40) for id in ids]
    old, new = (text_message(Level.ASSISTANT, word) for word in ("old", "new"))
    assert [turn.message for turn in told(old, many, *outputs, new, budget=45)] == [new]


def test_a_turn_keeps_which_of_its_calls_were_refused_even_when_shortened() -> None:
    for arguments in ("{}", "1" * 9_000):
        turn = HistoryEntry(message=call("a", arguments), refused=frozenset({"a"}))
        (kept,) = remember((), turn, 400)
        assert kept.refused == {"a"}


def test_one_long_output_is_shortened_in_the_middle() -> None:
    (_, turn) = told(call("a"), output("a", "head" + "x" * 9_000 + "tail"), budget=400)
    text = turn.message.text
    assert text.startswith("head") and text.endswith("tail")
    assert "[... 8608 characters left out ...]" in text


def test_long_arguments_are_shortened_too() -> None:
    (turn,) = told(call("a", "[" + "1" * 9_000), budget=400)
    kept = turn.message.tool_calls[0].arguments
    assert kept == f"[{'1' * 199} [... 8601 characters left out ...] {'1' * 200}"


def test_output_of_an_unknown_call_stands_alone() -> None:
    lonely = output("nobody", "text")
    assert [turn.message for turn in told(lonely, budget=100)] == [lonely]


def test_empty_turns_are_dropped_too() -> None:
    empty = [Message(level=Level.TOOL, answers=str(number)) for number in range(300)]
    assert len(told(*empty, budget=160)) == 10


@pytest.mark.parametrize(
    "big",
    [
        output("a", "\U0001f600" * 50_000),
        Message(
            level=Level.ASSISTANT,
            tool_calls=tuple(
                ToolCall(id=str(number), name="n" * 5_000, arguments="x" * 5_000)
                for number in range(4)
            ),
        ),
    ],
)
def test_one_long_turn_does_not_displace_earlier_ones(big: Message) -> None:
    earlier = [text_message(Level.ASSISTANT, f"step {number}") for number in range(5)]
    kept = [turn.message for turn in told(*earlier, call("a"), big, budget=4_000)]
    assert kept[:5] == earlier


def test_the_newest_exchange_is_shortened_until_it_fits() -> None:
    many = tuple(ToolCall(id=str(number), name="read", arguments="{}") for number in range(8))
    outputs = [output(str(number), f"{number}" * 4_000) for number in range(8)]
    step = Message(level=Level.ASSISTANT, tool_calls=many)
    kept = [turn.message for turn in told(step, *outputs, budget=2_000)]
    assert [message.answers for message in kept[1:]] == [str(number) for number in range(8)]
    assert sum(len(message.text) for message in kept) < 2_000 * 4


def test_an_exchange_is_shortened_only_if_it_does_not_fit_the_budget() -> None:
    calls = tuple(ToolCall(id=id, name="f", arguments="{}") for id in ("a", "b"))
    step = Message(level=Level.ASSISTANT, tool_calls=calls)
    exchange = (step, output("a", "1" * 40), output("b", "2" * 40))
    size = (2 + 3 * 16) + 2 * (10 + 16)  # texts, and quotation marks of two calls and three texts
    assert [turn.message for turn in told(*exchange, budget=size)] == list(exchange)
    shortened = [turn.message.text for turn in told(*exchange, budget=size - 1)]
    assert shortened == ["", *[" [... 40 characters left out ...] "] * 2]


def test_the_texts_of_the_newest_exchange_share_the_budget_equally() -> None:
    calls = tuple(ToolCall(id=id, name="f", arguments="{}") for id in "abcde")
    step = Message(level=Level.ASSISTANT, tool_calls=calls)
    outputs = [output(id, id * 800) for id in "abcde"]
    kept = told(step, *outputs, budget=1_000)
    share = 1_000 // 11 - 4 * 16  # for the message, five calls and five outputs
    for turn in kept[1:]:
        assert turn.message.text.startswith(f"{turn.message.answers}" * (share * 2) + " [...")


def test_the_call_that_an_output_answers_counts_and_is_shortened_to_a_fourth_of_its_share() -> None:
    long = ToolCall(id="a", name="f", arguments="1" * 9_000)
    (kept,) = remember((), HistoryEntry(message=output("a", "text"), answered=long), 1_600)
    assert kept.message == output("a", "text") and kept.answered is not None
    assert kept.answered.arguments == f"{'1' * 200} [... 8600 characters left out ...] {'1' * 200}"
    short = ToolCall(id="a", name="f", arguments="{" + "1" * 38)
    turns: tuple[HistoryEntry, ...] = ()
    each = (40 + 40) // 4 + 2 * 16  # the text and the call, and the quotation marks of both
    for number in range(8):
        turn = HistoryEntry(message=output(str(number), "x" * 40), answered=short)
        turns = remember(turns, turn, 5 * each)
    assert [turn.message.answers for turn in turns] == ["3", "4", "5", "6", "7"]
    assert all(turn.answered == short for turn in turns)


MESSAGES = st.one_of(
    st.text(max_size=80).map(user),
    st.text(max_size=300).map(lambda text: text_message(Level.ASSISTANT, text)),
    st.sampled_from("abc").map(call),
    st.tuples(st.sampled_from("abcd"), st.text(max_size=300)).map(lambda pair: output(*pair)),
)


def marked(turn: HistoryEntry) -> int:
    """The number of a turn in its conversation, which the property below hides in `refused`."""
    (number,) = turn.refused
    return int(number)


@given(st.lists(MESSAGES, max_size=40), st.integers(min_value=1, max_value=120))
def test_history_is_bounded_ordered_and_keeps_calls_with_outputs(
    messages: list[Message], budget: int
) -> None:
    turns: tuple[HistoryEntry, ...] = ()
    links: list[tuple[int, int]] = []
    for number, message in enumerate(messages):
        open_calls = {call.id: marked(turn) for turn in turns for call in turn.message.tool_calls}
        if message.answers in open_calls:
            links.append((open_calls[message.answers], number))
        turns = remember(
            turns, HistoryEntry(message=message, refused=frozenset({str(number)})), budget
        )
    numbers = [marked(turn) for turn in turns]
    assert numbers == sorted(set(numbers))
    assert all((asked in numbers) is (answered in numbers) for asked, answered in links)
    kept = [turn.message for turn in turns]
    others = [message for message in kept if message.level is not Level.USER]
    size = sum(
        estimate_tokens(each.text + "".join(c.name + c.arguments for c in each.tool_calls))
        for each in others
    )
    newest_squeezed = 40 * len(others)  # marks that say how much was left out
    assert size <= budget + newest_squeezed
    assert [m for m in kept if m.level is Level.USER] == [
        m for m in messages if m.level is Level.USER
    ]


@given(st.lists(MESSAGES, max_size=40), st.integers(min_value=1, max_value=120))
def test_a_part_of_a_history_equals_a_smaller_history(messages: list[Message], budget: int) -> None:
    assert recent(told(*messages, budget=100_000), budget) == told(*messages, budget=budget)


def test_an_id_that_is_used_again_is_that_of_the_newer_call() -> None:
    filler = text_message(Level.ASSISTANT, "x" * 60)
    conversation = (call("a"), call("a", "[2]"), filler, output("a", "late"))
    for budget, kept in ((114, conversation), (113, conversation[1:]), (80, (filler,))):
        assert [turn.message for turn in told(*conversation, budget=budget)] == list(kept)


def test_many_messages_of_the_user_do_not_slow_down_the_rest() -> None:
    talk = [message for number in range(300) for message in (user("go on"), call(str(number)))]
    turns = tuple(HistoryEntry(message=message) for message in talk)
    kept = recent(turns, 170)
    assert [turn.message.level for turn in kept].count(Level.USER) == 300
    assert [turn.message for turn in kept[-2:]] == talk[-2:]


MESSAGES = st.one_of(
    st.text("ab ", max_size=200).map(user),
    st.builds(call, st.sampled_from("xyz"), st.text("a", max_size=300)),
    st.builds(output, st.sampled_from("xyz"), st.text("a", max_size=900)),
)


@given(st.lists(MESSAGES, max_size=30), st.integers(20, 400))
def test_a_memory_keeps_what_measuring_everything_again_would_keep(
    messages: list[Message], budget: int
) -> None:
    memory, other = Memory(), Memory()
    turns: tuple[HistoryEntry, ...] = ()
    for number, message in enumerate(messages):
        turn = HistoryEntry(message=message, index=number)
        expected = remember(turns, turn, budget)
        assert other.remember(turns, turn, budget) == expected  # a copy: measured again
        turns = memory.remember(turns, turn, budget)
        assert turns == expected
