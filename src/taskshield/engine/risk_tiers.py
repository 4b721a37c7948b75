"""The risk tier of a tool, inferred from its definition.

The inference rests on common English verbs and nouns in the tool's name and in the first words of
its description, on its parameters, and on MCP annotations. Annotations and descriptions come from
the tool's author: they can raise the tier, but lower it only if the name has no word that must be a
verb. A description that begins with a noun phrase says what the tool returns.
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
_STATE_WORDS = frozenset(
    "current how last latest newest recent what when where whether which who whose".split()
)
"""A description that begins with one of these describes a state."""
_ARTICLES = frozenset("a all an any each every full its my one our the their your".split())
_BEFORE_NOUNS = _STATE_WORDS | _ARTICLES
"""The word after one of these is no verb."""
_ALSO_ANSWERING = frozenset("download generate open run".split())
"""Verbs of tools that act and of tools that only answer: "Run a query"."""
_AFTER_NOUNS = frozenset("about between by of since".split())
"""The word before one of these is a noun, possibly one for an action."""
_BESIDE_NOUNS = _AFTER_NOUNS | {"with"}
"""One of these qualifies the noun before it."""
_TOOL_NOUNS = frozenset(
    "action agent api assistant client command endpoint function helper integration interface"
    " manager method module operation plugin service tool utility way wrapper".split()
)
"""Nouns for the tool itself: they say nothing about what it returns."""
_ALSO_NOUNS = frozenset(
    "archive book call comment copy draft email label log mail message note post print"
    " record report request schedule star store tag text".split()
)
"""Verbs that are as often nouns: `autobelay_log`."""
_TO_WITHIN = 6
"""First words of a description in which "to" points to an action."""
_ACTION_ENDING = re.compile(r"(?:[st]ion|ment|al|ing)s?$")
"""Endings of nouns for actions, and of some others."""
_GRAVE = (Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS)
_OPENING_LENGTH = 200


def tier_of(name: str, tools: Mapping[str, ToolSpec], policy: Policy) -> Tier:
    """The risk tier of a tool; that of an undeclared tool is never read."""
    override = policy.tiers.get(name)
    if override is not None:
        return override
    spec = tools.get(name)
    if spec is None:
        return _graver(_tier_of_name(_own_words(name)) or Tier.WRITE, Tier.WRITE)
    return infer(spec)


def infer(spec: ToolSpec) -> Tier:
    """The risk tier of a declared tool."""
    hints = spec.annotations
    words = _own_words(spec.name)
    opening = _opening(spec.description)
    tier, described = _tier_of_name(words), _tier_of_opening(opening)
    if tier is None:
        tier = described
    elif described in _GRAVE:
        tier = _gravest([tier, _tier_of_opening(_without_nouns(opening))])
    if (
        tier not in _GRAVE
        and _may_be_a_noun(words)
        and _describes_a_result(spec.description, opening)
    ):
        tier = Tier.READ
    if tier is Tier.READ:
        tier = _tier_of_verb_and_article(opening) or tier
    if tier is None:
        tier = Tier.READ if hints.read_only else Tier.WRITE
    if hints.read_only is False:
        tier = _graver(tier, Tier.WRITE)
    if hints.destructive and not hints.read_only:
        tier = _graver(tier, Tier.DESTRUCTIVE)
    parameters = _parameters(spec.parameters)
    if hints.open_world or not parameters.isdisjoint(_ADDRESS_PARAMETERS):
        tier = _graver(tier, Tier.EXTERNAL)
    if not parameters.isdisjoint(_COMMAND_PARAMETERS):
        tier = _graver(tier, Tier.DESTRUCTIVE)
    return tier


def _own_words(name: str) -> list[str]:
    """The words of a tool's own name, without its MCP server (`mcp__server__tool`).

    Its namespace (`mail.search_mails`) counts only if the rest has no verb.
    """
    name = name.split("__", 2)[-1] if name.startswith("mcp__") else name
    last = name_words(re.split(r"[./:]", name)[-1])
    return last if _VERBS.intersection(last) else name_words(name)


def _tier_of_name(words: list[str]) -> Tier | None:
    """The gravest tier of the parts of a name ("find_and_delete" has two parts)."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _JOINING:
            parts.append([])
        else:
            parts[-1].append(word)
    return _gravest([_tier_of_part(part) for part in parts])


def _tier_of_part(words: list[str], *, nouns: bool = True) -> Tier | None:
    """The tier of the first verb and of the nouns around it; None without a verb."""
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


def _tier_of_opening(opening: list[str]) -> Tier | None:
    """The tier of a description's opening ("Returns ...", "This tool sends ...")."""
    tier = _tier_of_part([_stem(word) for word in opening[:8]], nouns=False)
    return None if tier is Tier.READ and _begins_with_unknown_verb(opening) else tier


def _begins_with_unknown_verb(opening: list[str]) -> bool:
    """Whether it begins with an unknown verb, like "Void a track ...": that is no read verb."""
    match opening:
        case [verb, article, *_] if article in _ARTICLES and verb not in _BEFORE_NOUNS:
            return _stem(verb) not in _VERBS
        case _:
            return False


def _tier_of_verb_and_article(opening: list[str]) -> Tier | None:
    """The tier of a description that begins like "Add a ...", whatever its name says."""
    match opening:
        case [verb, article, *_] if article in _ARTICLES and _stem(verb) not in _ALSO_ANSWERING:
            return _tier_of_opening([verb])
        case _:
            return None


def _without_nouns(opening: list[str]) -> list[str]:
    """The words that may be verbs: "order" in "One order with its thread" is none."""
    return [word for last, word in pairwise(["", *opening]) if last not in _BEFORE_NOUNS]


def _describes_a_result(description: str, opening: list[str]) -> bool:
    """Whether it begins with a noun phrase ("Text of ...") and names no action."""
    first, second = (*opening[:2], "", "")[:2]
    # "Añade" does not begin with "a"
    begun = re.match(rf"{first}\W", description[:_OPENING_LENGTH].lower())
    sent = "to" in opening[:_TO_WITHIN]  # "A message to ..."
    if not second or begun is None or sent or not _TOOL_NOUNS.isdisjoint(opening):
        return False
    if first in _BEFORE_NOUNS:
        is_result = first in _STATE_WORDS or not _BESIDE_NOUNS.isdisjoint(opening)
    else:
        is_action = _stem(first) in _VERBS - _ALSO_NOUNS or _ACTION_ENDING.search(first) is not None
        is_result = second in _AFTER_NOUNS and not is_action
    return is_result and _tier_of_opening(_without_nouns(opening)[1:]) in (None, Tier.READ)


def _may_be_a_noun(words: list[str]) -> bool:
    """Whether a name has no word that must be a verb."""
    return _VERBS.intersection(words) <= _ALSO_NOUNS and not _VERBS.intersection(words[:1])


def _stem(word: str) -> str:
    """Third person to base form, for words in the lists: returns, fetches, queries."""
    bases = (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    return next((base for base in bases if base in _VERBS), word)


def _parameters(schema: Mapping[str, object]) -> set[str]:
    """The words in the names of the parameters."""
    properties = schema.get("properties")
    names = properties if isinstance(properties, Mapping) else schema
    return {word for name in names for word in name_words(str(name))}


def _graver(one: Tier, other: Tier) -> Tier:
    return max(one, other, key=_SEVERITY.index)


def _gravest(tiers: list[Tier | None]) -> Tier | None:
    return max((tier for tier in tiers if tier is not None), key=_SEVERITY.index, default=None)
