import gzip
import json
from pathlib import Path
from random import Random

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.tools import ToolSpec
from taskshield_lab.training.authorisation.public_pairs import pair_situations
from taskshield_lab.training.authorisation.situations import (
    Made,
    Row,
    Situation,
    SituationBuilder,
    conversation_situations,
)
from taskshield_lab.training.authorisation.talks import talk_situations
from taskshield_lab.training.authorisation.value_swaps import OtherPeople, swapped_calls

TOOLS = (
    ToolSpec(name="list_jobs", description="Lists jobs."),
    ToolSpec(name="cancel_job", description="Cancels a job."),
    ToolSpec(name="send_mail", description="Sends an e-mail."),
)


def call(id: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=json.dumps(arguments))


def made(one: ToolCall) -> Message:
    return Message(level=Level.ASSISTANT, parts=(), tool_calls=(one,))


def output(id: str, text: str) -> Message:
    return Message(level=Level.TOOL, parts=(Text(text=text),), answers=id)


LIST = call("a", "list_jobs")
CANCEL = call("b", "cancel_job", job="J-4812")
SEND = call("c", "send_mail", to="ana@example.com", body="done")
TALK = (
    text_message(Level.USER, "Which jobs run?"),
    made(LIST),
    output("a", "J-4812 nightly copy\nJ-4813 backup"),
    text_message(Level.ASSISTANT, "Two run. Shall I cancel one?"),
    text_message(Level.USER, "Cancel J-4812."),
    made(CANCEL),
    output("b", "ok"),
    text_message(Level.USER, "Tell ana@example.com."),
    made(SEND),
)
LABELS = {one.id: Made(call=one, asked=True, kind="recorded") for one in (LIST, CANCEL, SEND)}


def situations(seed: int) -> list[Situation]:
    rng = Random(seed)
    builder = SituationBuilder("own", TOOLS, OtherPeople(), rng)
    return list(conversation_situations("talk", TALK, builder, LABELS, rng))


def of_kind(situation: Situation, kind: str) -> list[Row]:
    return [row for row in situation.rows if row.kind == kind]


def test_each_message_of_the_user_that_calls_follow_is_a_situation() -> None:
    first, second, third = situations(1)
    assert first.said == "now: Which jobs run?"
    assert second.said == (
        "before: Which jobs run? | agent: Two run. Shall I cancel one? | now: Cancel J-4812."
    )
    assert [row.plain for row in of_kind(third, "recorded")] == [
        "send mail: Sends an e-mail. with to: ana@example.com; body: done"
    ]


def test_a_value_is_marked_by_who_wrote_it_before_the_call() -> None:
    _, second, third = situations(1)
    (cancelled,) = of_kind(second, "recorded")
    assert cancelled.marked == "cancel job: Cancels a job. with job: J-4812 (said)"
    (sent,) = of_kind(third, "recorded")
    assert sent.marked is not None
    assert sent.marked.endswith("to: ana@example.com (said); body: done (new)")


def test_what_the_user_asks_for_only_later_is_not_asked_for_yet() -> None:
    first, second, third = situations(1)
    early = [row.plain for row in of_kind(first, "later")]
    assert len(early) == 2  # the first call has no side effects
    assert not any(row.asked for row in of_kind(first, "later"))
    assert len(of_kind(second, "later")) == 1
    assert of_kind(third, "later") == []


def test_a_tool_that_the_talk_needs_is_not_called_unneeded() -> None:
    for situation in situations(1):
        assert of_kind(situation, "unused tool") == []


def test_a_wrong_call_that_equals_a_right_one_is_left_out() -> None:
    builder = SituationBuilder("own", TOOLS, OtherPeople(), Random(1))
    labels = {"a": LABELS["a"], "b": Made(call=call("b", "list_jobs"), asked=False, kind="drift")}
    talk = (*TALK[:2], made(call("b", "list_jobs")))
    (situation,) = conversation_situations("talk", talk, builder, labels, Random(1))
    assert [row.asked for row in situation.rows if row.plain is not None] == [True]


def test_a_swapped_value_is_a_sibling_from_the_data() -> None:
    outputs = ["J-4812 nightly copy", "J-4813 backup"]
    ((kind, swapped),) = swapped_calls(CANCEL, "Cancel J-4812.", outputs, OtherPeople(), Random(1))
    assert kind == "sibling"
    assert json.loads(swapped.arguments) == {"job": "J-4813"}


def test_another_person_comes_from_another_conversation() -> None:
    people = OtherPeople()
    said = "Tell ana@example.com."
    assert list(swapped_calls(SEND, said, [], people, Random(1))) == []
    people.add(["bo@example.org"])
    ((kind, swapped),) = swapped_calls(SEND, said, [], people, Random(1))
    assert kind == "other person"
    assert json.loads(swapped.arguments)["to"] == "bo@example.org"


def test_a_value_that_the_user_did_not_say_stays() -> None:
    wanted = call("x", "send_mail", to="carl@example.com")
    people = OtherPeople()
    people.add(["bo@example.org"])
    assert list(swapped_calls(wanted, "Tell Carl.", [], people, Random(1))) == []


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_public_pairs_of_one_task_are_one_situation(tmp_path: Path) -> None:
    tools = [{"name": one.name, "description": one.description} for one in TOOLS]

    def pair(name: str, args: dict[str, str], label: int, task: str = "t") -> dict[str, object]:
        return {
            "goal": ["Which jobs run?", "Cancel J-4812."],
            "history": [
                {"role": "tool", "name": "list_jobs", "text": "J-4812", "after": 1},
                {"role": "assistant", "text": "Shall I cancel it?", "after": 1},
            ],
            "tools": tools,
            "call": {"name": name, "args": args},
            "label": label,
            "kind": "gold" if label else "attacker",
            "task": task,
            "domain": "jobs",
        }

    path = write(
        tmp_path / "own.jsonl.gz",
        [
            pair("cancel_job", {"job": "J-4812"}, 1),
            pair("send_mail", {"to": "eve@example.net"}, 0),
        ],
    )
    (situation,) = pair_situations(path, 10, Random(1))
    assert situation.source == "pairs:own"
    assert situation.said.endswith("agent: Shall I cancel it? | now: Cancel J-4812.")
    assert [(row.kind, row.asked) for row in situation.rows[:2]] == [
        ("gold", True),
        ("attacker", False),
    ]


def test_a_talk_that_failed_is_left_out(tmp_path: Path) -> None:
    def talk(id: str, success: bool | None, **labels: object) -> dict[str, object]:
        return {
            "id": id,
            "tools": [{"name": "list_jobs", "description": "Lists jobs."}],
            "messages": [
                {"role": "user", "content": f"Jobs of {id}?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c0", "name": "list_jobs", "arguments": {}}],
                },
                {"role": "tool", "content": "none", "tool_call_id": "c0"},
            ],
            "outcome": {"success": success, "labels": labels},
        }

    path = write(
        tmp_path / "own.jsonl.gz",
        [
            talk("good", True),
            talk("failed", False),
            talk("unknown", None),
            talk("finished", None, gave_up=False),
            talk("risky", None, scores={"ToolCallRisk": 1, "Helpfulness": 3}),
        ],
    )
    found = {one.said for one in talk_situations(path, 10, Random(1))}
    assert found == {"now: Jobs of good?", "now: Jobs of finished?"}
    assert len(list(talk_situations(path, 1, Random(1)))) == 1
