"""How steps of a trace become conversations."""

from taskshield.adapters.traces.assembly import Piece, StepKind, TraceStep, conversations
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message

ASK = text_message(Level.USER, "Book a table.")
ORDER = text_message(Level.SYSTEM, "You help.")
DONE = text_message(Level.ASSISTANT, "Done.")


def called(name: str, id: str = "c1", arguments: str = "{}") -> Message:
    call = ToolCall(id=id, name=name, arguments=arguments)
    return Message(level=Level.ASSISTANT, tool_calls=(call,))


def output(text: str, id: str | None = "c1") -> Message:
    message = text_message(Level.TOOL, text)
    return Message(level=Level.TOOL, parts=message.parts, answers=id)


def step(
    at: float,
    given: list[Message],
    answered: list[Message],
    kind: StepKind = "model",
    *,
    turn: str = "t",
    id: str | None = None,
) -> TraceStep:
    return TraceStep(
        kind=kind,
        id=f"s{at}" if id is None else id,
        turn=turn,
        start=at,
        end=at + 0.5,
        given=tuple(given),
        answered=tuple(answered),
    )


def found(*steps: TraceStep, named: bool = False) -> list[list[Message]]:
    pieces = [Piece(group="g", named=named, step=each) for each in steps]
    return [list(conversation.messages) for conversation in conversations(pieces)]


def test_each_call_adds_what_is_new() -> None:
    call, seen = called("find"), output("The Anchor")
    steps = [step(1, [ASK], [call]), step(2, [ASK, call, seen], [DONE])]
    assert found(*reversed(steps)) == [[ASK, call, seen, DONE]]


def test_ids_and_the_layout_of_arguments_make_no_other_message() -> None:
    first = called("find", "c1", '{"a": 1, "b": 2}')
    later = called("find", "other", '{"b":2,"a":1}')
    steps = [step(1, [ASK], [first]), step(2, [ASK, later, output("x", "other")], [])]
    assert found(*steps) == [[ASK, first, output("x", "other")]]


def test_a_repeated_model_call_is_added_once() -> None:
    assert found(step(1, [ASK], [DONE]), step(2, [ASK], [DONE]), step(3, [ASK], [])) == [
        [ASK, DONE]
    ]


def test_another_answer_to_the_same_is_another_conversation() -> None:
    other = text_message(Level.ASSISTANT, "Never mind.")
    assert found(step(1, [ASK], [DONE]), step(2, [ASK], [other])) == [[ASK, DONE], [ASK, other]]


def test_a_sub_agent_has_a_conversation_of_its_own() -> None:
    sub = text_message(Level.USER, "Find restaurants.")
    steps = [step(1, [ASK], [called("delegate")]), step(2, [sub], [DONE])]
    assert found(*steps, named=True) == [[ASK, called("delegate")], [sub, DONE]]


def test_the_next_turn_of_a_named_conversation_goes_on_with_it() -> None:
    more = text_message(Level.USER, "For four.")
    steps = [step(1, [ORDER, ASK], [DONE]), step(2, [ORDER, more], [DONE], turn="t2")]
    assert found(*steps, named=True) == [[ORDER, ASK, DONE, more, DONE]]
    assert found(*steps) == [[ORDER, ASK, DONE], [ORDER, more, DONE]]


def test_a_history_that_was_rewritten_is_another_conversation() -> None:
    short = text_message(Level.ASSISTANT, "In short: done.")
    more = text_message(Level.USER, "For four.")
    steps = [step(1, [ASK], [DONE]), step(2, [ASK, short, more], [DONE], turn="t2")]
    assert found(*steps, named=True) == [[ASK, DONE], [ASK, short, more, DONE]]


def test_outputs_alone_go_on_where_their_call_is() -> None:
    call = called("find")
    steps = [step(1, [ASK], [call]), step(2, [output("The Anchor")], [DONE])]
    assert found(*steps) == [[ASK, call, output("The Anchor"), DONE]]


def test_a_call_with_nothing_but_instructions() -> None:
    assert found(step(1, [ASK], [DONE]), step(2, [ORDER], [])) == [[ASK, DONE], [ORDER]]


def test_parts_of_one_call_are_put_together() -> None:
    parts = [step(1, [ORDER], [], id="s"), step(2, [ASK], [], id="s"), step(3, [], [DONE], id="s")]
    assert found(*reversed(parts)) == [[ORDER, ASK, DONE]]


def test_tool_runs_answer_calls_whose_output_no_model_call_holds() -> None:
    two = Message(
        level=Level.ASSISTANT,
        tool_calls=(*called("find", "c1").tool_calls, *called("find", "c2").tool_calls),
    )
    runs = [
        step(2, [called("find", "x")], [output("first", "x")], "tool"),
        step(3, [called("find", "y")], [output("second", "y")], "tool"),
        step(4, [called("find", "z")], [output("third", "z")], "tool"),
    ]
    whole = found(step(1, [ASK], [two]), *runs)
    assert whole[0][:4] == [ASK, two, output("first", "c1"), output("second", "c2")]
    assert whole[0][4:] == [called("find", "z"), output("third", "z")]


def test_a_run_whose_output_is_known_adds_nothing() -> None:
    call = called("find")
    steps = [
        step(1, [ASK, call, output("The Anchor")], [DONE]),
        step(2, [called("find")], [output("The Anchor")], "tool"),
    ]
    assert found(*steps) == [[ASK, call, output("The Anchor"), DONE]]


def test_an_agent_is_read_only_where_no_model_is() -> None:
    agent = step(0, [ASK], [DONE], "agent")
    agent = TraceStep(**{name: getattr(agent, name) for name in TraceStep.__slots__} | {"end": 9.0})
    run = step(2, [called("find", "r")], [output("The Anchor", "r")], "tool")
    assert found(agent, run) == [[ASK, called("find", "r"), output("The Anchor", "r"), DONE]]
    assert found(agent, step(1, [ASK], [called("find")])) == [[ASK, called("find")]]


def test_tools_alone_are_no_conversation() -> None:
    assert found(step(2, [called("find")], [output("x")], "tool")) == []
