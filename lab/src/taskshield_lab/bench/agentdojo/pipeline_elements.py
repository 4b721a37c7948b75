"""The shield in an AgentDojo pipeline, between a model and the tools.

    [SystemMessage, InitQuery, OpenSession, llm, ShieldedAnswer,
     ToolsExecutionLoop([ShieldedToolsExecutor, llm, ShieldedAnswer])]

is what `guarded_pipeline` builds. Elements keep no state between queries: the session of a
conversation is passed in AgentDojo's `extra_args`, so one pipeline may serve several threads.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from taskshield.api.sessions import Session
from taskshield.api.shields import Shield
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConversationError, MissingExtraError
from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.engine.tool_functions import as_json

try:
    from agentdojo.agent_pipeline import (
        AgentPipeline,
        BasePipelineElement,
        InitQuery,
        SystemMessage,
        ToolsExecutionLoop,
        ToolsExecutor,
    )
    from agentdojo.agent_pipeline.agent_pipeline import load_system_message
    from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
    from agentdojo.functions_runtime import EmptyEnv
    from agentdojo.types import (
        ChatToolResultMessage,
        ChatUserMessage,
        text_content_block_from_string,
    )
except ImportError as error:
    raise MissingExtraError("agentdojo", "eval") from error

__all__ = [
    "DECISIONS",
    "SESSION",
    "OpenSession",
    "ShieldedAnswer",
    "ShieldedToolsExecutor",
    "guarded_pipeline",
    "tool_specs",
]

SESSION = "taskshield_session"
"""Key of the session in `extra_args`. An existing session is continued."""
DECISIONS = "taskshield_decisions"
"""Key of a list in `extra_args`, if the caller gives one. Every decision is appended to it."""

Element = Any
Function = Any
ChatMessage = dict[str, Any]
Extra = dict[str, Any]
Passed = tuple[str, Any, Any, Sequence[ChatMessage], Extra]
"""What elements pass on: query, runtime, environment, messages, `extra_args`."""

_NOWHERE = EmptyEnv()


def guarded_pipeline(
    llm: Element,
    shield: Shield,
    *,
    system_message: str | None = None,
    tool_output_formatter: Callable[[Any], str] = tool_result_to_str,
    max_iters: int = 15,
) -> AgentPipeline:
    """A guarded agent, otherwise as AgentDojo builds agents.

    Args:
        llm: The element that asks the model.
        shield: Checks what the agent reads and does.
        system_message: None takes AgentDojo's own. An empty one is left out.
        tool_output_formatter: Turns what a tool returns into text.
        max_iters: How often the model may call tools before the conversation ends.
    """
    system = load_system_message(None) if system_message is None else system_message
    answer = ShieldedAnswer(llm)
    executor = ShieldedToolsExecutor(tool_output_formatter)
    pipeline = AgentPipeline(
        [
            *([SystemMessage(system)] if system else []),
            InitQuery(),
            OpenSession(shield),
            llm,
            answer,
            ToolsExecutionLoop([executor, llm, answer], max_iters=max_iters),
        ]
    )
    # AgentDojo's attacks look for the name of a model in that of the pipeline.
    pipeline.name = "taskshield" if llm.name is None else f"{llm.name}-taskshield"
    return pipeline


def tool_specs(functions: Iterable[Function]) -> tuple[ToolSpec, ...]:
    """AgentDojo's tools as the shield's tool specs."""
    return tuple(
        ToolSpec(
            name=function.name,
            description=function.description,
            parameters=_schema(function.parameters),
        )
        for function in functions
    )


@cache
def _schema(parameters: type[BaseModel]) -> dict[str, Any]:
    return parameters.model_json_schema()


class OpenSession(BasePipelineElement):
    """Opens the session. It comes after the system message and the query."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield

    def query(
        self,
        query: str,
        runtime: Any,
        env: Any = _NOWHERE,
        messages: Sequence[ChatMessage] = (),
        extra_args: Extra | None = None,
    ) -> Passed:
        """Open a session, or continue the one in `extra_args`, and add the query to it."""
        extra = {} if extra_args is None else dict(extra_args)  # AgentDojo's defaults are shared
        specs = tool_specs(runtime.functions.values())
        if SESSION in extra:
            extra[SESSION].declare(*specs)
        else:
            system = [_text(message) for message in messages if message["role"] == "system"]
            extra[SESSION] = self._shield.session(tools=specs, system="\n\n".join(system))
        _record(_session(extra).user(query), extra)
        return query, runtime, env, messages, extra


class ShieldedToolsExecutor(ToolsExecutor):
    """Executes allowed calls as AgentDojo does, and answers the others with feedback.

    The model reads tool output as the shield returns it: whole, annotated, redacted or withheld.
    """

    def query(
        self,
        query: str,
        runtime: Any,
        env: Any = _NOWHERE,
        messages: Sequence[ChatMessage] = (),
        extra_args: Extra | None = None,
    ) -> Passed:
        """Check the last message with all its calls, and execute the allowed ones."""
        extra = {} if extra_args is None else extra_args
        calls = _calls(messages)
        if not calls:
            return query, runtime, env, messages, extra
        session = _session(extra)
        decision = session.assistant(_text(messages[-1]), _with_unique_ids(calls))
        _record(decision, extra)
        answers: list[ChatMessage] = []
        for call, verdict in zip(calls, decision.calls, strict=True):
            if not verdict.allowed:
                answers.append(_refusal(call, decision))
                continue
            alone = {**messages[-1], "tool_calls": [call]}
            _, _, env, (_, result), _ = super().query(query, runtime, env, [alone], extra)
            answers.append(_checked(result, verdict.call.id, session, extra))
        if decision.feedback is not None and all(verdict.allowed for verdict in decision.calls):
            answers.append(_feedback(decision))  # on the text beside the calls
        return query, runtime, env, [*messages, *answers], extra


class ShieldedAnswer(BasePipelineElement):
    """Checks a message without calls, and asks the model again while it must be revised.

    When the feedback rounds are used up, text passes, and the decision says so. Text that the
    policy blocks or escalates is replaced by the shield's note.
    """

    def __init__(self, llm: Element) -> None:
        self._llm = llm

    def query(
        self,
        query: str,
        runtime: Any,
        env: Any = _NOWHERE,
        messages: Sequence[ChatMessage] = (),
        extra_args: Extra | None = None,
    ) -> Passed:
        """Check the last message if the model wrote it and it has no calls."""
        extra = {} if extra_args is None else extra_args
        while messages and messages[-1]["role"] == "assistant" and not _calls(messages):
            decision = _session(extra).assistant(_text(messages[-1]))
            _record(decision, extra)
            if decision.allowed:
                break
            if decision.action != "revise":
                note = {**messages[-1], "content": _blocks(decision.content)}
                messages = [*messages[:-1], note]
                break
            messages = [*messages, _feedback(decision)]
            query, runtime, env, messages, extra = self._llm.query(
                query, runtime, env, messages, extra
            )
        return query, runtime, env, messages, extra


def _session(extra: Extra) -> Session:
    if SESSION not in extra:
        raise ConversationError("There is no session. OpenSession must come first in the pipeline.")
    session: Session = extra[SESSION]
    return session


def _record(decision: Decision, extra: Extra) -> None:
    if DECISIONS in extra:
        extra[DECISIONS].append(decision)


def _calls(messages: Sequence[ChatMessage]) -> list[Any]:
    if not messages or messages[-1]["role"] != "assistant":
        return []
    calls = messages[-1]["tool_calls"]
    return [] if calls is None else list(calls)


def _with_unique_ids(calls: list[Any]) -> list[ToolCall]:
    """The calls with unique ids for the shield, whatever ids the model gave.

    Only the shield sees these ids. The model's own are left as they are.
    """
    named: dict[str, ToolCall] = {}
    for call in calls:
        id = f"call_{uuid.uuid4().hex}" if not call.id or call.id in named else call.id
        named[id] = ToolCall(id=id, name=call.function, arguments=as_json(dict(call.args)))
    return list(named.values())


def _checked(result: ChatMessage, call_id: str, session: Session, extra: Extra) -> ChatMessage:
    """Tool output as the model may read it. Models read `error` if it is set."""
    failed = result["error"] is not None
    text = result["error"] if failed else _text(result)
    decision = session.tool_output(call_id, text, is_error=failed)
    _record(decision, extra)
    if failed:
        return {**result, "error": decision.content}
    return {**result, "content": _blocks(decision.content)}


def _refusal(call: Any, decision: Decision) -> ChatMessage:
    message: ChatMessage = ChatToolResultMessage(
        role="tool",
        content=_blocks(""),
        tool_call_id=call.id,
        tool_call=call,
        error=decision.content,
    )
    return message


def _feedback(decision: Decision) -> ChatMessage:
    message: ChatMessage = ChatUserMessage(role="user", content=_blocks(decision.content))
    return message


def _blocks(text: str) -> list[Any]:
    return [text_content_block_from_string(text)]


def _text(message: ChatMessage) -> str:
    """The text of a message, without a model's hidden reasoning."""
    blocks = message["content"]
    texts = [] if blocks is None else [each["content"] for each in blocks if each["type"] == "text"]
    return "\n".join(text for text in texts if text)
