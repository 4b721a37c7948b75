"""Azure's error bodies, as clients of Content Safety know them.

{"error": {"code": ..., "message": ..., "target": ...}}, the code once more in `x-ms-error-code`,
and `Retry-After` where it is worth trying again. Which error a request deserves is for the server
to say.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from taskshield.core.errors import WireFormatError
from taskshield.core.safe_text import one_line

_CODES = {
    400: "InvalidRequestBody",
    401: "401",
    403: "Forbidden",
    404: "404",
    413: "InvalidRequestBody",
    422: "InvalidRequestBody",
    429: "TooManyRequests",
    500: "InternalError",
    502: "ServerBusy",
    503: "ServerBusy",
    504: "ServerBusy",
}
"""The front door answers 401 and 404, and says so with the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureError:
    """An error as Azure words it."""

    status: int
    code: str
    message: str
    target: str | None = None
    """Path of what is wrong in the request."""
    retry_after_s: int | None = None

    @property
    def body(self) -> dict[str, object]:
        """The JSON body."""
        error = {"code": self.code, "message": self.message}
        return {"error": error if self.target is None else {**error, "target": self.target}}

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with the body."""
        headers = {"x-ms-error-code": self.code}
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        return headers


def invalid_request_body(error: WireFormatError) -> AzureError:
    """The body is not what analyzeTaskAdherence takes, or too long."""
    return _invalid(error, "InvalidRequestBody")


def invalid_request(error: WireFormatError) -> AzureError:
    """The same for agent:evaluate, whose specification has another word for it."""
    return _invalid(error, "InvalidRequest")


def missing_api_version() -> AzureError:
    """No api-version was given."""
    return AzureError(
        status=400,
        code="MissingApiVersionParameter",
        message="The api-version query parameter (?api-version=) is required for all requests.",
    )


def unsupported_api_version(given: str, supported: Iterable[str]) -> AzureError:
    """An api-version that this operation does not have."""
    return AzureError(
        status=400,
        code="UnsupportedApiVersionValue",
        message=f"Unsupported api-version '{one_line(given, 40)}'."
        f" The supported api-versions are '{', '.join(sorted(supported))}'.",
    )


def unauthorized() -> AzureError:
    """No key or token, or one that is not valid."""
    return AzureError(
        status=401,
        code=_CODES[401],
        message="Access denied due to invalid subscription key or wrong API endpoint. Make sure to"
        " provide a valid key for an active subscription and use a correct regional API endpoint"
        " for your resource.",
    )


def not_found() -> AzureError:
    """No such path."""
    return AzureError(status=404, code=_CODES[404], message="Resource not found")


def too_many_requests(retry_after_s: int) -> AzureError:
    """The key has used up its rate."""
    return AzureError(
        status=429,
        code=_CODES[429],
        message=f"Too many requests. Please retry after {retry_after_s} seconds.",
        retry_after_s=retry_after_s,
    )


def server_busy(retry_after_s: int = 1) -> AzureError:
    """No verdict now, perhaps later: the judge or the store cannot be reached."""
    return AzureError(
        status=503,
        code=_CODES[503],
        message="The request could not be analyzed. Please try again later.",
        retry_after_s=retry_after_s,
    )


def internal_error() -> AzureError:
    """The server itself failed."""
    return AzureError(
        status=500, code=_CODES[500], message="The server failed to process the request."
    )


def of_status(status: int, message: str, retry_after_s: int | None = None) -> AzureError:
    """An error of which only the status is known, in Azure's words as far as it has any."""
    code = _CODES.get(status, "InternalError" if status >= 500 else "InvalidRequest")
    return AzureError(status=status, code=code, message=message, retry_after_s=retry_after_s)


def _invalid(error: WireFormatError, code: str) -> AzureError:
    """Errors of adapters begin with the path of what is wrong; Azure has a place of its own."""
    target, separator, message = str(error).partition(": ")
    if not separator:
        return AzureError(status=400, code=code, message=str(error))
    return AzureError(status=400, code=code, message=message, target=target)
