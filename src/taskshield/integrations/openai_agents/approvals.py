"""Decides for which calls the SDK asks a person."""

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

from agents import FunctionTool, RunContextWrapper

from taskshield.core.decisions import Decision


class Approvals:
    """For the calls of one answer of the model: which of them wait for a person.

    The SDK asks about escalated calls, and about no other blocked call, even if its tool needs an
    approval. About allowed calls, the tools decide.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        """Names of the tools of calls that wait for a person, by call id."""
        self._blocked: dict[str, str] = {}
        """The same for all other blocked calls."""

    def settle(
        self, decision: Decision, tools: Sequence[FunctionTool], context: RunContextWrapper[Any]
    ) -> None:
        """Set which of these calls need an approval. The tools must be copies for this turn.

        "Always approve" was said about other calls, so it does not apply to an escalated one. The
        SDK does not ask again after "always approve", so such a call is blocked.
        """
        known = {tool.qualified_name for tool in tools}
        for verdict in decision.calls:
            call = verdict.call
            always = context.is_tool_approved(call.name, call.id)
            if verdict.action == "escalate" and call.name in known and not always:
                self.waiting[call.id] = call.name
            elif not verdict.allowed:
                self._blocked[call.id] = call.name
        for tool in tools:
            self.apply(tool)

    def apply(self, tool: FunctionTool) -> None:
        """Set the tool's own rule for approvals.

        The tool is changed only if that is necessary: if the rule is a function, the SDK asks
        also about calls that omit an argument with a default.
        """
        own = tool.needs_approval
        waits = tool.qualified_name in self.waiting.values()
        blocked = tool.qualified_name in self._blocked.values()
        if waits or (blocked and own is not False):
            tool.needs_approval = partial(self._is_needed, own)

    async def _is_needed(
        self, own: Any, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        if call_id in self.waiting or call_id in self._blocked:
            return call_id in self.waiting
        needed = own(context, arguments, call_id) if callable(own) else own
        return bool(await needed if inspect.isawaitable(needed) else needed)
