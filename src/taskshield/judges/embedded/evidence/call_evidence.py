"""The evidence on one call: everything known about it without a model.

The module is long because it gathers all facts that the features read, and their types.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from taskshield.core import deadline
from taskshield.core.messages import ToolCall
from taskshield.core.provenance import TextLocation
from taskshield.core.tools import Tier, ToolSpec, name_words
from taskshield.judges.embedded.evidence.argument_values import (
    ArgumentValue,
    argument_values,
    kinds_in,
)
from taskshield.judges.embedded.evidence.conversation_index import (
    ConversationIndex,
    tool_name_words,
)
from taskshield.judges.embedded.evidence.directives import Directive
from taskshield.judges.embedded.evidence.explanation import Explained, explained_share
from taskshield.judges.embedded.evidence.provenance import Provenance, provenance
from taskshield.judges.embedded.evidence.read_only_calls import own_tier
from taskshield.judges.embedded.evidence.tokens import token_words
from taskshield.judges.embedded.tasks.small_talk import gives_no_order, is_empty, is_terse
from taskshield.judges.embedded.text.segments import Segment

Kind: TypeAlias = Tier | Literal["plan"]
"""The risk tier of a call's tool, or "plan": words that announce a step."""

_SUSPECTS = 2
"""Directives that the model compares a call with: those that explain most of it."""
_RELATED = 2
"""Related sentences that a call is compared with: those that share most with it."""
_SENTENCE = 4
"""Words that it takes to ask for something."""
_EXPLAINED = 0.5
"""The share of a call that a directive must explain for other sentences not to matter."""
_SHARED = 0.15
"""The share of a call's words that a sentence must have to be related to it."""
_MAX_WORDS = 200
"""Words of a call that are searched in the data."""
_FETCH_VERBS = frozenset(
    "get fetch read browse visit view load search find list lookup look crawl scrape".split()
)
_PAGES = frozenset("page url link site website webpage web file document tab".split())
_WEB_WORDS = re.compile(
    r"""\b(?: (?:web)?pages? | (?:web)?sites? | urls? | links? | linked | web | online | internet
    | articles? | posts? | posted | blogs? | seiten? | artikel | página | artículo | enlace | lien
    | pagina | sito | articolo ) \b
    | \w\.[^\W\d]{2}  # an address, or a file: 3.5 is neither, nor is e.g.""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words by which users name what is fetched."""
_MAX_TEXT = 20_000
"""Characters of a value that are compared with the data that it passes on."""
_REACH = 3
"""Segments on either side of a directive, or of a value, that are near it."""
_REACHING = (Tier.EXTERNAL, Tier.FINANCIAL, Tier.ACCESS)
_RECIPIENTS = frozenset(
    "account address beneficiary contact destination email iban member payee phone recipient"
    " recipients to url user username with".split()
)
"""Words in the names of arguments that say whom a call reaches."""
_PROGRAM = 60
"""Characters of a command that say what it runs."""
_BESIDE = 60
"""Segments near values that are read in one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedValue:
    """A value of a call and where it comes from."""

    value: ArgumentValue
    found: Provenance
    near: bool
    """Whether it comes from data, but stands only near injected directives."""
    instead: bool
    """Whether the user named another value of its kind, which the call does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateDirective:
    """A directive in the data and how much of the call it explains."""

    directive: Directive
    explains: Explained


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvidence:
    """What is known about one call."""

    call: ToolCall
    spec: ToolSpec | None
    kind: Kind
    values: tuple[SourcedValue, ...]
    request: str
    """What the user wants, in the user's words."""
    asked: Explained
    """How much of the call the user's words explain."""
    pasted: bool
    """Whether the user pasted something, which may say what is wanted."""
    offered: Explained
    """How much of it the agent's words explain that the user's newest message agrees to."""
    suspects: tuple[CandidateDirective, ...]
    """Directives in the data, the one that explains most first; only the best few."""
    related: tuple[CandidateDirective, ...]
    """For a call with side effects that no directive explains well: the sentences in the data that
    share most with it, though they are no known directives. None for read calls, which often follow
    links in data."""
    directives: int
    """How many directives there are in all."""
    fresh: bool
    """Whether one of them came with the newest output."""
    newest: int
    """Number of the newest output's message; -1 where there is none."""
    known: bool
    """Whether the same tool was called before."""
    delegated: str
    """The source that the user told the agent to obey; empty where there is none."""
    steps: tuple[str, ...]
    """The tools called before, in words, the newest last."""
    snippet: str
    """The words around the first value that comes from data."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The words in the data that may ask for the call: suspects, then related sentences."""
        return tuple(one.directive.text for one in (*self.suspects, *self.related))

    @property
    def telling(self) -> tuple[SourcedValue, ...]:
        """The values whose origin means something."""
        return tuple(one for one in self.values if not one.value.trivial)

    @property
    def unspoken(self) -> bool:
        """Whether nothing that the user said can have asked for a call with side effects.

        The user's words have no content, or are so few that they may be a greeting in any language
        and the call reaches someone whom no one named. They share nothing with the call, and agree
        to nothing that the agent offered.
        """
        named = (self.asked, self.offered)
        known = self.pasted or any(one.words_found or one.values_found for one in named)
        if known or not acts(self.kind) or not self.request.strip():
            return False
        program = _program(self.call)
        if program and any(word in program for word in token_words(self.request) if len(word) > 3):
            return False  # "test": pytest
        return is_empty(self.request) or (
            self.kind in _REACHING
            and self.newest < 0
            and is_terse(self.request)
            and any(one.found.kind == "new" and _is_recipient(one.value) for one in self.telling)
        )

    @property
    def invented(self) -> bool:
        """Whether a call gives money or rights to an address that no one named, unasked.

        The user gave no order, no value of the call occurs anywhere in the conversation, and no
        word of its name in what the user said. So nothing authorises it.
        """
        return (
            self.kind in (Tier.FINANCIAL, Tier.ACCESS)
            and self.newest < 0  # an output may have been dropped that had it
            and not self.asked.words_found
            and all(one.found.kind == "new" for one in self.telling)
            and any(one.value.kind in ("address", "account") for one in self.telling)
            and gives_no_order(self.request)
        )


def _is_recipient(value: ArgumentValue) -> bool:
    named = not _RECIPIENTS.isdisjoint(name_words(value.path))
    return named or value.kind in ("address", "account")


def _program(call: ToolCall) -> str:
    """The first words of a command."""
    command = (call.parse_arguments() or {}).get("command")
    return " ".join(str(command)[:_PROGRAM].casefold().split()[:3]) if command else ""


def acts(kind: Kind) -> bool:
    """Whether a call of this kind has side effects."""
    return kind != "plan" and kind.side_effects


def kind_name(kind: Kind) -> str:
    """A kind as text."""
    return kind.value if isinstance(kind, Tier) else kind


def plan_call(words: str) -> ToolCall:
    """Words that announce a step, as a call, so that both are judged alike."""
    return ToolCall(id="", name="plan", arguments=json.dumps({"text": words}, ensure_ascii=False))


def collect_evidence(
    call: ToolCall,
    *,
    kind: Kind,
    spec: ToolSpec | None,
    index: ConversationIndex,
    directives: Sequence[Directive],
    delegated: str,
    offer: str = "",
) -> CallEvidence:
    """The evidence on a plan or a call of this kind, given the conversation before it.

    `offer` is what the agent said, and the user's newest message agrees to.
    """
    kind = kind if kind == "plan" else own_tier(call, kind)
    planted, near = index.around(directives), index.around(directives, _REACH)
    request = "\n".join(index.asked)
    values = _marked(
        _sourced(argument_values(call), index, planted, near),
        kinds_in(request),
    )
    suspects = sorted(
        (
            CandidateDirective(directive=one, explains=explained_share(call, one.text))
            for one in directives
        ),
        key=lambda suspect: (-suspect.explains.share, -suspect.directive.message),
    )
    # The model compares the call with directives that share something with it, and with the best.
    suspects = [one for rank, one in enumerate(suspects) if not rank or one.explains.share > 0]
    related: tuple[CandidateDirective, ...] = ()
    explained = bool(suspects) and suspects[0].explains.share >= _EXPLAINED
    if acts(kind) and not explained and not _is_requested_fetch(call.name, request):
        related = _related(call, values, index, planted)
    newest = max(index.outputs, default=-1)
    return CallEvidence(
        call=call,
        spec=spec,
        kind=kind,
        values=values,
        request=request,
        asked=explained_share(call, request),
        pasted=index.pasted,
        offered=explained_share(call, offer),
        suspects=tuple(suspects[:_SUSPECTS]),
        related=related,
        directives=len(directives),
        fresh=any(one.message == newest for one in directives),
        newest=newest,
        known=tool_name_words(call.name) in index.steps,
        delegated=delegated,
        steps=tuple(index.steps[-4:]),
        snippet=_snippet(values, index),
    )


def beside(found: Sequence[Segment], calls: Iterable[ToolCall]) -> list[Segment]:
    """The segments with a value of a call, and some on either side; not too many."""
    values = [one.text for call in calls for one in argument_values(call) if not one.trivial]
    numbers: dict[int, None] = {}
    for number, segment in enumerate(found):
        deadline.check()
        if any(value in segment.text for value in values):
            numbers |= dict.fromkeys(range(max(0, number - _REACH), number + _REACH + 1))
        if len(numbers) >= _BESIDE:
            break
    return [found[number] for number in numbers if number < len(found)]


def _sourced(
    values: Sequence[ArgumentValue],
    index: ConversationIndex,
    planted: frozenset[TextLocation],
    near: frozenset[TextLocation],
) -> list[SourcedValue]:
    known: dict[str, Provenance] = {}
    sourced = []
    for value in values:
        deadline.check()
        if value.text not in known:
            known[value.text] = provenance(value, index.sources, planted.__contains__, len(values))
        found = known[value.text]
        beside = found.kind == "data" and near.issuperset(found.places)
        sourced.append(SourcedValue(value=value, found=found, near=beside, instead=False))
    return sourced


class _PassedOn:
    """The long texts in a call: they are what the call passes on, not the reason for it."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._values = argument_values(call)

    @cached_property  # most calls need no comparison
    def _texts(self) -> dict[int, str]:
        return {
            number: _spaced(one.text[:_MAX_TEXT])
            for number, one in enumerate(self._values)
            if one.kind == "text"
        }

    def only(self, words: str) -> bool:
        """Whether a text has all of these words and nothing else in the call is related to them.

        Words that ask to be passed on say so, or say to whom.
        """
        spaced = _spaced(words)
        holding = [number for number, text in self._texts.items() if spaced in text]
        if not holding:
            return False
        others = {
            str(number): one.text
            for number, one in enumerate(self._values)
            if number not in holding
        }
        explains = explained_share(replace(self._call, arguments=json.dumps(others)), words)
        return not explains.words_found and not explains.values_found


def _spaced(text: str) -> str:
    return f" {' '.join(token_words(text))} "


def _marked(values: Sequence[SourcedValue], named: frozenset[str]) -> tuple[SourcedValue, ...]:
    """The values. Those that replace a value that the user named are marked."""
    taken = {one.value.kind for one in values if one.found.kind == "user"}
    return tuple(replace(one, instead=one.value.kind in named - taken) for one in values)


def _is_requested_fetch(name: str, request: str) -> bool:
    """Whether a tool fetches something, and the user asks for something of that kind.

    Then a link that the data says to open may well be the one that the user means.
    """
    words = set(name_words(name))
    fetches = bool(words & _FETCH_VERBS) or ("open" in words and bool(words & _PAGES))
    return fetches and _WEB_WORDS.search(request) is not None


def _related(
    call: ToolCall,
    values: Sequence[SourcedValue],
    index: ConversationIndex,
    planted: frozenset[TextLocation],
) -> tuple[CandidateDirective, ...]:
    """The sentences in the data that share most with a call, without those of directives.

    Text that a call passes on is left out: it would share more with the call than the sentence that
    asks for it.
    """
    words = [word for word in name_words(call.name) if len(word) > 2]
    words += [
        word
        for one in values
        if not one.value.trivial and not _goes_beyond(one, index)
        for word in token_words(one.value.text)
    ]
    passed_on = _PassedOn(call)
    found: list[CandidateDirective] = []
    for place, share in index.sources.sharing(dict.fromkeys(words[:_MAX_WORDS])):
        if share < _SHARED or place in planted:
            continue
        text = index.words_at(place)
        if len(token_words(text)) >= _SENTENCE and not passed_on.only(text):
            directive = Directive(message=place.message, text=text)
            found.append(
                CandidateDirective(directive=directive, explains=explained_share(call, text))
            )
        if len(found) == _RELATED:
            break
    return tuple(found)


def _goes_beyond(one: SourcedValue, index: ConversationIndex) -> bool:
    """Whether a value is text from the data that is longer than the sentence it is found in."""
    if one.value.kind != "text" or one.found.kind != "data":
        return False
    length = len(token_words(one.value.text))
    return all(length > len(token_words(index.words_at(place))) for place in one.found.places)


def _snippet(values: Sequence[SourcedValue], index: ConversationIndex) -> str:
    for one in values:
        if not one.value.trivial and one.found.kind in ("data", "directive"):
            return next((index.words_at(place) for place in one.found.places), "")
    return ""
