"""Every pattern and function over untrusted text takes linear time.

New patterns are found by themselves: every use of `re` in a module of taskshield counts. So are new
functions: a loop that no function of the table reaches fails a test.
"""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FrameType

import child_processes
import collected_patterns
import doubling
import linear_time
import pytest
from collected_patterns import MADE_LATER, SOURCES, patterns
from engine_functions import ENGINE_FUNCTIONS
from pattern_texts import Unit, units
from text_functions import FUNCTIONS, UNITS
from wire_functions import WIRE_FUNCTIONS

_FUNCTION_SIZE = 500
"""Characters; functions take more time than patterns beside reading the text."""
_UNITS = 90
"""Texts tried for each pattern or function."""


def test_every_pattern_is_linear_on_texts_made_for_it() -> None:
    slow = {
        one.name: linear_time.superlinear(one.work, one.units)
        for one in linear_time.tried_patterns(_UNITS)
    }
    assert {name: unit for name, unit in slow.items() if unit is not None} == {}


def test_every_function_is_linear() -> None:
    slow = {
        one.name: linear_time.superlinear(one.work, one.units, _FUNCTION_SIZE)
        for one in linear_time.tried_functions(_UNITS // 3)
    }
    assert {name: unit for name, unit in slow.items() if unit is not None} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"[ \t]*(?:\|+[ \t]*)+",
        r" +$",
        r"\bnext\s*(?:up)?\s*[:,]",
        r"(?!(?:i|we)\b)\b[\w'-]+\s+wants",
        r"\bdas\s+[^,;.]{1,70}?\s+sagt\b",
        r"[.!?\n]+(?=\s|$)",
        r'"(?:[^"\\]|\\.)*"',
        r"(?:(?:with|with|to-?do|to|do)\b\W*)*$",
        r"(?:(?:good\s+morning|good|morning|super|super)\b\s*)+[\W_]*$",
    ],
)
def test_a_slow_pattern_is_noticed(pattern: str) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    tried = units(compiled)
    assert linear_time.superlinear(linear_time.pattern_work(compiled), tried) is not None


def test_patterns_are_collected_wherever_they_stand() -> None:
    names = " ".join(patterns())
    assert "text.lines._CELL" in names
    assert "delegation_languages._PATTERNS[3]" in names  # in a tuple
    assert "argument_values._SHAPES[0][1]" in names
    assert "own_resources.paths.line" in names  # within a function
    assert "engine.risk_tiers.made[0]" in names  # by an example
    assert "key_shapes.key_pattern" in names  # of a cached function
    assert len(patterns()) > 300
    for file, _ in patterns().values():
        assert (SOURCES / file).is_file()


_RECORDED = """
import re, sys
real, seen = re._compile, set()

def noted(pattern, flags):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] == "re":
        frame = frame.f_back
    made = real(pattern, flags)
    if frame.f_globals["__name__"].startswith("taskshield."):
        seen.add((frame.f_globals["__name__"], frame.f_lineno, made))
    return made

re._compile = noted
sys.path[:0] = sys.argv[1:]
import collected_patterns
modules = list(collected_patterns.modules())
re._compile = real
imported = {(name, line) for name, line, _ in seen}
known = {pattern for _, pattern in collected_patterns.patterns().values()}
print(sorted({(name, line) for name, line, made in seen if made not in known}))
print(sorted({
    module.__name__
    for module in modules
    for lines, pattern in collected_patterns.uses(module)
    if pattern is None and imported.isdisjoint((module.__name__, line) for line in lines)
}))
"""
"""Imports every module that uses patterns, and notes each pattern that is made meanwhile."""


def test_no_pattern_is_missing_from_the_table() -> None:
    folder = str(Path(collected_patterns.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", _RECORDED, folder], capture_output=True, text=True, check=True
    )
    unknown, later = done.stdout.splitlines()
    assert unknown == "[]"  # a value that `collected_patterns` does not look into
    made_once = "taskshield.stores.secrets.key_shapes"
    assert later == str(sorted([*MADE_LATER, made_once]))


def test_patterns_are_used_in_no_other_way() -> None:
    for path in SOURCES.glob("taskshield/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                # What is compared with a pattern of an agent there is a path of the guard's own.
                own = path.parent.name == "own_resources" and node.module == "fnmatch"
                assert own or node.module not in ("re", "fnmatch", "glob"), path
            elif isinstance(node, ast.Import):
                for name in node.names:
                    assert name.name not in ("fnmatch", "regex"), path
                    assert name.name != "re" or name.asname is None, path


_READING = (
    "judges/embedded/text",
    "judges/embedded/grammar",
    "judges/embedded/tasks",
    "judges/embedded/evidence",
    "judges/embedded/shell",
    "engine/own_resources",
    "engine/repeats/effects.py",
    "engine/wording",
    "engine/definition_values.py",
    "engine/risk_tiers.py",
    "stores/secrets",
    "core/quotations.py",
    "core/safe_text.py",
    "core/json_limits.py",
    "adapters/parsing/tool_output.py",
    "adapters/parsing/encoded_text.py",
    "adapters/conversations/host_marks.py",
    "adapters/proxy/sse.py",
    "adapters/proxy/strict_json.py",
    "integrations/mcp/words",
    "integrations/mcp/connections/lines.py",
)
"""Folders and modules whose loops go over text."""
_OVER_OTHER_THINGS = {
    "adapters/proxy/sse.py": "comment",
    "adapters/proxy/strict_json.py": "_all_plain",
    "engine/own_resources/calls.py": "_of_names _speaks_of _unasked reaches without_unasked",
    "engine/risk_tiers.py": "tiers_of",
    "judges/embedded/evidence/call_evidence.py": "_texts invented only telling texts",
    "judges/embedded/evidence/conversation_index.py": "add_assistant forget",
    "judges/embedded/evidence/index_cache.py": "_add _best _key _leads _said put_back take",
    "judges/embedded/evidence/read_only_calls.py": "_begins_one_of _without",
    "judges/embedded/evidence/text_index.py": "forget",
    "judges/embedded/evidence/value_tracer.py": "_directives _traced",
    "judges/embedded/text/obfuscation.py": "_odds",
    "stores/secrets/redaction.py": "__init__ _message_edits _move_places _rename_calls",
}
"""Functions with loops over messages, calls, options and the like, by module."""


def _loops() -> Iterator[tuple[str, str, int]]:
    """The functions of these modules that have a loop of their own, with their lines."""
    for place in _READING:
        path = SOURCES / "taskshield" / place
        for file in [path] if path.is_file() else path.glob("**/*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and _has_loop(node):
                    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                    yield str(file), node.name, first


def _has_loop(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.For | ast.While | ast.comprehension) for node in ast.walk(function)
    )


def test_every_loop_over_text_is_in_the_table() -> None:
    reached: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        code: CodeType = frame.f_code
        if event == "call":
            reached.add((code.co_filename, code.co_name, code.co_firstlineno))

    for name, module in sys.modules.items():
        for value in vars(module).values() if name.startswith("taskshield.") else ():
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()  # a function that remembers its answer is not called again
    texts = ["".join(unit * 3 for unit in UNITS), *(unit * 20 for unit in UNITS)]
    sys.setprofile(note)
    try:
        for _, _, work, own in (*FUNCTIONS, *ENGINE_FUNCTIONS, *WIRE_FUNCTIONS):
            for text in (*texts, *(unit * 20 for unit in own), "".join(own)):
                work(text)
    finally:
        sys.setprofile(None)
    missing = {
        f"{place}: {name}"
        for file, name, line in _loops()
        if (file, name, line) not in reached
        and name not in _OVER_OTHER_THINGS.get(place := _below_package(file), "").split()
    }
    assert missing == set()


def _below_package(file: str) -> str:
    return Path(file).relative_to(SOURCES / "taskshield").as_posix()


def test_the_worst_texts_are_those_that_take_long_or_grow() -> None:
    def work(text: str) -> int:
        return sum(text.count("y") for _ in range(len(text) // 40)) if "b" in text else len(text)

    tried = [Unit("", repeated, "") for repeated in ("a", "b", "c", "d")]
    begun: list[Unit] = []
    found = doubling.worst(work, tried, begun.append)
    assert tried[1] in found and set(begun) == set(tried)


def test_the_table_has_the_worst_ratio_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "SIZES", (1_000, 2_000, 4_000))
    monkeypatch.setattr(doubling, "limit_processor_time", lambda: None)
    pattern = re.compile(r"\w+")
    row = linear_time.Tried(
        "words", "x.py", linear_time.pattern_work(pattern), units(pattern)[:9], True
    )
    (found,) = linear_time.table([row], 1)
    assert found.tried is row and found.unit in row.units and found.ratio > 0 and found.ms > 0


def test_growth_far_over_the_bar_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "SIZES", (1_000, 2_000, 4_000, 10**9))
    monkeypatch.setattr(doubling, "limit_processor_time", lambda: None)
    found = doubling.doubled(re.compile(" +$").findall, Unit("", " ", "x"))
    assert found.ratio > 3.2


def test_work_that_its_process_does_not_survive_is_over_the_bar() -> None:
    def work(task: str, tell: child_processes.Tell) -> str:
        tell(f"begun {task}")
        if task == "b":
            os.kill(os.getpid(), signal.SIGKILL)
        return task.upper()

    found = {one.task: one for one in child_processes.outcomes(["a", "b", "c"], work, 2)}
    assert found["a"].answer == "A" and found["c"].answer == "C"
    assert found["b"].answer is None and found["b"].told == "begun b"
