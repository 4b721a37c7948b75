"""A policy server in miniature: the adapters of Agent Hooks around a session, as an interceptor.

What a real server does over HTTP with a store, this does in process: JSON in, JSON out.
"""

import json
from typing import Any

from taskshield import Session
from taskshield.adapters.agent_hooks import parse
from taskshield.adapters.agent_hooks.steps import Memory, plan_step, remember
from taskshield.adapters.agent_hooks.verdicts import render
from taskshield.adapters.stored.agent_hooks import MEMORY


class Guard:
    """An interceptor for the SDK's emitter. It stores the memory after every event."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.memory = MEMORY.write(Memory())
        self.verdicts: list[dict[str, Any]] = []

    def intercept(self, context: Any) -> dict[str, Any]:
        event = parse.parse(json.dumps(context).encode())
        memory = MEMORY.read(self.memory)
        step = plan_step(event, memory)
        self.session.declare(*step.tools)
        decisions = [self.session.add(message) for message in step.messages]
        last = decisions[-1] if decisions else None
        verdict = render(event, last) if step.answer is None else step.answer
        self.memory = MEMORY.write(remember(memory, event, decisions))
        wire: dict[str, Any] = json.loads(json.dumps(verdict.wire()))
        self.verdicts.append(wire)
        return wire
