"""Every exception that taskshield raises on purpose.

    TaskShieldError
    ├── ConfigError              settings, an unknown or broken judge, a missing key
    │   ├── MissingExtraError    a feature whose optional dependency is not installed
    │   └── ModelError           the embedded model is missing, damaged or cannot be used
    ├── WireFormatError          a conversation or a session that cannot be read
    ├── ConversationError        calls that make no sense in this conversation
    ├── PrivilegeError           text of a lower level would become a task or an objective
    ├── ToolOutputRejected       a guarded tool raised, and its error text tried to direct the agent
    ├── UpstreamError            the endpoint behind a chat client failed
    ├── StoreError               a store could not read or write
    │   └── StoreConflict        another process wrote the same session first
    └── JudgeError               a judge gave no verdict: an outage, never an "allow"
        ├── JudgeUnavailable     its endpoint failed, or the judge itself did
        ├── JudgeTimeout         it took too long
        ├── JudgeOutputInvalid   its answer is not a verdict
        ├── JudgeBudgetExceeded  its allowance of calls or tokens is used up
        └── JudgeOverwhelmed     the message is too long, or holds too much, to be judged

A blocked call is not an error but a `Decision`. No error's message holds a secret. Only that of
`ToolOutputRejected` holds text of the conversation, because the agent is to read it.
"""

from typing import Literal

from taskshield.core.usage import NO_USAGE, Usage

OutageKind = Literal["unavailable", "timeout", "invalid_output", "budget", "oversized"]
"""Why a judge gave no verdict.

- unavailable: its endpoint did not answer or refused the request, or the judge itself failed
- timeout: no answer in the time allowed
- invalid_output: an answer that is not a verdict, even after asking again
- budget: its allowance of calls or tokens is used up
- oversized: the message is too long, or holds too much, to be judged
"""

StoreState = Literal[
    "full",
    "read-only",
    "locked",
    "damaged",
    "disk",
    "unreachable",
    "refused",
    "connections",
    "tables",
    "removed",
]
"""Why a store cannot be used.

- full: there is no room for what is to be written
- read-only: it can be read, but not written
- locked: another process has locked it
- damaged: its content is not what was written, or it is no database at all
- disk: the disk or the file system failed
- unreachable: the database server does not answer, or is starting or stopping
- refused: the database server refused the user, the password or a permission
- connections: no connection is free
- tables: its tables are not those of this release
- removed: its file was removed or replaced
"""


class TaskShieldError(Exception):
    """Base of all errors raised by taskshield."""


class ConfigError(TaskShieldError):
    """A setting is wrong; the message names its key."""


class MissingExtraError(ConfigError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"The package {package!r} is not installed. Run: pip install 'taskshield[{extra}]'"
        )


class ModelError(ConfigError):
    """The embedded model is missing, damaged, or not one that this release can use."""


class WireFormatError(TaskShieldError):
    """Input that does not follow its format."""


class ConversationError(TaskShieldError):
    """A call makes no sense in this conversation, such as two tool calls with one id."""


class PrivilegeError(TaskShieldError):
    """Text of a lower level would become a task of the user or an objective of the system."""


class ToolOutputRejected(TaskShieldError):
    """A guarded tool raised, and the text of its error was misaligned.

    The original exception is not chained, so that its text does not reach the agent.
    """

    def __init__(self, content: str) -> None:
        super().__init__(content)
        self.content = content
        """The text to give the agent instead of the original error."""


class UpstreamError(TaskShieldError):
    """A chat endpoint failed: no answer, an error status, or an answer that cannot be read."""

    def __init__(self, message: str, *, status: int | None = None, timeout: bool = False) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status, where there was one."""
        self.timeout = timeout
        """Whether the endpoint ran out of time."""


class StoreError(TaskShieldError):
    """A store could not read or write. Nothing that it acknowledged before is lost."""

    def __init__(self, message: str, *, state: StoreState | None = None) -> None:
        super().__init__(message)
        self.state = state
        """What is wrong with the store as a whole; None where only one request failed."""


class StoreConflict(StoreError):
    """Another process wrote this version of the session first. Read the session again and retry."""


class JudgeError(TaskShieldError):
    """A judge gave no verdict."""

    kind: OutageKind = "unavailable"

    def __init__(self, message: str, *, usage: Usage = NO_USAGE) -> None:
        super().__init__(message)
        self.usage = usage
        """Model calls and tokens that the judge had used before it failed."""


class JudgeUnavailable(JudgeError):
    """The judge's endpoint failed, or the judge itself did."""


class JudgeTimeout(JudgeError):
    """The judge took too long."""

    kind: OutageKind = "timeout"


class JudgeOutputInvalid(JudgeError):
    """The judge's answer is not a verdict."""

    kind: OutageKind = "invalid_output"


class JudgeBudgetExceeded(JudgeError):
    """The judge's allowance of calls or tokens is used up."""

    kind: OutageKind = "budget"


class JudgeOverwhelmed(JudgeError):
    """The message is too long, or holds too much, to be judged.

    Its author may have intended that, so it must not be a way to pass unchecked.
    """

    kind: OutageKind = "oversized"
