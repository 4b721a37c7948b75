import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskshield.adapters.proxy.sse import Event, Splitter, frame
from taskshield.core.errors import WireFormatError


def split(*chunks: bytes, limit: int = 10**6) -> list[Event]:
    splitter = Splitter(limit)
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    return [*events, *splitter.close()]


def data(*chunks: bytes) -> list[str]:
    return [event.data for event in split(*chunks)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_are_split_at_blank_lines_of_any_kind(end: bytes) -> None:
    stream = end.join([b"event: a", b"data: 1", b"", b"data:2", b"data:  3", b"", b""])
    assert data(stream) == ["1", "2\n 3"]
    assert b"".join(event.raw for event in split(stream)) == stream


def test_comments_and_other_fields_are_kept_but_say_nothing() -> None:
    stream = b": hello\n\nid: 7\nretry: 5\ndata: x\n: in between\ndata: y\nodd\n\n"
    events = split(stream)
    assert [event.data for event in events] == ["", "x\ny"]
    assert events[0].raw == b": hello\n\n"


def test_a_byte_order_mark_belongs_to_the_first_event_only() -> None:
    assert data(b"\xef\xbb\xbfdata: 1\n\n", b"data: \xef\xbb\xbf2\n\n") == ["1", "\ufeff2"]


def test_the_last_event_may_lack_its_blank_line() -> None:
    assert data(b"data: 1\n\ndata: [DONE]") == ["1", "[DONE]"]
    assert data(b"data: 1\r\n\r") == ["1"]
    assert split() == []


def test_an_event_is_not_returned_before_it_is_complete() -> None:
    splitter = Splitter()
    assert splitter.feed(b"data: 1\n") == []
    assert [event.data for event in splitter.feed(b"\n")] == ["1"]


def test_a_line_feed_that_comes_late_does_not_end_another_event() -> None:
    splitter = Splitter()
    assert splitter.feed(b"data: 1\r\n\r") == []
    assert [event.raw for event in splitter.feed(b"\ndata")] == [b"data: 1\r\n\r\n"]


@pytest.mark.parametrize("chunks", [[b"data: 12345\n\n"], [b"data: ", b"1234", b"5"]])
def test_an_event_above_the_limit_is_refused(chunks: list[bytes]) -> None:
    with pytest.raises(WireFormatError, match="longer than 10 bytes"):
        split(*chunks, limit=10)
    assert split(b"data: 1\n\n" * 100, limit=10)


def test_invalid_utf8_is_replaced() -> None:
    (event,) = split(b"data: a\xffb\n\n")
    assert event == Event(raw=b"data: a\xffb\n\n", data="a\ufffdb", plain=False)


LINES = st.sampled_from(
    [b"data: \xf0\x9f\xa7\xbe", b"data:", b"event: x", b": c", b"", b"", b"\xef\xbb\xbf", b"data"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(LINES, ENDS)), st.lists(st.integers(0, 60)))
@example([(b"data: x", b"\r"), (b"", b"\r"), (b"", b"\n")], [8, 9])
def test_chunks_change_nothing_and_no_byte_is_lost(
    lines: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(line + end for line, end in lines)
    places = sorted(min(cut, len(stream)) for cut in cuts)
    chunks = [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]
    assert split(*chunks) == split(stream)
    assert b"".join(event.raw for event in split(*chunks)) == stream


def test_what_is_written_can_be_read() -> None:
    payload = {"type": "a.b", "text": "one\ntwo \ud83e 🧾\u2028"}
    (event,) = split(frame(payload))
    assert event.raw.startswith(b"event: a.b\ndata: ")
    assert json.loads(event.data) == payload


def test_a_type_cannot_smuggle_lines_into_a_stream() -> None:
    (event,) = split(frame({"type": "a\ndata: {}\n\n"}))
    assert json.loads(event.data) == {"type": "a\ndata: {}\n\n"}
