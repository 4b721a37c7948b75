"""Records a person's approval of a call, for frameworks that ask people themselves."""

from taskshield.api.sessions import AsyncSession
from taskshield.core.messages import ToolCall


async def record_approval(session: AsyncSession, call: ToolCall) -> None:
    """Record that a person approved this call, with the arguments that the person may have set."""
    decision = await session.assistant(None, [call])
    if not decision.allowed:
        session.approve(decision)
        await session.assistant(None, [call])
