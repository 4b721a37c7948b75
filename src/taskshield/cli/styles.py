"""The colours of the report, and how much of a text it shows."""

ALIGNED = "green"
MISALIGNED = "bold red"
WARNING = "bold yellow"
GOAL = "cyan"
"""Ids of tasks and objectives."""
MINOR = "dim"

NAME_LENGTH = 60
GLIMPSE_LENGTH = 100
"""Of what is in order."""
LOOK_LENGTH = 600
"""Of what is not, and of goals."""
FEEDBACK_LENGTH = 4_000
