"""What reads input from outside, each with good input and the errors that it may raise.

The server, the gateway and the hook's command are in `surfaces`.
"""

import gzip
import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import zstandard

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
from taskshield.integrations.mcp.connections import wire as mcp_wire
from taskshield.settings import load
from taskshield.settings_sources import read_file
from taskshield.stores.maintenance.backup_file import read_backup
from taskshield_lab.bench import record_files
from tests.adapters.stored.kinds import ALL_FORMATS
from tests.audit.log_files import agentdojo, clean, hijacked, sample
from tests.fuzz import seeds
from tests.fuzz.surfaces import SURFACES
from tests.fuzz.target import Read, Target


def _dumped(*values: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


@contextmanager
def _parser(parse: Callable[[object], object], *, of_bytes: bool) -> Iterator[Read]:
    def read(data: bytes) -> str:
        try:
            if of_bytes:
                parse(data)
                return "read"
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                return "not JSON"
            parse(value)
            return "read"
        except WireFormatError:
            return "refused"

    yield read


@contextmanager
def _file(name: str, work: Callable[[Path], object]) -> Iterator[Read]:
    """Reads a file, which may be anything that is clean: every `TaskShieldError` is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name

        def read(data: bytes) -> str:
            path.write_bytes(data)
            try:
                work(path)
                return "read"
            except TaskShieldError:
                return "refused"

        yield read


def _read_document(document: Document[Any], data: object) -> object:
    assert isinstance(data, bytes)
    return document.read(data.decode(errors="surrogateescape"))


def _mcp_message(data: object) -> object:
    assert isinstance(data, bytes)
    return mcp_wire.read(data)


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
    ("mcp messages", _mcp_message, seeds.MCP_MESSAGES, True),
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
    *SURFACES,
)
