"""Requests to the model of a live agent, and what their failures mean.

A failure that would repeat on every request is a `ConfigError` and ends the benchmark. Any other
is an `UpstreamError` and ends one run. Neither quotes the endpoint.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import anthropic
import openai

from taskshield.clients.failures import refused, timed_out, unexpected, unreachable
from taskshield.core.errors import ConfigError, TaskShieldError, UpstreamError

T = TypeVar("T")

_TIMEOUTS = (openai.APITimeoutError, anthropic.APITimeoutError)
_CONNECTIONS = (openai.APIConnectionError, anthropic.APIConnectionError)
_STATUSES = (openai.APIStatusError, anthropic.APIStatusError)
_CONNECT_ERROR = "ConnectError"
"""The HTTP library's name. The SDKs use one error for this and for broken connections."""
_REJECTED = (400, 422)
_BILLING_CODES = ("insufficient_quota", "billing_error")


class ModelRequester:
    """Sends requests to one model, at temperature 0 unless the model rejects that."""

    def __init__(self, *, model: str, variable: str) -> None:
        """Prepare requests.

        Args:
            model: Its name at the endpoint.
            variable: The environment variable that holds the key.
        """
        self._model = model
        self._variable = variable
        self._fields: Mapping[str, object] = {"temperature": 0}

    def request(self, send: Callable[[Mapping[str, object]], T]) -> T:
        """Send a request with the fields to add to it. The response.

        Raises:
            ConfigError: Every request to this endpoint would fail.
            UpstreamError: This request failed.
        """
        fields = self._fields
        while True:
            try:
                answer = send(fields)
            except Exception as error:
                # Classified here and raised below: the original may quote the key or the
                # conversation, so it must be neither cause nor context of what is raised.
                rejected = _is_rejected(fields, error)
                problem = self._problem(error)
            else:
                self._fields = fields  # only fields that worked: any error may name them
                return answer
            if not rejected:
                raise problem
            fields = {}

    def _problem(self, error: Exception) -> TaskShieldError:
        if isinstance(error, _TIMEOUTS):
            return timed_out().error
        if isinstance(error, _CONNECTIONS):
            if type(error.__cause__).__name__ == _CONNECT_ERROR:
                return ConfigError("agent: The endpoint cannot be reached. Check base_url.")
            return unreachable().error
        if not isinstance(error, _STATUSES):
            return unexpected(error).error
        told = refused(error.status_code, error.body, error.response.text).error
        if error.status_code in (401, 403):
            return ConfigError(f"agent: {told} Check the key in {self._variable}.")
        if error.status_code == 404:
            return ConfigError(f"agent: {told} Check the model {self._model!r} and base_url.")
        if any(code in str(told) for code in _BILLING_CODES):
            return ConfigError(f"agent: {told} Check the account of {self._variable}.")
        return told


def read(parse: Callable[[], T]) -> T:
    """Parse the model's answer.

    Raises:
        UpstreamError: It cannot be parsed, e.g. because the arguments of a call are not JSON.
    """
    try:
        return parse()
    except Exception as error:  # the SDKs do not validate responses
        kind = type(error).__name__
    raise UpstreamError(f"The model's answer cannot be read ({kind}).")


def _is_rejected(fields: Mapping[str, object], error: Exception) -> bool:
    if not isinstance(error, _STATUSES) or error.status_code not in _REJECTED:
        return False
    words = error.response.text.lower()
    return any(field in words for field in fields)
