"""What reads input from outside, each with good input and the errors that it may raise."""

import gzip
import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import zstandard
from starlette.testclient import TestClient

from taskshield.adapters.agent_hooks import parse as agent_hooks
from taskshield.adapters.azure import task_adherence
from taskshield.adapters.claude_code import events as claude_code
from taskshield.adapters.conversations import (
    anthropic_messages,
    detect,
    native,
    openai_chat,
    openai_responses,
)
from taskshield.adapters.proxy.wire_formats import BY_PATH
from taskshield.adapters.stored.documents import Document
from taskshield.audit.logs import reader
from taskshield.audit.logs.input_files import find
from taskshield.audit.results.files import FINDINGS, JOURNAL, Header, open_results
from taskshield.audit.results.summary import summarise
from taskshield.core.errors import TaskShieldError, WireFormatError
from taskshield.server.app import create_app
from taskshield.settings import load
from taskshield.settings_sources import read_file
from taskshield.stores.maintenance.backup_file import read_backup
from taskshield.stores.memory import MemoryStore
from taskshield_lab.bench import record_files
from tests.adapters.stored.kinds import ALL_FORMATS
from tests.audit.log_files import agentdojo, clean, hijacked, sample
from tests.fuzz import seeds
from tests.server.stage import judge

Read = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """One reader of input."""

    name: str
    seeds: tuple[bytes, ...]
    open: Callable[[], AbstractContextManager[Read]]
    """Prepares it. What it gives reads input, and raises what is not a clean error."""


def _dumped(*values: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


@contextmanager
def _parser(parse: Callable[[object], object], *, of_bytes: bool) -> Iterator[Read]:
    def read(data: bytes) -> object:
        try:
            if of_bytes:
                return parse(data)
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                return None
            return parse(value)
        except WireFormatError as error:
            return error

    yield read


@contextmanager
def _file(name: str, work: Callable[[Path], object]) -> Iterator[Read]:
    """Reads a file, which may be anything that is clean: every `TaskShieldError` is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name

        def read(data: bytes) -> object:
            path.write_bytes(data)
            try:
                return work(path)
            except TaskShieldError as error:
                return error

        yield read


@contextmanager
def _surface(path: str, headers: dict[str, str]) -> Iterator[Read]:
    """A path of the server. A provider is not there, so that good requests get 502."""
    upstream = {"openai": "http://127.0.0.1:9", "anthropic": "http://127.0.0.1:9"}
    server = {"upstream": upstream, "limits": {"per_minute": None}}
    settings = load({"server": server}, environment={})
    app = create_app(settings, judge=judge(), store=MemoryStore())
    with TestClient(app, base_url="http://127.0.0.1:8787", client=("127.0.0.1", 1)) as client:
        client.post("/api/sessions", json={"id": "s"})

        def read(data: bytes) -> object:
            answer = client.post(path, content=data, headers=headers)
            assert answer.status_code < 500 or answer.status_code in (502, 503), answer.text
            assert "Traceback" not in answer.text
            return answer.status_code

        yield read


def _read_document(document: Document[Any], data: object) -> object:
    assert isinstance(data, bytes)
    return document.read(data.decode(errors="surrogateescape"))


def _audited(path: Path) -> list[object]:
    (source,) = find([str(path)], besides=path / "results")
    return list(reader.entries(source))


def _resumed(name: str, path: Path) -> object:
    header = Header(taskshield="1", judge="", version="", settings="", with_text=False, files={})
    for each in (JOURNAL, FINDINGS):
        if each != name:
            (path.parent / each).write_bytes(seeds.RESULTS[each])
    results, _ = open_results(path.parent, header, resume=True)
    results.close()
    return summarise(path.parent)


_JSON = {"content-type": "application/json"}
_EVALUATE = (
    "/contentsafety/agent:evaluate"
    "?api-version=2026-11-01-preview&targetResourceId=/subscriptions/1/agent"
)
_LOG = b"".join(line + b"\n" for line in _dumped(hijacked(), clean(), agentdojo(), sample(1)))


def _zip(data: Iterable[bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, each in enumerate(data):
            archive.writestr(f"samples/{number}.json", each)
    return file.getvalue()


def _parquet() -> bytes:
    file = io.BytesIO()
    rows = [{"messages": json.dumps(hijacked()["messages"]), "tags": ["a"]}] * 3
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file, compression="zstd")
    return file.getvalue()


_PARSERS: tuple[tuple[str, Callable[[object], object], tuple[bytes, ...], bool], ...] = (
    ("openai chat", openai_chat.parse, seeds.CHAT, False),
    ("anthropic", anthropic_messages.parse, seeds.ANTHROPIC, False),
    ("openai responses", openai_responses.parse, seeds.RESPONSES, False),
    ("native", native.parse, seeds.NATIVE, False),
    ("detect", detect.parse, seeds.CHAT + seeds.ANTHROPIC + seeds.NATIVE, False),
    ("azure", task_adherence.parse, seeds.AZURE, True),
    ("agent hooks", agent_hooks.parse, seeds.AGENT_HOOKS, True),
    ("claude code", claude_code.parse, seeds.CLAUDE_CODE, True),
    *(
        (f"answers of {path}", wire.read_response, seeds.ANSWERS[path], False)
        for path, wire in BY_PATH.items()
    ),
)
_FILES: tuple[tuple[str, str, bytes, Callable[[Path], object]], ...] = (
    ("log", "x.jsonl", _LOG, _audited),
    ("log as a document", "x.json", json.dumps([hijacked()], indent=1).encode(), _audited),
    ("gzip", "x.jsonl.gz", gzip.compress(_LOG), _audited),
    ("xz", "x.jsonl.xz", lzma.compress(_LOG), _audited),
    ("zstandard", "x.jsonl.zst", zstandard.ZstdCompressor().compress(_LOG), _audited),
    ("inspect", "x.eval", _zip(_dumped(sample(1), sample(2))), _audited),
    ("parquet", "x.parquet", _parquet(), _audited),
    ("journal", JOURNAL, seeds.RESULTS[JOURNAL], partial(_resumed, JOURNAL)),
    ("findings", FINDINGS, seeds.RESULTS[FINDINGS], partial(_resumed, FINDINGS)),
    ("benchmark records", "runs.jsonl", seeds.BENCHMARK, record_files.read),
    ("backup", "x.gz", seeds.BACKUP, lambda path: list(read_backup(path))),
    ("settings", "x.yaml", seeds.SETTINGS, lambda path: load(read_file(path), environment={})),
)
_SURFACES: tuple[tuple[str, tuple[bytes, ...], dict[str, str]], ...] = (
    ("/v1/chat/completions", seeds.CHAT, _JSON),
    ("/v1/messages", seeds.ANTHROPIC, _JSON),
    ("/v1/responses", seeds.RESPONSES, _JSON),
    (
        "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview",
        seeds.AZURE,
        _JSON,
    ),
    (_EVALUATE, seeds.AGENT_HOOKS, _JSON),
    ("/hooks/claude-code", seeds.CLAUDE_CODE, _JSON),
    ("/api/playground", seeds.PLAYGROUND, _JSON),
    ("/api/sessions", seeds.SESSIONS, _JSON),
    ("/api/sessions/s/messages", seeds.MESSAGES, _JSON),
)

TARGETS = (
    *(
        Target(name, good, partial(_parser, parse, of_bytes=of_bytes))
        for name, parse, good, of_bytes in _PARSERS
    ),
    *(
        Target(
            f"stored {name}",
            (example.document.write(example.value).encode(),),
            partial(_parser, partial(_read_document, example.document), of_bytes=True),
        )
        for name, example in ALL_FORMATS.items()
    ),
    *(Target(name, (good,), partial(_file, file, work)) for name, file, good, work in _FILES),
    *(Target(path, good, partial(_surface, path, headers)) for path, good, headers in _SURFACES),
)
