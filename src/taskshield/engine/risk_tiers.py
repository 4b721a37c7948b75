"""How much harm a tool could do, inferred from what is known about it.

The guess rests on everyday English verbs and nouns in the tool's name and the first words of its
description, on its parameters, and on MCP annotations. Annotations and descriptions come from the
tool's author: they can raise the tier, but lower it only where the name says nothing, or nothing
that need be a verb. A description that begins with a thing tells what the tool returns.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec, name_words

_SEVERITY = (
    Tier.READ,
    Tier.WRITE,
    Tier.EXTERNAL,
    Tier.DESTRUCTIVE,
    Tier.FINANCIAL,
    Tier.ACCESS,
)

_READ_VERBS = frozenset(
    "calculate check compare compute convert count describe detect display estimate evaluate"
    " examine explain extract fetch filter find get grep inspect list locate look lookup measure"
    " monitor parse ping preview query read recall retrieve return review scan search see select"
    " show sort status summarise summarize tail test track translate validate verify view watch"
    " whoami".split()
)
_VERB_TIERS: Mapping[Tier, frozenset[str]] = {
    Tier.WRITE: frozenset(
        "add append apply archive assign book bookmark cancel change close comment complete copy"
        " create disable draft edit enable enter fill generate insert install label log make mark"
        " merge modify move open organise organize pin put record register rename replace reply"
        " reschedule reserve restart restore run save schedule set sort star start stop store"
        " submit subscribe tag toggle turn unpin unsubscribe update upsert write".split()
    ),
    Tier.EXTERNAL: frozenset(
        "broadcast browse call commit contact crawl deploy dial dispatch download email export"
        " forward mail message navigate notify post print publish push release report request send"
        " sms submit sync text tweet upload visit webhook".split()
    ),
    Tier.DESTRUCTIVE: frozenset(
        "bash clear delete destroy discard drop empty erase eval exec execute format kill overwrite"
        " purge remove reset revert rollback shell shred sudo terminate truncate uninstall"
        " wipe".split()
    ),
    Tier.FINANCIAL: frozenset(
        "bid buy charge checkout deposit donate invest order pay purchase refund reimburse remit"
        " repay sell tip trade transfer wire withdraw".split()
    ),
    Tier.ACCESS: frozenset(
        "allow authorise authorize ban block deny grant impersonate invite kick lock permit"
        " promote revoke share unblock unlock unshare whitelist".split()
    ),
}
_NOUN_TIERS: Mapping[Tier, frozenset[str]] = {
    Tier.FINANCIAL: frozenset(
        "bill funds invoice loan money payment payout salary subscription transaction".split()
    ),
    Tier.ACCESS: frozenset(
        "access acl admin collaborator credential credentials key member membership passphrase"
        " password permission permissions privilege privileges role secret sharing token user"
        " visibility".split()
    ),
    Tier.EXTERNAL: frozenset("email mail sms tweet webhook".split()),
}
_VERBS = _READ_VERBS.union(*_VERB_TIERS.values())
_ADDRESS_PARAMETERS = frozenset("url uri urls uris link href endpoint webhook domain".split())
_COMMAND_PARAMETERS = frozenset("sql command cmd script shell".split())
_JOINING = frozenset("and or then".split())
_OF_STATES = frozenset(
    "current how last latest newest recent what when where whether which who whose".split()
)
"""A description that begins with one of these tells how things are."""
_ARTICLES = frozenset("a all an any each every full its my one our the their your".split())
_BEFORE_THINGS = _OF_STATES | _ARTICLES
"""What follows one of these is no verb."""
_ALSO_ANSWERING = frozenset("download generate open run".split())
"""Verbs of tools that act, and of such as only answer: "Run a query"."""
_AFTER_THINGS = frozenset("about between by of since".split())
"""What stands before one of these is a thing, or a deed."""
_BESIDE_THINGS = _AFTER_THINGS | {"with"}
"""One of these tells more of a thing that stands before it."""
_TOOLS = frozenset(
    "action agent api assistant client command endpoint function helper integration interface"
    " manager method module operation plugin service tool utility way wrapper".split()
)
"""What a description may call the tool itself: it tells nothing about what it returns."""
_ALSO_THINGS = frozenset(
    "archive book call comment copy draft email label log mail message note post print"
    " record report request schedule star store tag text".split()
)
"""Verbs that name things as often: `autobelay_log`."""
_NEAR = 6
"""Words of a description in which "to" tells of a deed."""
_DEED = re.compile(r"(?:[st]ion|ment|al|ing)s?$")
"""How words for deeds end, and some others."""
_GRAVE = (Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS)
_OPENING_LENGTH = 200


def tier_of(name: str, tools: Mapping[str, ToolSpec], policy: Policy) -> Tier:
    """The risk tier of a tool; a tool that was never declared is never harmless."""
    override = policy.tiers.get(name)
    if override is not None:
        return override
    spec = tools.get(name)
    if spec is None:
        return _worst(_named(_own_words(name)) or Tier.WRITE, Tier.WRITE)
    return infer(spec)


def infer(spec: ToolSpec) -> Tier:
    """The risk tier of a declared tool."""
    hints = spec.annotations
    words = _own_words(spec.name)
    opening = _opening(spec.description)
    tier, described = _named(words), _described(opening)
    if tier is None:
        tier = described
    elif described in _GRAVE:
        tier = _gravest([tier, _described(_without_things(opening))])
    if (
        tier not in _GRAVE
        and _may_be_a_thing(words)
        and _tells_what_there_is(spec.description, opening)
    ):
        tier = Tier.READ
    if tier is Tier.READ:
        tier = _deed_to_a_thing(opening) or tier
    if tier is None:
        tier = Tier.READ if hints.read_only else Tier.WRITE
    if hints.read_only is False:
        tier = _worst(tier, Tier.WRITE)
    if hints.destructive and not hints.read_only:
        tier = _worst(tier, Tier.DESTRUCTIVE)
    parameters = _parameters(spec.parameters)
    if hints.open_world or not parameters.isdisjoint(_ADDRESS_PARAMETERS):
        tier = _worst(tier, Tier.EXTERNAL)
    if not parameters.isdisjoint(_COMMAND_PARAMETERS):
        tier = _worst(tier, Tier.DESTRUCTIVE)
    return tier


def _own_words(name: str) -> list[str]:
    """The words of a tool's own name, without those of its MCP server (`mcp__server__tool`).

    Nor those of its namespace (`mail.search_mails`), unless nothing else says what it does.
    """
    name = name.split("__", 2)[-1] if name.startswith("mcp__") else name
    last = name_words(re.split(r"[./:]", name)[-1])
    return last if _VERBS.intersection(last) else name_words(name)


def _named(words: list[str]) -> Tier | None:
    """The gravest tier that any part of a name speaks for ("find_and_delete" has two parts)."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _JOINING:
            parts.append([])
        else:
            parts[-1].append(word)
    return _gravest([_of_part(part) for part in parts])


def _of_part(words: list[str], *, nouns: bool = True) -> Tier | None:
    """The tier that the first verb speaks for, with the nouns around it; None without a verb."""
    if words[:2] == ["check", "out"]:
        return Tier.FINANCIAL
    for position, word in enumerate(words):
        tiers = [tier for tier, verbs in _VERB_TIERS.items() if word in verbs]
        if word in _READ_VERBS and (position == 0 or not tiers):
            return Tier.READ
        if tiers:
            others = set(words) - {word} if nouns else set()
            tiers += [tier for tier, names in _NOUN_TIERS.items() if not names.isdisjoint(others)]
            return max(tiers, key=_SEVERITY.index)
    return None


def _opening(description: str) -> list[str]:
    """The words of a description's first sentence."""
    return name_words(description[:_OPENING_LENGTH].split(".", 1)[0])


def _described(opening: list[str]) -> Tier | None:
    """The tier that a description's opening speaks for ("Returns ...", "This tool sends ...")."""
    tier = _of_part([_stem(word) for word in opening[:8]], nouns=False)
    return None if tier is Tier.READ and _begins_with_another_deed(opening) else tier


def _begins_with_another_deed(opening: list[str]) -> bool:
    """Whether it begins like "Void a track ...": the verb is none we know, and no look-up's."""
    match opening:
        case [verb, article, *_] if article in _ARTICLES and verb not in _BEFORE_THINGS:
            return _stem(verb) not in _VERBS
        case _:
            return False


def _deed_to_a_thing(opening: list[str]) -> Tier | None:
    """The tier of a description that begins like "Add a ...", whatever `list_add` seems to do."""
    match opening:
        case [verb, article, *_] if article in _ARTICLES and _stem(verb) not in _ALSO_ANSWERING:
            return _described([verb])
        case _:
            return None


def _without_things(opening: list[str]) -> list[str]:
    """The words that may be verbs: in "One order with its thread", order is none."""
    return [word for last, word in pairwise(["", *opening]) if last not in _BEFORE_THINGS]


def _tells_what_there_is(description: str, opening: list[str]) -> bool:
    """Whether it begins with a thing ("Text of ...", "The latest ...") and tells of no deed."""
    first, second = (*opening[:2], "", "")[:2]
    # "Añade" does not begin with "a"
    begun = re.match(rf"{first}\W", description[:_OPENING_LENGTH].lower())
    sent = "to" in opening[:_NEAR]  # "A message to ..."
    if not second or begun is None or sent or not _TOOLS.isdisjoint(opening):
        return False
    if first in _BEFORE_THINGS:
        told = first in _OF_STATES or not _BESIDE_THINGS.isdisjoint(opening)
    else:
        is_deed = _stem(first) in _VERBS - _ALSO_THINGS or _DEED.search(first) is not None
        told = second in _AFTER_THINGS and not is_deed
    return told and _described(_without_things(opening)[1:]) in (None, Tier.READ)


def _may_be_a_thing(words: list[str]) -> bool:
    """Whether no word of a name need be a verb."""
    return _VERBS.intersection(words) <= _ALSO_THINGS and not _VERBS.intersection(words[:1])


def _stem(word: str) -> str:
    """Third person to base form, for words the lists know: returns, fetches, queries."""
    bases = (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    return next((base for base in bases if base in _VERBS), word)


def _parameters(schema: Mapping[str, object]) -> set[str]:
    """The words in the names of the parameters."""
    properties = schema.get("properties")
    names = properties if isinstance(properties, Mapping) else schema
    return {word for name in names for word in name_words(str(name))}


def _worst(one: Tier, other: Tier) -> Tier:
    return max(one, other, key=_SEVERITY.index)


def _gravest(tiers: list[Tier | None]) -> Tier | None:
    return max((tier for tier in tiers if tier is not None), key=_SEVERITY.index, default=None)
