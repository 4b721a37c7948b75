"""The routes of a taskshield server's native API that the gateway uses.

Errors quote neither what was sent nor what the server answered.
"""

import json
import re
import uuid
from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from taskshield.adapters.conversations import native
from taskshield.core.assessments import Trace
from taskshield.core.decisions import Action, CallVerdict, Case, Check, Decision, Finding, Outage
from taskshield.core.errors import (
    JudgeOutputInvalid,
    JudgeOverwhelmed,
    JudgeTimeout,
    JudgeUnavailable,
)
from taskshield.core.messages import Conversation, Message
from taskshield.core.policy import Authorisation, Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.integrations.mcp.tls import tls_context

_TIMEOUT = httpx2.Timeout(150.0, connect=5.0)
"""Longer than a server with default settings takes to give up, so that its reason arrives."""
_CODE = re.compile(r"[a-z_]{1,40}")

_M = TypeVar("_M", bound=BaseModel)


class ServerApi:
    """A client of a taskshield server."""

    def __init__(self, url: str, key: str | None) -> None:
        # Neither a proxy of the environment nor a redirect may send the key elsewhere.
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers={} if key is None else {"x-taskshield-key": key},
            timeout=_TIMEOUT,
            trust_env=False,
            verify=tls_context(),
        )

    async def create_session(self, kind: str) -> str:
        """Create a session whose id starts with this kind; its id."""
        body = {"id": f"{kind}-{uuid.uuid4().hex}"}
        return _read(_CreatedSession, await self._request("POST", "/api/sessions", body)).id

    async def check(
        self, session: str, messages: Sequence[Message], tools: Sequence[ToolSpec], policy: Policy
    ) -> Decision:
        """The decision on the last of these messages."""
        rendered = native.render(Conversation(messages=tuple(messages), tools=tuple(tools)))
        body = {"messages": rendered["messages"], "tools": rendered["tools"]}
        path = f"/api/sessions/{quote(session, safe='')}/messages"
        checked = _read(_CheckedMessages, await self._request("POST", path, body))
        if len(checked.decisions) != len(messages):
            raise JudgeOutputInvalid("The taskshield server answered about other messages.")
        return checked.decisions[-1].decision_on(messages[-1], policy)

    async def approve(self, decision: str) -> bool:
        """Approve the calls of a decision; whether an approval was pending for it."""
        pending = await self._request("GET", "/api/approvals?status=pending&limit=200")
        approvals = _read(_PendingApprovals, pending).items
        id = next((each.id for each in approvals if each.decision == decision), None)
        if id is None:
            return False
        await self._request("POST", f"/api/approvals/{quote(id, safe='')}/approve", {})
        return True

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _request(self, method: str, path: str, body: object = None) -> bytes:
        """Send a request; the body of the answer.

        Raises:
            JudgeError: There is no answer, or it is an error.
        """
        text = None if body is None else json.dumps(body)  # ASCII, so any text can be sent
        headers = {"content-type": "application/json"}
        try:
            answer = await self._client.request(method, path, content=text, headers=headers)
        except httpx2.TimeoutException:
            raise JudgeTimeout("The taskshield server took too long.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            name = type(error).__name__
            raise JudgeUnavailable(f"The taskshield server cannot be reached ({name}).") from None
        if answer.status_code == 413:
            raise JudgeOverwhelmed("The message is too long for the taskshield server.")
        if not answer.is_success:
            reason = _error_of(answer)
            raise JudgeUnavailable(f"The taskshield server did not check the message ({reason}).")
        return answer.content


class _CreatedSession(BaseModel):
    id: str


class _Approval(BaseModel):
    id: str
    decision: str


class _PendingApprovals(BaseModel):
    items: list[_Approval]


class _Call(BaseModel):
    id: str
    tier: Tier
    action: Action
    authorisation: Authorisation | None = None


class _Decided(BaseModel):
    """The parts of a decision that are needed to act on it."""

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

    def decision_on(self, message: Message, policy: Policy) -> Decision:
        """The decision on a message, as a shield in this process would have made it."""
        if [call.id for call in self.calls] != [call.id for call in message.tool_calls]:
            raise JudgeOutputInvalid("The taskshield server answered about other calls.")
        calls = tuple(
            CallVerdict(
                call=call,
                tier=verdict.tier,
                action=verdict.action,
                authorisation=verdict.authorisation,
            )
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


class _CheckedMessages(BaseModel):
    decisions: list[_Decided]


def _read(model: type[_M], body: bytes) -> _M:
    try:
        return model.model_validate_json(body)
    except ValidationError:
        raise JudgeOutputInvalid("The taskshield server's answer cannot be read.") from None


def _error_of(answer: httpx2.Response) -> str:
    """The server's error code, if it is one, and the status."""
    try:
        code = answer.json()["error"]["code"]
    except (ValueError, TypeError, KeyError):
        code = None
    known = isinstance(code, str) and _CODE.fullmatch(code)
    return f"{code}, status {answer.status_code}" if known else f"status {answer.status_code}"
