"""Whether an order points at the user's own words: a list below it, not a source.

"Carry out these steps: pay the bill, file it" obeys the user only. "Carry out the steps in
the following mail" does.
"""

import re

_LISTED = (
    r"(?:instructions?|directions|steps?|tasks?|to-?dos?|items?|points?|things|jobs?|chores|errands"
    r"|actions?|requests?|orders?|wishes|changes|edits|corrections?|fixes|questions?|rules?|procedure"
    r"|checklist|lists?|plans?|agenda)"
)
_POINTS_AHEAD = re.compile(
    rf"\bthe\s+following\s+(?:[\w-]+\s+){{0,2}}?{_LISTED}\b"
    rf"|\b(?:these|this)\s+(?:[\w-]+\s+){{0,2}}?{_LISTED}\b[^.!?:]{{0,60}}:"
    rf"|\b{_LISTED}\b[^.!?:]{{0,60}}?\bbelow\b\W*(?::|[.!]|$)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:in|on|from|at|of|under|by)\s+"
    r"(?!(?:(?:the|this|that|exactly|given)\s+)*(?:order|sequence|turn|full|detail)\b)",
    re.IGNORECASE,
)


def is_inline_list(clause: str) -> bool:
    """Whether what a clause tells the agent to do follows in the user's own words."""
    pointed = _POINTS_AHEAD.search(clause)
    return pointed is not None and _ELSEWHERE.search(clause.partition(":")[0]) is None
