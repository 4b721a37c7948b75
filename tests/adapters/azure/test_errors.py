"""Azure's error bodies and headers."""

import pytest

from taskshield.adapters.azure import errors, task_adherence
from taskshield.adapters.azure.errors import AzureError
from taskshield.core.errors import WireFormatError


def body_error(body: object) -> WireFormatError:
    with pytest.raises(WireFormatError) as caught:
        task_adherence.parse(body)
    return caught.value


def test_an_invalid_body_has_a_target_and_azures_code() -> None:
    wrong = {"messages": [{"source": "Prompt", "role": "User", "contents": ""}]}
    error = errors.invalid_request_body(body_error(wrong))
    assert error.status == 400
    assert error.body == {
        "error": {
            "code": "InvalidRequestBody",
            "message": "ContentItem Text cannot be null or empty",
            "target": "messages[0].contents",
        }
    }
    assert error.headers == {"x-ms-error-code": "InvalidRequestBody"}


def test_a_text_that_is_too_long_is_a_bad_body() -> None:
    long = {"messages": [{"source": "Prompt", "role": "User", "contents": "x" * 100_001}]}
    error = errors.invalid_request_body(body_error(long))
    assert (error.status, error.code) == (400, "InvalidRequestBody")
    assert "100000 characters" in error.message


def test_an_error_without_a_path_has_no_target() -> None:
    error = errors.invalid_request(WireFormatError("nothing at all"))
    assert error.body == {"error": {"code": "InvalidRequest", "message": "nothing at all"}}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.missing_api_version(), 400, "MissingApiVersionParameter"),
        (errors.unauthorized(), 401, "401"),
        (errors.not_found(), 404, "404"),
        (errors.too_many_requests(7), 429, "TooManyRequests"),
        (errors.server_busy(), 503, "ServerBusy"),
        (errors.internal_error(), 500, "InternalError"),
        (errors.of_status(413, "too large"), 413, "InvalidRequestBody"),
        (errors.of_status(403, "no"), 403, "Forbidden"),
        (errors.of_status(405, "no"), 405, "InvalidRequest"),
        (errors.of_status(599, "no"), 599, "InternalError"),
    ],
)
def test_each_error_has_its_code_in_the_body_and_in_a_header(
    error: AzureError, status: int, code: str
) -> None:
    assert error.status == status
    assert error.headers["x-ms-error-code"] == code
    assert error.body == {"error": {"code": code, "message": error.message}}


def test_an_unknown_api_version_is_answered_with_those_that_are_known() -> None:
    error = errors.unsupported_api_version("2020-01-01\r\nx: y", task_adherence.API_VERSIONS)
    assert (error.status, error.code) == (400, "UnsupportedApiVersionValue")
    assert error.message == (
        "Unsupported api-version '2020-01-01 x: y'. The supported api-versions are"
        " '2024-12-15-preview, 2025-09-15-preview'."
    )


@pytest.mark.parametrize(
    ("error", "after"),
    [
        (errors.too_many_requests(7), "7"),
        (errors.server_busy(3), "3"),
        (errors.of_status(503, "busy", 2), "2"),
        (errors.internal_error(), None),
    ],
)
def test_a_busy_answer_says_when_to_try_again(error: AzureError, after: str | None) -> None:
    assert error.headers.get("Retry-After") == after
