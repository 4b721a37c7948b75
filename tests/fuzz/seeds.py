"""Good input, from which hostile input is made."""

import gzip
import io
import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from taskshield.audit.results.files import FINDINGS, JOURNAL
from taskshield.stores.maintenance.backup_file import BackupWriter, Manifest
from taskshield.stores.maintenance.plain_rows import plain_table
from taskshield_lab.bench import record_files
from tests.adapters.agent_hooks.test_parse import contexts
from tests.adapters.claude_code.test_events import PROMPT, failure, result, use
from tests.audit.results.result_lines import CHECKED, ROW
from tests.integrations.mcp.hidden_orders import SCENES
from tests.lab.bench import synthetic

_ADAPTERS = Path(__file__).parents[1] / "adapters"


def _dumped(*values: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


def _golden(ending: str) -> tuple[bytes, ...]:
    return tuple(
        path.read_bytes() for path in sorted((_ADAPTERS / "golden").glob(f"*.{ending}.json"))
    )


def _records() -> bytes:
    run = synthetic.run(utility=True, steps=synthetic.conversation())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        writer, _ = record_files.begin(path, synthetic.header(), existing="refuse")
        with closing(writer):
            writer.add(record_files.line(run))
        return path.read_bytes()


def _backup() -> bytes:
    table = plain_table("taskshield_aliases", ["tenant", "alias", "session", "at"])
    file = io.BytesIO()
    writer = BackupWriter(file)
    writer.start(Manifest(release="0.1.0", level="0003", made_at="2026-01-01", tables=[table]))
    writer.table(table.name)
    writer.row(["default", "name", "session", "2026-01-01T00:00:00+00:00"])
    writer.table_end(1)
    writer.end()
    return gzip.compress(file.getvalue())


CHAT = _golden("openai-chat")
ANTHROPIC = _golden("anthropic-messages")
NATIVE = _golden("taskshield")
PLAYGROUND = _dumped(*({"conversation": json.loads(seed)} for seed in NATIVE + CHAT))
SESSIONS = _dumped({"id": "s", "tools": [{"name": "read"}]})
MESSAGES = _dumped(*({"messages": json.loads(seed)["messages"]} for seed in NATIVE))
LABELS = _dumped({"label": "right"}, {"label": "wrong", "note": "It was asked for."})
LOGIN = _dumped({"key": "ts_" + "a" * 40}, {"token": "a" * 43})
AZURE = _dumped(
    *(
        json.loads(path.read_text(encoding="utf-8"))["request"]
        for path in sorted((_ADAPTERS / "golden_azure").iterdir())
    )
)
AGENT_HOOKS = _dumped(*contexts().values())
CLAUDE_CODE = _dumped(
    PROMPT, use(), result({"stdout": "a", "items": [{"b": 1}]}), failure("it broke")
)
_ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Pay Bob."}]},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": '{"to": "Bob"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "paid"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "shell", "input": "ls"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "x", "text": "a"}]},
]
RESPONSES = _dumped(
    {
        "model": "m",
        "instructions": "You help.",
        "input": _ITEMS,
        "tools": [{"type": "function", "name": "pay", "parameters": {"type": "object"}}],
    },
    {"model": "m", "input": "Pay Bob.", "previous_response_id": "resp_1"},
)
_FUNCTION = {"name": "pay", "arguments": '{"to": "Bob"}'}
ANSWERS: Mapping[str, tuple[bytes, ...]] = {
    "/v1/chat/completions": _dumped(
        {
            "id": "1",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "Paying.",
                        "tool_calls": [{"id": "c1", "type": "function", "function": _FUNCTION}],
                    },
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }
    ),
    "/v1/responses": _dumped(
        {"id": "resp_1", "object": "response", "status": "completed", "output": _ITEMS[1:3]}
    ),
    "/v1/messages": _dumped(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": "Paying."},
                {"type": "tool_use", "id": "c1", "name": "pay", "input": {"to": "Bob"}},
            ],
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    ),
}


MCP_REQUESTS = _dumped(
    {"method": "tools/call", "params": {"name": "get_it", "arguments": {"how": "x", "n": [1]}}},
    {"method": "tools/list", "params": {"cursor": "a"}},
    {"method": "resources/read", "params": {"uri": "u:"}},
    {"method": "prompts/get", "params": {"name": "p", "arguments": {"a": "b"}}},
    {"method": "completion/complete", "params": {"ref": {"type": "ref/prompt", "name": "p"}}},
)
MCP_ANSWERS = _dumped(
    *({"jsonrpc": "2.0", "id": "@", "result": scene.result} for scene in SCENES.values()),
    {"jsonrpc": "2.0", "id": "@", "error": {"code": -32602, "message": "no such tool"}},
)
"""The id of the request stands where "@" is."""
MCP_MESSAGES = _dumped(
    *({"jsonrpc": "2.0", "id": 1, **json.loads(seed)} for seed in MCP_REQUESTS),
    {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {}}},
    *(json.loads(seed) for seed in MCP_ANSWERS),
)


def _slots(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


_HEADER = {
    "kind": "audit",
    "taskshield": "1",
    "judge": "",
    "version": "",
    "settings": "",
    "with_text": False,
    "files": {},
}
RESULTS: Mapping[str, bytes] = {
    JOURNAL: b"".join(
        line + b"\n"
        for line in _dumped(
            _HEADER,
            {"kind": "conversation", **_slots(CHECKED), "findings": 2},
            {"kind": "failure", "file": "a.jsonl", "line": 2, "reason": "not JSON"},
            {"kind": "end", "file": "a.jsonl", "passed_over": 0, "closed_early": 0},
        )
    ),
    FINDINGS: b"".join(line + b"\n" for line in _dumped(_slots(ROW), _slots(ROW))),
}
BENCHMARK = _records()
BACKUP = _backup()
SETTINGS = b"""\
judge: embedded
policy:
  misaligned: {financial: escalate}
  tiers: {send: external}
server:
  host: 127.0.0.1
  limits: {per_minute: 60}
"""
