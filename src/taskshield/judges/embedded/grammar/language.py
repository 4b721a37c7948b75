"""Whether a text is English, by its commonest words.

This is enough: tasks in other languages are split by sentences alone.
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ENGLISH = frozenset(
    "the of and to in is are be it its that this these those for on with as at by from an my"
    " your"
    " our his her their i i'm i'll i've you he she we they me him us them what which who when"
    " where why"
    " how can could would should will please not don't do does did have has had if then than there"
    " all"
    " any some or but so up out about into just no only after before".split()
)
_OTHERS = frozenset(
    # German, Dutch
    "der die das und ist nicht ein eine einen dem den des mit für auf von zu ich du er sie es wir"
    " ihr"
    " mir mich bitte was wie wenn auch nur noch dann dass im am zum zur bei het een en van niet ik"
    " je"
    " dat voor zijn naar graag"
    # French, Spanish, Portuguese, Italian
    " le la les un une des du et est pas je tu il elle nous vous que qui dans pour sur avec ce"
    " cette"
    " mon ma mes au aux moi el los las una y es por para con que se mi mis tu su lo al del pero si"
    " sin"
    " o os um uma e não com que do da no na meu minha por favor di che non il gli per sono mio mia"
    " del"
    " della nel nella"
    # Polish, Swedish, Danish, Norwegian, Hindi in Latin letters
    " co i w z na do jest nie się proszę och att det som på är av til og ikke jeg hai mein ke ka"
    " ki ko"
    " aur se nahi mat kar kya".split()
)
FUNCTION_WORDS = _ENGLISH | _OTHERS
"""The commonest words of many languages: articles, pronouns, prepositions."""
_FEW = 6
"""Words below which a text is too short to decide."""
_LEAST_SHARE = 0.1


def is_english(text: str) -> bool:
    """Whether a text is English, or so short that nothing speaks against it."""
    letters = sum(character.isalpha() for character in text)
    if letters and sum(character.isascii() for character in text) < len(text) * 0.7:
        return False
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS and word not in _ENGLISH for word in words)
    if len(words) < _FEW:
        return others <= english
    return english >= others and english >= _LEAST_SHARE * len(words)
