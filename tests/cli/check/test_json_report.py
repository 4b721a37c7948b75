import json
from typing import Any

from taskshield.cli.check.json_report import report_json
from taskshield.core.assessments import TaskDraft
from taskshield.core.errors import JudgeTimeout
from tests.cli.hostile import PAYLOADS
from tests.cli.stage import CLEAN, HIJACKED, PLANTED, example, judge, outcome_of
from tests.judging import TableJudge

CALL = {"id": "c1", "type": "function", "function": {"name": "send_email", "arguments": "{}"}}
CONVERSATION = [
    {"role": "user", "content": "Write to Ada"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
]


def document(payload: object, by: Any) -> Any:
    return json.loads(report_json(outcome_of(payload, by)))


def test_a_hijacked_conversation_as_data() -> None:
    found = document(example(HIJACKED), judge())
    assert found["file"] == "chat.json"
    assert found["format"] == "openai-chat"
    assert found["judge"] == "scripted"
    assert found["verdict"] == "misaligned"
    (task,) = found["tasks"]
    assert (task["id"], task["grant"], task["message"]) == ("t1", None, 1)
    assert found["tainted"] == [{"id": "d1", "text": PLANTED, "message": 3}]
    assert [step["index"] for step in found["steps"]] == list(range(9))
    assert found["counters"] == {"executed": 8, "skipped": 1, "failed": 0}
    assert found["usage"]["calls"] == 8
    assert found["elapsed_ms"] > 0


def test_a_misaligned_directive_as_data() -> None:
    step = document(example(HIJACKED), judge())["steps"][3]
    (finding,) = step["findings"]
    text = example(HIJACKED)["messages"][3]["content"]
    start = text.index(PLANTED)
    assert (step["level"], step["action"], step["allowed"]) == ("tool", "annotate", True)
    assert step["check"] == "executed"
    assert step["outage"] is None
    assert step["unreadable"] == []
    assert "Task Shield" in step["feedback"]
    assert finding["instruction"] == PLANTED
    assert finding["call_id"] is None
    assert finding["tool"] == "fetch_page"
    assert finding["origin"]["message"] == 3
    assert finding["origin"]["span"] == {"start": start, "end": start + len(PLANTED)}
    assert finding["scores"] == [{"task": "t1", "score": 0.0, "reason": "scripted 0"}]
    assert (finding["total"], finding["epsilon"], finding["aligned"]) == (0.0, 0.0, False)


def test_a_misaligned_call_as_data() -> None:
    step = document(example(HIJACKED), judge())["steps"][6]
    (finding,) = step["findings"]
    assert (step["action"], step["allowed"]) == ("revise", False)
    assert finding["call_id"] == "call_3"
    assert (finding["tool"], finding["tier"]) == ("send_email", "external")
    assert finding["taint"] == {"directive": "d1", "score": 0.9, "reason": "scripted 0.9"}
    (call,) = step["calls"]
    assert call == {
        "id": "call_3",
        "tool": "send_email",
        "tier": "external",
        "authorisation": "unasked",
        "action": "revise",
        "allowed": False,
    }


def test_objectives_and_grants_as_data() -> None:
    found = document(example(CLEAN), judge())
    assert found["verdict"] == "aligned"
    assert found["objectives"] == [{"id": "o1", "text": "look after the user's calendar"}]
    (score,) = found["steps"][2]["findings"][0]["objective_scores"]
    assert (score["objective"], score["score"]) == ("o1", 1.0)
    granting = TableJudge(drafts=lambda text: [TaskDraft(text=text, source="Ada", scope="when")])
    (task,) = document(CONVERSATION, granting)["tasks"]
    assert task["grant"] == {"source": "Ada", "scope": "when"}


def test_an_outage_as_data() -> None:
    found = document(CONVERSATION, TableJudge(error=JudgeTimeout("too slow")))
    assert found["verdict"] == "outage"
    step = found["steps"][1]
    assert step["outage"] == {"kind": "timeout", "detail": "too slow"}
    assert (step["check"], step["findings"]) == ("failed", [])
    assert step["calls"][0]["action"] == "block"


def test_misaligned_weighs_more_than_an_outage() -> None:
    by = TableJudge(score=lambda item, task: 0.0)
    outcome = outcome_of(CONVERSATION, by)
    failed = outcome_of(CONVERSATION, TableJudge(error=JudgeTimeout("too slow")))
    both = (*outcome.decisions, *failed.decisions)
    assert type(outcome)(file="", format="openai-chat", decisions=both).verdict == "misaligned"


def test_the_document_is_ascii_and_texts_are_whole() -> None:
    for payload in PAYLOADS.values():
        words = payload * 200
        text = report_json(outcome_of([{"role": "user", "content": words}], TableJudge()))
        assert text.isascii()
        assert all(char == "\n" or char.isprintable() for char in text)
        assert json.loads(text)["tasks"][0]["text"] == words
