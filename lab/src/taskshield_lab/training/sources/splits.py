"""Splits the data into folds by domain and by family of styles, and leaves out a test set.

A stable hash assigns folds, so a scenario that is added later moves no other. Domains with the same
first word ("CI", "CI/CD") share a fold. So do all styles of one family, in whatever file they are
and whatever their labels, and tool definitions with the same first words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeVar

from taskshield_lab.training.sources.environments import TestEnvironment
from taskshield_lab.training.sources.scenarios import ConversationSetup, Style, ToolDefinition

_Source = TypeVar("_Source", bound=ConversationSetup)

Side = Literal["train", "validation", "all", "kept"]
"""A part of the data.

- train: every fold but the one held out
- validation: only the fold held out
- all: every fold, for the released model
- kept: only the test set, which is in no fold
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
"""Each family and a pattern of its labels; the first match counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One side of the data in one division into folds."""

    side: Side = "all"
    folds: int = 5
    held_out: int = 0
    """The fold for validation."""
    test_set: tuple[str, ...] = ()
    """Prefixes of the ids of scenarios and openings that are in no fold."""

    def scenarios(self, scenarios: Iterable[_Source]) -> tuple[_Source, ...]:
        """The scenarios or openings of this side."""
        return tuple(
            one
            for one in scenarios
            if one.id.startswith(self.test_set) == (self.side == "kept")
            and self._includes(fold_of_domain(one.domain, self.folds))
        )

    def environments(self, environments: Iterable[TestEnvironment]) -> tuple[TestEnvironment, ...]:
        """The test environments of this side; the test set has none."""
        if self.side == "kept":
            return ()
        return tuple(
            one for one in environments if self._includes(fold_of_domain(one.name, self.folds))
        )

    def styles(self, styles: Iterable[Style]) -> tuple[Style, ...]:
        """The styles of this side."""
        return tuple(one for one in styles if self._includes(fold_of_style(one, self.folds)))

    def definitions(self, definitions: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """The tool definitions of this side; the test set has none."""
        if self.side == "kept":
            return ()
        return tuple(
            one
            for one in definitions
            if self._includes(_fold("definition", " ".join(one.texts[0].split()[:4]), self.folds))
        )

    def _includes(self, fold: int) -> bool:
        if self.side in ("all", "kept"):
            return True
        return (fold == self.held_out) == (self.side == "validation")


def fold_of_domain(domain: str, folds: int) -> int:
    """The fold of all scenarios of a domain, from 0."""
    words = re.findall(r"\w+", domain.casefold())
    return _fold("domain", words[0] if words else "", folds)


def fold_of_style(style: Style, folds: int) -> int:
    """The fold of a style's family, from 0."""
    return _fold("style", style_family(style), folds)


def style_family(style: Style) -> str:
    """The family of a style, the same for all its variants."""
    label = style.label.casefold()
    if style.template.strip() == "{goal}":
        return "terse"
    return next((name for name, signs in _FAMILIES if re.search(signs, label)), label)


def _fold(kind: str, name: str, folds: int) -> int:
    return int.from_bytes(sha256(f"{kind}:{name}".encode()).digest()[:8]) % folds
