import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import server_speed
from latency_budgets import OURS, budgets, compared
from mail_conversations import FIRST, LENGTH, azure_body, chat_body, conversation
from request_rows import AZURE_CASES, CHAT_CASES, percentiles
from scripted_provider import app, events, whole

from tests.lab.benchmarks.test_embedded_latency import RUN

SCRIPT = Path(server_speed.__file__)
NUMBERS = range(FIRST, FIRST + 40)
Body = dict[str, Any]


def texts(number: int) -> list[str]:
    """All that is said in a conversation, calls included."""
    said = []
    for message in conversation(number):
        calls = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
        said.append(" ".join([message["content"], *calls]))
    return said


def row(target: str, per_second: float, first: float | None = None, **changed: Any) -> Body:
    return {
        "target": target,
        "newest": "user",
        "stream": first is not None,
        "delay_ms": 0,
        "clients": 1,
        "per_second": per_second,
        "first_ms": None if first is None else {"p50": first, "p99": first},
        **changed,
    }


async def answered(body: bytes) -> tuple[Body, bytes]:
    """What the scripted provider sends."""
    sent: list[Body] = []

    async def receive() -> Body:
        return {"type": "http.request", "body": body}

    async def send(message: Body) -> None:
        sent.append(message)

    await app({"type": "http", "method": "POST"}, receive, send)
    start, *rest = sent
    assert not rest[-1].get("more_body", False)
    return start, b"".join(message["body"] for message in rest)


def test_it_runs_as_a_command_and_writes_its_figures_without_paths(tmp_path: Path) -> None:
    sizes = "--requests 3 --clients 2 --starts 1 --delay 5".split()
    runs = tmp_path / "runs.jsonl"
    runs.write_text(f"{json.dumps(RUN)}\n" * 6)
    ran = subprocess.run(
        [sys.executable, SCRIPT, *sizes, "--runs", runs, "--results", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert "litellm was not measured" in ran.stdout and "budgets" in ran.stdout
    text = (tmp_path / "server.json").read_text()
    written = json.loads(text)
    assert str(tmp_path) not in text
    assert written["command"].startswith(
        "python lab/benchmarks/server/server_speed.py --requests 3"
    )
    assert written["other"] is None
    assert written["start"]["processes"] == len(written["start"]["seconds"]) == 1
    assert written["memory_after_mib"]["resident"] > 0
    azure = {(row["new"], row["clients"]): row for row in written["azure"]}
    assert list(azure) == [(case.name, clients) for case in AZURE_CASES for clients in (1, 2)]
    # What was known before is not judged again, and nothing that is new goes unjudged.
    for case in AZURE_CASES:
        assert azure[case.name, 1]["checks"] == case.length - case.known
    assert written["recorded"]["conversations"] == written["recorded"]["calls"] == 3
    assert written["recorded"]["ms"]["p50"] > 0
    assert len(written["chat"]) == 2 * 2 * 2 * 2 * 4
    for each in written["chat"]:
        # The newest message and the answer; more where the model has to try again.
        assert each["checks"] >= 2 if each["target"] in OURS else each["checks"] == 0
        assert (each["first_ms"] is None) is not each["stream"]
        assert each["whole_ms"]["p50"] > 0 and each["per_second"] > 0
    assert {each["newest"] for each in written["chat"]} == {case.name for case in CHAT_CASES}
    assert all(set(each) == {"what", "budget", "measured", "met"} for each in written["budgets"])


@pytest.mark.parametrize(
    "words",
    [
        ["--requests", "1"],
        ["--clients", "0"],
        ["--other", "no-such-command-anywhere --fast"],
        ["--runs", "no-such-file.jsonl"],
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_starts(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        server_speed.main(words)


def test_no_two_conversations_are_equal() -> None:
    said = [text for number in NUMBERS for text in texts(number)]
    assert len(said) == len(set(said)) == len(NUMBERS) * LENGTH


def test_the_user_names_the_number_and_outputs_have_a_few_hundred_characters() -> None:
    for number in NUMBERS:
        asked = conversation(number)[0]["content"]
        assert set(re.findall(r"\d{5,}", asked)) == {str(number)}
        outputs = [each["content"] for each in conversation(number) if each["role"] == "tool"]
        assert all(300 <= len(output) <= 700 for output in outputs)


@pytest.mark.parametrize("length", [1, 3, 5])
def test_the_provider_answers_with_the_next_message(length: int) -> None:
    body = chat_body(FIRST, length, model="scripted-0", stream=False)
    start, content = asyncio.run(answered(body))
    assert start["status"] == 200
    assert json.loads(content)["choices"][0]["message"] == conversation(FIRST)[length]


@pytest.mark.parametrize("length", [1, 5])
def test_a_stream_is_the_same_answer_in_pieces(length: int) -> None:
    body = chat_body(FIRST, length, model="scripted-0", stream=True)
    _, content = asyncio.run(answered(body))
    *chunks, end = [event.removeprefix(b"data: ") for event in content.split(b"\n\n")[:-1]]
    choices = [json.loads(chunk)["choices"][0] for chunk in chunks]
    deltas = [choice["delta"] for choice in choices]
    reply = conversation(FIRST)[length]
    assert end == b"[DONE]" and len(deltas) > 5
    assert "".join(delta.get("content", "") for delta in deltas) == reply["content"]
    pieces = [call for delta in deltas for call in delta.get("tool_calls", ())]
    wanted = [call["function"]["arguments"] for call in reply.get("tool_calls", ())]
    assert "".join(piece["function"]["arguments"] for piece in pieces) == "".join(wanted)
    reason = whole(json.loads(body), reply)["choices"][0]["finish_reason"]
    assert choices[-1]["finish_reason"] == reason == ("tool_calls" if wanted else "stop")
    assert b"".join(events(json.loads(body), reply)) == content


def test_azure_gets_the_same_words_and_calls() -> None:
    body = json.loads(azure_body(FIRST, 4))
    assert [each["role"] for each in body["messages"]] == ["User", "Assistant", "Tool", "Assistant"]
    for wire, message in zip(body["messages"], conversation(FIRST), strict=False):
        assert wire["contents"] == message["content"]
        assert wire.get("toolCalls") == message.get("tool_calls")
        assert wire.get("toolCallId") == message.get("tool_call_id")


def test_rows_are_compared_with_those_of_their_kind() -> None:
    kinds = [{"clients": 1}, {"clients": 8}]
    rows = [
        row(target, speed * kind["clients"], first, **kind)
        for kind in kinds
        for target, speed, first in [
            ("upstream", 100, 2.0),
            ("bare", 50, 3.0),
            ("taskshield", 40, 9.5),
        ]
    ]
    found = compared(rows)
    assert [each["of_bare"] for each in found] == [2.0, 1.0, 0.8] * 2
    assert [each["added_first_ms"] for each in found] == [0.0, 1.0, 7.5] * 2


def test_budgets_are_met_or_missed_as_measured() -> None:
    rows = [
        row(target, speed, first, clients=clients, delay_ms=delay, newest=newest)
        for clients in (1, 8)
        for delay, ours in ((0, 10), (200, 36))
        for newest, late in (("user", 4), ("tool output", 20))
        for target, speed, first in (
            ("upstream", 50, 200.0),
            ("bare", 40, 201.0),
            ("taskshield", ours, 200.0 + late),
            ("ahead", 30, 203.0),
        )
    ]
    figures = {
        "recorded": {"ms": {"p50": 12.0}},
        "azure": [{"new": AZURE_CASES[0].name, "clients": 1, "whole_ms": {"p50": 25.0}}],
        "chat": compared(rows),
        "memory_after_mib": {"resident": 500.1},
        "start": {"median_seconds": 2.9},
    }
    found = budgets(figures)
    checks, first_words, throughputs, rest = found[:2], found[2:10], found[10:18], found[18:]
    assert [each["measured"] for each in checks] == [12.0, 25.0]
    assert [each["measured"] for each in first_words] == [4, 3, 20, 3] * 2
    assert [each["measured"] for each in throughputs] == [0.25, 0.75] * 2 + [0.9, 0.75] * 2
    assert [each["measured"] for each in rest] == [500.1, 2.9]
    missed = [each["measured"] for each in found if not each["met"]]
    assert missed == [20, 20, 0.25, 0.25, 500.1]
    assert first_words[3]["what"].endswith("tool output, provider 0 ms, ahead")


def test_percentiles_are_those_of_what_was_timed() -> None:
    assert percentiles([None, None]) is None
    assert percentiles([float(number) for number in range(101)]) == {"p50": 50.0, "p99": 99.0}
