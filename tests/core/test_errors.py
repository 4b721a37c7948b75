"""What errors say, and what they carry besides."""

from taskshield.core.errors import (
    JudgeError,
    MissingExtraError,
    ToolOutputRejected,
    UpstreamError,
)
from taskshield.core.usage import NO_USAGE, Usage


def test_a_missing_extra_names_the_package_and_how_to_install_it() -> None:
    assert str(MissingExtraError("ray", "audit")) == (
        "The package 'ray' is not installed. Run: pip install 'taskshield[audit]'"
    )


def test_a_rejected_tool_output_is_the_text_for_the_agent() -> None:
    error = ToolOutputRejected("removed")
    assert (str(error), error.content) == ("removed", "removed")


def test_an_upstream_error_has_its_status_and_whether_time_ran_out() -> None:
    plain = UpstreamError("It failed.")
    assert (str(plain), plain.status, plain.timeout) == ("It failed.", None, False)
    late = UpstreamError("It failed.", status=504, timeout=True)
    assert (late.status, late.timeout) == (504, True)


def test_a_judge_error_has_what_the_judge_used() -> None:
    assert (str(JudgeError("It failed.")), JudgeError("It failed.").usage) == (
        "It failed.",
        NO_USAGE,
    )
    assert JudgeError("It failed.", usage=Usage(calls=1)).usage.calls == 1
