"""Which calls the SDK asks a person about."""

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

from agents import FunctionTool, RunContextWrapper

from taskshield.core.decisions import Decision


class Approvals:
    """For the calls of one answer of the model: the SDK asks about those that wait for a person.

    It asks about no other call that is held back, whatever its tool says. All the rest is left to
    the tools.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        """Calls that wait for a person: the name of the tool, by call id."""
        self._refused: dict[str, str] = {}
        """The other calls that may not run, likewise."""

    def settle(
        self, decision: Decision, tools: Sequence[FunctionTool], context: RunContextWrapper[Any]
    ) -> None:
        """Set what the tools, which must be copies for this turn, say about these calls.

        That a tool may always run was said about other calls: none is let through for it. As the
        SDK asks nobody then, such a call is refused.
        """
        known = {tool.qualified_name for tool in tools}
        for verdict in decision.calls:
            call = verdict.call
            always = context.is_tool_approved(call.name, call.id)
            if verdict.action == "escalate" and call.name in known and not always:
                self.waiting[call.id] = call.name
            elif not verdict.allowed:
                self._refused[call.id] = call.name
        for tool in tools:
            self.apply(tool)

    def apply(self, tool: FunctionTool) -> None:
        """Have the tool ask as it should.

        It is left alone where that does no harm: with a function for a rule, the SDK also asks
        about calls that leave an argument to its default.
        """
        own = tool.needs_approval
        waits = tool.qualified_name in self.waiting.values()
        refused = tool.qualified_name in self._refused.values()
        if waits or (refused and own is not False):
            tool.needs_approval = partial(self._is_needed, own)

    async def _is_needed(
        self, own: Any, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        if call_id in self.waiting or call_id in self._refused:
            return call_id in self.waiting
        needed = own(context, arguments, call_id) if callable(own) else own
        return bool(await needed if inspect.isawaitable(needed) else needed)
