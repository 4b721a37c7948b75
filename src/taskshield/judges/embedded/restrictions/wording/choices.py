"""Which one of a list the user's words point at, what they leave out, correct or turn round."""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.restrictions.wording.said import (
    Choice,
    Correction,
    Direction,
    Exclusion,
    Place,
)
from taskshield.judges.embedded.restrictions.wording.words import STOP, TOKEN, act_of

_ORDINALS = (
    (0, "first erste ersten erster erstes première premier primera primero primer prima primo"
        " primeira primeiro eerste pierwszy pierwszą pierwsza första birinci birincisi первый"
        " первую первая"),
    (1, "second zweite zweiten zweiter zweites deuxième seconde segunda segundo seconda secondo"
        " tweede drugi drugą druga andra ikinci ikincisi второй вторую вторая"),
    (2, "third dritte dritten dritter drittes troisième tercera tercero tercer terza terzo terceira"
        " terceiro derde trzeci trzecią trzecia tredje üçüncü üçüncüsü третий третью третья"),
    (3, "fourth vierte vierten quatrième cuarta cuarto quarta quarto vierde czwarty czwartą fjärde"
        " dördüncü четвертый четвёртый"),
    (4, "fifth fünfte fünften cinquième quinta quinto vijfde piąty femte beşinci пятый"),
    (-1, "last letzte letzten letzter letztes dernière dernier última último ultima ultimo laatste"
         " ostatni ostatnią ostatnia sista sonuncu sonuncusu последний последнюю"),
)  # fmt: skip
_INDEX = {word: index for index, words in _ORDINALS for word in words.split()}
_ORDINAL = "|".join(sorted(_INDEX, key=len, reverse=True))
_ONE = (
    r"(?:one|option|offer|choice|slot|quote|result|item|entry|suggestion|draft|version|hit|link"
    r"|opción|oferta"
    r"|opzione|offerta|opção|option|optie|opcja|opcję|angebot|vorschlag|termin)"
)
_END = (
    r"(?=\W*$|\s*[.,;!?)\n]|\s+(?:please|pls|plz|then|bitte|por favor|s'il|per favore|thanks|thx"
    r"|of (?:the|those)|from the)\b)"
)
_CHOICE = re.compile(
    rf"\b(?:the|der|die|das|den|le|la|el|il|o|a|de|het|den)\s+(?P<word>{_ORDINAL})(?:\s+{_ONE}\b"
    rf"|{_END})"
    rf"|\b{_ONE}\s+(?:number\s+|no\.?\s?|nr\.?\s?|#)?(?P<digit>[1-9])\b(?!\s*(?:{_ONE}|[-/:.]\d))"
    rf"|(?:^|\W)(?:number|nummer|numéro|número|numero)\s+(?P<number>[1-9]|one|two|three|four"
    rf"|five){_END}"
    rf"|^\W*(?:ok |yes |yeah |take |only |just )*(?P<only>{_ORDINAL}){_END}"
    r"|第(?P<zh>[一二三四])(?:个|份|条|家|项)|(?P<ja>[一二三四1-4])(?:つ目|番目)|(?P<end>最后一个|最後の)"
)
_SUPERLATIVES = {
    "cheap": "cheaper cheapest least-expensive billigste billigere günstigste günstigere"
    " günstigeren"
    " günstigsten billigeren billigsten barata barato goedkoopste goedkopere tańszy tańszą"
    " najtańszy"
    " najtańszą billigaste billigare",
    "dear": "dearest priciest",
    "early": "earlier earliest früheren frühere früheste frühesten vroegste vroegere",
    "late": "later latest späteren spätere späteste spätesten latere",
}
_SORT = {word: kind for kind, words in _SUPERLATIVES.items() for word in words.split()}
_SUPERLATIVE = re.compile(
    rf"\b(?:the|der|die|das|den|de|la|el|il|o|a|tę|ten"
    rf"|den)\s+(?P<word>{'|'.join(_SORT)})(?:\s+{_ONE}\b{_END}|{_END})"
    r"|\b(?P<fr>(?:la |le )moins ch(?:ère|er))\b|\b(?P<es>(?:la|el) más barat[ao])\b"
    r"|\b(?P<it>(?:la|il) (?:più economic[ao]|meno car[ao]))\b|\b(?P<pt>[ao] mais barat[ao])\b"
    r"|(?P<zh>便宜的那个|最便宜的|安い方|一番安い)"
)
_COUNTED = dict(
    zip("one two three four five 一 二 三 四".split(), (1, 2, 3, 4, 5, 1, 2, 3, 4), strict=True)
)
_VALUE = r"[\w€$£][\w.,:/@€$£%-]{0,40}[\w€$£%]|\w"
_NOT = re.compile(
    rf"(?!(?:no|nein|non|nee|não|nie|sorry|yes|and|the)\b)"
    rf"(?<!\w)(?P<new>{_VALUE})(?:\s(?P<unit>[^\W\d_]{{1,12}}))?"
    rf"(?:,?\s(?:and |y |et |und |e )?not"
    rf"|,\s(?:y |et |und |e )?(?:nicht|pas|no|non|não|niet|nie|inte|не))\s"
    rf"(?:the |on |at |to |for |in |am |um |le |la |el |il |den |der )?(?P<old>{_VALUE})"
    rf"|\b(?:not|nicht|pas|no|non|não|niet|nie|inte"
    rf"|не)\s(?P<old2>{_VALUE})(?:\s[^\W\d_]{{1,12}})?,?\s(?:but|sondern|mais|sino|ma|bensì|mas"
    rf"|maar|tylko|utan|а)\s(?P<new2>{_VALUE})"
    rf"|\b(?P<new3>{_VALUE})(?:\s[^\W\d_]{{1,12}})?\s(?:instead of|rather than|statt|anstatt|au"
    rf" lieu de|en vez de|en lugar de|invece di|em vez de|in plaats van|zamiast|istället för"
    rf"|вместо)\s(?P<old3>{_VALUE})"
)
_EXCEPT = re.compile(
    r"\b(?:with the exception of|ausgenommen|mit ausnahme von|à l'exception de|con excepción de"
    r"|all but|all except|everything but|everything except|everyone but|everyone except"
    r"|every one but"
    r"|anything but|except(?: for)?|apart from|other than|excluding|außer|bis auf|sauf|excepté|à"
    r" part|salvo|excepto"
    r"|menos|tranne|eccetto|a parte|exceto|behalve|oprócz|poza|utom|hariç"
    r"|кроме)\s(?P<what>[^.,;:!?\n()]{2,60})"
    r"|\b(?:leave|lass|laisse|deja|lascia|deixa|laat)\s(?P<alone>[^.,;:!?\n()]{2,40}?)\s(?:alone"
    r"|as (?:it|they) (?:is|are)|untouched"
    r"|be\b|in ruhe|tranquille|en paz|stare|in pace|met rust|where (?:it|they) (?:is|are))"
    r"|\b(?:forget|scrap|skip|leave out|hold off on|no to|olvida|olvídate de|oublie|vergiss|lascia"
    r" perdere|lascia stare|esquece"
    r"|vergeet|strunt i)\s(?:lo de |about )?(?P<skip>(?:the|my|our|die|den|das|la|le|el|il|o|a"
    r"|de|het|[^\W\d_][\w'-]{2,20})\s?[^.,;:!?\n()\s]{2,20})(?=\W*$|[.,;!?])"
    r"|(?:[,:]\s?|^)(?P<excepted>[^.,;:!?\n()]{2,40}?)\s(?:excepted|ausgenommen|exceptée?s?"
    r"|exclus?e?s?)\b"
    r"|\b(?:every|all|each)\s[^.,;:!?\n()]{2,40}?\sbut\s(?P<but>[^.,;:!?\n()]{2,40})"
    r"|除了(?P<zh>[^，。！？、\s]{1,12}?)(?:以外|之外|都)?(?=[，。\s]|$)|(?P<ja>[^、。\s]{1,12})以外"
)
_AND = re.compile(r"\s(?:and|or|und|oder|et|ou|y|o|e|en|i|och|ve|и)\s")
_NO = re.compile(
    r"(?:^|[,.;:!]\s?|\b(?:and|und|et|y|e|aber|but)\s)(?P<what>[^,.;:!?\n()]{2,25}?),?\s"
    r"(?:no(?!\.\s?\d)|nein|non|nee|não|нет|stays?|bleibt|reste|se queda|resta|fica|blijft"
    r"|zostaje|остаётся)(?=\W*$|[,.;:!]|\s(?:as|where|so|wie|da|onde|où|donde|dov|\w{3,12}[.,!]?$))"
    r"|(?:^|[,;:.!]\s?)(?:pas de|pas d'|keine?n?|sin|niente|geen|żadn\w+|inga?)\s"
    r"(?P<none>[^\W\d_]{3,20})(?: at all| please| bitte)?(?=\W*$|[,.;!])"
)
_FROM_TO = re.compile(
    r"\b(?:from|von|vom|de|da|desde|dal|dalla)\s(?P<source>[^.,;:!?\n()]{2,40}?)\s(?:to|into"
    r"|nach|auf|zu|zum|vers|à|a|al|alla|para|naar)\s"
    r"(?P<target>[^.,;:!?\n()]{2,40})|(?P<source2>[\w-]{2,20})\s?(?:→"
    r"|->)\s?(?P<target2>[\w-]{2,20})"
)


def choices(low: str) -> Iterator[Choice]:
    """Which places in a list, or which extremes, a text in lower case names."""
    for match in _CHOICE.finditer(low):
        place = Place(match.start(), match.end())
        word = match["word"] or match["only"]
        if word:
            yield Choice(place, _INDEX[word])
        elif match["end"]:
            yield Choice(place, -1)
        else:
            given = match["digit"] or match["number"] or match["zh"] or match["ja"]
            yield Choice(place, (_COUNTED.get(given) or int(given)) - 1)
    for match in _SUPERLATIVE.finditer(low):
        kind = _SORT[match["word"]] if match["word"] else "cheap"
        yield Choice(Place(match.start(), match.end()), superlative=kind)


_NUMBERS = re.compile(
    r"^\W{0,4}(?:(?:ok|okay|yes|ja|oui|sí|sì|sim|just|only|nur|solo|sólo|seulement|só|alleen|tylko"
    r"|bara|do|take|please|bitte|no\.?|nr\.?|number|#)\W{1,3}){0,4}"
    r"(?P<list>[1-9](?:\s?(?:,|and|&|und|et|y|e|en|i|och|\+)\s?[1-9]){0,5})\W{0,4}(?:only|please|nur"
    r"|bitte|ja|yes|then|thanks|pls|solo|oui|sí)?\W{0,4}$"
)


def numbers_of_list(low: str) -> tuple[Place, frozenset[int]] | None:
    """The numbers that an answer consists of."""
    match = _NUMBERS.match(low[:60]) if len(low) <= 60 else None
    if match is None:
        return None
    return Place(match.start("list"), match.end("list")), frozenset(
        int(one) for one in match["list"] if one.isdigit()
    )


def corrections(text: str, low: str) -> Iterator[Correction]:
    """Values that stand in place of others: both numbers, or both capitalised."""
    for match in _NOT.finditer(low):
        pair = (
            ("new", "old")
            if match["old"]
            else ("new2", "old2")
            if match["old2"]
            else ("new3", "old3")
        )
        new, old = match[pair[0]], match[pair[1]]
        alike = (new[0].isdigit() and old[0].isdigit()) or (
            text[match.start(pair[0])].isupper() and text[match.start(pair[1])].isupper()
        )
        if alike and new != old:
            yield Correction(Place(match.start(), match.end()), new, old)


def exclusions(text: str, low: str) -> Iterator[Exclusion]:
    """What is to be left out or left alone."""
    for match in _EXCEPT.finditer(low):
        what = (
            match["what"]
            or match["alone"]
            or match["skip"]
            or match["excepted"]
            or match["but"]
            or match["zh"]
            or match["ja"]
        )
        names = frozenset(
            word for word in TOKEN.findall(what) if word not in STOP and not act_of(word)
        )
        sentence = max(low.rfind(mark, 0, match.start()) for mark in (". ", "! ", "? ", "\n")) + 1
        if re.search(
            r"\b(?:if|unless|wenn|falls|si|se|als|jeśli|om)\b", low[sentence : match.start()]
        ):
            continue
        if match["skip"] and len(low.split()) > 14:
            continue
        if not names or re.search(r"\b(?:others?|rest|everything|all)\b", what):
            continue
        place = Place(match.start(), match.end())
        for part in _AND.split(what):  # each of them is left out
            own = frozenset(word for word in TOKEN.findall(part) if word in names)
            if own:
                yield Exclusion(place, own, quoted=match["alone"] is not None)
    if len(low.split()) <= 14:
        for match in _NO.finditer(low):
            names = frozenset(
                word
                for word in TOKEN.findall(match["what"] or match["none"])
                if word not in STOP and len(word) > 2
            )
            if 0 < len(names) <= 2 and not re.search(
                r"\b(?:others?|rest|andere\w*)\b", match["what"] or "" or ""
            ):
                yield Exclusion(Place(match.start(), match.end()), names)


def directions(low: str) -> Iterator[Direction]:
    """From where to where."""
    for match in _FROM_TO.finditer(low):
        source, target = match["source"] or match["source2"], match["target"] or match["target2"]
        yield Direction(Place(match.start(), match.end()), source.strip(), target.strip())
