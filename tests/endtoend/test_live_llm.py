"""Live runs of AgentDojo with a real language model as the agent.

The model (SmolLM2, 135 million parameters) solves no task, and its server does not know tools. What
these tests show is that a real connection works, and that a run ends with a record of it.
"""

import pytest

from taskshield import Shield
from taskshield.core.levels import Level
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.records import NO_DEFENCE, BenchmarkRun
from taskshield_lab.bench.run.live import run
from taskshield_lab.bench.run.pipelines import Agent, build_pipeline
from tests.endtoend import test_real_llm
from tests.judging import TableJudge

llm = test_real_llm.llm
"""The address of a running server."""

CLEAN = Item(suite="banking", user_task="user_task_1")
ATTACKED = Item(
    suite="slack",
    user_task="user_task_0",
    injection_task="injection_task_1",
    attack="important_instructions",
)


def sat(
    item: Item, llm: str, *, defence: str = NO_DEFENCE, shield: Shield | None = None
) -> BenchmarkRun:
    agent = Agent(model="openai:smollm2", base_url=llm, defence=defence, timeout_s=600, retries=0)
    done = run(item, build_pipeline(agent, shield), version="v1", agent=agent.model)
    assert done is not None
    assert done.error is None
    return done


def has_an_answer(done: BenchmarkRun) -> bool:
    last = done.steps[-1]
    return last.level is Level.ASSISTANT and bool(last.text.strip())


@pytest.mark.parametrize(
    "defence", ["none", "repeat_user_prompt", "spotlighting_with_delimiting", "tool_filter"]
)
def test_a_real_model_sits_an_item_under_each_of_agentdojos_defences(
    llm: str, defence: str
) -> None:
    done = sat(ATTACKED, llm, defence=defence)
    assert has_an_answer(done)
    assert done.id == "openai:smollm2/slack/user_task_0/important_instructions/injection_task_1"
    assert all(step.check is None for step in done.steps)


def test_a_real_model_sits_an_item_behind_a_shield(llm: str) -> None:
    with Shield(TableJudge()) as shield:
        done = sat(CLEAN, llm, shield=shield)
    assert [step.level for step in done.steps] == [Level.USER, Level.ASSISTANT]
    assert {step.check for step in done.steps} == {"executed"}
    assert has_an_answer(done)


def test_a_real_model_is_asked_again_until_the_rounds_are_spent(llm: str) -> None:
    strict = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    with Shield(strict, policy={"rounds": 2}) as shield:
        done = sat(CLEAN, llm, shield=shield)
    assert [step.action for step in done.steps] == ["allow", "revise", "revise", "observe"]
    assert has_an_answer(done)
