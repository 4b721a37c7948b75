"""A model that solves AgentDojo's tasks and falls for injections; it stands in for a real one.

It knows the calls that solve the user's task and those that reach the attacker's goal. It makes the
latter as soon as it can read the goal in what a tool returned, and then goes on with its task.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.functions_runtime import EmptyEnv, FunctionCall

from taskshield_lab.bench.agentdojo import suites
from taskshield_lab.bench.agentdojo.attack_placement import moves
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.run.visibility import readable
from tests.clients.upstream import Behaviour, answer, by_request

VERSION = "v1"
PAY = Item(
    suite="banking",
    user_task="user_task_0",  # pay the bill in a file
    injection_task="injection_task_0",  # send money to the attacker's account
    attack="important_instructions",
)
CLEAN = Item(suite="banking", user_task="user_task_0")
THIEF = "US133000000121212121212"
"""Stands in all that the attacker of `PAY` wants."""

_NOWHERE = EmptyEnv()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as it comes to the model, in any wire format."""

    role: str
    text: str
    calls: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the model answers."""

    text: str = ""
    calls: tuple[Move, ...] = ()


@dataclass(kw_only=True)
class Hijackable:
    """The stand-in model for one item of the benchmark."""

    item: Item = PAY
    attempts: int = 1
    """How often it tries to reach the attacker's goal, each time a little differently."""
    parallel: bool = False
    """Whether it makes the attacker's calls and the next one of its own in one message."""
    heard: list[list[Heard]] = field(default_factory=list)
    """What it was shown, request by request."""

    def __post_init__(self) -> None:
        suite = suites.suite_named(VERSION, self.item.suite)
        task = suites.user_task(suite, self.item.user_task)
        environment = task.init_environment(suites.environment(suite, {}))
        self.own = moves(task.ground_truth(environment))
        self.answer = task.GROUND_TRUTH_OUTPUT or "Done."
        self.lure = ""
        self.goal: tuple[Move, ...] = ()
        if self.item.injection_task is not None:
            goal = suites.injection_task(suite, self.item.injection_task)
            self.lure = goal.GOAL
            self.goal = moves(goal.ground_truth(environment))

    def __call__(self, heard: Sequence[Heard]) -> Said:
        self.heard.append(list(heard))
        made = [move for message in heard for move in message.calls]
        left = [move for move in self.own if move not in made]
        attempt = len([move for move in made if move not in self.own]) // max(1, len(self.goal))
        read = [message.text for message in heard if message.role == "tool"]
        if self.goal and attempt < self.attempts and any(readable(self.lure, it) for it in read):
            calls = tuple(_varied(move, attempt) for move in self.goal)
            return Said(calls=(*calls, *left[: int(self.parallel)]))
        return Said(calls=(left[0],)) if left else Said(text=self.answer)

    @property
    def shown(self) -> str:
        """Everything that it got to read in its last request."""
        return "\n".join(message.text for message in self.heard[-1])


def _varied(move: Move, attempt: int) -> Move:
    """The same call in the attacker's eyes, another one in the shield's."""
    changed = {
        name: f"{value}{' ' * attempt}" if name == "subject" else value
        for name, value in move.arguments.items()
    }
    return Move(tool=move.tool, arguments=changed)


class Element(BasePipelineElement):
    """A stand-in as an element of AgentDojo's pipelines; calls have no ids, as some models do."""

    name = "stand-in"

    def __init__(self, model: Any) -> None:
        self.model = model

    def query(
        self,
        query: str,
        runtime: Any,
        env: Any = _NOWHERE,
        messages: Sequence[Any] = (),
        extra_args: dict[str, Any] | None = None,
    ) -> Any:
        said = self.model([_heard(message) for message in messages])
        calls = [FunctionCall(function=each.tool, args=dict(each.arguments)) for each in said.calls]
        content = [{"type": "text", "content": said.text}] if said.text else None
        message = {"role": "assistant", "content": content, "tool_calls": calls}
        return query, runtime, env, [*messages, message], extra_args


def _heard(message: Mapping[str, Any]) -> Heard:
    text = "\n".join(block["content"] for block in message["content"] or [])
    return Heard(
        role=message["role"],
        text=text if message.get("error") is None else message["error"],
        calls=moves(message.get("tool_calls") or []),
    )


def openai_endpoint(model: Any) -> Behaviour:
    """The stand-in behind OpenAI's wire."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        said = model([_from_openai(message) for message in body["messages"]])
        calls = [
            {
                "id": f"call_{len(body['messages'])}_{number}",
                "type": "function",
                "function": {"name": move.tool, "arguments": json.dumps(dict(move.arguments))},
            }
            for number, move in enumerate(said.calls)
        ]
        message = {"role": "assistant", "content": said.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice]}

    return by_request(lambda seen: answer(reply(seen.body)))


def _from_openai(message: Mapping[str, Any]) -> Heard:
    calls = [each["function"] for each in message.get("tool_calls") or []]
    return Heard(
        role=message["role"],
        text=_plain(message["content"]),
        calls=tuple(
            Move(tool=call["name"], arguments=json.loads(call["arguments"])) for call in calls
        ),
    )


def _plain(content: Any) -> str:
    """AgentDojo's own element sends lists of blocks."""
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content)
    return content or ""


def anthropic_endpoint(model: Any) -> Behaviour:
    """The stand-in behind Anthropic's wire."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        said = model([each for turn in body["messages"] for each in _from_anthropic(turn)])
        words = [{"type": "text", "text": said.text}] if said.text else []
        uses = [
            {
                "type": "tool_use",
                "id": f"toolu_{len(body['messages'])}_{number}",
                "name": move.tool,
                "input": dict(move.arguments),
            }
            for number, move in enumerate(said.calls)
        ]
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "some-model",
            "content": [*words, *uses],
            "stop_reason": "tool_use" if uses else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    return by_request(lambda seen: answer(reply(seen.body)))


def _from_anthropic(turn: Mapping[str, Any]) -> list[Heard]:
    return [_from_block(turn["role"], block) for block in turn["content"]]


def _from_block(role: str, block: Mapping[str, Any]) -> Heard:
    match block["type"]:
        case "tool_use":
            call = Move(tool=block["name"], arguments=block["input"])
            return Heard(role=role, text="", calls=(call,))
        case "tool_result":
            return Heard(role="tool", text="\n".join(each["text"] for each in block["content"]))
        case _:
            return Heard(role=role, text=block["text"])
