"""A stand-in for the language model: reads the judge's requests and answers by a few rules.

It understands requests the way a model must: by their fence, seal and labels. So it fails when the
request is wrong, and its answers are as hard to forge as a real model's.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from taskshield.clients.scripted import ScriptedClient
from taskshield.core.chat import ChatRequest


@dataclass(frozen=True, kw_only=True)
class Quotation:
    kind: str
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A request as the model sees it."""

    seal: str
    before: tuple[Quotation, ...]
    """Quotations up to the last section."""
    asked: tuple[Quotation, ...]
    """Quotations of the last section: "To be read" or "To be judged"."""

    def labelled(self, kind: str) -> list[Quotation]:
        return [quotation for quotation in self.before if quotation.kind == kind]


def understand(request: ChatRequest) -> Prompt:
    text = request.turns[-1].text
    head = re.match(r"fence: (\w+)\nseal: (\w+)\n", text)
    assert head is not None
    fence, seal = head.groups()
    pattern = re.compile(rf"\[{fence} ([^\]\n]+)\]\n(.*?)\n\[{fence} end\]", re.DOTALL)
    outside = pattern.sub("", text)
    assert re.search(r"^# To be (read|judged)$", outside, re.MULTILINE)
    divide = max(text.rfind("\n# To be read\n"), text.rfind("\n# To be judged\n"))
    found = [(match.start(), _quotation(match)) for match in pattern.finditer(text)]
    # A payload may hold a false heading; only one outside all quotations divides the request.
    inside = [match.span() for match in pattern.finditer(text)]
    for heading in re.finditer(r"\n# To be (?:read|judged)\n", text):
        if not any(start <= heading.start() < end for start, end in inside):
            divide = heading.start()
    return Prompt(
        seal=seal,
        before=tuple(quotation for start, quotation in found if start < divide),
        asked=tuple(quotation for start, quotation in found if start > divide),
    )


def _quotation(match: re.Match[str]) -> Quotation:
    kind, _, label = match[1].rpartition(" ")
    if not re.fullmatch(r"[0-9a-f]{8}", label):
        kind, label = match[1], ""
    return Quotation(kind=kind, label=label, text=match[2])


@dataclass(frozen=True, kw_only=True)
class Found:
    """An instruction that stands in a text."""

    quote: str
    instruction: str = ""
    source: str | None = None
    scope: str | None = None

    def entry(self) -> dict[str, object]:
        return {"quote": self.quote, "instruction": self.instruction or self.quote}


Table = Mapping[str, Sequence[Found]]
"""Instructions by a piece of the text that holds them."""


@dataclass(kw_only=True)
class Rules:
    """What the stand-in knows about a conversation."""

    tasks: Table = field(default_factory=dict)
    """For user messages; one that is not here is one task, word for word."""
    objectives: Table = field(default_factory=dict)
    """For system messages; those that are not here state none."""
    directives: Table = field(default_factory=dict)
    """For assistant text and tool output; texts that are not here hold none."""
    rules_out: Callable[[str, str], Mapping[str, str] | None] = lambda instruction, goal: None
    """The kind, the words and what is done of an instruction that a task or an objective rules
    out."""
    serves: Callable[[str, str], float] = lambda instruction, task: 0.0
    """Score of an instruction or a call for a task or an objective."""
    explains: Callable[[str, str], float] = lambda item, tainted: 0.0
    """How well a tainted instruction explains an item."""

    def __call__(self, request: ChatRequest) -> str:
        prompt = understand(request)
        if request.schema_name == "task_instructions":
            return json.dumps({"seal": prompt.seal, **self._goals(prompt)})
        scored = request.schema_name == "verdict"
        answer: dict[str, object] = {"seal": prompt.seal, "found": self._found(prompt, scored)}
        if scored:
            answer["items"] = [
                {"item": item.label, **self._judged(item.text, prompt)}
                for item in prompt.asked
                if item.kind in ("call", "instruction")
            ]
        return json.dumps(answer)

    def client(self) -> ScriptedClient:
        return ScriptedClient(self)

    def _goals(self, prompt: Prompt) -> dict[str, list[dict[str, object]]]:
        goals: dict[str, list[dict[str, object]]] = {}
        for message in prompt.asked:
            if message.kind == "system":
                found = _looked_up(self.objectives, message.text, [])
                goals["objectives"] = [each.entry() for each in found]
            else:
                found = _looked_up(self.tasks, message.text, [Found(quote=message.text)])
                goals["tasks"] = [
                    {**each.entry(), "source": each.source, "scope": each.scope} for each in found
                ]
        return goals

    def _found(self, prompt: Prompt, scored: bool) -> list[dict[str, object]]:
        texts = [each.text for each in prompt.asked if each.kind in ("assistant", "output")]
        found = [each for text in texts for each in _looked_up(self.directives, text, [])]
        if not scored:
            return [each.entry() for each in found]
        return [
            {**each.entry(), **self._judged(str(each.entry()["instruction"]), prompt)}
            for each in found
        ]

    def _judged(self, text: str, prompt: Prompt) -> dict[str, object]:
        goals = [*prompt.labelled("task"), *prompt.labelled("objective")]
        found = ((goal.label, self.rules_out(text, goal.text)) for goal in goals)
        ruled_out = [{"target": label, **why} for label, why in found if why is not None]
        return {"contradictions": ruled_out, "scores": self._scores(text, prompt)}

    def _scores(self, text: str, prompt: Prompt) -> list[dict[str, object]]:
        scores = [
            _score(target, self.serves(text, target.text))
            for kind in ("task", "objective")
            for target in prompt.labelled(kind)
        ]
        scores += [
            _score(tainted, self.explains(text, tainted.text))
            for tainted in prompt.labelled("tainted")
        ]
        return scores


def _score(target: Quotation, value: float) -> dict[str, object]:
    return {"target": target.label, "score": value, "reason": f"scripted {value:g}"}


def _looked_up(table: Table, text: str, default: Sequence[Found]) -> Sequence[Found]:
    hits = [found for piece, found in table.items() if piece in text]
    return [each for found in hits for each in found] if hits else default
