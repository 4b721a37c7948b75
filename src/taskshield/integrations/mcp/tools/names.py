"""Names of tools: those that people and agents cannot tell apart, or cannot see.

Pure. Letters that look like Latin ones are read as those; a name with letters of two scripts that
look alike is not shown at all.
"""

import unicodedata

_LONGEST = 128
_ALIKE = str.maketrans("абсԁеһіјӏорԛѕуԝхαεικνορτυ", "abcdehijlopqsywxaeiknoptu")
"""Small letters that look like Latin ones."""
_EUROPEAN = ("ARMENIAN", "CHEROKEE", "CYRILLIC", "GREEK", "LATIN")
"""Scripts with letters that look like those of the others."""
_SEEN = ("L", "M", "N", "P", "S")
"""First letters of the categories of characters that can be seen."""
_HIDDEN = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")
"""Characters that count as letters, signs or marks, and show nothing."""


def can_be_shown(name: str) -> bool:
    """Whether every character of a name can be seen, and is what it looks like."""
    if not 0 < len(name) <= _LONGEST or name != name.strip():
        return False
    if name.isascii():
        return name.isprintable()
    seen = (
        character == " "
        or (unicodedata.category(character)[0] in _SEEN and character not in _HIDDEN)
        for character in name
    )
    return all(seen) and len(_scripts(name)) <= 1


def look(name: str) -> str:
    """Equal for names that look the same, whatever their case."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_ALIKE)


def _scripts(name: str) -> set[str]:
    scripts = {unicodedata.name(each, "").split(" ")[0] for each in name if each.isalpha()}
    return scripts.intersection(_EUROPEAN)
