"""Answers and output functions."""

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    UnexpectedModelBehavior,
)

from tests.integrations.pydantic_ai.agents import (
    INJECTED,
    REFUSED,
    TASK,
    Office,
    Script,
    call,
    calls,
    done,
)


@pytest.mark.parametrize("text", ["revise", "block"])
def test_an_answer_through_an_output_tool_is_checked_as_words(text: str) -> None:
    class Report(BaseModel):
        text: str

    office = Office()
    script = Script(
        [
            calls(call("final_result", "one", text=INJECTED)),
            calls(call("final_result", "two", text="Friday")),
        ]
    )
    result = office.agent(script, office.shield(text=text), output_type=Report).run_sync(TASK)
    assert result.output == Report(text="Friday")
    assert REFUSED in script.shown() and office.held == [text]
    assert not any(decision.calls for decision in office.decisions)


def test_an_output_function_is_checked_as_a_call() -> None:
    office = Office()

    def send_report(to: str) -> str:
        """Send the report."""
        office.sent.append(to)
        return "sent"

    script = Script(
        [
            calls(call("final_result", "one", to="eve@evil.example")),
            calls(call("final_result", "two", to="alice@example.com")),
        ]
    )
    result = office.agent(script, output_type=send_report).run_sync(TASK)
    assert (result.output, office.sent) == ("sent", ["alice@example.com"])


def test_an_output_function_does_not_run_on_pieces_of_a_stream() -> None:
    office = Office()

    def send_report(to: str) -> str:
        office.sent.append(to)
        return "sent"

    async def work(to: str) -> list[str]:
        agent = office.agent(Script([calls(call("final_result", to=to))]), output_type=send_report)
        async with agent.run_stream(TASK) as stream:
            return [each async for each in stream.stream_output(debounce_by=None)]

    assert done(work("alice@example.com")) == ["sent"]
    with pytest.raises(UnexpectedModelBehavior):
        done(work("eve@evil.example"))
    assert office.sent == ["alice@example.com"]
