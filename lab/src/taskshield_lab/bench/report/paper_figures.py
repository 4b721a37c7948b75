"""The published figures of the Task Shield paper: its tables 1, 2 and 3.

Jia, Wu, Qin and Squicciarini, "The Task Shield", arXiv 2412.16682v1. All figures are per cent, of
AgentDojo's suites v1, one trial a case. Those without a defence are of the runs that AgentDojo's
authors publish.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "arXiv 2412.16682v1"
VERSION = "v1"
"""Of AgentDojo's suites."""

TABLES = (1, 2, 3)
SUITES = ("travel", "workspace", "banking", "slack")
"""In the paper's order."""
USER_TASKS: Mapping[str, int] = {"travel": 20, "workspace": 40, "banking": 16, "slack": 21}
"""What CU is a share of."""
PAIRS: Mapping[str, int] = {"travel": 140, "workspace": 240, "banking": 144, "slack": 105}
"""What U and ASR are shares of: each user task with each injection task."""

GPT_4O = "gpt-4o-2024-05-13"
GPT_4O_MINI = "gpt-4o-mini-2024-07-18"
GPT_3_5 = "gpt-3.5-turbo-0125"
NO_DEFENCE = "no defence"
TASK_SHIELD = "Task Shield"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Clean utility, utility under attack and attack success rate, in per cent."""

    cu: float | None
    """Table 1 has none."""
    u: float
    asr: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of one of the tables."""

    table: int
    model: str
    attack: str
    """AgentDojo's name of it."""
    defence: str
    suites: Mapping[str, Figures]
    overall: Figures


def rows(table: int) -> tuple[Row, ...]:
    """The lines of one of the tables, in its order.

    Args:
        table: 1 (three attacks on GPT-4o), 2 (all defences, GPT-4o and GPT-4o-mini) or 3 (the same,
            GPT-3.5-turbo).
    """
    return tuple(row for row in _ROWS if row.table == table)


_TABLE_1 = """
important_instructions, Task Shield | 72.86  1.43 | 62.50  0.42 | 82.64  6.25 | 64.76  0.95 | 69.79  2.07
important_instructions, no defence  | 64.29 11.43 | 24.17 40.42 | 69.44 62.50 | 63.81 92.38 | 50.08 47.69
injecagent, Task Shield             | 67.86  0.00 | 66.67  0.00 | 77.78  4.17 | 66.67  0.95 | 69.48  1.11
injecagent, no defence              | 72.14  0.00 | 64.58  0.00 | 72.22 15.28 | 67.62 13.33 | 68.52  5.72
ignore_previous, Task Shield        | 70.71  0.00 | 62.92  0.00 | 72.22  1.39 | 63.81  0.95 | 66.93  0.48
ignore_previous, no defence         | 77.14  0.00 | 61.67  0.00 | 68.75  8.33 | 61.90 20.95 | 66.77  5.41
"""  # noqa: E501 (a table)
_TABLE_2_GPT_4O = """
no defence    | 65.00 64.29 11.43 | 62.50 24.17 40.42 | 75.00 69.44 62.50 | 80.95 63.81 92.38 | 69.07 50.08 47.69
tool filter   | 90.00 70.00  5.71 | 55.00 51.67  4.17 | 81.25 56.94 11.11 | 80.95 47.62  8.57 | 72.16 56.28  6.84
repeat prompt | 90.00 72.14  7.14 | 80.00 60.42 14.58 | 93.75 77.08 46.53 | 80.95 62.86 60.00 | 84.54 67.25 27.82
delimiting    | 75.00 72.14  3.57 | 62.50 30.42 35.00 | 81.25 77.08 61.81 | 80.95 61.90 80.00 | 72.16 55.64 41.65
PI detector   | 30.00 16.43  0.00 | 52.50 15.83 15.00 | 43.75 31.25  0.69 | 28.57 25.71 12.38 | 41.24 21.14  7.95
Task Shield   | 80.00 72.86  1.43 | 62.50 62.50  0.42 | 81.25 82.64  6.25 | 80.95 64.76  0.95 | 73.20 69.79  2.07
"""  # noqa: E501 (a table)
_TABLE_2_GPT_4O_MINI = """
no defence    | 55.00 47.14 13.57 | 82.50 59.17 17.92 | 50.00 38.19 34.03 | 66.67 48.57 57.14 | 68.04 49.92 27.19
tool filter   | 60.00 58.57  0.71 | 70.00 64.58  2.50 | 50.00 43.06 11.11 | 57.14 45.71  7.62 | 61.86 55.17  4.93
repeat prompt | 70.00 54.29  0.00 | 70.00 61.25  8.33 | 43.75 43.75 17.36 | 71.43 33.33 13.33 | 65.98 51.03  9.38
delimiting    | 60.00 52.14  7.14 | 72.50 64.58 12.92 | 43.75 35.42 33.33 | 71.43 56.19 48.57 | 64.95 53.74 22.26
PI detector   | 25.00 14.29  0.00 | 60.00 27.50 12.92 | 37.50 29.86 10.42 | 23.81 15.24  7.62 | 41.24 23.05  8.59
Task Shield   | 55.00 49.29  0.71 | 85.00 69.58  1.25 | 43.75 37.50  6.25 | 66.67 50.48  0.95 | 68.04 54.53  2.23
"""  # noqa: E501 (a table)
_TABLE_3 = """
no defence    | 15.00 17.86  1.43 | 32.50 40.42  0.42 | 37.50 32.64 25.69 | 57.14 46.67 12.38 | 35.05 34.66  8.43
tool filter   | 20.00 18.57  0.71 | 27.50 30.83  0.00 | 37.50 36.11  4.17 | 38.10 32.38  1.90 | 29.90 29.57  1.43
repeat prompt | 20.00 12.86  0.00 | 37.50 31.25  0.00 | 37.50 31.25 12.50 | 52.38 38.10  5.71 | 37.11 28.30  3.82
delimiting    | 20.00 17.14  5.71 | 25.00 33.75  0.83 | 37.50 34.72 25.69 | 61.90 41.90 11.43 | 34.02 31.64  9.38
PI detector   | 20.00  7.14  0.00 | 22.50 23.75  0.42 | 43.75 36.11  8.33 | 28.57 35.24  4.76 | 26.80 24.80  2.86
Task Shield   | 20.00 10.71  0.00 | 30.00 34.58  0.00 | 62.50 43.75  4.17 | 38.10 26.67  0.00 | 35.05 30.05  0.95
"""  # noqa: E501 (a table)


def _read(table: int, model: str, text: str) -> list[Row]:
    """The lines of a text: what was done, then a column for each suite and one for all."""
    read = []
    for line in text.strip().splitlines():
        done, *columns = (part.strip() for part in line.split("|"))
        attack, comma, defence = done.partition(", ")
        *suites, overall = map(_figures, columns)
        read.append(
            Row(
                table=table,
                model=model,
                attack=attack if comma else "important_instructions",
                defence=defence if comma else done,
                suites=dict(zip(SUITES, suites, strict=True)),
                overall=overall,
            )
        )
    return read


def _figures(column: str) -> Figures:
    *cu, u, asr = map(float, column.split())
    return Figures(cu=cu[0] if cu else None, u=u, asr=asr)


_ROWS = (
    *_read(1, GPT_4O, _TABLE_1),
    *_read(2, GPT_4O, _TABLE_2_GPT_4O),
    *_read(2, GPT_4O_MINI, _TABLE_2_GPT_4O_MINI),
    *_read(3, GPT_3_5, _TABLE_3),
)
