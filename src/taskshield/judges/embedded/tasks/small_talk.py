"""Messages of the user that ask for nothing by themselves: "hello", "go on", "help me", "?".

They authorise nothing. What the user asked for before stays as it is. "Yes", "do it" and "the
second one" count as far as they answer what the agent said.
"""

import re
import unicodedata

from taskshield.judges.embedded.grammar.directive_openers import kind_of
from taskshield.judges.embedded.tasks.empty_words import EMPTY, FILLS, OPENERS, REFERS, words_of

_LONGEST = 80
"""Characters of a message that may say nothing."""
_REMARK = 200
_LONG = 2_000
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_AGREEING_SIGNS = frozenset("👍👌✅☑✔💯🆗🙆👏")
_SHORT_WORDS, _SHORT_LETTERS = 3, 24
_DENSE = re.compile(r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts that need few of them for a word."""
_DENSE_LETTERS = 6


def asks_for_nothing(text: str, *, first: bool) -> bool:
    """Whether a message of the user asks for nothing.

    Args:
        text: The message.
        first: Whether the user has said nothing before it.
    """
    said = _normal(text)
    if len(said) > _LONGEST:
        return False
    words = frozenset(words_of(said))
    if words & OPENERS and words <= OPENERS | FILLS:
        return True
    if not words:
        return first and _AGREEING_SIGNS.isdisjoint(said)
    return first and kind_of(said) == "courtesy" and REFERS.isdisjoint(words)


def is_empty(request: str) -> bool:
    """Whether no word of all that the user said tells what is wanted."""
    said = request.strip()
    return len(said) <= _LONG and EMPTY.union(REFERS).issuperset(words_of(said))


def is_terse(request: str) -> bool:
    """Whether the user said so little that it may be a greeting in any language."""
    words = words_of(request)
    letters = sum(map(len, words))
    dense = len(_DENSE.findall(request))
    longest = _DENSE_LETTERS if dense * 2 > letters else _SHORT_LETTERS
    return len(words) <= _SHORT_WORDS and letters <= longest


def answers(message: str) -> bool:
    """Whether a message agrees to something, or chooses among what was said."""
    said = _normal(message)
    words = words_of(said)
    if not words:
        return not _AGREEING_SIGNS.isdisjoint(said)
    return not said.endswith("?") and not REFERS.isdisjoint(words)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def gives_no_order(text: str) -> bool:
    """Whether short English words hold no order at all: questions, remarks, single letters.

    Of other texts it is not known.
    """
    if not text.strip() or len(text) > _REMARK or not text.isascii():
        return False
    kinds = {kind_of(said.strip()) for said in _SENTENCE.findall(text) if said.strip()}
    return kinds.isdisjoint(("directive", "prohibition", "limit"))
