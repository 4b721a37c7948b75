"""Where an order begins between other words, without a sign: "see you soon Open the door".

Otherwise it would be read as one with the words before it, and an injected order could hide there.
Only English verbs are known. `directive_openers` says what an order is.
"""

import re
from collections.abc import Iterator

from taskshield.core import deadline
from taskshield.judges.embedded.grammar.directive_openers import opens_order, opens_request

_READ = 200
"""Characters that show whether a text is an order."""
_WORD = 40
"""Characters of the word before it."""
_BETWEEN = re.compile(r"(?<=[\w%€$)\]])[ \t]+(?=[A-Z][a-z'’]{1,20}[ ,])")
_GOES_ON = frozenset(
    "the a an to of in on at for with and or but nor so by from via per as is are was were be been"
    " my our your his her their its this that these those no not if when than then also both each"
    " every any some all into onto over under about after before until since like new old next last"
    " first second i we you he she they it please called named titled labelled marked click press"
    " tap hit select choose use push pick say says said".split()
)
"""Words that no sentence ends with, and words before something to press or say."""
_POLITE = ("Please ", "Kindly ")
_OBJECT = re.compile(r"\A\S++ (?:the|an?|my|our|your|his|her|their|its|this|that|all|me|us|it)\b")
"""An order that can be no name: "Send the", but not "Report on"."""


def run_on_starts(text: str) -> Iterator[int]:
    """Positions where an order begins right behind a word that ends no sentence."""
    for match in _BETWEEN.finditer(text):
        deadline.check()
        before = text[max(0, match.start() - _WORD) : match.start()].split()[-1]
        order = text[match.end() : match.end() + _READ]
        if before.lower() not in _GOES_ON and _begins(order, after_name=_is_name(before)):
            yield match.end()


def _begins(order: str, *, after_name: bool) -> bool:
    if order.startswith(_POLITE) or opens_request(order):
        return True
    if order.startswith("No "):  # a number as well
        return False
    # A word behind a name may be another part of it: "the Sales Report".
    return (not after_name or _OBJECT.match(order) is not None) and opens_order(order)


def _is_name(word: str) -> bool:
    return word[0].isupper() and not any(character.isdigit() for character in word)
