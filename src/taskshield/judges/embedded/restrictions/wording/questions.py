"""Messages that only ask for information: a question, or an order to look something up."""

import re

from taskshield.judges.embedded.grammar.clauses import clauses, sentences
from taskshield.judges.embedded.grammar.directive_openers import kind_of, skip_fillers
from taskshield.judges.embedded.restrictions.wording.said import Place

_LONGEST = 400
"""Characters of a message that can be no more than a question."""
_ASKS = re.compile(
    r"(?:what|which|who|whose|when|where|why|how)\b(?!\s+about\b)(?!\s+(?:can|could|would|will)\s+you\b)"
    r"|(?:is|are|was|were|do|does|did|has|have|had|am)\s+(?!you\b)[a-z]",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"(?:(?:show|tell)\s+(?:me|us)|show\s+(?:the|all|my|our)|list|find\s+out|look\s+up|check"
    r"|summari[sz]e|explain|describe|compare|count|calculate|display"
    r"|give\s+me\s+(?:an?\s+)?(?:list|overview|summary)|let\s+me\s+know)\b"
    r"(?!.{0,80}\b(?:him|her|them|and)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Orders to look, where no one else is told and nothing follows."""
_FOREIGN = re.compile(
    r"(?:wie|was|welche[rsnm]?|wann|wo|wer|wem|warum|combien|quel(?:le)?s?|quand|où|qui|pourquoi"
    r"|cu[aá]nt[oa]s?|qu[eé]|cu[aá]l(?:es)?|cu[aá]ndo|d[oó]nde|qui[eé]n|quant[oaie]|quale|quali|dove"
    r"|chi|perch[eé]|quantos|qual|quais|onde|quem|hoeveel|wat|welke?|wanneer|waar|wie|hur|vad|vilk\w{1,3}"
    r"|när|vem|ile|co|kiedy|gdzie|kto|kaç|hangi|nerede|kim|сколько|како\w{1,2}|когда|где|кто|что)\b"
    r"[^.!?;:]{3,160}\?\s*$",
    re.IGNORECASE,
)
"""A message of one question in another language, which asks no one to do anything."""
_CAN_YOU = re.compile(
    r"\b(?:k[oö]nn\w{1,4}|würde\w{0,2}|pouvez|peux|pourr\w{2,4}|pued\w{1,3}|podr\w{2,4}|puoi|pu[oò]"
    r"|potre\w{2,4}|pode\w{0,3}|kun|kunt|kan|möchte|mag|soll\w{0,3}|faire|hacer|fare|fazer)\b",
    re.IGNORECASE,
)


def only_asks(text: str) -> Place | None:
    """The last question of a message that only asks for information; None for any other."""
    if len(text) > _LONGEST:
        return None
    begin = len(text) - len(text.lstrip(" ¿"))
    if _FOREIGN.match(text, begin) and _CAN_YOU.search(text) is None:
        return Place(begin, len(text))
    last: Place | None = None
    for start, end in sentences(text, 0, len(text)):
        for left, right in clauses(text, start, end):
            clause = text[left:right]
            kind = kind_of(clause)
            if kind == "courtesy" or not clause.strip():
                continue
            begin = left + skip_fillers(clause)
            pattern = {"question": _ASKS, "directive": _LOOKS}.get(kind)
            if pattern is None or pattern.match(text, begin, right) is None:
                return None
            last = Place(begin, right)
    return last
