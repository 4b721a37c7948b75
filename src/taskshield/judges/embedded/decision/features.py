"""The evidence and the model's scores on a call as numbers, for the classifier that weighs them.

The names are those of the model card.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence, Kind, acts, kind_name
from taskshield.judges.embedded.evidence.explanation import Explained
from taskshield.judges.embedded.evidence.provenance import Owner

UNASKED = -6.0
"""The score that no directive asks for a call, where there is no directive."""

_NOT_AT_ALL = -3.0
"""Log-odds that a call serves the user below which the model is as sure as training can make it:
small differences beyond it say much."""
_HARDLY = -2.0
"""Log-odds below which words in the data hardly ask for a call."""
_KINDS: tuple[Kind, ...] = (*Tier, "plan")
_OWNERS: tuple[Owner, ...] = ("user", "data", "directive", "new")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkScores:
    """What the model says about a call, in log-odds."""

    serves: float = 0.0
    """That it serves the user, given all evidence; not asked of read calls and plans."""
    suspects: tuple[float, ...] = ()
    """That each suspect asks for it."""
    related: tuple[float, ...] = ()
    """That each related sentence asks for it."""
    directs: float = UNASKED
    """That the related sentence that asks most, by itself, tries to direct the agent."""
    wanted: float = UNASKED
    """That the user's words ask for it; asked of plans alone, since `serves` knows of calls."""

    @property
    def pressed(self) -> float:
        """That a suspect asks for it, less what the user asks for it."""
        return max(self.suspects, default=UNASKED) - max(0.0, self.wanted)

    @property
    def loudest(self) -> int | None:
        """The related sentence that asks most for the call; None where none asks for it at all."""
        most = max(self.related, default=UNASKED)
        return self.related.index(most) if most > _HARDLY else None


def network_scores(evidence: CallEvidence, serves: float, asks: Sequence[float]) -> NetworkScores:
    """The scores of a call from the model's answers, in the order of `asks_inputs`."""
    suspects, texts = len(evidence.suspects), len(evidence.texts)
    return NetworkScores(
        serves=serves,
        suspects=tuple(asks[:suspects]),
        related=tuple(asks[suspects:texts]),
        wanted=asks[texts] if len(asks) > texts else UNASKED,
    )


def features(evidence: CallEvidence, opinions: NetworkScores) -> dict[str, float]:
    """All that is known about a call, as numbers by name."""
    pressed = opinions.pressed
    side_effects = float(acts(evidence.kind))
    suspected = float(bool(evidence.suspects))
    against = max(0.0, _NOT_AT_ALL - opinions.serves)
    plain = {
        "serves": opinions.serves,
        "serves where data directs": opinions.serves * suspected,
        "serves not at all": against,
        "serves not at all where data directs": against * suspected,
        "told": pressed,
        "told where something happens": pressed * side_effects,
        "told more than it serves": max(0.0, pressed - opinions.serves) * suspected,
        "told where delegated": pressed * float(bool(evidence.delegated)),
        "data directs": suspected,
        "directives": min(evidence.directives, 6) / 6,
        "fresh": float(evidence.fresh),
        "fresh where something happens": float(evidence.fresh) * side_effects,
        "known tool": float(evidence.known),
        "known tool where data directs": float(evidence.known) * suspected,
        "delegated": float(bool(evidence.delegated)),
        "delegated where data directs": float(bool(evidence.delegated)) * suspected,
    }
    return {
        **plain,
        **_kinds(evidence),
        **_origins(evidence),
        **_explanations(evidence),
        **_related(evidence, opinions),
    }


def related_features() -> tuple[str, ...]:
    """The names of the features about related sentences; they are the last ones."""
    return tuple(_related(_NOTHING, NetworkScores()))


def feature_list() -> tuple[str, ...]:
    """The names of all features, in their order."""
    return tuple(features(_NOTHING, NetworkScores()))


def _kinds(evidence: CallEvidence) -> dict[str, float]:
    """1 for the risk tier, or for a plan; the same again where the data holds a directive."""
    suspected = float(bool(evidence.suspects))
    named = {kind_name(kind): float(evidence.kind == kind) for kind in _KINDS}
    return named | {f"{name} where data directs": on * suspected for name, on in named.items()}


def _origins(evidence: CallEvidence) -> dict[str, float]:
    """Which share of the values comes from where."""
    telling = evidence.telling
    count = max(1, len(telling))
    suspected = float(bool(evidence.suspects))
    shares = {owner: sum(one.found.owner == owner for one in telling) / count for owner in _OWNERS}
    return {
        **{f"values from {owner}": share for owner, share in shares.items()},
        "a value from a directive": float(shares["directive"] > 0),
        "a value also in a directive": float(any(one.found.also_directive for one in telling)),
        "values beside a directive": sum(one.near for one in telling) / count,
        "new values where data directs": shares["new"] * suspected,
        "user values where data directs": shares["user"] * suspected,
        "values instead of the user's": sum(one.instead for one in telling) / count,
        "no telling values": float(not telling),
    }


def _explanations(evidence: CallEvidence) -> dict[str, float]:
    """How much the user's words and the likeliest directive explain the call."""
    asked = evidence.asked
    suspected = float(bool(evidence.suspects))
    values = max((one.explains.value_share for one in evidence.suspects), default=0.0)
    words = max((one.explains.word_share for one in evidence.suspects), default=0.0)
    return {
        "values asked": asked.value_share,
        "words asked": asked.word_share,
        "values told": values,
        "words told": words,
        "values told, not asked": max(0.0, values - asked.value_share),
        "words told, not asked": max(0.0, words - asked.word_share),
        "values asked where data directs": asked.value_share * suspected,
        "words asked where data directs": asked.word_share * suspected,
    }


def _related(evidence: CallEvidence, opinions: NetworkScores) -> dict[str, float]:
    """Whether a related sentence asks for the call, though no directive was found in it."""
    loudest = opinions.loudest
    best = None if loudest is None else evidence.related[loudest]
    asks = 0.0 if loudest is None else opinions.related[loudest] - _HARDLY
    directs = max(0.0, opinions.directs - _HARDLY)
    delegated = float(bool(evidence.delegated))
    fresh = float(best is not None and best.directive.message == evidence.newest)
    values = 0.0 if best is None else best.explains.value_share
    return {
        "words aside": float(bool(evidence.related)),
        "words aside ask": asks,
        "words aside ask where delegated": asks * delegated,
        "words aside ask and explain": asks * values,
        "words aside ask and explain where delegated": asks * values * delegated,
        "words aside ask and are fresh": asks * fresh,
        "words aside direct": directs,
        "words aside direct and ask": directs * asks,
        "words aside direct where delegated": directs * delegated,
    }


_NONE = Explained(values=0, values_found=0, words=0, words_found=0)
_NOTHING = CallEvidence(
    call=ToolCall(id="", name="", arguments=""),
    spec=None,
    kind=Tier.READ,
    values=(),
    request="",
    asked=_NONE,
    pasted=False,
    offered=_NONE,
    suspects=(),
    related=(),
    directives=0,
    fresh=False,
    newest=-1,
    known=False,
    delegated="",
    steps=(),
    snippet="",
)
