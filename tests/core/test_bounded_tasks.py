from taskshield.core.bounded_tasks import bounded
from taskshield.core.instructions import Grant, Instruction, Origin, Task, TaskSet
from taskshield.core.levels import Level
from taskshield.core.session_state import SessionState
from tests.engine.sessions import run, session


def task(number: int, text: str = "Do it.", grant: Grant | None = None) -> Task:
    origin = Origin(message=number)
    words = Instruction(text=text, level=Level.USER, origin=origin)
    return Task(id=f"t{number}", instruction=words, grant=grant)


def test_ordinary_tasks_stay_as_they_are() -> None:
    tasks = TaskSet(tasks=tuple(task(number) for number in range(100)))
    assert bounded(tasks) == tasks


def test_the_oldest_of_too_many_tasks_become_one() -> None:
    grant = Grant(source="Ada", scope="everything")
    tasks = bounded(TaskSet(tasks=tuple(task(n, f"Do {n}.", grant) for n in range(1, 200))))
    assert len(tasks) == 100
    first, *others = tasks
    assert first.text.startswith("Do 1.\nDo 2.\n") and first.text.endswith("Do 100.")
    assert first.id == "t100" and first.grant is None
    assert [other.text for other in others] == [f"Do {n}." for n in range(101, 200)]


def test_all_tasks_together_have_a_longest_length() -> None:
    tasks = bounded(TaskSet(tasks=tuple(task(n, "word " * 2_000) for n in range(50))))
    assert sum(len(each.text) for each in tasks) <= 64_000
    (one,) = bounded(TaskSet(tasks=(task(1, "a" * 20_000 + "b" * 20_000),)))
    assert len(one.text) < 17_000 and one.text.startswith("aa") and one.text.endswith("bb")


def test_ids_go_on_where_tasks_were_joined() -> None:
    async def work() -> SessionState:
        talk = session()
        for number in range(300):
            await talk.user(f"Do the thing number {number}.")
        return talk.state

    ids = [each.id for each in run(work()).tasks]
    assert len(ids) <= 128 and len(set(ids)) == len(ids) and ids[-1] == "t300"
