"""Messages of the user that ask for nothing by themselves: "hello", "go on", "?".

They authorise nothing. What the user asked for before stays as it is. A "yes" answers something, so
it counts unless it is the first that the user says.
"""

import re
import unicodedata

from taskshield.judges.embedded.grammar.directive_openers import kind_of

_LONGEST = 80
"""Characters of a message that may say nothing."""
_REMARK = 200
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_GREETS = frozenset(
    "hi hiya hello hey there hallo hej guten tag morgen moin bonjour salut hola"
    " buenas ciao salve olá oi merhaba selam привет здравствуйте 你好 您好 こんにちは 안녕"
    " 안녕하세요 namaste morning evening afternoon good day thanks thank you thx danke merci"
    " gracias grazie obrigado obrigada bedankt tack dziękuję спасибо 谢谢 ありがとう 감사합니다"
    " bye".split()
)
_CONTINUES = frozenset(
    "go on continue continuing keep going carry proceed resume next more weiter mach"
    " weitermachen fortfahren continuez continua continúa continúe sigue siga seguir"
    " poursuis poursuivez suite avanti prosegui verder door ga fortsätt dalej"
    " kontynuuj продолжай продолжайте дальше 继续 続けて 계속 devam et".split()
)
_OPENERS = _GREETS | _CONTINUES
_FILLS = frozenset("a and bitte now please pls then und por favor plaît s'il vous te".split())
_AGREES = frozenset(
    "ahead alright correct d'accord da do evet fine genau hai it jawohl ja k klar ok"
    " okay okej oui right si sim sounds sure sí tak tamam that vale yeah yep yes yup"
    " да хорошо 好 好的 是 はい 네 예".split()
)


def asks_for_nothing(text: str, *, first: bool) -> bool:
    """Whether a message of the user asks for nothing.

    Args:
        text: The message.
        first: Whether the user has said nothing before it.
    """
    said = unicodedata.normalize("NFKC", text).strip()
    if len(said) > _LONGEST:
        return False
    words = frozenset(_WORD.findall(said.casefold()))
    if words & _OPENERS and words <= _OPENERS | _FILLS:
        return True
    agrees = words <= _AGREES | _OPENERS | _FILLS
    return first and (agrees or said.isdecimal() or kind_of(said) == "courtesy")


def gives_no_order(text: str) -> bool:
    """Whether short English words hold no order at all: questions, remarks, single letters.

    Of other texts it is not known.
    """
    if not text.strip() or len(text) > _REMARK or not text.isascii():
        return False
    kinds = {kind_of(said.strip()) for said in _SENTENCE.findall(text) if said.strip()}
    return kinds.isdisjoint(("directive", "prohibition", "limit"))
