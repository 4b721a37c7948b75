"""Writes the fixtures of format 1 with the code of release 0.1.0, which must be on the path.

    PYTHONPATH=<0.1.0>/src python -m tests.adapters.stored.write_format_1 FOLDER

`stored_values` and `serialization` are modules of that release, so they are imported by name.
"""

import argparse
from importlib import import_module
from pathlib import Path

from taskshield.integrations.langchain import thread_state
from taskshield.server.proxy.removed_calls import RemovedCalls
from taskshield.server.sessions.snapshots import StoredContent
from tests.adapters.stored import examples


def main() -> None:
    """Write one file for each kind of document."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    dump = import_module("taskshield.adapters.stored_values").dump
    serialization = import_module("taskshield.server.sessions.serialization")
    state = examples.state(import_module("taskshield.engine.state"))
    content = StoredContent(
        state=state,
        names=("name-1",),
        decision_ids=("decision-1", "decision-2"),
        approvable={"approval-1": frozenset({"f2", "f1"})},
    )
    texts = {
        "case": dump(examples.CASE),
        "memory": dump(examples.MEMORY),
        "policy": dump(examples.POLICY),
        "removed_calls": dump(
            RemovedCalls(previous="response-1", refused=("c1",), results=(examples.SENT,))
        ),
        "session": serialization.write(content, {}, str).text,
        "state": dump(state),
        "thread": dump(
            thread_state.Thread(session=state, seen=frozenset({"m2", "m1"}), step=examples.CASE)
        ),
        "outcome": dump(thread_state.Outcome(seen=frozenset({"m3"}), cases=(examples.CASE,))),
    }
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
