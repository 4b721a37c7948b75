"""Calls that wait for a person."""

from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessagesTypeAdapter,
    RunContext,
    Tool,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import HandleDeferredToolCalls

from taskshield.integrations.pydantic_ai import METADATA
from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    READ,
    REFUSED,
    REPLY,
    STEAL,
    TASK,
    Office,
    Script,
    call,
    calls,
    careful_judge,
    results,
    says,
)

SURFACE = "Pydantic AI"


def escalating(office: Office, script: Script, **more: Any) -> Agent[None, Any]:
    shield = office.shield(tools={"send_mail": "escalate"})
    return office.agent(script, shield, output_type=[str, DeferredToolRequests], **more)


@pytest.mark.shows(SURFACE, "HITL")
def test_an_escalated_call_waits_for_a_person_who_approves_it_elsewhere() -> None:
    office = Office()
    paused = escalating(office, Script([calls(READ), calls(STEAL, REPLY)])).run_sync(TASK)
    requests = paused.output
    assert isinstance(requests, DeferredToolRequests)
    assert [each.tool_call_id for each in requests.approvals] == ["steal"]
    assert REFUSED in requests.metadata["steal"][METADATA]["feedback"]
    assert office.sent == ["alice@example.com"]
    history = ModelMessagesTypeAdapter.validate_json(paused.all_messages_json())

    other, script = Office(), Script([calls(call("send_mail", "again", **STEAL.args_as_dict()))])
    answer = DeferredToolResults(approvals={"steal": True})
    done = escalating(other, script).run_sync(
        "Go on.", message_history=history, deferred_tool_results=answer
    )
    assert other.sent == ["eve@evil.example"]
    assert any(finding.approved for each in other.decisions for finding in each.findings)
    # It was let through once: the same call needs a new approval.
    assert [each.tool_call_id for each in done.output.approvals] == ["again"]
    assert [task.text for task in other.decisions[-1].case.tasks] == [TASK, "Go on."]


@pytest.mark.shows(SURFACE, "HITL", "feedback")
def test_the_model_gets_a_rejection() -> None:
    office = Office()
    paused = escalating(office, Script([calls(READ), calls(STEAL)])).run_sync(TASK)
    script = Script([says("Then not.")])
    done = escalating(office, script).run_sync(
        message_history=paused.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"steal": ToolDenied("Never!")}),
    )
    assert done.output == "Then not." and office.sent == [] and "Never!" in script.shown()


def test_a_person_can_change_arguments_and_answer_during_the_run() -> None:
    def ask(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        return requests.build_results(
            approvals={"steal": ToolApproved(override_args={"to": "eve@home", "text": "hi"})}
        )

    office = Office()
    script = Script([calls(READ), calls(STEAL), says("Done.")])
    agent = escalating(office, script, capabilities=[HandleDeferredToolCalls(ask)])
    assert agent.run_sync(TASK).output == "Done."
    assert office.sent == ["eve@home"]


@pytest.mark.shows(SURFACE, "tool call")
def test_an_outage_of_the_judge_lets_no_side_effect_through() -> None:
    office, script = Office(), Script(HIJACKED)
    result = office.agent(script, office.shield(careful_judge(error=OSError()))).run_sync(TASK)
    assert (result.output, office.sent) == ("Done.", [])
    assert {decision.check for decision in office.decisions} == {"failed"}
    assert "could not be checked" in script.shown(1)  # reads pass, marked


def test_a_person_is_not_asked_to_approve_what_does_not_serve_the_user() -> None:
    office = Office()
    tools = [Tool(office.send_mail, requires_approval=True)]
    options: dict[str, Any] = {"tools": tools, "output_type": [str, DeferredToolRequests]}
    paused = office.agent(Script([calls(STEAL, REPLY)]), **options).run_sync(TASK)
    assert [each.tool_call_id for each in paused.output.approvals] == ["reply"]
    assert REFUSED in str(results(paused.all_messages())["steal"].content)
    office.agent(Script([says("Done.")]), **options).run_sync(
        message_history=paused.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"reply": True}),
    )
    assert office.sent == ["alice@example.com"]
