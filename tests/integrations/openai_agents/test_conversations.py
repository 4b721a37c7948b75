"""Conversations of many turns."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agents import (
    RunConfig,
    Runner,
    RunResult,
    SQLiteSession,
    function_tool,
)
from agents.testing import ModelCall, ModelStep, ScriptedModel

from taskshield.integrations.openai_agents import conversations, guard
from tests.integrations.openai_agents.agents import (
    ASYNC_WAYS,
    WAYS,
    Way,
    agent,
    by_run,
    careful_judge,
    decide,
    escalating,
    goals,
    shield,
)
from tests.integrations.openai_agents.scripted_model import (
    EVE,
    INJECTED,
    READ,
    REPLY,
    STEAL,
    TASK,
    Mailbox,
    answer_to,
    call,
    say,
    script,
    shown,
)
from tests.judging import TableJudge

SURFACE = "OpenAI Agents SDK"


@pytest.mark.shows(SURFACE, "user turn")
@pytest.mark.parametrize("way", WAYS)
def test_a_conversation_continues_and_nothing_is_judged_twice(way: Way, tmp_path: Path) -> None:
    judge, box = careful_judge(), Mailbox()
    model = script(READ, say("Read."), STEAL, say("Not sent."))
    guarded = guard(agent(model, box.tools), shield(judge))
    kept = SQLiteSession("1", tmp_path / "talk.db")
    try:
        way(guarded, TASK, session=kept)
        before = len(judge.seen)
        way(guarded, "And now?", session=kept)
    finally:
        kept.close()
    assert box.sent == []
    assert goals(judge) == [TASK, "And now?"]
    assert [item.instruction.text for item in judge.views[-1].tainted] == [INJECTED]
    assert [each.level.value for each in judge.seen[before:]] == ["user", "assistant", "assistant"]


@pytest.mark.shows(SURFACE, "user turn")
def test_a_conversation_that_the_caller_keeps_continues_as_well() -> None:
    judge = careful_judge()
    guarded = guard(agent(script(READ, say("Read."), say("So.")), Mailbox().tools), shield(judge))
    first = by_run(guarded, TASK)
    before = len(judge.seen)
    by_run(guarded, [*first.to_input_list(), {"role": "user", "content": "And now?"}])
    assert goals(judge) == [TASK, "And now?"]
    assert [each.level.value for each in judge.seen[before:]] == ["user", "assistant"]


def test_another_process_reads_the_conversation_again(tmp_path: Path) -> None:
    judge = careful_judge()
    for answers, said in (((READ, say("Read.")), TASK), ((STEAL, say("No.")), "And now?")):
        box, kept = Mailbox(), SQLiteSession("1", tmp_path / "talk.db")
        judge = careful_judge()
        by_run(guard(agent(script(*answers), box.tools), shield(judge)), said, session=kept)
        kept.close()
        assert box.sent == []
    assert goals(judge) == [TASK, "And now?"]
    assert [item.instruction.text for item in judge.views[-1].tainted] == [INJECTED]


def test_two_conversations_can_continue_from_the_same_messages() -> None:
    judge = TableJudge()
    guarded = guard(agent(script(*[say("Hello.")] * 4), []), shield(judge))
    begun = by_run(guarded, "Hi.").to_input_list()
    seen = []
    for said in ("One.", "Two.", "Three."):
        by_run(guarded, [*begun, {"role": "user", "content": said}])
        seen.append(goals(judge))
    assert seen == [["Hi.", "One."], ["Hi.", "Two."], ["Hi.", "Three."]]


def test_the_number_of_cached_conversations_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "_MOST_CONVERSATIONS", 1)
    judge = TableJudge()
    guarded = guard(agent(script(*[say("Hello.")] * 3), []), shield(judge))
    first = by_run(guarded, "Hi.").to_input_list()
    by_run(guarded, "Hey.")
    before = len(judge.seen)
    by_run(guarded, [*first, {"role": "user", "content": "So?"}])
    assert [each.text for each in judge.seen[before:]] == ["Hi.", "Hello.", "So?", "Hello."]


def test_a_conversation_is_found_by_all_its_messages() -> None:
    """Else a user whose words are those that a filter left of another's would have his tasks."""

    def last_only(data: Any) -> Any:
        return replace(data.model_data, input=data.model_data.input[-1:])

    judge = TableJudge()
    guarded = guard(agent(script(*[say("Hello.")] * 3), []), shield(judge))
    trimmed = RunConfig(call_model_input_filter=last_only)
    long = [{"role": "user", "content": said} for said in ("Wire all my money.", "Hi.")]
    by_run(guarded, long, run_config=trimmed)
    short = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "So?"},
    ]
    by_run(guarded, short)
    assert goals(judge) == ["Hi.", "So?"]


def test_a_conversation_that_continues_has_the_instructions_of_the_new_run() -> None:
    def instructions(context: Any, agent: Any) -> str:
        return f"Serve {context.context}."

    judge = TableJudge(objectives=["Serve."])
    guarded = guard(
        agent(script(*[say("Hello.")] * 2), [], instructions=instructions), shield(judge)
    )
    developer = {"role": "developer", "content": "Be brief."}
    first = by_run(guarded, [developer, {"role": "user", "content": "Hi."}], context="Ann")
    by_run(guarded, [*first.to_input_list(), {"role": "user", "content": "So?"}], context="Ben")
    systems = [view.unread_system for view in judge.views if view.unread_system]
    assert systems == ["Serve Ann.\n\nBe brief.", "Serve Ben.\n\nBe brief."]


@pytest.mark.shows(SURFACE, "user turn")
@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_what_the_user_adds_to_a_paused_run_is_a_task(way: Way) -> None:
    box, judge = Mailbox(), careful_judge()
    guarded = guard(agent(script(STEAL, say("Done.")), box.tools), escalating(judge))
    state = decide(way(guarded, TASK), yes=True)
    state.add_input("And tell Ann.")
    way(guarded, state)
    assert box.sent == [EVE]
    assert goals(judge) == [TASK, "And tell Ann."]


def test_a_context_may_be_used_again() -> None:
    judge = TableJudge()
    guarded = guard(agent(script(say("Hello."), say("Hey.")), []), shield(judge))
    context = by_run(guarded, "Hi.").context_wrapper
    by_run(guarded, "Who are you?", context=context)
    assert goals(judge) == ["Who are you?"]


def test_roles_in_the_input_decide_which_messages_are_the_users() -> None:
    judge = TableJudge()
    said = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "I will rob the bank."},
        {"role": "user", "content": "No."},
    ]
    by_run(guard(agent(script(say("Fine.")), []), shield(judge)), said)
    assert goals(judge) == ["Hi.", "No."]


def test_without_any_task_nothing_is_allowed() -> None:
    box, model = Mailbox(), script(REPLY, say("Done."))
    by_run(guard(agent(model, box.tools), shield(TableJudge())), [])
    assert box.sent == [] and "has not given any task" in answer_to("reply", model)


@pytest.mark.shows(SURFACE, "tool call")
def test_concurrent_runs_do_not_mix() -> None:
    names = ["Ann", "Ben", "Cid"]
    judge = TableJudge(score=lambda step, task: float(any(n in step and n in task for n in names)))
    sent = list[str]()

    def everybody(asked: ModelCall) -> list[Any]:
        """Writes to all, in every run, with the same call ids."""
        if len(asked.input) == 1:
            return [call("send", name, to=name) for name in names]
        return [say(shown(asked))]

    async def work() -> list[RunResult]:
        together = asyncio.Barrier(len(names))

        @function_tool
        async def send(to: str) -> str:
            """Send a mail."""
            await asyncio.wait_for(together.wait(), 10)
            sent.append(to)
            return f"{to} has it"

        model = ScriptedModel([ModelStep.respond(everybody) for _ in range(6)])
        guarded = guard(agent(model, [send]), shield(judge))
        runs = (Runner.run(guarded, f"Write to {name}.") for name in names)
        return await asyncio.gather(*runs)

    results = asyncio.run(work())
    assert sorted(sent) == names
    for name, result in zip(names, results, strict=True):
        outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
        assert [f"{name} has it" == output for output in outputs] == [n == name for n in names]
