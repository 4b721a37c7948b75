"""Colours of the reports, and how many characters of a text they show."""

ALIGNED = "green"
MISALIGNED = "bold red"
WARNING = "bold yellow"
GOAL = "cyan"
"""Ids of tasks and objectives."""
MINOR = "dim"

NAME_LENGTH = 60
GLIMPSE_LENGTH = 100
"""Of aligned messages."""
LOOK_LENGTH = 600
"""Of misaligned messages, tasks and objectives."""
FEEDBACK_LENGTH = 4_000
