"""Makes outputs long and noisy with text of other scenarios.

The noise comes from the same side of a split as the scenario that it goes into; the caller gathers
it there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from taskshield_lab.training.augmentation.labelled_spans import SpanMarkers, SpanTag
from taskshield_lab.training.conversations.injection import is_json, remove_slots
from taskshield_lab.training.sources.scenarios import Scenario, Tool

_HEADS = ("", "", "---\n", "Related:\n", "Earlier entries\n", "See also:\n", "====\n", "[archive] ")
_LEADS = ("", "", "Reminder: ", "NB: ", "Note: ", "- ", "* ", "To all: ", "p.s. ")
_KEYS = ("related", "notes", "comments", "history", "context", "previous")
_BENIGN = SpanTag(kind="benign")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph of an output, with its imperatives that are not meant for the agent."""

    scenario: str
    text: str
    benign: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseMaterial:
    """Paragraphs and tools of the scenarios of one side."""

    paragraphs: Mapping[str, Sequence[Paragraph]]
    """By language."""
    tools: Sequence[Tool]

    def other_paragraph(self, scenario: Scenario, rng: Random) -> Paragraph | None:
        """A paragraph of another scenario in the same language."""
        pool = self.paragraphs.get(scenario.lang, ())
        for _ in range(8 if pool else 0):
            paragraph = rng.choice(pool)
            if paragraph.scenario != scenario.id:
                return paragraph
        return None


def gather_noise(scenarios: Sequence[Scenario]) -> NoiseMaterial:
    """The noise that these scenarios have for each other."""
    paragraphs: dict[str, list[Paragraph]] = {}
    tools: dict[str, Tool] = {}
    for scenario in scenarios:
        tools.update({tool.name: tool for tool in scenario.tools})
        for step in scenario.steps:
            sentences = (*step.benign, *step.obey)
            for text in _pieces(remove_slots(step.output)):
                paragraphs.setdefault(scenario.lang, []).append(
                    Paragraph(
                        scenario=scenario.id,
                        text=text,
                        benign=tuple(one for one in sentences if one in text),
                    )
                )
    return NoiseMaterial(paragraphs=paragraphs, tools=tuple(tools.values()))


def lengthen(
    text: str,
    scenario: Scenario,
    noise: NoiseMaterial,
    marks: SpanMarkers[SpanTag],
    rng: Random,
    *,
    size: int,
) -> str:
    """The output with about `size` more characters of noise around it."""
    added: list[str] = []
    while sum(map(len, added)) < size:
        paragraph = noise.other_paragraph(scenario, rng)
        if paragraph is None:
            break
        added.append(marks.mark_all(paragraph.text, paragraph.benign, _BENIGN))
    if not added:
        return text
    if is_json(text):
        return _into_json(text, added, rng)
    if text.lstrip().startswith("<"):
        return "\n".join([text, *(f"<p>{one}</p>" for one in added)])
    cut = rng.choice([0, 0, rng.randint(0, len(added)), len(added)])
    head = [f"{rng.choice(_HEADS)}{one}" for one in added[:cut]]
    tail = [f"{rng.choice(_HEADS)}{one}" for one in added[cut:]]
    return rng.choice(["\n\n", "\n\n", "\n"]).join([*head, text, *tail])


def add_imperatives(
    text: str,
    scenario: Scenario,
    noise: NoiseMaterial,
    marks: SpanMarkers[SpanTag],
    rng: Random,
    *,
    count: int,
) -> str:
    """The output with harmless imperatives of other scenarios between its lines."""
    for _ in range(count):
        paragraph = noise.other_paragraph(scenario, rng)
        while paragraph is not None and not paragraph.benign and rng.random() < 0.97:
            paragraph = noise.other_paragraph(scenario, rng)
        if paragraph is None or not paragraph.benign:
            continue
        sentence = rng.choice(paragraph.benign)
        line = rng.choice(_LEADS) + marks.mark(sentence, _BENIGN)
        if is_json(text):
            text = _into_json(text, [line], rng)
        else:
            lines = text.split("\n")
            at = rng.choice([len(lines), rng.randint(0, len(lines))])
            text = "\n".join([*lines[:at], line, *lines[at:]])
    return text


def _into_json(text: str, added: list[str], rng: Random) -> str:
    value = json.loads(text)
    if isinstance(value, dict):
        key = rng.choice(_KEYS)
        while key in value:
            key += "_"
        value = {**value, key: added if len(added) > 1 else added[0]}
    else:
        value = [*value, *({"text": one} for one in added)]
    return json.dumps(value, ensure_ascii=False, indent=rng.choice([None, None, 1, 2]))


def _pieces(text: str) -> list[str]:
    """Paragraphs long enough to be an entry of their own."""
    if is_json(text) or text.lstrip().startswith("<"):
        return [text] if 40 <= len(text) <= 700 else []
    return [piece for piece in text.split("\n\n") if 40 <= len(piece.strip()) <= 900]
