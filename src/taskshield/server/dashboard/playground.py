"""The playground: judges a conversation, with one judge or several, and stores nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from taskshield.adapters.azure import task_adherence
from taskshield.adapters.conversations import detect
from taskshield.api.sessions import AsyncSession
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConfigError, ConversationError, WireFormatError
from taskshield.core.instructions import TaskSet
from taskshield.core.judge import Judge
from taskshield.core.messages import Conversation
from taskshield.core.provenance import TracedValue
from taskshield.core.session_state import SessionState
from taskshield.engine.own_resources.values import NOTHING_KNOWN, OwnResources
from taskshield.server.http.errors import RequestError
from taskshield.settings import Settings
from taskshield.wiring import EMBEDDED, build_judge, build_value_tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundRun:
    """The decisions of one judge on a conversation."""

    judge: str
    decisions: tuple[Decision, ...] = ()
    tasks: TaskSet = TaskSet()
    evidence: tuple[tuple[TracedValue, ...], ...] = ()
    """For each message, where the values of its calls come from."""
    error: str | None = None
    """Why there are no decisions."""


class Playground:
    """The configured judge and the embedded one."""

    def __init__(self, settings: Settings, judge: Judge, own: OwnResources = NOTHING_KNOWN) -> None:
        """Make a playground.

        Args:
            settings: All settings; their policy applies here, too.
            judge: The one that the settings name. The caller closes it.
            own: What belongs to the guard itself.
        """
        self._own = own
        self._settings = settings
        self._policy = settings.policy.to_policy()
        self._configured = judge
        self._embedded: Judge | None = None
        self._building = asyncio.Lock()
        self.judges = tuple(dict.fromkeys((settings.judge, EMBEDDED)))
        """Names of the judges that can run."""

    async def run(
        self, conversation: Conversation, judges: Sequence[str]
    ) -> tuple[PlaygroundRun, ...]:
        """Judge a whole conversation, all judges at once.

        Raises:
            Refused: There is no such judge here, or there are too many messages.
            WireFormatError: A message does not fit the conversation before it.
        """
        most = self._settings.server.limits.messages
        if len(conversation.messages) > most:
            raise RequestError(
                413, "too_many_messages", f"more than {most} messages in one request"
            )
        unknown = [name for name in judges if name not in self.judges]
        if unknown:
            offered = ", ".join(self.judges)
            raise RequestError(
                400, "invalid_request", f"judges: there are {offered} here, no others"
            )
        runs = [self._run(conversation, name) for name in dict.fromkeys(judges)]
        return tuple(await asyncio.gather(*runs))

    async def aclose(self) -> None:
        """Close the judge that was built here."""
        if self._embedded is not None:
            await self._embedded.aclose()

    async def _run(self, conversation: Conversation, name: str) -> PlaygroundRun:
        try:
            judge = await self._judge(name)
        except ConfigError as error:
            return PlaygroundRun(judge=name, error=str(error))
        tools = {spec.name: spec for spec in conversation.tools}
        state = SessionState(id="playground", tools=tools)
        session = AsyncSession(judge=judge, policy=self._policy, state=state, own=self._own)
        decisions: list[Decision] = []
        for message in conversation.messages:
            try:
                decisions.append(await session.add(message))
            except ConversationError as error:
                raise WireFormatError(f"message {len(decisions)}: {error}") from None
        return PlaygroundRun(
            judge=name,
            decisions=tuple(decisions),
            tasks=session.tasks,
            evidence=await asyncio.to_thread(_evidence, decisions),
        )

    async def _judge(self, name: str) -> Judge:
        if name == self._settings.judge:
            return self._configured
        async with self._building:
            if self._embedded is None:
                given = self._settings.model_copy(update={"judge": EMBEDDED, "llm": None})
                self._embedded = await asyncio.to_thread(build_judge, given)
            return self._embedded


def read_conversation(payload: object) -> Conversation:
    """A conversation in any of the formats that people paste.

    Raises:
        WireFormatError: It is in none of them; the message names the path of what is wrong.
    """
    if _is_azure(payload):
        return task_adherence.parse(payload)
    return detect.parse(payload).conversation


def _is_azure(payload: object) -> bool:
    messages = payload.get("messages") if isinstance(payload, dict) else None
    if not isinstance(messages, list):
        return False
    return any(isinstance(message, dict) and "contents" in message for message in messages)


def _evidence(decisions: Sequence[Decision]) -> tuple[tuple[TracedValue, ...], ...]:
    tracer = build_value_tracer()
    return tuple(tracer.trace(decision.case) for decision in decisions)
