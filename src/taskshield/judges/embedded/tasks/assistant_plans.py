"""What an assistant's text says will be done next: its intentions, and what it tells others to do.

Reports of what was done, offers, questions and plain information are no plans.
"""

import re

from taskshield.judges.embedded.grammar.directive_openers import opens_order
from taskshield.judges.embedded.text.segments import Segment, segments

MOST_PLANS = 8
"""Further sentences of one message are not read as plans."""

_FLAGS = re.IGNORECASE
_LOOKED_AT = 400
_ADVERB = (
    r"(?:\s++(?:now|then|first|next|also|just|quickly|immediately|still|only|go\s+ahead\s+and"
    r"|start\s+by)\b)*"
)
_START = (
    r"(?:^|[,;:–—]\s*|\b(?:so|and|then|now|next|first|but|therefore|thus|before\s+that"
    r"|after\s+that)(?:\s*+,)?\s++|^(?:for|to|as|since|because|given|after|before|once|when)\b"
    r"[^,;:]{1,80}?\s+)"
)
_INTENDS = re.compile(
    _START + r"(?:i|we)(?:"
    rf"(?:['’]ll|\s+will|\s+shall){_ADVERB}\s++(?!not\b|never\b|be\s+(?:happy|glad|able)"
    rf"|need\s+your|leave\b|wait\b"
    r"|let\s+you\s+know|have\s+to\s+ask)"
    rf"|(?:['’]m|['’]re|\s+am|\s+are){_ADVERB}\s++(?:going\s+to|about\s+to|planning\s+to"
    rf"|proceeding\s+to|now\s+\w+ing\b)"
    rf"|\s+(?:now\s+|first\s+|also\s+|then\s+|still\s+)?(?:need|have|want|intend|plan|ought|am"
    rf"|mean)\s+to{_ADVERB}\s++"
    r"(?!know\b|be\s+(?:sure|clear|honest)|ask\s+you|say\b|mention\b|point\s+out|apologi|stress)"
    rf"|\s+(?:must|should|had\s+better){_ADVERB}\s++(?!not\b|have\b|be\s+(?:honest|clear)|mention"
    rf"|note|say\b|point)"
    r"|['’]d\s+better\s+"
    r")",
    _FLAGS,
)
_LETS = re.compile(_START + r"(?:let\s+me|let\s+us|let['’]s|allow\s+me\s+to)\b(?!\s+know)", _FLAGS)
_STEP = re.compile(
    r"\A\W*(?:(?:the\s+|my\s+|our\s+)?next\s+steps?\b|(?:the\s+|my\s+)?plan\s*(?::|is\s+to)"
    r"|step\s+\d+\s*[:.)–-]|action\s*:"
    r"|to-?do\s*:|proceeding\s+to\b|moving\s+on\s+to\b|going\s+to\b|about\s+to\b|time\s+to\b"
    r"|next\s*+(?:up\s*+)?[:,]"
    r"|now\s+\w+ing\b|then\s+(?:i|we)\b)",
    _FLAGS,
)
_TELLS = re.compile(
    _START
    + r"(?:you|everyone|everybody|the\s+user)\s+(?:should|must|need\s+to|needs\s+to|have\s+to"
    r"|has\s+to|ought\s+to|are\s+(?:required|asked|instructed|advised)\s+to)\s+(?!be\s+aware"
    r"|know\b|note\b|have\b|not\b)",
    _FLAGS,
)
_ASKED = re.compile(r"\b(?:please|kindly)\s+\w+", _FLAGS)
_OFFER = re.compile(
    r"\b(?:would\s+you\s+like|do\s+you\s+want|should\s+i|shall\s+i|may\s+i|can\s+i\b"
    r"|let\s+me\s+know|feel\s+free|if\s+you"
    r"(?:['’]d|\s+would)?\s+(?:like|want|wish|prefer|need|agree|confirm|tell)|just\s+(?:say|let"
    r"|tell|ask)|tell\s+me\s+(?:if|whether|which"
    r"|what)|say\s+so|say\s+the\s+word|happy\s+to|glad\s+to|don['’]?t\s+hesitate|i\s+can\b"
    r"|i\s+could\b|once\s+you|when\s+you(?:['’]re|\s+are)\s+ready"
    r"|möchten\s+sie|möchtest\s+du|soll\s+ich|sag(?:en\s+sie)?\s+(?:mir\s+)?(?:bescheid|einfach)"
    r"|wenn\s+(?:sie|du)\s+(?:möchte|will)\w*|falls\s+(?:sie|du)"
    r"|voulez-vous|veux-tu|souhaitez-vous|n['’]hésitez|dites-moi|dis-moi|si\s+vous\s+(?:voulez"
    r"|souhaitez)|si\s+tu\s+veux"
    r"|quieres\s+que|quiere\s+que|desea\s+que|avísame|avíseme|dime\s+si|si\s+quieres"
    r"|si\s+lo\s+desea|vuoi\s+che|fammi\s+sapere|quer\s+que|me\s+avise)\b",
    _FLAGS,
)
_ABROAD = re.compile(
    r"(?:^|[,;:–—]\s*|\b(?:und|dann|jetzt|nun|et|puis|ensuite|maintenant|y|luego|ahora|e|poi|ora"
    r"|en|daarna|nu)\s+)(?:"
    # German, Dutch
    r"(?:ich|wir)\s+(?:werden?|muss|müssen|will|wollen|möchte|soll(?:te|en)?)\s+(?!nicht|nichts"
    r"|kein)"
    r"|(?:werde|muss|sollte|will)\s+ich\s+(?!nicht|nichts|kein)|ich\s+\w+e\s+(?:jetzt|nun|gleich"
    r"|zuerst|zunächst|dann|als\s+nächstes)\b"
    r"|(?:zuerst|zunächst|jetzt|nun|dann|danach|anschließend)\s+\w+e\s+ich\b|\w+e\s+ich\s+(?:jetzt"
    r"|nun|zuerst|zunächst|dann)\b"
    r"|lass(?:en\s+sie)?\s+mich\b|als\s+nächstes\b|nächster\s+schritt|(?:sie|du)\s+(?:müssen|musst"
    r"|sollten|solltest)\b|bitte\s+\w+"
    r"|ik\s+(?:ga|zal|moet|wil)\s+(?!niet|geen)|laat\s+me\b|(?:de\s+)?volgende\s+stap"
    r"|eerst\s+\w+\s+ik\b"
    # French
    r"|(?:je|nous)\s+(?:vais|allons|dois|devons|veux|compte|commence\s+par)\s+|laisse(?:z)?-moi\b"
    r"|il\s+(?:faut|me\s+faut)\b|il\s+faut\s+que\s+je"
    r"|(?:la\s+)?prochaine\s+étape|étape\s+suivante|vous\s+dev(?:ez|riez)\b|tu\s+d(?:ois|evrais)\b"
    r"|veuillez\b|merci\s+de\s+\w+"
    # Spanish, Portuguese, Italian
    r"|(?:voy|vamos|vou)\s+(?:a\s+)?\w+(?:ar|er|ir)\w*\b|(?:debo|tengo\s+que|necesito|devo"
    r"|preciso(?:\s+de)?|tenho\s+(?:que|de))\s+\w+"
    r"|déjame\b|permíteme\b|permítame\b|deixe-me\b|deixa-me\b|a\s+continuación\b"
    r"|(?:el\s+)?(?:próximo|siguiente)\s+paso|(?:o\s+)?próximo\s+passo"
    r"|primero\s+(?:voy|tengo|debo)\b|(?:debes|debe|tienes\s+que|tiene\s+que|deve"
    r"|você\s+deve)\s+\w+|por\s+favor,?\s+\w+"
    r"|lasciami\b|(?:il\s+)?prossimo\s+passo|procedo\s+(?:a|con)\b|(?:devi|deve|dovete)\s+\w+"
    r")",
    _FLAGS,
)
_NO_ORDER = re.compile(
    r"\A\W*(?:\w+(?:\s+\w+)?\s*:|(?:note|remember|see|check|avoid|mind|keep\s+in\s+mind)\b(?!\s+(?:your|the"
    r"|whether))"
    r"|[\w-]+(?:\s+\w+)?\s+[#\d]|\S+(?:\s+\S+)?\s*$|(?:no|not|nothing|nobody|none|never|without"
    r"|neither)\b)",
    _FLAGS,
)
"""Labels, numbered things, remarks and reports that something did not happen."""


def read_plans(text: str) -> tuple[Segment, ...]:
    """The sentences that say what will be done or what a person should do, at most `MOST_PLANS`."""
    found: list[Segment] = []
    for segment in segments(text):
        if is_plan(segment.text):
            found.append(segment)
            if len(found) == MOST_PLANS:
                break
    return tuple(found)


def is_plan(sentence: str) -> bool:
    """Whether a sentence states an intention or tells a person to act."""
    said = sentence[:_LOOKED_AT]
    if said.rstrip("\"'”)* ").endswith(("?", "？", "؟")) or _OFFER.search(said):
        return False
    if any(pattern.search(said) for pattern in (_INTENDS, _LETS, _STEP, _TELLS, _ABROAD)):
        return True
    if _ASKED.search(said):
        return True
    return opens_order(said) and not said.endswith(":") and _NO_ORDER.match(said) is None
