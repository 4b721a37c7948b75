"""Checks by a taskshield server, over its native API.

A session there knows what the user wants, because a proxy, a hook or a program of yours has told
it. What cannot be asked is an outage: `unchecked` says what becomes of it.
"""

import json
import re
import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

import anyio
import httpx2
from pydantic import BaseModel, ValidationError

from taskshield.adapters.conversations import native
from taskshield.core.assessments import Trace
from taskshield.core.decisions import Action, CallVerdict, Case, Check, Decision, Finding, Outage
from taskshield.core.errors import (
    ConfigError,
    JudgeError,
    JudgeOutputInvalid,
    JudgeOverwhelmed,
    JudgeTimeout,
    JudgeUnavailable,
)
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.integrations.mcp.checking import unchecked
from taskshield.integrations.mcp.targets import is_address
from taskshield.integrations.mcp.upstream import trusted

_TIMEOUT = httpx2.Timeout(150.0, connect=5.0)
"""Longer than a server with its defaults takes to give up, so that it says why."""
_CODE = re.compile(r"[a-z_]{1,40}")
_JUDGE = "taskshield server"

_M = TypeVar("_M", bound=BaseModel)


class RemoteChecks:
    """Sessions of a taskshield server."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        session: str | None = None,
        task: str | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Make checks. Nothing is sent before something is to be checked.

        Args:
            url: Address of the server.
            key: API key with the scope `check`; with `approve`, clients may approve, too.
            session: For clients that name none.
            task: What the user wants, for clients without a session.
            policy: What is done while the server cannot be asked; side effects are refused if None.

        Raises:
            ConfigError: This is not an address.
        """
        if not is_address(url):
            raise ConfigError("the server's address must be such as http://127.0.0.1:8787")
        self._api = _Api(url, key)
        self._session = session
        self._task = task
        self._policy = Policy() if policy is None else policy

    @property
    def policy(self) -> Policy:
        """What is done while the server cannot be asked."""
        return self._policy

    def begin(self) -> "RemoteSession":
        """The session that was given, or one that begins now."""
        if self._session is not None:
            return self.named(self._session)
        return RemoteSession(self._api, self._policy, kind="mcp", task=self._task)

    def named(self, id: str) -> "RemoteSession":
        """The session with this id."""
        return RemoteSession(self._api, self._policy, id=id)

    def about(self, task: str) -> "RemoteSession":
        """A session beside all others, in which somebody wants just this."""
        return RemoteSession(self._api, self._policy, kind="mcp-review", task=task)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._api.aclose()


class RemoteSession:
    """One conversation on the server, which may have to be begun there."""

    def __init__(
        self,
        api: "_Api",
        policy: Policy,
        *,
        id: str | None = None,
        kind: str = "mcp",
        task: str | None = None,
    ) -> None:
        """Make a session.

        Args:
            api: The server.
            policy: What is done while it cannot be asked.
            id: Of a session that is there; None for one that begins.
            kind: What ids of new sessions begin with, for people who look at them.
            task: What the user wants, in a session that begins.
        """
        self._api = api
        self._kind = kind
        self._policy = policy
        self._goal_known = id is not None or task is not None
        self._id = id
        self._untold = task
        self._beginning = anyio.Lock()

    @property
    def goal_known(self) -> bool:
        """Whether there is a task, or a session in which others say what the user wants."""
        return self._goal_known

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message."""
        try:
            async with self._beginning:
                if self._id is None or self._untold is not None:
                    return await self._first(message, tools)
            return await self._api.check(self._id, [message], tools, self._policy)
        except JudgeError as error:
            return unchecked(message, tools, self._policy, error, _JUDGE)

    async def approve(self, decision: Decision) -> bool:
        """Let through once what a decision held back, if the key may approve."""
        try:
            return await self._api.approve(decision.id)
        except JudgeError:
            return False

    async def _first(self, message: Message, tools: Sequence[ToolSpec]) -> Decision:
        """Begin the session, and say what the user wants before anything else is said."""
        if self._id is None:
            self._id = await self._api.begin(self._kind)
        wish = [] if self._untold is None else [text_message(Level.USER, self._untold)]
        decision = await self._api.check(self._id, [*wish, message], tools, self._policy)
        self._untold = None
        return decision


class _Api:
    """The routes of the native API that are needed here."""

    def __init__(self, url: str, key: str | None) -> None:
        # No proxy of the environment, and no redirect, may lead the key elsewhere.
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers={} if key is None else {"x-taskshield-key": key},
            timeout=_TIMEOUT,
            trust_env=False,
            verify=trusted(),
        )

    async def begin(self, kind: str) -> str:
        body = {"id": f"{kind}-{uuid.uuid4().hex}"}
        return _read(_Begun, await self._ask("POST", "/api/sessions", body)).id

    async def check(
        self, session: str, messages: Sequence[Message], tools: Sequence[ToolSpec], policy: Policy
    ) -> Decision:
        """The decision on the last of some messages."""
        said = native.render(Conversation(messages=tuple(messages), tools=tuple(tools)))
        body = {"messages": said["messages"], "tools": said["tools"]}
        path = f"/api/sessions/{quote(session, safe='')}/messages"
        checked = _read(_Checked, await self._ask("POST", path, body))
        if len(checked.decisions) != len(messages):
            raise JudgeOutputInvalid("the taskshield server answered about other messages")
        return checked.decisions[-1].about(messages[-1], policy)

    async def approve(self, decision: str) -> bool:
        waiting = await self._ask("GET", "/api/approvals?status=pending&limit=200")
        found = (each.id for each in _read(_Waiting, waiting).items if each.decision == decision)
        id = next(found, None)
        if id is None:
            return False
        await self._ask("POST", f"/api/approvals/{quote(id, safe='')}/approve", {})
        return True

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _ask(self, method: str, path: str, body: object = None) -> bytes:
        """The body of an answer.

        Raises:
            JudgeError: There is none. The message carries nothing of what was sent or answered.
        """
        text = None if body is None else json.dumps(body)  # ASCII, whatever the text
        headers = {"content-type": "application/json"}
        try:
            answer = await self._client.request(method, path, content=text, headers=headers)
        except httpx2.TimeoutException:
            raise JudgeTimeout("the taskshield server took too long") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            name = type(error).__name__
            raise JudgeUnavailable(f"the taskshield server cannot be reached ({name})") from None
        if answer.status_code == 413:
            raise JudgeOverwhelmed("this is too much for the taskshield server")
        if not answer.is_success:
            why = _refusal(answer)
            raise JudgeUnavailable(f"the taskshield server did not check this ({why})")
        return answer.content


class _Begun(BaseModel):
    id: str


class _Approval(BaseModel):
    id: str
    decision: str


class _Waiting(BaseModel):
    items: list[_Approval]


class _Call(BaseModel):
    id: str
    tier: Tier
    action: Action


class _Decided(BaseModel):
    """What is needed of a decision to act on it."""

    id: str
    number: int
    action: Action
    check: Check
    outage: Outage | None
    findings: tuple[Finding, ...]
    calls: list[_Call]
    feedback: str | None
    content: str
    round: int | None
    judge: str

    def about(self, message: Message, policy: Policy) -> Decision:
        """The decision on a message, as the engine would have made it here."""
        if [call.id for call in self.calls] != [call.id for call in message.tool_calls]:
            raise JudgeOutputInvalid("the taskshield server answered about other calls")
        calls = tuple(
            CallVerdict(call=call, tier=verdict.tier, action=verdict.action)
            for call, verdict in zip(message.tool_calls, self.calls, strict=True)
        )
        return Decision(
            action=self.action,
            findings=self.findings,
            calls=calls,
            feedback=self.feedback,
            content=self.content,
            round=self.round,
            case=Case(
                id=self.id,
                message=message,
                index=self.number,
                policy=policy,
                check=self.check,
                trace=Trace(judge=self.judge),
                tiers={verdict.call.name: verdict.tier for verdict in calls},
                outage=self.outage,
            ),
        )


class _Checked(BaseModel):
    decisions: list[_Decided]


def _read(model: type[_M], body: bytes) -> _M:
    try:
        return model.model_validate_json(body)
    except ValidationError:
        raise JudgeOutputInvalid("the taskshield server's answer cannot be read") from None


def _refusal(answer: httpx2.Response) -> str:
    """Why the server refused, in its own word for programs where it is one."""
    try:
        code = answer.json()["error"]["code"]
    except (ValueError, TypeError, KeyError):
        code = None
    known = isinstance(code, str) and _CODE.fullmatch(code)
    return f"{code}, status {answer.status_code}" if known else f"status {answer.status_code}"
