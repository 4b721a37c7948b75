"""Sessions as head and parts: what is written is what is new, and comes back equal."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskshield.core.errors import StoreConflict, StoreError, WireFormatError
from taskshield.core.instructions import (
    Instruction,
    Objective,
    Origin,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import text_message
from taskshield.core.session_parts import SessionHead, SessionPart
from taskshield.core.session_state import SessionState
from taskshield.core.store import StoredSession
from taskshield.core.tools import ToolSpec
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.head_and_parts import DividedSession, divide, is_head, join
from taskshield.server.sessions.snapshot_store import SnapshotStore
from taskshield.server.sessions.snapshots import (
    SnapshotChange,
    StoredContent,
    StoredParts,
    new_snapshot,
)
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.sessions.stored_sessions import HERE, in_library, one_by_one
from tests.server.stage import (
    ESCALATING,
    HIJACKED,
    TENANT,
    call,
    checker,
    conversation,
    outcome,
    output,
    user,
)

SECRET = "sk-proj-" + "a1B2c3D4" * 5
NO_PARTS = StoredParts()
LATER = "mood"
"""A kind of part that only a later release knows."""


class Committed(MemoryStore):
    """Notes what is committed."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[SessionHead] = []

    async def commit(
        self,
        session: StoredSession,
        records: Any,
        approvals: Any = (),
        names: Any = (),
    ) -> None:
        assert isinstance(session, SessionHead)
        self.heads.append(session)
        await super().commit(session, records, approvals, names)

    def kinds(self, number: int) -> list[str]:
        return sorted(part.kind for part in self.heads[number].parts)


class OfBefore(MemoryStore):
    """A store without parts, until it is upgraded."""

    upgraded = False

    def document_version(self) -> int:
        return 2 if self.upgraded else 1


class Rows:
    """What a store has of one session."""

    def __init__(self, redacted: Callable[[str], str] = lambda text: text) -> None:
        self.texts: dict[tuple[str, int], str] = {}
        self.head = ""
        self.stored: StoredParts | None = None
        self._redacted = redacted

    def write(self, content: StoredContent) -> DividedSession:
        whole = self.stored is None
        divided = divide(
            content, self.stored or NO_PARTS, whole=whole, redacted=self._redacted, version=2
        )
        if whole:
            self.texts.clear()
        for key in divided.removed:
            del self.texts[key]
        self.texts.update({part.key: part.text for part in divided.parts})
        self.head, self.stored = divided.head, divided.stored
        known = [text for (kind, _), text in self.texts.items() if kind != LATER]
        assert divided.size == len(self.head) + sum(map(len, known))
        assert self.read() == divided.content
        return divided

    def read(self) -> StoredContent:
        return self.join()[0]

    def join(self) -> tuple[StoredContent, StoredParts]:
        parts = [
            SessionPart(kind=kind, position=position, text=text)
            for (kind, position), text in sorted(self.texts.items())
        ]
        return join(self.head, parts)


def turn(text: str, index: int = 0) -> HistoryEntry:
    return HistoryEntry(message=text_message(Level.USER, text), index=index)


def task(text: str) -> Task:
    origin = Origin(message=0)
    return Task(id="t", instruction=Instruction(text=text, level=Level.USER, origin=origin))


def objective(text: str) -> Objective:
    origin = Origin(message=0)
    own = Instruction(text=text, level=Level.SYSTEM, origin=origin)
    return Objective(id="o", instruction=own)


def tainted(text: str) -> TaintedDirective:
    origin = Origin(message=0)
    own = Instruction(text=text, level=Level.TOOL, origin=origin)
    return TaintedDirective(id="d", instruction=own)


def content(ids: tuple[str, ...] = (), **state: Any) -> StoredContent:
    return StoredContent(state=SessionState(id="s", **state), decision_ids=ids)


def with_turns(*texts: str) -> SnapshotChange:
    return SnapshotChange(content=content(history=tuple(map(turn, texts))))


def snapshots_of(store: MemoryStore) -> SnapshotStore:
    return SnapshotStore(store, TextRedaction(), cached=2)


LISTS = st.lists(st.integers(0, 6), max_size=7)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(LISTS, LISTS, LISTS, LISTS, LISTS, LISTS), min_size=2, max_size=5))
def test_any_change_of_a_session_comes_back_equal(versions: list[tuple[list[int], ...]]) -> None:
    turns = [turn(f"turn {number}") for number in range(7)]
    tools = [ToolSpec(name=f"tool{number % 5}", description=str(number)) for number in range(7)]
    tasks = [task(f"task {number}") for number in range(7)]
    directives = [tainted(f"directive {number}") for number in range(7)]
    objectives = [objective(f"objective {number}") for number in range(7)]
    rows = Rows()
    for history, names, own, seen, ids, system in versions:
        written = content(
            tuple(map(str, ids)),
            history=tuple(turns[number] for number in history),
            tools={tools[number].name: tools[number] for number in names},
            tasks=TaskSet(tasks=tuple(tasks[number] for number in own)),
            tainted=tuple(directives[number] for number in seen),
            objectives=tuple(objectives[number] for number in system),
            system="".join(map(str, system)),
        )
        assert rows.write(written).content == written  # and `write` reads it back


def test_what_stays_is_not_written_again() -> None:
    first, second, third, fourth = (turn(f"turn {number}", number) for number in range(4))
    rows = Rows()
    rows.write(content(history=(first, second, third)))
    changed = rows.write(content(history=(first, third, fourth)))
    assert [part.key for part in changed.parts] == [("turn", 3)]
    assert changed.removed == (("turn", 1),)
    shorter = turn("shorter", 2)
    changed = rows.write(content(history=(first, shorter, fourth)))
    assert [part.key for part in changed.parts] == [("turn", 1)]  # between its neighbours
    assert changed.removed == (("turn", 2),)


def test_a_system_text_grows_by_what_is_added() -> None:
    rows = Rows()
    rows.write(content(system="Be kind."))
    changed = rows.write(content(system="Be kind.\n\nBe brief."))
    (part,) = changed.parts
    assert (part.key, "Be kind" in part.text) == (("system text", 1), False)
    changed = rows.write(content(system="Be rude."))
    assert [part.key for part in changed.parts] == [("system text", 0)]
    assert changed.removed == (("system text", 1),)


def test_a_secret_across_two_system_texts_is_redacted_as_a_whole() -> None:
    redacted = TextRedaction().state
    rows = Rows(redacted)
    rows.write(content(system="The password="))
    written = rows.write(content(system="The password=hunter22secret"))
    assert "hunter22secret" not in written.content.state.system
    assert "hunter22secret" not in str(rows.texts)


def test_decision_ids_stay_stored_while_a_session_has_no_name() -> None:
    rows = Rows()
    rows.write(content(("a", "b", "c")))
    unnamed = rows.write(content())
    assert (unnamed.parts, unnamed.removed, unnamed.content.decision_ids) == ((), (), ())
    named = rows.write(content(("a", "b", "x", "d")))
    assert [part.key for part in named.parts] == [("decision id", 2), ("decision id", 3)]
    assert rows.read().decision_ids == ("a", "b", "x", "d")


def test_what_a_later_release_has_written_is_kept() -> None:
    rows = Rows()
    rows.write(content(history=(turn("one"),)))
    head = json.loads(rows.head)
    head["mood"] = ["good"]
    head["parts"][LATER] = 1
    rows.head = json.dumps(head)
    rows.texts[LATER, 0] = "{}"
    before, rows.stored = rows.join()
    changed = rows.write(replace(before, names=("n",)))
    assert (changed.parts, changed.removed) == ((), ())
    head = json.loads(rows.head)
    assert (head["mood"], head["parts"][LATER], rows.texts[LATER, 0]) == (["good"], 1, "{}")


@pytest.mark.parametrize(
    "kind", ["turn", "tool", "objective", "task", "tainted directive", "system text"]
)
def test_a_part_that_is_lost_is_noticed(kind: str) -> None:
    rows = Rows()
    rows.write(
        content(
            history=(turn("one"), turn("two")),
            tools={"a": ToolSpec(name="a")},
            tasks=TaskSet(tasks=(task("one"),)),
            tainted=(tainted("one"),),
            system="Be kind.",
            objectives=(objective("one"),),
        )
    )
    kept = dict(rows.texts)
    del rows.texts[kind, 0]
    with pytest.raises(WireFormatError, match="parts"):
        rows.read()
    rows.texts = kept | {(kind, 7): kept[kind, 0]}
    with pytest.raises(WireFormatError, match="parts"):
        rows.read()


def test_a_lost_decision_id_is_noticed() -> None:
    rows = Rows()
    rows.write(content(("a", "b")))
    del rows.texts["decision id", 1]
    with pytest.raises(WireFormatError, match="decision id"):
        rows.read()


def test_what_another_server_stored_with_secrets_is_redacted_with_the_next_write() -> None:
    rows = Rows()
    rows.write(
        content(
            history=(turn("one"), turn(f"The key is {SECRET}.")),
            system=f"Use {SECRET}.",
            tasks=TaskSet(tasks=(task(f"Use {SECRET}."), task("Go."))),
        )
    )
    found, parts = rows.join()
    divided = divide(found, parts, whole=False, redacted=TextRedaction().state, version=2)
    changed = [("turn", 1), ("task", 0), ("system text", 0)]
    assert [part.key for part in divided.parts] == changed
    assert SECRET not in str(divided.content) and SECRET not in str(divided.parts)
    again = divide(
        divided.content, divided.stored, whole=False, redacted=TextRedaction().state, version=2
    )
    assert (again.parts, again.removed) == ((), ())


def test_a_message_costs_as_much_in_a_long_session_as_in_a_short_one() -> None:
    async def work() -> None:
        store = Committed()
        one = checker(store)
        for number in range(30):
            await one.check(TENANT, "s", [user(f"Task {number}.")], source=HERE, start=True)
            call_id = f"c{number}"
            await one.check(TENANT, "s", [call(id=call_id)], source=HERE)
            await one.check(TENANT, "s", [output(answers=call_id)], source=HERE)
        assert [store.kinds(0), store.kinds(87)] == [["task", "turn"]] * 2
        assert all(store.kinds(number) == ["turn"] for number in (1, 2, 88, 89))
        assert [head.whole for head in store.heads] == [True] + [False] * 89
        assert len(store.heads[89].state or "") < len(store.heads[2].state or "") + 20

    run(work())


def test_a_message_of_a_stateless_conversation_costs_what_is_new() -> None:
    messages = tuple(user(f"Task {number}.") for number in range(20))

    async def work() -> None:
        store = Committed()
        one = checker(store)
        for count in range(1, 20):
            told = conversation(*messages[:count])
            await one.check_conversation(TENANT, told, source=HERE)
        assert store.kinds(18) == ["decision id", "task", "turn"]
        # Another server knows the conversation, too.
        assert (await checker(store).check_conversation(TENANT, told, source=HERE)).new == 0

    run(work())


def test_sessions_of_a_store_without_parts_and_with_them_decide_alike() -> None:
    async def work() -> None:
        for store in (OfBefore(), MemoryStore()):
            replicas = [checker(store), checker(store)]
            hopping = await one_by_one(
                lambda number, replicas=replicas: replicas[number % 2],  # type: ignore[misc]
                HIJACKED.messages,
            )
            assert outcome(hopping) == outcome(await in_library(HIJACKED.messages))
            kept = await store.session(TENANT, "s")
            assert kept is not None and kept.state is not None
            assert is_head(kept.state) == (type(store) is MemoryStore)

    run(work())


def test_a_session_of_one_text_becomes_head_and_parts_with_its_next_message() -> None:
    async def work() -> None:
        store = OfBefore()
        one = checker(store, policy=ESCALATING)
        await one.check(TENANT, "s", HIJACKED.messages[:3], source=HERE, start=True)
        store.upgraded = True
        for replica in (one, checker(store, policy=ESCALATING)):
            before = (await replica.finder.newest(TENANT, "s")).content
            checked = await replica.check(TENANT, "s", [user("Go on.")], source=HERE)
            assert checked.snapshot.state.history[:3] == before.state.history[:3]
            read = await checker(store).finder.newest(TENANT, "s")
            assert read.content == checked.snapshot.content

    run(work())


def test_a_fork_is_stored_with_all_its_parts() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        told = conversation(user("One."), user("Two."))
        known = await one.check_conversation(TENANT, told, source=HERE)
        fork = known.snapshot.fork("other")
        await SnapshotStore(store, TextRedaction(), cached=2).write(
            fork, SnapshotChange(content=fork.content)
        )
        for id in ("other", known.session):
            read = await checker(store).finder.newest(TENANT, id)
            assert read.state == replace(known.snapshot.state, id=id)
        own = await store.parts(TENANT, "other", 1)
        assert not [part for part in own if part.kind == "decision id"]

    run(work())


def test_a_session_that_was_deleted_and_began_again_is_never_mixed_with_the_old_one() -> None:
    async def work() -> None:
        store = MemoryStore()
        here, there = snapshots_of(store), snapshots_of(store)
        old = await here.write(new_snapshot(TENANT, "s"), with_turns("old"))
        await store.prune(older_than=None, keep=0)
        await there.write(new_snapshot(TENANT, "s"), with_turns("new"))
        with pytest.raises(StoreConflict):
            await here.write(old, with_turns("old", "older"))
        read = await snapshots_of(store).load(TENANT, "s")
        assert read is not None and read.content == with_turns("new").content

    run(work())


def test_a_session_that_changes_while_it_is_read_is_read_again() -> None:
    class Busy(MemoryStore):
        """Another request writes between the head and the parts."""

        writes = 0

        async def parts(self, tenant: str, id: str, version: int) -> tuple[SessionPart, ...]:
            if self.writes:
                self.writes -= 1
                now = await snapshots_of(self).load(tenant, id)
                assert now is not None
                await snapshots_of(self).write(now, with_turns("new"))
            return await super().parts(tenant, id, version)

    async def work() -> None:
        store = Busy()
        await snapshots_of(store).write(new_snapshot(TENANT, "s"), with_turns("old"))
        store.writes = 1
        read = await snapshots_of(store).load(TENANT, "s")
        assert read is not None and read.version == 2
        assert read.content == with_turns("new").content

    run(work())


def test_a_lost_part_is_the_stores_failure() -> None:
    async def work() -> None:
        store = MemoryStore()
        await snapshots_of(store).write(new_snapshot(TENANT, "s"), with_turns("one"))
        row = await store.session(TENANT, "s")
        assert row is not None
        own = {name: getattr(row, name) for name in StoredSession.__dataclass_fields__}
        lost = SessionHead(**(own | {"version": 2}), removed=(("turn", 0),), whole=False)
        await store.commit(lost, [])
        with pytest.raises(StoreError, match="cannot be read"):
            await snapshots_of(store).load(TENANT, "s")

    run(work())
