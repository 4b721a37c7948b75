"""Disguised words: encoded, in dots or look-alike letters, spaced out, in digits, reversed.

An agent reads through these, a small model does not. They are undone only where plain words come
out, so data stays as it is. A few operations on arrays find the places to look at, so that text
without disguises costs hardly any time. The module is long because all disguises share this search.

The table of look-alike letters stays instead of Unicode's confusables: that table lacks 22 of its
89 letters (small capitals, Cyrillic в and к, Greek κ and χ), reads the Cyrillic І as "l", and made
reading slower without finding more in the lab's non-Latin texts.
"""

import codecs
import re
import string
from base64 import b32decode, b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, product
from math import log
from typing import TypeAlias
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from taskshield.core import deadline
from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.text.braille_morse import spelled
from taskshield.judges.embedded.text.control_characters import shown
from taskshield.judges.embedded.text.tracked_text import BREAK, Edit, LinkEdit, Rewriting

_LEVELS = 2  # what is encoded more often stays as it is
_PAYLOAD = 16  # characters; shorter tokens are not decoded
_NEAR = 60  # characters on each side of a word that show the script of the text around it
_TOGETHER = 30  # characters at most between two words in digits
_FEWEST = 4  # words that are turned together
_SENTENCE = 8  # blanks; a link with fewer stays as links are
_TURNED = 20  # half nats by which one block or two must be more like English when turned
_SLICE = 1 << 15  # characters that are searched at once: they fit the processor's cache
_BLOCK = 16  # characters that are weighed together when turned words are looked for
_COMMON = frozenset(
    "about access account add address after again all also always and another answer any are ask"
    " attachment back balance bank because been before book buy call can cancel card change check"
    " click close code command confirm contact contents copy could create credit data date day"
    " delete details did does done download each email emails every everything execute file files"
    " find first folder follow following for forget forward from full get give good has have help"
    " her here him his how immediately important include information instead into invite its just"
    " keep key keys know last leave let like link list login look mail make many may meeting"
    " message messages money more most must name need new next not nothing now number off one only"
    " open order other our out over page password passwords pay payment people phone place please"
    " post print private provide put read receive remember remove reply report request reset run"
    " said same save say search see send set share she should show some soon start stop sure"
    " system take tell than that the their them then there these they this those through time"
    " today tomorrow tool tools transfer two under until update upload urgent use user users visit"
    " was way website well were what when where which while who why will with without work would"
    " write yes you your am an as at be by do go he if in is it me my no of on or so to up"
    " us we".split()
)
_PIECE = re.compile(r"[A-Za-z0-9]{1,16}|.", re.DOTALL)


def edits(text: str) -> Iterator[Edit]:
    """Replace disguised words by plain ones."""
    plain = text if text.isascii() else _plain(text)
    done = 0
    for found in _disjoint(_found(plain, _LEVELS)):
        yield from _letters(text, plain, done, found.start)
        yield from _spread(found)
        done = found.end
    yield from _letters(text, plain, done, len(text))


def _found(text: str, levels: int) -> Iterator[Edit]:  # they may overlap
    runs, pairs, singles, digits, *turned = _places(text)
    yield from _tokens(text, runs, levels)
    yield from _pairs(text, pairs, levels)
    if "%" in text:
        yield from _percents(text, levels)
    yield from (edit for edit in spelled(text) if _spells(edit.text))
    if levels == _LEVELS:  # decoded text is not searched for these
        yield from _apart(text, singles)
        yield from _in_digits(text, digits)
        for turn, places in zip(_TURNS, turned, strict=True):
            yield from _turned(text, places, turn)


def _disjoint(found: Iterable[Edit]) -> Iterator[Edit]:
    done = 0
    for edit in sorted(found):
        if edit.start >= done:
            yield edit
            done = edit.end


def _spread(found: Edit) -> Iterator[Edit]:
    """An edit for each word, over its share of the disguise: sentences get separate places."""
    size, cursor = found.end - found.start, 0
    for piece in _PIECE.finditer(found.text):
        end = piece.end() * size // len(found.text)
        yield type(found)(found.start + cursor, found.start + end, piece[0])
        cursor = end


# Where to look.

Turn: TypeAlias = Callable[[str], str]
_LETTER, _CODE, _HEX, _GAP, _DIGIT = (1 << bit for bit in range(5))
_MEMBERS = {
    _LETTER: string.ascii_letters,
    _CODE: string.ascii_letters + string.digits + "+/-_",
    _HEX: string.hexdigits,
    _GAP: " .,:;*_-\n",
    _DIGIT: "013457@$",
}
_KINDS = bytes(sum(kind for kind in _MEMBERS if chr(n) in _MEMBERS[kind]) for n in range(256))
_SYMBOLS = " abcdefghijklmnopqrstuvwxyz0????"  # 32; everything else counts as a blank
_NUMBERS = bytes(max(0, _SYMBOLS.find(chr(n).lower())) if n < 128 else 0 for n in range(256))
_ROT13 = str.maketrans({one: codecs.encode(one, "rot13") for one in string.ascii_letters})
_TURNS: tuple[Turn, Turn] = (lambda text: text.translate(_ROT13), lambda text: text[::-1])


def _odds(turn: Turn) -> NDArray[np.int16]:
    """How much more likely two neighbours are when turned, in half nats; at most 7 of them."""
    seen = Counter(f" {word} "[at : at + 2] for word in _COMMON for at in range(len(word) + 1))
    pairs = list(map("".join, product(_SYMBOLS, repeat=2)))
    odds = [log((seen[turn(pair)] + 0.5) / (seen[pair] + 0.5)) for pair in pairs]
    return np.array([max(-7, min(round(2 * each), 7)) for each in odds], np.int16)


_ODDS = _odds(_TURNS[0]) + 256 * _odds(_TURNS[1])  # both in one number: half the time


def _places(text: str) -> list[list[int]]:
    """Where in a text each kind of disguise may begin."""
    found: list[set[int]] = [set() for _ in range(6)]
    for offset in range(0, len(text), _SLICE):
        part = text[offset : offset + _SLICE + _NEAR].encode("ascii", "replace")
        for places, flags in zip(found, _flagged(part), strict=True):
            places.update((np.flatnonzero(flags) + offset).tolist())
    return [sorted(places) for places in found]


def _flagged(text: bytes) -> Iterator[NDArray[np.bool_]]:
    kinds = np.frombuffer(text.translate(_KINDS), np.uint8)
    letters, codes, hexes, gaps, digits = ((kinds & np.uint8(kind)) != 0 for kind in _MEMBERS)
    for half in (1, 2, 4, 8):  # sixteen characters of encodings in a row
        codes = codes[:-half] & codes[half:]
    yield np.append(codes[:1], codes[1:] & ~codes[:-1])
    pair = hexes[:-2] & hexes[1:-1] & gaps[2:]
    raw = np.frombuffer(text, np.uint8)
    prefix = ((raw[:-1] == ord("0")) | (raw[:-1] == ord("\\"))) & (raw[1:] == ord("x"))
    prefix[:-7] |= pair[:-6] & pair[3:-3] & pair[6:]
    yield prefix
    single = letters[:-1] & gaps[1:]
    yield single[:-4] & single[2:-2] & single[4:]
    yield letters[:-2] & digits[1:-1] & letters[2:]
    numbers = np.frombuffer(text.translate(_NUMBERS), np.uint8)
    odds = _ODDS.take(numbers[:-1] * np.uint16(32) + numbers[1:])
    odds = odds[: len(odds) // _BLOCK * _BLOCK]
    for _ in range(_BLOCK.bit_length() - 1):
        odds = odds[0::2] + odds[1::2]  # several times faster than a sum over rows
    one = (odds + 128 & 255) - 128
    for way in (one, odds - one >> 8):
        together = np.maximum(way, way + np.append(way[1:], 0))
        yield np.repeat(together > _TURNED, _BLOCK)


def _matches(pattern: re.Pattern[str], text: str, places: list[int]) -> Iterator[re.Match[str]]:
    done = 0
    for place in places:
        deadline.check()
        match = pattern.match(text, place) if place >= done else None
        if match is not None:
            yield match
            done = match.end()


def _clusters(places: Iterable[int], reach: int) -> Iterator[tuple[int, int]]:
    first: int | None = None
    for place, after in pairwise((*places, 1 << 62)):
        first = place if first is None else first
        if after - place > reach:
            yield first, place
            first = None


# Encodings.

_TOKEN = re.compile(r"[\w+/-]++(?:\n[\w+/-]++(?=[=\n\x1e\"'<]|\Z))*+={0,6}", re.ASCII)
_PART = re.compile(rf"[A-Za-z0-9+]{{{_PAYLOAD},}}+={{0,6}}")
_URL_SAFE = str.maketrans("-_", "+/")
_HEXES, _BASE32 = re.compile("[0-9A-Fa-f]+"), re.compile("[A-Z2-7]+")
_PAIR = r"(?:0x|\\x)?[0-9A-Fa-f]{2}(?![0-9A-Za-z])"
_PAIRS = re.compile(rf"{_PAIR}(?:[ .,:;\n-]{{0,2}}+{_PAIR})*+")
_NO_PAIR = re.compile(r"0x|[^0-9A-Fa-f]")
_PERCENTS = re.compile(r"(?<![\w.~+%-])[\w.~+-]*+(?:%[0-9A-Fa-f]{2}[\w.~+-]*+){4,}+", re.ASCII)
_NEEDLESS = re.compile(r"%(?:[46][1-9A-Fa-f]|[57][0-9Aa])")
_WORD = re.compile(r"[^\W\d_]+")


def _tokens(text: str, places: list[int], levels: int) -> Iterator[Edit]:
    """Base64, base32 and hexadecimal digits; wrapped lines are one token where that reads."""
    for token in _matches(_TOKEN, text, places):
        words = _decoded(token[0].replace("\n", ""), levels)
        if words is not None:
            yield Edit(*token.span(), words)
            continue
        for part in _PART.finditer(text, *token.span()):
            words = _decoded(part[0], levels) if part[0] != token[0] else None
            if words is not None:
                yield Edit(*part.span(), words)


def _pairs(text: str, places: list[int], levels: int) -> Iterator[Edit]:
    for match in _matches(_PAIRS, text, places):
        words = _decoded(_NO_PAIR.sub("", match[0]), levels)
        if words is not None:
            yield Edit(*match.span(), words)


def _percents(text: str, levels: int) -> Iterator[Edit]:
    for match in _PERCENTS.finditer(text):
        start = match.start()
        link = text[max(0, start - 1) : start] in tuple("/?=&#:") and not _NEEDLESS.search(match[0])
        token = match[0] if "%20" in match[0] else match[0].replace("+", " ")
        words = _read(unquote_to_bytes(token), levels)
        if words is not None and (not link or words.count(" ") >= _SENTENCE):
            yield (LinkEdit if link else Edit)(*match.span(), words)


def _decoded(token: str, levels: int) -> str | None:
    """The words behind a token; None where there are none."""
    token = token.rstrip("=").removeprefix("0x")
    if len(token) < _PAYLOAD or token.isdecimal():  # numbers decode to anything
        return None
    try:
        if _HEXES.fullmatch(token):
            return _read(bytes.fromhex(token), levels)
        if _BASE32.fullmatch(token):
            return _read(b32decode(token + "=" * (-len(token) % 8)), levels)
        return _read(b64decode(token.translate(_URL_SAFE) + "=" * (-len(token) % 4)), levels)
    except ValueError:  # no such length
        return None


def _read(content: bytes, levels: int) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    words = shown(text)
    unshown = len(text) - len(words)
    if levels > 1:
        words = Rewriting(words, _disjoint(_found(words, levels - 1))).text
    return words.strip() if _reads(words, len(words) + unshown) else None


def _reads(text: str, size: int) -> bool:
    """Whether a text is words, and hardly anything else."""
    words = _WORD.findall(text)
    letters, blanks = sum(map(len, words)), len(text.split()) - 1
    if letters + blanks < 0.7 * size:
        return False
    if blanks < 1:
        return letters >= 6 and len(text.encode()) >= 2 * letters  # a script without blanks
    return blanks > 1 or any(word.lower() in _COMMON for word in words)


# Look-alike letters, each of which becomes one letter.

_LATIN = "A-Za-z\u00c0-\u024f"
_SMALL = "ᴀʙᴄᴅᴇꜰғɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ"
_ODD = f"{_SMALL}авеіјкорѕсухһԁԛԝӏАВЕІЈКМНОРСТУХЅαικνορυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡօոսհց"
_EVEN = "abcdeffghijklmnopqrstuvwyzabeijkopscyxhdqwlABEIJKMHOPCTYXSaikvopuxcjABEZHIKMNOPTYXagonuhg"
_TWINS = str.maketrans(_ODD, _EVEN)
_ODD_WORD = re.compile(rf"(?<![^\W\d_])[{_LATIN}]*+[{_ODD}][{_LATIN}{_ODD}]*+(?![^\W\d_])")
_FOREIGN = re.compile(rf"[^\W\d_{_LATIN}{_ODD}]")
_ROMAN = re.compile("[A-Za-z]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff](?: ?[\U0001f1e6-\U0001f1ff]){4,}+")
_TYPES = "1d2c-1d6a 2071-2138 213c-217f 24b6-24e9 ff21-ff5a 1d400-1d6a3 1f130-1f149"
_RANGES = [[int(end, 16) for end in each.split("-")] for each in _TYPES.split()]
_CODES = [code for first, last in _RANGES for code in range(first, last + 1)]
_STYLED = {code: normalize("NFKC", chr(code)) for code in _CODES}
_STYLED = {code: letter for code, letter in _STYLED.items() if letter in list(string.ascii_letters)}
_STYLED |= {first + at: chr(97 + at) for first in (0x249C, 0x1F150, 0x1F170) for at in range(26)}


def _plain(text: str) -> str:
    return _ODD_WORD.sub(_twins, _FLAGS.sub(_flags, text.translate(_STYLED)))


def _flags(match: re.Match[str]) -> str:
    """Two such letters are a flag; where many spell words they are letters."""
    letters = "".join(sign if sign == " " else chr(ord(sign) - 0x1F1E6 + 97) for sign in match[0])
    return match[0] if _parted(letters.replace(" ", "")) is None else letters


def _twins(match: re.Match[str]) -> str:
    word, (start, end) = match[0], match.span()
    plain = word.translate(_TWINS)
    small = sum(letter in _SMALL for letter in word)
    if small:
        return plain if 2 * small > len(word) > 1 else word
    around = match.string[max(0, start - _NEAR) : start] + match.string[end : end + _NEAR]
    latin = len(_ROMAN.findall(around)) - len(_FOREIGN.findall(around))
    known, mixed = plain.lower() in _COMMON, _ROMAN.search(word) is not None
    if mixed:
        return plain if latin >= 0 and (known or len(word) > 2) else word
    return plain if latin > 0 and known and len(word) > 2 else word


def _letters(text: str, plain: str, start: int, end: int) -> Iterator[Edit]:
    if text[start:end] != plain[start:end]:
        changed = (at for at in range(start, end) if text[at] != plain[at])
        yield from (Edit(at, at + 1, plain[at]) for at in changed)


# Letters spaced out, digits for letters, words reversed.

_SINGLE = r"(?<![^\W_])[A-Za-z](?![^\W_])"
_SINGLES = re.compile(rf"{_SINGLE}(?:[ .,:;*_-]{{1,3}}+{_SINGLE}){{4,}}+")
_LONG = sorted((word for word in _COMMON if len(word) > 2), key=len, reverse=True)
_KNOWN = re.compile("|".join((*_LONG, "to", "of", "my", "me")), re.IGNORECASE)
_LEETS = tuple(str.maketrans("013457@$", f"o{one}eastas") for one in "il")
_LEET = re.compile(r"(?<![\w@$])(?=[a-zA-Z]|[\d@$]+[a-zA-Z])[\w@$]{2,16}(?![\w@$])", re.ASCII)
_CHUNK = re.compile(rf"(?<!\S)\S+|[\n{BREAK}]")
_SIGNS = string.punctuation + "“”‘’"


def _apart(text: str, places: list[int]) -> Iterator[Edit]:
    for match in _matches(_SINGLES, text, places):
        parts = re.split("[A-Za-z]", match[0])[1:-1]
        inner, _ = Counter(parts).most_common(1)[0]
        gaps = ("" if part == inner else " " for part in (*parts, inner))
        joined = "".join(map("".join, zip(re.findall("[A-Za-z]", match[0]), gaps, strict=True)))
        words = joined if " " in joined else _parted(joined)
        if words is not None and _known(words.lower().split()):
            yield Edit(*match.span(), words)


def _parted(letters: str) -> str | None:
    """Letters without blanks as words, where most of them are in common words."""
    if sum(map(len, _KNOWN.findall(letters))) < 0.7 * len(letters):
        return None
    return " ".join(_KNOWN.sub(r" \g<0> ", letters).split())


def _spells(text: str) -> bool:
    """Whether letters that stood for others are words, one of them common."""
    return _reads(text, len(text)) and bool(_known(text.lower().split()))


def _known(words: Iterable[str]) -> set[str]:
    return {word for word in words if len(word) > 2 and word in _COMMON}


def _in_digits(text: str, places: list[int]) -> Iterator[Edit]:
    """Two words or more that stand together."""
    for first, last in _clusters(places, _TOGETHER):
        if text[first : last + 1].isalnum():
            continue  # one word
        around = _LEET.finditer(text, max(0, first - _TOGETHER), last + _TOGETHER)
        found = [Edit(*match.span(), word) for match in around if (word := _unleet(match[0]))]
        if len(_known(word.lower() for *_, word in found)) > 1:
            yield from found


def _unleet(token: str) -> str:
    words = (token.translate(letters) for letters in _LEETS)
    return next((word for word in words if word != token and word.lower() in _COMMON), "")


def _turned(text: str, places: list[int], turn: Turn) -> Iterator[Edit]:
    """Stretches of a line in which no word is common, but many are when turned."""
    for first, last in _clusters(places, 4 * _NEAR):
        if text.count(" ", first, last + _BLOCK) < 3:
            continue  # no words
        stretch: list[Edit] = []
        for chunk in _CHUNK.finditer(text, max(0, first - _NEAR), last + 2 * _NEAR):
            word = chunk[0].strip(_SIGNS).lower()
            turned = turn(word)
            ends = chunk[0].isspace() or chunk[0].endswith(":")
            if ends or (word in _COMMON and turned not in _COMMON):
                yield from _turned_stretch(text, stretch, turn)
                stretch = []
            else:
                stretch.append(Edit(*chunk.span(), turned))
        yield from _turned_stretch(text, stretch, turn)


def _turned_stretch(text: str, stretch: list[Edit], turn: Turn) -> Iterator[Edit]:
    common = [word for *_, word in stretch if word in _COMMON]
    if len(stretch) >= _FEWEST and len(common) > 0.45 * len(stretch) and len(_known(common)) > 1:
        start, end = stretch[0].start, stretch[-1].end
        turned = turn(text[start:end])
        if is_english(turned):
            yield Edit(start, end, turned)
