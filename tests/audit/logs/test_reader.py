"""Conversations of a file, however their pieces lie in it."""

from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from taskshield.audit.logs.conversation_window import CHARACTERS
from taskshield.audit.logs.entries import Entry, Finished, Recorded, Unreadable
from taskshield.audit.logs.input_files import find
from taskshield.audit.logs.reader import entries
from tests.adapters.message_tuples import as_tuples
from tests.audit.log_files import chat_span, clean, hijacked, spans, traced, write


def read(path: Path, characters: int = CHARACTERS) -> list[Entry]:
    (source,) = find([str(path)], besides=path / "results")
    return list(entries(source, characters=characters))


def conversations(found: list[Entry]) -> list[Recorded]:
    return [entry for entry in found if isinstance(entry, Recorded)]


def test_conversations_one_on_each_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", clean(1), clean(2)["messages"], [clean(3), clean(4)])
    *found, end = read(path)
    assert [(each.id, each.line) for each in conversations(found)] == [
        ("clean-1", 1),
        ("x.jsonl:2", 2),
        ("clean-3", 3),
        ("clean-4", 3),
    ]
    assert end == Finished(file="x.jsonl", passed_over=0, closed_early=0, read=path.stat().st_size)


def test_nameless_conversations_of_one_record_have_names_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [clean(1)["messages"], clean(2)["messages"]])
    assert [each.id for each in conversations(read(path))] == ["x.jsonl:1.1", "x.jsonl:1.2"]


def test_unreadable_records_are_reported_and_affect_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    bad: dict[str, Any] = {"messages": [{"role": "wizard"}]}
    path.write_bytes(write(path, clean(1), {}, bad).read_bytes() + b"{\n")
    found = read(path)
    assert [type(entry) for entry in found] == [Recorded, *[Unreadable] * 3, Finished]
    assert [(each.line, each.reason) for each in found if isinstance(each, Unreadable)] == [
        (2, "record: in no format that is known"),
        (
            3,
            "messages[0].role: must be one of system, developer, user, assistant, tool, function",
        ),
        (4, "not JSON (line 2, column 1: Expecting property name enclosed in double quotes)"),
    ]


def scattered(*traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spans of several traces by turns, the last of each first."""
    mixed = chain.from_iterable(zip_longest(*(reversed(trace) for trace in traces)))
    return [spans(each) for each in mixed if each is not None]


def test_spans_of_a_trace_that_lie_scattered_find_each_other(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.jsonl", *scattered(traced(hijacked(1), "t1"), traced(clean(2), "t2"))
    )
    *found, end = read(path)
    assert [(each.id, each.line, each.format) for each in conversations(found)] == [
        ("t1", 1, "opentelemetry"),
        ("t2", 2, "opentelemetry"),
    ]
    (whole,) = conversations(read(write(tmp_path / "y.jsonl", hijacked(1))))
    assert as_tuples(conversations(found)[0].conversation) == as_tuples(whole.conversation)
    assert isinstance(end, Finished) and end.closed_early == 0


def test_memory_is_bounded_by_closing_what_has_been_quiet_for_longest(tmp_path: Path) -> None:
    first, second, third = (traced(clean(number), f"t{number}") for number in (1, 2, 3))
    lines = [spans(each) for each in (first[0], second[0], third[0], *second[1:], *first[1:])]
    path = write(tmp_path / "x.jsonl", *lines)
    *found, end = read(path, characters=4_500)  # the text and overhead of two spans
    assert isinstance(end, Finished) and end.closed_early == 3
    assert [(each.id, each.line) for each in conversations(found)] == [
        ("t1", 1),
        ("t3", 3),
        ("t2", 2),
        ("t1", 5),  # what came later is a conversation of its own
    ]


def test_conversations_within_one_trace_have_names_of_their_own(tmp_path: Path) -> None:
    sub = {"role": "user", "content": "Look up the tide."}
    said = {"role": "assistant", "content": "At nine."}
    path = write(tmp_path / "x.jsonl", *traced(clean(1), "t1"), chat_span("t1", 9, sub, said))
    assert [each.id for each in conversations(read(path))] == ["t1", "t1#2"]


def test_a_trace_without_content_is_reported(tmp_path: Path) -> None:
    span = chat_span("t1", 1, {"role": "user", "content": "x"})
    span["attributes"] = span["attributes"][:1]
    (found, _) = read(write(tmp_path / "x.jsonl", spans(span)))
    assert isinstance(found, Unreadable) and "The trace has no messages" in found.reason


def test_a_conversation_without_a_user_is_reported(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Hello."}
    tool = chat_span("t2", 1, answer)
    tool["attributes"] = [
        {"key": key, "value": {"stringValue": value}}
        for key, value in {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "pay",
            "gen_ai.tool.call.arguments": "{}",
        }.items()
    ]
    found = read(write(tmp_path / "x.jsonl", [answer], chat_span("t1", 1, answer), tool))
    assert len(found) == 4
    assert all("no message of a user" in each.reason for each in found[:3])  # type: ignore[union-attr]


def test_records_of_anything_else_are_counted(tmp_path: Path) -> None:
    query = {"traceId": "t1", "attributes": [], "name": "SELECT"}
    *_, end = read(write(tmp_path / "x.jsonl", spans(query, query), *traced(clean(1), "t1")))
    assert isinstance(end, Finished) and end.passed_over == 2


def test_how_much_of_the_file_was_read_only_grows(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *(clean(number) for number in range(300)))
    read_by_then = [entry.read for entry in read(path)]
    assert read_by_then == sorted(read_by_then)
    assert 0 < read_by_then[0] and read_by_then[-1] == path.stat().st_size
