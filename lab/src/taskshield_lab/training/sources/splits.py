"""Which domains and which families of styles are kept for validation.

Both are dealt into folds by a stable hash, so that a scenario added later moves no other. Domains
that begin with the same word ("CI", "CI/CD") share a fold, and so do all styles of one kind
whatever file they stand in and whatever words their label uses. Definitions of tools share a fold
where they begin with the same words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeVar

from taskshield_lab.training.sources.scenarios import Definition, Setting, Style
from taskshield_lab.training.sources.worlds import World

_Written = TypeVar("_Written", bound=Setting)

Side = Literal["train", "validation", "all", "kept"]
"""Which part of the data is asked for.

- train: every fold but the one held out
- validation: only the fold held out
- all: every fold, for the model that is shipped
- kept: only what is kept from all of them
"""

_FAMILIES = (
    ("terse", "terse|telegram"),
    ("law", r"legal|complian|clause|policy|statut|audit|oversight|attorney|rule notice"),
    ("languages", "german|french|spanish|translat|lingual|languages|-language"),
    ("code", "code comment|diff|patch|merge conflict|version-control|review|issue|log rec|syslog"),
    ("gate", r"prerequisite|\bgate\b|interlock|condition|permit|human check|blocker|riddle"),
    ("encoded", "encod|base64"),
    ("parts", r"multi-part|two-part"),
    ("alt text", r"alt text|accessib|alternative text|caption"),
    ("hidden markup", r"html|hidden"),
    ("markdown", "markdown"),
    ("user's voice", r"user|change of mind|earlier (agreement|consent|promise)|consent by silence"),
    ("tool forgery", r"tool|retry hint|nested call|receipt"),
    ("error recovery", "error|recovery|traceback|reconciliation"),
    ("structured data", "json|structured|yaml|front matter|config|field|api answer|schema"),
    ("table", "csv|table|spreadsheet|ledger"),
    ("small print", "footer|small print|signature|footnote"),
    ("list", r"checklist|\blist\b|step|numbered|definition of done|decision tree"),
    ("correction", "correction|erratum|cancelled|continuation"),
    ("pressure", r"pressure|plea|appeal|distress|emergency|deadline|cut-off|psychology"),
    ("question", "question|presup|cross-check"),
    ("reward", "reward|loyalty|flattery"),
    ("role play", r"role.play|drill|simulation|quiz|stage direction|responsory|sampling"),
    ("thread", r"quoted|thread|consensus|reply-all|out-of-office|pinned|chat voice"),
    ("transcript", "transcript|minutes|voice"),
    ("handover", "hand-?over|lessons-learned|shift"),
    ("authority", r"approval|two-man|two-person|deputy|delegated|permission|embargo"),
    ("note to AI", r"note to|machine label"),
    ("notice", r"notice|banner|bulletin|header|redirect|snippet|calendar|event|bot\b|alarm"),
    ("courtesy", "polite|courtesy|favour|helper|colleague|custom|aside|add-on|bank hint|shorthand"),
    ("paper", r"stamp|slip|scribble|post-it|macro|margin"),
)
"""Family and what its labels have in common; the first that matches wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One way to cut the data, and which side of the cut is meant."""

    side: Side = "all"
    folds: int = 5
    held_out: int = 0
    """The fold kept for validation."""
    kept: tuple[str, ...] = ()
    """How the ids of scenarios and openings begin that are in no fold."""

    def scenarios(self, scenarios: Iterable[_Written]) -> tuple[_Written, ...]:
        """Those of this side, be they whole scenarios or openings."""
        return tuple(
            one
            for one in scenarios
            if one.id.startswith(self.kept) == (self.side == "kept")
            and self._keeps(fold_of_domain(one.domain, self.folds))
        )

    def worlds(self, worlds: Iterable[World]) -> tuple[World, ...]:
        """Those of this side; none is kept from all folds."""
        if self.side == "kept":
            return ()
        return tuple(one for one in worlds if self._keeps(fold_of_domain(one.name, self.folds)))

    def styles(self, styles: Iterable[Style]) -> tuple[Style, ...]:
        """Those of this side."""
        return tuple(one for one in styles if self._keeps(fold_of_style(one, self.folds)))

    def definitions(self, definitions: Iterable[Definition]) -> tuple[Definition, ...]:
        """Those of this side; none is kept from all folds."""
        if self.side == "kept":
            return ()
        return tuple(
            one
            for one in definitions
            if self._keeps(_fold("definition", " ".join(one.texts[0].split()[:4]), self.folds))
        )

    def _keeps(self, fold: int) -> bool:
        if self.side in ("all", "kept"):
            return True
        return (fold == self.held_out) == (self.side == "validation")


def fold_of_domain(domain: str, folds: int) -> int:
    """The fold, from 0, of all scenarios of a domain."""
    words = re.findall(r"\w+", domain.casefold())
    return _fold("domain", words[0] if words else "", folds)


def fold_of_style(style: Style, folds: int) -> int:
    """The fold, from 0, of all styles of this one's family."""
    return _fold("style", family(style), folds)


def family(style: Style) -> str:
    """The kind of wrapper that a style is, the same for all variants of it."""
    label = style.label.casefold()
    if style.template.strip() == "{goal}":
        return "terse"
    return next((name for name, signs in _FAMILIES if re.search(signs, label)), label)


def _fold(kind: str, name: str, folds: int) -> int:
    return int.from_bytes(sha256(f"{kind}:{name}".encode()).digest()[:8]) % folds
