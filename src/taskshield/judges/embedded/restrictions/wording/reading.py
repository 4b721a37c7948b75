"""Reads one message of the user: what it asks for, forbids, limits, corrects and takes back."""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.restrictions.wording import phrases
from taskshield.judges.embedded.restrictions.wording.choices import (
    choices,
    corrections,
    directions,
    numbers_of_list,
)
from taskshield.judges.embedded.restrictions.wording.choices import exclusions as read_exclusions
from taskshield.judges.embedded.restrictions.wording.moments import moments
from taskshield.judges.embedded.restrictions.wording.quantities import Quantity, quantities
from taskshield.judges.embedded.restrictions.wording.questions import only_asks
from taskshield.judges.embedded.restrictions.wording.said import (
    Limit,
    Order,
    Place,
    Prohibition,
    Said,
)
from taskshield.judges.embedded.restrictions.wording.words import (
    STOP,
    TOKEN,
    UNCLEAR,
    WORD,
    act_of,
    lowered,
    stem,
)

_READ = 6_000
"""Characters of a message that are read; typed text is shorter."""
_BRIEF = 12
"""Words of a message that says little beside what it answers."""
_NEAR = 40
"""Characters around a number in which the words of a limit stand."""
_ARTICLE = re.compile(
    r"\b(?:an?|the|my|your|his|her|their|our|its|any|some|these|those|which|what)\s(?:[a-z]{2,12}\s)?$"
)
_LOOSE = frozenset("it that this them those these".split())


def read(message: int, own: str) -> Said:
    """What a message of the user says."""
    text = own[:_READ]
    low = lowered(text)
    clauses = list(_clauses(low))
    english = is_english(text)
    prohibitions = list(_prohibitions(low, clauses, english=english))
    orders: list[Order] = []
    look = _place(phrases.LOOK_ONLY, low)
    for start, end, _ in clauses:
        covered = [
            one.place for one in prohibitions if one.place.start < end and start < one.place.end
        ]
        spans = [*covered, *([look] if look is not None and start <= look.start < end else [])]
        orders.extend(_orders(low, start, end, spans))
    withdrawn = _place(phrases.WITHDRAWN, low)
    words = WORD.findall(low)
    found = quantities(low)
    return Said(
        message=message,
        text=text,
        low=low,
        tokens=frozenset(TOKEN.findall(low)),
        asks=frozenset(one.act for one in orders),
        orders=tuple(orders),
        goes_ahead=phrases.GO_AHEAD.search(low) is not None,
        plural=phrases.PLURAL.search(low) is not None,
        brief=len(words) <= _BRIEF,
        prohibitions=tuple(prohibitions),
        limits=tuple(_limits(low, found)),
        quantities=tuple(one for one in found if one.value != 1 or one.unit),
        corrections=tuple(corrections(text, low)),
        exclusions=tuple(read_exclusions(text, low)),
        choices=tuple(choices(low)),
        numbers=numbers_of_list(low),
        directions=tuple(directions(low)),
        moments=moments(low),
        look_only=look,
        only_asks=only_asks(own),
        withdrawn=withdrawn,
        nothing_else=_place(phrases.NOTHING_ELSE, low),
        waits=_place(phrases.WAITS, low),
        once=tuple(
            (Place(match.start(), match.end()), match["who"])
            for match in phrases.ONCE.finditer(low)
        ),
    )


def _place(pattern: re.Pattern[str], low: str) -> Place | None:
    match = pattern.search(low)
    return None if match is None else Place(match.start(), match.end())


def _clauses(low: str) -> Iterator[tuple[int, int, bool]]:
    """Places of the clauses, and whether each stands under a condition."""
    begin, conditional = 0, False
    for mark in phrases.BREAK.finditer(low):
        clause = low[begin : mark.start()]
        if clause.strip():
            conditional = conditional or phrases.CONDITION.search(clause[:60]) is not None
            asking = mark[0] in ("?", "？")
            yield begin, mark.start(), conditional or asking
        if mark[0] in ".!?;\n。！？；" or mark[0][0] == "\n":
            conditional = False
        begin = mark.end()
    if low[begin:].strip():
        yield (
            begin,
            len(low),
            conditional or phrases.CONDITION.search(low[begin : begin + 60]) is not None,
        )


def _orders(low: str, start: int, end: int, spans: list[Place]) -> Iterator[Order]:
    for match in WORD.finditer(low, start, end):
        act = act_of(match[0])
        if act == "send" and low[match.end() : match.end() + 4] in (
            " me ",
            " me",
            " us ",
            " me,",
            " me.",
        ):
            continue  # "tell me"
        if match[0] in UNCLEAR and _ARTICLE.search(
            low[max(start, match.start() - 24) : match.start()]
        ):
            continue  # "draft a mail"
        if act and not any(place.start <= match.start() < place.end for place in spans):
            yield Order(act, Place(match.start(), match.end()), end)


def _prohibitions(
    low: str, clauses: list[tuple[int, int, bool]], *, english: bool
) -> Iterator[Prohibition]:
    for start, end, conditional in clauses:
        if conditional or phrases.TENTATIVE.search(low, start, end):
            continue
        clause = low[start:end]
        if low[max(0, start - 1) : start] in (":", "："):
            continue  # "The others: don't answer"
        found = _english(clause, start) if english else None
        if found is None and (not english or phrases.FOREIGN_NO.search(clause)):
            found = _other(clause, start)
        if found is not None:
            yield found
    for match in phrases.SKIPS.finditer(low):
        act = act_of(match["what"])
        if act is not None:
            place = Place(match.start(), match.end())
            yield Prohibition(place, frozenset([act]), frozenset(), False, False)
    for match in phrases.CJK_PROHIBITS.finditer(low):
        verb = match["zh"] or match["ja"] or match["tr"]
        place = Place(match.start(), match.end())
        acts = frozenset([phrases.CJK_ACTS[verb]])
        what = (match["what"] or "").strip("了它吧啊呢送出给任何人东西")
        yield Prohibition(
            place,
            acts,
            frozenset([what]) if what else frozenset(),
            True,
            bool(phrases.YET.search(match[0])),
        )


def _english(clause: str, start: int) -> Prohibition | None:
    for pattern in (phrases.PROHIBITS, phrases.WITHOUT, phrases.NOTHING):
        match = pattern.search(clause)
        if match is None:
            continue
        if pattern is phrases.NOTHING and clause[: match.start()].strip(" ,andbutso"):
            continue  # "the old ones nobody touches"
        rest = match["rest"]
        words = list(WORD.finditer(rest))
        after = [one for one in words[:7] if one[0] not in phrases.ADVERB][:1]
        if not after or (after[0].start() > 0 and len(rest[: after[0].start()].split()) > 4):
            continue
        if re.search(r"\b(?:just|only)\b", rest[: after[0].end()]):
            continue
        act = act_of(after[0][0])
        if act is None and after[0][0] == "do" and "anything" in rest:
            acts: frozenset[str] = frozenset()
        elif act is None:
            if len(after[0][0]) < 4 or after[0][0] in STOP:
                continue
            if pattern is phrases.NOTHING and not after[0][0].endswith("ed"):
                continue
            acts = frozenset(["="])
        else:
            wide = act == "change" and phrases.ANYTHING.search(rest)
            acts = frozenset() if wide else frozenset([act])
        behind = rest[after[0].end() :]
        if phrases.CONTENT.search(behind) or (after[0][0] == "sign" and " up" in behind):
            continue
        names, loose = _objects(behind)
        if pattern is phrases.NOTHING:
            names, loose = frozenset(), False
        lead = len(match[0]) - len(match[0].lstrip(" \t\n,;:."))
        place = Place(start + match.start() + lead, start + len(clause.rstrip()))
        yet = bool(phrases.YET.search(clause))
        root = stem(after[0][0]) if act is None and acts else ""
        return Prohibition(place, acts, names, loose, yet, root)
    match = phrases.PASSIVE.search(clause)
    if match is not None:
        names, _ = _objects(match["what"])
        act = act_of(match["verb"])
        if names and act:
            place = Place(start + match.start(), start + match.end())
            return Prohibition(
                place, frozenset([act]), names, False, bool(phrases.YET.search(clause))
            )
    match = phrases.NO_NOUN.search(clause)
    if match is None:
        return None
    act = act_of(match["noun"])
    names, _ = _objects(match["rest"])
    if act is None:
        place = Place(start + match.start(), start + len(clause.rstrip()))
        root = stem(match["noun"])
        return Prohibition(place, frozenset(["="]), names, False, False, root, noun=True)
    place = Place(start + match.start(), start + len(clause.rstrip()))
    yet = bool(phrases.YET.search(clause))
    return Prohibition(place, frozenset([act]), names, False, yet, noun=True)


_ELIDED = re.compile(r"\b([nldmtsjc]|qu)'")


def _other(clause: str, start: int) -> Prohibition | None:
    """A prohibition in another European language: a negation near a verb."""
    if phrases.OWN_ACT.search(clause):
        return None
    words = list(WORD.finditer(_ELIDED.sub(r"\1 ", clause)))
    no = next((n for n, one in enumerate(words) if one[0] in phrases.NEGATIONS), None)
    if no is None:
        return None
    near = sorted(range(len(words)), key=lambda n: abs(n - no))
    verb = next((n for n in near if n != no and abs(n - no) <= 4 and act_of(words[n][0])), None)
    if verb is None:
        return None
    act = act_of(words[verb][0])
    assert act is not None
    wide = act == "change" and phrases.ANYTHING.search(clause)
    acts = frozenset() if wide else frozenset([act])
    others = " ".join(one[0] for n, one in enumerate(words) if n not in (no, verb))
    names, loose = _objects(others)
    names = frozenset(
        name for name in names if name not in phrases.NEGATIONS and not phrases.YET.search(name)
    )
    place = Place(start + words[0].start(), start + len(clause.rstrip()))
    return Prohibition(place, acts, names, loose or not names, bool(phrases.YET.search(clause)))


_ENDS = re.compile(
    r"\b(?:until|till|before|because|as|since|while|so|without|unless|after|when|once)\b"
)


def _objects(rest: str) -> tuple[frozenset[str], bool]:
    """The words that say to what a verb is done, and whether it is only "it" or "that"."""
    end = _ENDS.search(rest)
    words = TOKEN.findall(rest[: end.start()] if end is not None else rest)
    names = frozenset(
        word.removesuffix("'s")
        for word in words
        if len(word) > 1 and word not in STOP and act_of(word) is None
    )
    anything = any(word.startswith("any") or word in ("nothing", "all") for word in words)
    return names, not names and not anything and any(word in _LOOSE for word in words)


def _limits(low: str, found: tuple[Quantity, ...]) -> Iterator[Limit]:
    for one in found:
        lead = max(0, one.start - _NEAR)
        before = phrases.NUMBER_AFTER.search(low[lead : one.start])
        after = phrases.NUMBER_BEFORE.search(low[one.end : one.end + _NEAR])
        if after is None and one.noun:
            at = low.find(one.noun, one.end) + len(one.noun)
            after = phrases.NUMBER_BEFORE.search(low[at : at + _NEAR])
        if before is None and after is None:
            continue
        if one.unit != "money" and before is not None and phrases.MAY_SELECT.search(before[0]):
            continue  # "buy 40 of what falls under 20"
        start = one.start if before is None else lead + before.start()
        end = one.end if after is None else one.end + after.end()
        sentence = max(low.rfind(mark, 0, one.start) for mark in ".!?\n")
        condition = phrases.ONLY_IF.search(low, sentence + 1, one.start) is not None
        yield Limit(Place(start, end), one, condition)
