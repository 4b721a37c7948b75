"""Actions that a tool's definition admits to beside its first verb.

"Check and delete old records" begins with a verb for reading, and deletes. The gravest action
counts, wherever it stands: after "and", in a later sentence, in a passive clause, among the choices
of a parameter. Words that are nouns as often as verbs count only where a noun cannot stand.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile

from taskshield.core.tools import Tier, ToolSpec, name_words
from taskshield.engine.wording.verbs import (
    ARTICLES,
    JOINING,
    READ_VERBS,
    VERB_TIERS,
    gravest,
)

_LONGEST = 4_000
"""Characters of a description that are read."""
_MORE_VERBS: Mapping[Tier, frozenset[str]] = {
    Tier.WRITE: frozenset(
        "accept activate adjust alter amend configure correct deactivate decline detach finalise"
        " finalize fix migrate patch process reassign rebuild reconcile reject resolve rotate"
        " settle suspend".split()
    ),
    Tier.DESTRUCTIVE: frozenset("annul expire nuke prune retract void wipe".split()),
    Tier.FINANCIAL: frozenset("credit debit disburse".split()),
    Tier.ACCESS: frozenset("approve unmask".split()),
}
_TIERS = {
    verb: tier
    for tier in VERB_TIERS
    for verb in sorted(VERB_TIERS[tier] | _MORE_VERBS.get(tier, frozenset()))
    if verb != "overwrite"  # what most tools that write a file say of themselves
}
"""The gravest tier of each verb."""
_KNOWN = READ_VERBS.union(_TIERS)
_NEED_AN_OBJECT = frozenset(
    "archive assign bash bid bill block book bookmark broadcast browse buy call cancel change"
    " charge checkout clear close comment commit complete contact copy correct crawl credit"
    " debit deposit dial dispatch draft edit email empty exec export fill fix format forward"
    " grant install invite kick label lock log mail make mark merge message move notice open"
    " order patch permit pin post print process promote push put record refund register release"
    " rename report request reserve reset restart return run save schedule sell set share shell"
    " sms sort star start stop store submit sudo sync tag text tip toggle trade transfer turn"
    " tweet update upload visit webhook wire".split()
)
"""Verbs that are nouns or adjectives as well: they count before an article or a pronoun only."""
_PRONOUNS = frozenset("it them these those".split())
_OBJECTS = ARTICLES | _PRONOUNS | frozenset("her him me this us".split())
_JOINS = JOINING | {"&", ",", "/", ";"}
_FILLERS = frozenset(
    "also and automatically even finally immediately optionally permanently then to".split()
)
"""Words between a joining word and a verb."""
_BEFORE_VERBS = _FILLERS - {"to"}
_FILLERS_READ = 5
_MODALS = frozenset("can could may might must optionally should will".split())
_NOT = frozenset("before cannot don doesn neither never no none nor not nothing without".split())
_RELATIVE = frozenset("how if that unless what when where whether which who whose why".split())
"""After one of these a clause describes things, and not what the tool does."""
_PASSIVE = frozenset("are be being get gets is".split())
_IRREGULAR = {"paid": "pay", "sent": "send", "sold": "sell", "withdrawn": "withdraw"}
_RULES = ("allow", "block", "deny", "permit")
"""Verbs whose passive tells of a rule: "Network is allowed"."""
_PARTICLES = frozenset("at for in out through up".split())
_AFTER_A_NOUN = frozenset("about at between by for from in of on per since with".split())
_CHOICES = frozenset("action method mode op operation verb".split())
"""Parameters that choose what a tool does."""
_GRAVE = (Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS)
_PASSIVE_TIERS = (*_GRAVE, Tier.EXTERNAL)
_TOKEN = re.compile(
    r"(?:[^\W\d_]+-)*([^\W\d_]+)|\d+|[.!?;:,/&\n\u2013\u2014\u2192\u2022(]|-(?=[\s>-])"
)
"""Of words with hyphens, the last: "auto-delete" deletes, "add-ons" add nothing. Dashes and arrows
between words end a clause."""
_ENDS = frozenset(".!?:\n(-\u2013\u2014\u2192\u2022")
_ONES = 4
_ONES_WORDS = _PRONOUNS | {"one", "ones"}
"""Objects of a verb a few words before them: "close dormant ones"."""


def further_tier(spec: ToolSpec, words: list[str]) -> Tier | None:
    """The gravest tier of the actions beside the first verb.

    Args:
        spec: The tool.
        words: The words of its own name.
    """
    return gravest(
        (
            *_in_name(words),
            *_in_description(spec.description),
            *_in_parameters(spec.parameters),
        )
    )


def _in_name(words: list[str]) -> Iterator[Tier]:
    """What "review_and_correct" and "scan_delete" do after they looked."""
    if words and words[0] in READ_VERBS:
        if words[1:2] and words[1] in JOINING:
            yield from (_joined_tier(word) for word in words[2:3])
        last = words[-1]
        if last not in _NEED_AN_OBJECT and last in _TIERS:
            yield _TIERS[last]


def _joined_tier(word: str) -> Tier:
    """The tier of a word that must be a verb; an unknown one does more than look."""
    return Tier.READ if word in READ_VERBS else _TIERS.get(word, Tier.WRITE)


def _in_description(description: str) -> Iterator[Tier]:
    found = _TOKEN.finditer(description[:_LONGEST].lower())
    tokens = [match[1] or match[0] for match in found]
    thirds = (
        bool(tokens) and tokens[0] not in READ_VERBS and _base(tokens[0], "s", _KNOWN) is not None
    )
    for place, token in enumerate(tokens):
        if place == 0 or tokens[place - 1] == "to":
            yield from _beside_verb(tokens, place)
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if place == 0 or _is_denied(tokens, place, following):
            continue
        certain = tokens[place - 1] in _MODALS and _is_of_the_tool(tokens, place - 1)
        verb = token if certain else _verb_at(tokens, place, thirds=thirds)
        certain = certain or _has_object(tokens, place)
        if verb in _TIERS and (certain or verb not in _NEED_AN_OBJECT):
            yield _TIERS[verb]
        elif _is_done(tokens, place):
            verb = _IRREGULAR.get(token) or _base(token, "ed", _TIERS)
            if verb is not None and verb not in _RULES and _TIERS[verb] in _PASSIVE_TIERS:
                yield _TIERS[verb]


def _has_object(tokens: list[str], place: int) -> bool:
    """Whether what follows is the object of a verb: an article, a pronoun, "dormant ones"."""
    after = list(takewhile(_ENDS.isdisjoint, tokens[place + 1 : place + _ONES]))
    if not after:
        return False
    if tokens[place - 1] == "then" or after[0] in _OBJECTS:
        return True
    return not _ONES_WORDS.isdisjoint(after[1:])


def _beside_verb(tokens: list[str], place: int) -> Iterator[Tier]:
    """What is joined directly to a verb that reads must be a verb: "Review and void ..."."""
    first = tokens[place]
    if _base(first, "s", READ_VERBS) is None:
        return
    thirds = first not in READ_VERBS
    place += 2 if tokens[place + 1 : place + 2] and tokens[place + 1] in _PARTICLES else 1
    joined = False
    for token in tokens[place : place + _FILLERS_READ]:
        if token not in _JOINS | _FILLERS:
            break
        joined = joined or token in _JOINS
        place += 1
    word, following = (*tokens[place : place + 2], "", "")[:2]
    if not joined or not word.isalpha() or word.endswith("s") is not thirds:
        return  # "Search notes, mails": a list of nouns
    verb = _base(word, "s", _KNOWN) or word
    ends = following in _AFTER_A_NOUN | _JOINS | _ENDS | {""}
    if ends and (verb not in _KNOWN or (thirds and verb in _NEED_AN_OBJECT)):
        return  # "Status and history of ..."
    yield _joined_tier(verb)


def _verb_at(tokens: list[str], place: int, *, thirds: bool) -> str | None:
    """The verb at a place where one may stand, if there is one."""
    token = tokens[place]
    start = place
    while tokens[start - 1] in _BEFORE_VERBS and start > max(1, place - _FILLERS_READ):
        start -= 1
    before = tokens[start - 1]
    if before in _ENDS:
        return _base(token, "s", _TIERS)
    if tokens[place - 1] == "to" and _offers(tokens, place - 1):
        return token
    if before in _JOINS or start < place:
        ends = "s" if token.endswith("s") or not thirds else "ing"
        return _base(token, ends, _TIERS) or _base(token, "ing", _TIERS)
    return _base(token, "ing", _TIERS) if before in ("by", "while", "including") else None


def _is_of_the_tool(tokens: list[str], place: int) -> bool:
    """Whether what may happen is done by the tool: "It can delete", but not "users can open"."""
    before = tokens[place - 1] if place else "it"
    return before in _JOINS | _ENDS | _FILLERS | {"it", "tool"}


def _offers(tokens: list[str], place: int) -> bool:
    """Whether "to" follows a word that offers or intends something: "used to delete ..."."""
    nearby = tokens[max(0, place - 3) : place]
    return not {"able", "allow", "allows", "lets", "option", "used", "use"}.isdisjoint(nearby)


def _is_done(tokens: list[str], place: int) -> bool:
    """Whether a passive clause says that the tool does it: "expired ones are removed"."""
    return tokens[place - 1] in _PASSIVE or (
        place > 1 and tokens[place - 1] in _FILLERS and tokens[place - 2] in _PASSIVE
    )


def _is_denied(tokens: list[str], place: int, following: str) -> bool:
    """Whether the clause up to a word denies it, or describes things."""
    describes = following not in _PRONOUNS
    for token in reversed(tokens[max(0, place - 5) : place]):
        if token in _ENDS:
            break
        if token in _NOT or (describes and token in _RELATIVE):
            return True
    return following in _NOT


def _base(word: str, ending: str, known: Collection[str]) -> str | None:
    """The known verb that a word with this ending is a form of, if there is one."""
    bases = [word] if ending == "s" else []
    if word.endswith(ending):
        bare = word.removesuffix(ending)
        bases += [bare, f"{bare}e", bare.removesuffix("e"), bare[:-1]]
        bases += [f"{bare.removesuffix('i')}y", f"{bare.removesuffix('ie')}y"]
    return next((base for base in bases if base in known), None)


def _in_parameters(schema: Mapping[str, object]) -> Iterator[Tier]:
    """Choices of an action, and switches such as `delete_after`."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, rule in properties.items():
        words = name_words(str(name))
        if not words or not isinstance(rule, Mapping):
            continue
        if not _CHOICES.isdisjoint(words):
            yield from _in_choices(rule)
        if rule.get("type") == "boolean" and words[0] not in _NEED_AN_OBJECT:
            tier = _TIERS.get(words[0])
            if tier in _GRAVE:
                yield tier


def _in_choices(rule: Mapping[str, object]) -> Iterator[Tier]:
    choices = rule.get("enum")
    for choice in choices if isinstance(choices, list | tuple) else ():
        words = name_words(str(choice))
        if words and words[0] in _TIERS and words[0] not in READ_VERBS:
            yield _TIERS[words[0]]
