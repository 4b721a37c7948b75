"""Cases that no judge decides: nothing to check, no task yet, or a judge that failed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import assert_never

from taskshield.core.assessments import AssessedInstruction
from taskshield.core.decisions import Case, Outage
from taskshield.core.errors import JudgeError, JudgeUnavailable
from taskshield.core.levels import Level
from taskshield.core.messages import Message

_WORDLESS = re.compile(r"true|false|null|none|[\d.,:;%()\[\]{}'\"+/\s-]{0,64}", re.IGNORECASE)
"""Texts that cannot hold a directive: blank, a number, a date, an empty list, a JSON literal."""


def needs_no_check(message: Message) -> bool:
    """Whether the message holds no instruction for sure."""
    text = message.text.strip()
    match message.level:
        case Level.SYSTEM:
            return True
        case Level.USER:
            return not text  # "2" may choose an option
        case Level.ASSISTANT | Level.TOOL:
            return not message.tool_calls and _WORDLESS.fullmatch(text) is not None
        case _ as unreachable:
            assert_never(unreachable)


def case_without_task(case: Case) -> Case:
    """All calls assessed without a judge: where there is no task, none can be served."""
    calls = tuple(
        AssessedInstruction(text=call.describe(), call_id=call.id, scores=())
        for call in case.message.tool_calls
    )
    return replace(case, check="executed", objectives=(), assessed=calls)


def failed_case(case: Case, error: JudgeError) -> Case:
    """The case after its judge gave no verdict."""
    return replace(
        case,
        check="failed",
        outage=Outage(kind=error.kind, detail=str(error)),
        trace=replace(case.trace, usage=case.trace.usage + error.usage),
    )


@contextmanager
def any_error_as_outage() -> Iterator[None]:
    """Turn every exception of a judge into a `JudgeError`: a plugin may raise any."""
    try:
        yield
    except JudgeError:
        raise
    except Exception as error:
        raise JudgeUnavailable(f"The judge failed ({type(error).__name__}).") from error
