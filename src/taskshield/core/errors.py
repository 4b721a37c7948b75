"""Every exception that taskshield raises on purpose.

    TaskShieldError
    ├── ConfigError              settings, an unknown or broken judge, a missing key
    │   ├── MissingExtraError    a feature whose optional dependency is not installed
    │   └── ModelError           the embedded model is missing, damaged or cannot be used
    ├── WireFormatError          a conversation or a session that cannot be read
    ├── ConversationError        calls that make no sense in this conversation
    ├── PrivilegeError           text of a lower level posing as a higher one
    ├── ToolOutputRejected       a guarded tool raised, and its error text tried to direct the agent
    ├── UpstreamError            the endpoint behind a chat client failed
    ├── StoreError               a store could not read or write
    │   └── StoreConflict        somebody else wrote the same session meanwhile
    └── JudgeError               a judge could not answer: an outage, never an "allow"
        ├── JudgeUnavailable     its endpoint failed
        ├── JudgeTimeout         it took too long
        ├── JudgeOutputInvalid   it answered, but not with a verdict
        ├── JudgeBudgetExceeded  it may not spend any more
        └── JudgeOverwhelmed     the message is too much for it, which its author may have wanted

A blocked call is not an error but a `Decision`. No message carries a secret, and none but that of
`ToolOutputRejected`, which is meant for the agent, carries conversation text.
"""

from typing import Literal

from taskshield.core.usage import NO_USAGE, Usage

OutageKind = Literal["unavailable", "timeout", "invalid_output", "budget", "oversized"]
"""Why a judge gave no verdict.

- unavailable: its endpoint could not be reached or refused
- timeout: no answer in the time allowed
- invalid_output: an answer that is not a verdict, even after asking again
- budget: the allowance of calls or tokens is used up
- oversized: the message itself is too long, or holds too much, to be judged
"""


class TaskShieldError(Exception):
    """Base of all errors raised by taskshield."""


class ConfigError(TaskShieldError):
    """A setting is wrong; the message names its key."""


class MissingExtraError(ConfigError):
    """A feature was asked for whose dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"The package {package!r} is not installed. Run: pip install 'taskshield[{extra}]'"
        )


class ModelError(ConfigError):
    """The embedded model is missing, damaged, or not one that this release can use."""


class WireFormatError(TaskShieldError):
    """Input that is not in the format it should be in."""


class ConversationError(TaskShieldError):
    """The session was used in a way that no conversation can go."""


class PrivilegeError(TaskShieldError):
    """Text of a lower level tried to enter a place kept for a higher one."""


class ToolOutputRejected(TaskShieldError):
    """A guarded tool raised, and the text of its error was misaligned.

    The original exception is not chained, so that its text does not reach the agent.
    """

    def __init__(self, content: str) -> None:
        super().__init__(content)
        self.content = content
        """The text to give the agent instead of the original error."""


class UpstreamError(TaskShieldError):
    """A chat endpoint failed: no answer, an error status, or an answer that is not one."""

    def __init__(self, message: str, *, status: int | None = None, timeout: bool = False) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status, where there was one."""
        self.timeout = timeout
        """Whether the endpoint ran out of time."""


class StoreError(TaskShieldError):
    """A store could not read or write; nothing that it acknowledged before is lost."""


class StoreConflict(StoreError):
    """Somebody else wrote this version of the session meanwhile: read it again and go on."""


class JudgeError(TaskShieldError):
    """A judge gave no verdict."""

    kind: OutageKind = "unavailable"

    def __init__(self, message: str, *, usage: Usage = NO_USAGE) -> None:
        super().__init__(message)
        self.usage = usage
        """What the judge had spent before it failed."""


class JudgeUnavailable(JudgeError):
    """The judge's endpoint failed."""


class JudgeTimeout(JudgeError):
    """The judge took too long."""

    kind: OutageKind = "timeout"


class JudgeOutputInvalid(JudgeError):
    """The judge answered with something that is not a verdict."""

    kind: OutageKind = "invalid_output"


class JudgeBudgetExceeded(JudgeError):
    """The judge may not spend any more."""

    kind: OutageKind = "budget"


class JudgeOverwhelmed(JudgeError):
    """The message itself is too much to be judged."""

    kind: OutageKind = "oversized"
