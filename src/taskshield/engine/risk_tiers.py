"""The risk tier of a tool, inferred from its definition.

The inference rests on common English verbs and nouns in the tool's name and in the first words of
its description, on further actions that the definition admits to, on its parameters, and on MCP
annotations. The gravest counts. Annotations and descriptions come from
the tool's author: they can raise the tier, but lower it only if the name has no word that must be a
verb. A description that begins with a noun phrase says what the tool returns.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise

from taskshield.core.messages import ToolCall
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec, is_unreadable, name_words, own_name
from taskshield.engine.wording.foreign_verbs import foreign_tier, foreign_tier_of_name
from taskshield.engine.wording.further_actions import further_tier
from taskshield.engine.wording.verbs import (
    ALSO_NOUNS,
    ARTICLES,
    JOINING,
    NOUN_TIERS,
    READ_VERBS,
    SEVERITY,
    VERB_TIERS,
    VERBS,
    graver,
    gravest,
    stem,
)

_ADDRESS_PARAMETERS = frozenset("url uri urls uris link href endpoint webhook domain".split())
_COMMAND_PARAMETERS = frozenset("sql command cmd script shell".split())
_STATE_WORDS = frozenset(
    "current how last latest newest recent what when where whether which who whose".split()
)
"""A description that begins with one of these describes a state."""
_BEFORE_NOUNS = _STATE_WORDS | ARTICLES
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
_TO_WITHIN = 6
"""First words of a description in which "to" points to an action."""
_ACTION_ENDING = re.compile(r"(?:[st]ion|ment|al|ing)s?$")
"""Endings of nouns for actions, and of some others."""
_GRAVE = (Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS)
_OPENING_LENGTH = 200


def tiers_of(
    calls: Iterable[ToolCall], tools: Mapping[str, ToolSpec], policy: Policy
) -> dict[str, Tier]:
    """The risk tier of each called tool, by name.

    What the definition of a tool does not say, its arguments may: one that is called with a command
    runs it.
    """
    tiers: dict[str, Tier] = {}
    for call in calls:
        tier = tier_of(call.name, tools, policy)
        if call.name not in policy.tiers:
            tier = _raised(tier, call, declared=call.name in tools)
        tiers[call.name] = graver(tier, tiers.get(call.name, tier))
    return tiers


def _raised(tier: Tier, call: ToolCall, *, declared: bool) -> Tier:
    given = _parameters(call.parse_arguments() or {})
    if not given.isdisjoint(_COMMAND_PARAMETERS):
        return graver(tier, Tier.DESTRUCTIVE)
    if not declared and not given.isdisjoint(_ADDRESS_PARAMETERS):
        return graver(tier, Tier.EXTERNAL)
    return tier


def tier_of(name: str, tools: Mapping[str, ToolSpec], policy: Policy) -> Tier:
    """The risk tier of a tool; that of an undeclared tool is never read."""
    override = policy.tiers.get(name)
    if override is not None:
        return override
    spec = tools.get(name)
    if spec is None:
        if is_unreadable(name) or _mixes_alphabets(name):
            return SEVERITY[-1]
        found = gravest([_tier_of_name(_own_words(name)), foreign_tier_of_name(name), Tier.WRITE])
        return found or Tier.WRITE
    return infer(spec)


def says_it_reads(name: str) -> bool:
    """Whether a name, by itself, is that of a tool that reads."""
    return _tier_of_name(_own_words(name)) is Tier.READ


def infer(spec: ToolSpec) -> Tier:
    """The risk tier of a declared tool."""
    hints = spec.annotations
    words = _own_words(spec.name)
    opening = _opening(spec.description)
    tier, described = _tier_of_name(words), _tier_of_opening(opening)
    if described is Tier.READ and not _is_english(spec.description):
        described = None
    if tier is None:
        tier = described
    elif described in _GRAVE:
        tier = gravest([tier, _tier_of_opening(_without_nouns(opening))])
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
    tier = gravest([tier, further_tier(spec, words), foreign_tier(spec)]) or tier
    if hints.read_only is False:
        tier = graver(tier, Tier.WRITE)
    if hints.destructive and not hints.read_only:
        tier = graver(tier, Tier.DESTRUCTIVE)
    parameters = _parameters(spec.parameters)
    if hints.open_world or not parameters.isdisjoint(_ADDRESS_PARAMETERS):
        tier = graver(tier, Tier.EXTERNAL)
    if not parameters.isdisjoint(_COMMAND_PARAMETERS):
        tier = graver(tier, Tier.DESTRUCTIVE)
    return tier


def _mixes_alphabets(name: str) -> bool:
    """Whether a word of the name has letters of several alphabets, such as a Cyrillic "a"."""
    plain = unicodedata.normalize("NFKD", name)
    return any(
        len({char.isascii() for char in word}) == 2
        for word in re.findall(r"[^\W\d_]+", "".join(filter(_is_no_mark, plain)))
    )


def _is_no_mark(char: str) -> bool:
    return not unicodedata.combining(char)


def _own_words(name: str) -> list[str]:
    """The words of a tool's own name, without its MCP server (`mcp__server__tool`).

    Its namespace (`mail.search_mails`) counts only if the rest has no verb.
    """
    name = unicodedata.normalize("NFKC", own_name(name))
    last = name_words(re.split(r"[./:]", name)[-1])
    return last if VERBS.intersection(last) else name_words(name)


def _tier_of_name(words: list[str]) -> Tier | None:
    """The gravest tier of the parts of a name ("find_and_delete" has two parts)."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in JOINING:
            parts.append([])
        else:
            parts[-1].append(word)
    return gravest([_tier_of_part(part) for part in parts])


def _tier_of_part(words: list[str], *, nouns: bool = True) -> Tier | None:
    """The tier of the first verb and of the nouns around it; None without a verb."""
    if words[:2] == ["check", "out"]:
        return Tier.FINANCIAL
    for position, word in enumerate(words):
        tiers = [tier for tier, verbs in VERB_TIERS.items() if word in verbs]
        if word in READ_VERBS and (position == 0 or not tiers):
            return Tier.READ
        if tiers:
            others = set(words) - {word} if nouns else set()
            tiers += [tier for tier, names in NOUN_TIERS.items() if not names.isdisjoint(others)]
            return max(tiers, key=SEVERITY.index)
    return None


def _opening(description: str) -> list[str]:
    """The words of a description's first sentence."""
    return name_words(description[:_OPENING_LENGTH].split(".", 1)[0])


def _is_english(description: str) -> bool:
    """Whether its first words may be English: "Filter löschen" has only an English noun."""
    first = description[:_OPENING_LENGTH].split(".", 1)[0]
    return not any(char.isalpha() and not char.isascii() for char in first)


def _tier_of_opening(opening: list[str]) -> Tier | None:
    """The tier of a description's opening ("Returns ...", "This tool sends ...")."""
    tier = _tier_of_part([stem(word) for word in opening[:8]], nouns=False)
    return None if tier is Tier.READ and _begins_with_unknown_verb(opening) else tier


def _begins_with_unknown_verb(opening: list[str]) -> bool:
    """Whether it begins with an unknown verb, like "Void a track ...": that is no read verb."""
    match opening:
        case [verb, article, *_] if article in ARTICLES and verb not in _BEFORE_NOUNS:
            return stem(verb) not in VERBS
        case _:
            return False


def _tier_of_verb_and_article(opening: list[str]) -> Tier | None:
    """The tier of a description that begins like "Add a ...", whatever its name says."""
    match opening:
        case [verb, article, *_] if article in ARTICLES and stem(verb) not in _ALSO_ANSWERING:
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
        is_action = stem(first) in VERBS - ALSO_NOUNS or _ACTION_ENDING.search(first) is not None
        is_result = second in _AFTER_NOUNS and not is_action
    return is_result and _tier_of_opening(_without_nouns(opening)[1:]) in (None, Tier.READ)


def _may_be_a_noun(words: list[str]) -> bool:
    """Whether a name has no word that must be a verb."""
    return VERBS.intersection(words) <= ALSO_NOUNS and not VERBS.intersection(words[:1])


def _parameters(schema: Mapping[str, object]) -> set[str]:
    """The words in the names of the parameters."""
    properties = schema.get("properties")
    names = properties if isinstance(properties, Mapping) else schema
    return {word for name in names for word in name_words(str(name))}
