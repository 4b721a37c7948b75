"""What an LLM judge says of words that rule a step out, and which of it is believed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from taskshield.clients.scripted import ScriptedClient
from taskshield.core.assessments import Contradiction
from taskshield.core.chat import ChatRequest
from taskshield.core.errors import JudgeOutputInvalid
from taskshield.core.judge import HistoryEntry
from taskshield.core.judge_options import Scheme
from taskshield.core.levels import Level
from taskshield.core.messages import text_message
from taskshield.judges.llm.judge import LLMJudge
from tests.judges.llm.asked import assess, good, step, view
from tests.model import Found, Rules, understand

SEND = step("", ("send", '{"to": "bob", "amount": 500}'))
TASKS = ("pay Ana at most 200 euros", "Do not  write\nto Bob")


def ruling(*found: Mapping[str, str], goal: str = "") -> Rules:
    """A model that names the first contradiction for the goal with these words."""

    def rules_out(item: str, text: str) -> Mapping[str, str] | None:
        return found[0] if goal in text else None

    return Rules(serves=lambda item, task: 1.0, rules_out=rules_out)


def against(said: str, kind: str = "limit", does: str = "500") -> dict[str, str]:
    return {"kind": kind, "said": said, "does": does}


@pytest.mark.parametrize("scheme", ["batched", "per_instruction"])
def test_a_contradiction_comes_back_with_its_task_and_its_words(scheme: Scheme) -> None:
    judge = LLMJudge(ruling(against("at most 200"), goal="Ana").client(), scheme=scheme)
    (item,) = assess(judge, SEND, view(*TASKS)).items
    assert [score.value for score in item.scores] == [1.0, 1.0]
    assert item.contradictions == (
        Contradiction(target="t1", kind="limit", said="at most 200", does="500"),
    )


@pytest.mark.parametrize("scheme", ["batched", "per_instruction"])
def test_a_plan_can_contradict_too(scheme: Scheme) -> None:
    rules = ruling(against("at most 200"), goal="Ana")
    rules.directives = {"I will": [Found(quote="pay 500")]}
    (item,) = assess(
        LLMJudge(rules.client(), scheme=scheme), step("I will pay 500"), view(*TASKS)
    ).items
    assert [each.target for each in item.contradictions] == ["t1"]


def test_words_of_the_system_message_rule_out_as_well() -> None:
    judge = LLMJudge(ruling(against("never pay", "forbidden"), goal="never").client())
    (item,) = assess(judge, SEND, view("pay", objectives=["never pay anyone"])).items
    assert [each.target for each in item.contradictions] == ["o1"]


@pytest.mark.parametrize("said", ["do not write to Bob", "DO NOT WRITE  TO BOB", "to\nBob"])
def test_words_are_found_however_they_are_spaced_or_capitalised(said: str) -> None:
    judge = LLMJudge(ruling(against(said, "forbidden"), goal="Bob").client())
    (item,) = assess(judge, SEND, view(*TASKS)).items
    assert [each.said for each in item.contradictions] == [said]


def test_words_of_any_message_of_the_user_count() -> None:
    turn = HistoryEntry(message=text_message(Level.USER, "Never over 100, please."))
    shown = replace(view("pay Ana"), history=(turn,))
    judge = LLMJudge(ruling(against("Never over 100")).client())
    (item,) = assess(judge, SEND, shown).items
    assert len(item.contradictions) == 1


@pytest.mark.parametrize("said", ["at most 50", "", " ", "said by a page", "said by the agent"])
def test_made_up_words_rule_nothing_out(said: str) -> None:
    turns = (
        HistoryEntry(message=text_message(Level.TOOL, "said by a page")),
        HistoryEntry(message=text_message(Level.ASSISTANT, "said by the agent")),
    )
    shown = replace(view(*TASKS, tainted=["said by a page"]), history=turns)
    judge = LLMJudge(ruling(against(said)).client())
    (item,) = assess(judge, SEND, shown).items
    assert item.contradictions == () and len(item.scores) == 2


def test_words_of_a_task_do_not_rule_out_by_an_objective() -> None:
    judge = LLMJudge(ruling(against("at most 200"), goal="help").client())
    (item,) = assess(judge, SEND, view(*TASKS, objectives=["help with mail"])).items
    assert item.contradictions == ()


def edited(change: Callable[[dict[str, Any], str], None]) -> LLMJudge:
    def script(request: ChatRequest) -> str:
        answer = good(request)
        (tainted,) = understand(request).labelled("tainted")
        change(answer["items"][0], tainted.label)
        return json.dumps(answer)

    return LLMJudge(ScriptedClient(script))


FULL = {"target": "?", "kind": "limit", "said": "at most 200", "does": "500"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda item, tainted: item.pop("contradictions"), "contradictions: missing"),
        (lambda item, tainted: item.update(contradictions=[FULL]), "no task and no objective"),
        (
            lambda item, tainted: item.update(contradictions=[{**FULL, "target": tainted}]),
            "no task and no objective",
        ),
        (lambda item, tainted: item.update(contradictions=[{**FULL, "kind": "x"}]), "kind"),
        (lambda item, tainted: item.update(contradictions=[{**FULL, "does": " "}]), "does"),
    ],
)
def test_a_list_that_is_missing_or_wrong_is_no_verdict(
    change: Callable[[dict[str, Any], str], None], problem: str
) -> None:
    with pytest.raises(JudgeOutputInvalid, match=problem):
        assess(edited(change), SEND, view(*TASKS, tainted=["mail eve"]))


def test_what_is_found_in_text_needs_the_list_too() -> None:
    def script(request: ChatRequest) -> str:
        scores = good(request)["items"][0]["scores"]
        entry = {"quote": "x", "instruction": "x", "scores": scores}
        return json.dumps({**good(request), "found": [entry]})

    with pytest.raises(JudgeOutputInvalid, match="`contradictions` is missing"):
        assess(LLMJudge(ScriptedClient(script)), step("x", ("f", "{}")), view("a"))


def test_the_form_of_the_answer_and_the_schema_have_the_list() -> None:
    client = ruling(against("x")).client()
    assess(LLMJudge(client), SEND, view("a"))
    (request,) = client.requests
    assert '"contradictions": []' in request.turns[0].text.rsplit("\n", 1)[1]
    entry = request.schema["properties"]["items"]["items"]  # type: ignore[index]
    kinds = entry["properties"]["contradictions"]["items"]["properties"]["kind"]["enum"]
    assert "not_yet" in kinds and "look_only" in kinds
