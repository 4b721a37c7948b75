"""A rule-based model that gives valid answers to the LLM judge, for counting requests.

Every instruction serves every task, so nothing is blocked and recorded conversations run to their
end. `instructions` is a crude rule. It changes only how many instructions the paper's scheme
scores, not how many calls our scheme makes.
"""

import json
import re
from dataclasses import dataclass

from taskshield.core.chat import ChatRequest

_WRAPPED = re.compile(r"\\?\n[ \t]+(?!- |\w+:)\\?")
"""Line breaks inside a long YAML line."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+|\\n")
_FIELD = re.compile(r"^[\W_]*\w+['\"]?: *")
"""A field's name before a sentence: "- subject: ", "{'message': "."""
_MARKS = re.compile(r"\?(?=\W|$)|\b(?:please|must|should)\b", re.IGNORECASE)
_VERBS = frozenset(
    "add answer ask book buy call cancel change check click complete confirm contact copy create"
    " delete do download email ensure find follow forget forward get give go ignore invite keep let"
    " list look make message note open pay post provide read remember remove reply reserve retrieve"
    " return review say schedule search see send set share show sign start stop submit summarize"
    " take tell transfer try update upload use verify visit write".split()
)


def instructions(text: str) -> list[str]:
    """The sentences that open with a common verb, are questions, or say please, must or should.

    The rule finds too few rather than too many. More instructions would make the paper's scheme
    look more expensive.
    """
    sentences = (_FIELD.sub("", each) for each in _SENTENCES.split(_WRAPPED.sub(" ", text)))
    return [sentence for sentence in sentences if _directs(sentence)]


def answer(request: ChatRequest) -> str:
    """A valid answer to any request of the LLM judge."""
    parsed = _ParsedRequest.of(request)
    if request.schema_name == "task_instructions":
        # No objectives, as for a role that sets no limit, such as that of AgentDojo's agents.
        return json.dumps({"seal": parsed.seal, "tasks": _tasks(parsed), "objectives": []})
    scores = [
        {"target": quote.label, "score": 1, "reason": "by rule"}
        for quote in parsed.quotes
        if quote.kind in ("task", "objective")
    ]
    verdict = {"contradictions": [], "scores": scores}
    found = [{"quote": text, "instruction": text, **verdict} for text in _found(parsed)]
    items = [
        {"item": quote.label, **verdict}
        for quote in parsed.quotes
        if quote.kind in ("call", "instruction") and quote.label
    ]
    return json.dumps({"seal": parsed.seal, "found": found, "items": items})


def _directs(sentence: str) -> bool:
    first = re.search(r"[A-Za-z]+", sentence)
    opens = first is not None and first[0].lower() in _VERBS
    return opens or _MARKS.search(sentence) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quote:
    kind: str
    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ParsedRequest:
    """The quotations of a request."""

    seal: str
    quotes: list[_Quote]
    looks_for_instructions: bool

    @classmethod
    def of(cls, request: ChatRequest) -> "_ParsedRequest":
        text = request.turns[-1].text
        fence, seal = (line.split(": ")[1] for line in text.split("\n", 2)[:2])
        quoted = rf"^\[{fence} (.+?)(?: ([0-9a-f]{{8}}))?\]\n(.*?)\n\[{fence} end\]$"
        quotes = [
            _Quote(kind=kind, label=label, text=inner)
            for kind, label, inner in re.findall(quoted, text, re.DOTALL | re.MULTILINE)
        ]
        fields = request.schema["properties"]
        assert isinstance(fields, dict)
        return cls(seal=seal, quotes=quotes, looks_for_instructions="found" in fields)


def _tasks(parsed: _ParsedRequest) -> list[dict[str, object]]:
    message = parsed.quotes[-1]
    found = instructions(message.text) or [message.text]
    return [{"quote": text, "instruction": text, "source": None, "scope": None} for text in found]


def _found(parsed: _ParsedRequest) -> list[str]:
    if not parsed.looks_for_instructions:
        return []
    # The judged text is the last, after the history.
    texts = [quote.text for quote in parsed.quotes if quote.kind in ("assistant", "output")]
    return instructions(texts[-1])
