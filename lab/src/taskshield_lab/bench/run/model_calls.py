"""Asking the model of a live agent: what it takes, and what its failures mean.

A failure that every later request would meet as well is a `ConfigError` and ends the exam. Any
other is an `UpstreamError` and spoils one run. Neither repeats what the endpoint said.
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
_NEVER_CONNECTED = "ConnectError"
"""The HTTP library's word; the SDKs have one error for this and for connections that broke."""
_REJECTED = (400, 422)
_NO_MONEY = ("insufficient_quota", "billing_error")


class Asker:
    """Asks one model, at temperature 0 until it says that it takes none."""

    def __init__(self, *, model: str, variable: str) -> None:
        """Prepare to ask.

        Args:
            model: Its name at the endpoint.
            variable: The environment variable that holds the key.
        """
        self._model = model
        self._variable = variable
        self._fields: Mapping[str, object] = {"temperature": 0}

    def ask(self, send: Callable[[Mapping[str, object]], T]) -> T:
        """Send a request, given the fields to add to it; what came back.

        Raises:
            ConfigError: No request to this endpoint will get an answer.
            UpstreamError: This one got none.
        """
        fields = self._fields
        while True:
            try:
                answer = send(fields)
            except Exception as error:
                # Told apart here and raised below, so that the original, which may quote the key
                # or the conversation, is neither cause nor context of what the caller sees.
                rejected = _names_one_of(fields, error)
                problem = self._problem(error)
            else:
                self._fields = fields  # only what got an answer: the word may stand in any error
                return answer
            if not rejected:
                raise problem
            fields = {}

    def _problem(self, error: Exception) -> TaskShieldError:
        if isinstance(error, _TIMEOUTS):
            return timed_out().error
        if isinstance(error, _CONNECTIONS):
            if type(error.__cause__).__name__ == _NEVER_CONNECTED:
                return ConfigError("agent: the endpoint cannot be reached: check base_url")
            return unreachable().error
        if not isinstance(error, _STATUSES):
            return unexpected(error).error
        told = refused(error.status_code, error.body, error.response.text).error
        if error.status_code in (401, 403):
            return ConfigError(f"agent: {told} Check the key in {self._variable}.")
        if error.status_code == 404:
            return ConfigError(f"agent: {told} Check the model {self._model!r} and base_url.")
        if any(code in str(told) for code in _NO_MONEY):
            return ConfigError(f"agent: {told} Check the account of {self._variable}.")
        return told


def read(parse: Callable[[], T]) -> T:
    """The model's answer, parsed.

    Raises:
        UpstreamError: It cannot be, e.g. because the arguments of a call are not JSON.
    """
    try:
        return parse()
    except Exception as error:  # the SDKs hand on whatever came, so anything may be wrong with it
        kind = type(error).__name__
    raise UpstreamError(f"the model's answer cannot be read ({kind})")


def _names_one_of(fields: Mapping[str, object], error: Exception) -> bool:
    if not isinstance(error, _STATUSES) or error.status_code not in _REJECTED:
        return False
    words = error.response.text.lower()
    return any(field in words for field in fields)
