"""Work that the user said is listed somewhere, and a later order to do it.

"My errands are on the wiki. Could you do the first two?" obeys the wiki, although the order itself
names only a part of the work mentioned before.
"""

import re

LONGEST = 120
"""Longer phrases that name a source are cut."""
_FLAGS = re.IGNORECASE

_WORK = (
    r"(?:tasks?|errands?|chores?|jobs|to-?dos?|(?:(?:to-?do|task|check|action)[\s-]*)?lists?"
    r"|assignments|duties|action\s+(?:items?|points?)|homework|requests|favou?rs|instructions)"
)
_THINGS = rf"(?:{_WORK}|things?|stuff|something|everything|anything|what)"
_WANTS = r"(?:asked|asks|wants?|wanted|needs?|needed|told|expects?|would\s+like|['’]d\s+like)"
_DOING = r"(?:do|handle|take\s+care\s+of|see\s+to|deal\s+with|get\s+done|sort\s+out)"
_STANDS = re.compile(
    # "my errands are all on the wiki", "I keep a list of chores at lists.example"
    rf"\b{_WORK}\b[^.!?\n]{{0,60}}?\s(?:at|on|in)\s+(?P<place>(?!(?:my\s+(?:mind|plate)|total|time"
    r"|order|particular|hand|fact|general|case|[a-z]+day)\b)(?:[^,;!?\n.]|\.(?=\S))+)"
    # "check the shared document for my tasks"
    r"|\b(?:check|open|read|see|visit|look\s+(?:at|in|into|on|through)|go\s+(?:to|through))\s++"
    rf"(?P<read>[^,;.!?\n]{{1,60}}?)\s++(?:for|to\s+(?:find|see|get))\s+(?:[\w'’-]+\s+){{0,3}}?{_WORK}\b"
    # "a few things that Bob wants me to do", "something she needs done"
    rf"|(?P<wanted>\b{_THINGS}\s+(?:(?:that|which)\s+)?(?!(?:i|we|you)\b)(?:[\w'’-]+\s+){{1,3}}?"
    rf"{_WANTS}\b[^,;.!?\n]{{0,40}}?\b(?:do|done|handled|doing)\b)"
    # "Bob asked me to do a few things", "Ida needs you to take care of something"
    r"|(?P<asked>(?!(?:i|we|you)\b)\b[\w'’-]{1,40}(?:\s+[\w'’-]{1,40}){0,3}?"
    rf"\s+{_WANTS}\s+(?:me|us|you)\b[^,;.!?\n]{{0,40}}?\b"
    rf"(?:{_DOING}\s+(?:[\w'’-]+\s+){{0,3}}?{_THINGS}|for\s+(?:[\w'’-]+\s+){{0,3}}?(?:favou?rs?|things))\b)"
    # "Emma made a list of what is left"
    r"|(?P<left>(?!(?:i|we|you)\b)\b[\w'’-]{1,40}(?:\s+[\w'’-]{1,40})?\s+(?:made|wrote|left|posted|sent|pinned"
    rf"|keeps)\s+[^,;.!?\n]{{0,40}}?\b{_WORK}\b)",
    _FLAGS,
)
TAKES_UP = re.compile(
    r"\b(?:do|finish|complete|take\s+care\s+of|handle|see\s+to|sort\s+out|tick\s+off|deal\s+with"
    r"|work\s+(?:off|through)|tackle|attend\s+to|carry\s+out|go\s+through|start\s+(?:on|with)"
    r"|get(?=[^,;.!?\n]{1,40}\bdone\b))\s+"
    r"(?:(?:all|both|each|some|any|every\s+one)(?:\s+of)?\s+)?"
    r"(?:them|those|these|it\s+all|everything|the\s+(?:ones?|rest|others)"
    r"|(?:the|my|his|her|their)\s+(?:(?:very|two|three)\s+)?"
    r"(?:first|second|third|fourth|fifth|last|next|top|other|remaining|open)"
    r"|(?:number|no\.?|item|point|task)\s+\d+)\b",
    _FLAGS,
)
"""An order to do work that was mentioned before, or a part of it."""


def standing(before: str) -> str | None:
    """The source of the work mentioned last, or who wants it done; None where neither was said.

    Args:
        before: What the user said before the order.
    """
    found = list(_STANDS.finditer(before))
    if not found:
        return None
    phrase = next(words for words in found[-1].groups() if words is not None)
    return phrase[:LONGEST].strip()
