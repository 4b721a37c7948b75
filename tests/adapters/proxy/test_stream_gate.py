"""Streams through the gates of all wire formats, as the providers' own SDKs read them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.adapters.proxy.exchange import Reply
from taskshield.core.errors import ConversationError, WireFormatError
from taskshield.core.messages import ToolCall
from tests.adapters.proxy.sdks import BENCHES, Bench, Seen, fed, sending
from tests.adapters.proxy.streams import Call, Said

ALL = pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)

A = Call("c-alpha", "read_file", '{"path": "bill.txt"}')
B = Call("c-beta", "send_money", '{"to": "Mallory", "amount": 100}')
C = Call("c-gamma", "list_files", "{}")
TEXT = "Let me see. Zoë’s 🧾 first."
NOTE = "[Task Shield 1] One step was not carried out 🚫."
SAID = Said(text=TEXT, calls=[A, B, C])


def whole(reply: Reply | None) -> Reply:
    assert reply is not None
    return reply


@ALL
def test_nothing_blocked_passes_byte_for_byte_and_text_at_once(bench: Bench) -> None:
    stream = bench.stream(SAID)
    gate = bench.wire_format.gate()
    first = fed(gate, stream)
    (message,) = whole(gate.complete).messages
    assert message.text == TEXT
    assert [(c.id, c.name) for c in message.tool_calls] == [(c.id, c.name) for c in SAID.calls]
    assert [c.parse_arguments() for c in message.tool_calls] == [
        ToolCall(id=c.id, name=c.name, arguments=c.arguments).parse_arguments() for c in SAID.calls
    ]
    assert b"first" in first and b"read_file" not in first and b"send_money" not in first
    data = first + b"".join(gate.release())
    assert data == b"".join(stream)
    assert bench.seen(data).calls == (A, B, C)


@ALL
def test_text_passes_before_the_rest_has_arrived(bench: Bench) -> None:
    gate = bench.wire_format.gate()
    stream = bench.stream(Said(text=TEXT))
    until = next(number for number, event in enumerate(stream) if b"Let me" in event) + 1
    assert fed(gate, stream[:until]) == b"".join(stream[:until])


@ALL
def test_the_end_of_a_text_waits_for_the_judge_and_can_take_a_note(bench: Bench) -> None:
    stream = bench.stream(Said(text=TEXT))
    gate = bench.wire_format.gate()
    first = fed(gate, stream)
    seen = bench.seen(first + b"".join(gate.release_without((), NOTE)))
    assert (seen.texts, seen.calls, seen.finish) == ((TEXT, NOTE), (), bench.finished)


@ALL
@pytest.mark.parametrize("text", [TEXT, ""])
@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ([B], (A, C)),
        ([A], (B, C)),
        ([C], (A, B)),
        ([A, B], (C,)),
        ([A, B, C], ()),
    ],
)
def test_refused_calls_are_replaced_by_a_note(
    bench: Bench, text: str, refused: list[Call], left: tuple[Call, ...]
) -> None:
    gate = bench.wire_format.gate()
    first = fed(gate, bench.stream(Said(text=text, calls=[A, B, C])))
    data = first + b"".join(gate.release_without({call.id for call in refused}, NOTE))
    assert bench.seen(data) == Seen(
        texts=(text, NOTE) if text else (NOTE,),
        calls=left,
        finish=bench.called if left else bench.finished,
        tokens=(10, 5),
        id=bench.seen(b"".join(bench.stream(SAID))).id,
    )
    for call in refused:
        assert call.id.encode() not in data and call.name.encode() not in data


@ALL
@pytest.mark.parametrize("opening", [TEXT, ""])
def test_after_a_feedback_round_text_continues_the_same_message(bench: Bench, opening: str) -> None:
    gate = bench.wire_format.gate()
    data = fed(gate, bench.stream(Said(text=opening, calls=[A, B])))
    data += b"".join(gate.next_round())
    assert gate.complete is None
    second = bench.stream(Said(text="All done.", id="2"))
    data += fed(gate, second)
    assert b"All" in data  # at once here, too
    (message,) = whole(gate.complete).messages
    assert message.text == "All done."
    data += b"".join(gate.release())
    assert bench.seen(data) == Seen(
        texts=(opening, "All done.") if opening else ("All done.",),
        calls=(),
        finish=bench.finished,
        tokens=(20, 10),
        id=bench.seen(b"".join(bench.stream(SAID))).id,
    )


@ALL
@pytest.mark.parametrize("opening", [TEXT, ""])
def test_after_feedback_rounds_an_aligned_call_passes(bench: Bench, opening: str) -> None:
    gate = bench.wire_format.gate()
    data = fed(gate, bench.stream(Said(text=opening, calls=[B])))
    data += b"".join(gate.next_round())
    data += fed(gate, bench.stream(Said(calls=[B], id="2")))
    data += b"".join(gate.next_round())
    data += fed(gate, bench.stream(Said(text="So be it.", calls=[A, C], id="3")))
    assert b"read_file" not in data
    data += b"".join(gate.release())
    seen = bench.seen(data)
    assert seen.texts == ((opening, "So be it.") if opening else ("So be it.",))
    assert (seen.calls, seen.finish, seen.tokens) == ((A, C), bench.called, (30, 15))


@ALL
@pytest.mark.parametrize("text", ["Hm.", ""])
def test_after_the_last_round_the_refused_calls_are_removed(bench: Bench, text: str) -> None:
    gate = bench.wire_format.gate()
    data = fed(gate, bench.stream(Said(text=TEXT, calls=[B])))
    data += b"".join(gate.next_round())
    data += fed(gate, bench.stream(Said(text=text, calls=[A, B], id="2")))
    data += b"".join(gate.release_without({B.id}, NOTE))
    seen = bench.seen(data)
    assert seen.texts == ((TEXT, text, NOTE) if text else (TEXT, NOTE))
    assert (seen.calls, seen.finish, seen.tokens) == ((A,), bench.called, (20, 10))


@ALL
def test_a_call_without_arguments_is_a_call(bench: Bench) -> None:
    gate = bench.wire_format.gate()
    fed(gate, bench.stream(Said(calls=[Call("x", "logout", "")])))
    (message,) = whole(gate.complete).messages
    assert [call.name for call in message.tool_calls] == ["logout"]
    assert message.tool_calls[0].arguments in ("", "{}")


@ALL
def test_calls_of_an_incomplete_stream_never_pass(bench: Bench) -> None:
    stream = b"".join(bench.stream(SAID))
    for length in range(0, stream.index(bench.last), 7):
        gate = bench.wire_format.gate()
        sent: list[bytes] = []
        with suppress(WireFormatError):  # cut within an event
            sent.extend(sending(gate, [stream[:length]]))
        assert gate.complete is None
        with pytest.raises(ConversationError):
            gate.release()
        sent += gate.fail_incomplete()
        assert not any(call.id.encode() in b"".join(sent) for call in SAID.calls)
        assert b"before its response was complete" in sent[-1]
        assert gate.fail_incomplete() == []


@ALL
@given(st.data())
def test_chunk_boundaries_do_not_matter(bench: Bench, data: st.DataObject) -> None:
    stream = b"".join(bench.stream(SAID))
    if data.draw(st.booleans()):
        stream = stream.replace(b"\n", b"\r\n")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    refused = data.draw(st.sets(st.sampled_from([A.id, B.id, C.id])))
    cut, uncut = bench.wire_format.gate(), bench.wire_format.gate()
    first = fed(cut, chunks)
    assert first == fed(uncut, [stream])
    if refused:
        revised = cut.release_without(refused, NOTE)
        assert revised == uncut.release_without(refused, NOTE)
        bench.seen(first + b"".join(revised))
    else:
        assert first + b"".join(cut.release()) == stream


@ALL
def test_a_stream_cut_at_every_byte_is_the_same_stream(bench: Bench) -> None:
    stream = b"".join(bench.stream(SAID))
    gate = bench.wire_format.gate()
    first = fed(gate, [stream[n : n + 1] for n in range(len(stream))])
    assert whole(gate.complete).messages[0].text == TEXT
    assert first + b"".join(gate.release()) == stream
