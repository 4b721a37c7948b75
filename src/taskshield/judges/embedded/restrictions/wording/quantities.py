"""Amounts in words of the user, in records and in arguments, with their units.

"1.299,00 €", "$1,299" and "twelve hundred ninety-nine euros" are the same amount. Where a number
can be read in two ways, it is both.
"""

import re
from dataclasses import dataclass

_UNITS = {
    "money": "€ eur euro euros $ usd dollar dollars bucks £ gbp pound pounds quid chf franken"
    " francs"
    " francos franc ¥ yen jpy yuan cny rmb kr sek nok dkk kronor kroner pln zł złotych zl ₺ tl lira"
    " ₹ inr rupees ₽ руб рублей reais brl r$ aud cad nzd 元 円 块",
    "person": "people persons person guests guest leute personen personnes personas persone pessoas"
    " osoby osób kişi человек человека pax adults couverts covers heads",
    "percent": "% percent pct prozent pourcent",
    "minute": "min mins minute minutes minuten minuto minutos minuti minut dakika минут 分钟 分",
    "hour": "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur godzin"
    " saat часа часов 小时 時間",
    "day": "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen"
    " dni gün 天",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken",
    "second": "sec secs seconds sekunden",
    "month": "month months monat monate mois mes meses mese mesi maand maanden",
    "night": "night nights nacht nächte nuit nuits noche noches notte notti nachten",
    "kilogram": "kg kilo kilos kilogram kilograms",
    "gram": "g gram grams gramm grammes gramos grammi",
    "litre": "l litre litres liter liters litros litri",
    "millilitre": "ml",
    "metre": "m metre metres meter meters",
    "kilometre": "km kilometre kilometres kilometer kilometers",
    "centimetre": "cm",
    "degree": "° °c c degrees degree grad celsius degrés grados gradi",
    "fahrenheit": "°f f fahrenheit",
    "gigabyte": "gb",
    "megabyte": "mb",
    "mile": "mile miles mi",
    "pound_weight": "lb lbs",
}
UNIT = {word: unit for unit, words in _UNITS.items() for word in words.split()}
"""The unit that a word means."""
_SCALES = {
    "minute": ("time", 60.0),
    "hour": ("time", 3600.0),
    "second": ("time", 1.0),
    "day": ("time", 86400.0),
    "week": ("time", 604800.0),
    "kilogram": ("weight", 1000.0),
    "gram": ("weight", 1.0),
    "litre": ("volume", 1000.0),
    "millilitre": ("volume", 1.0),
    "kilometre": ("length", 100000.0),
    "metre": ("length", 100.0),
    "centimetre": ("length", 1.0),
    "gigabyte": ("size", 1000.0),
    "megabyte": ("size", 1.0),
}
_SMALL = {
    word: number
    for number, words in enumerate(
        (
            "zero zéro cero",
            "one eins ein eine une uno una een jeden",
            "two zwei deux dos dois duas twee dwa två iki два две 两",
            "three drei trois tres tre três drie trzy üç три 三",
            "four vier quatre cuatro quattro quatro cztery fyra dört четыре 四",
            "five fünf cinq cinco cinque vijf pięć fem beş пять 五",
            "six sechs seis zes sześć sex altı шесть 六",
            "seven sieben siete sette sete zeven siedem sju yedi семь 七",
            "eight acht huit ocho otto oito osiem åtta sekiz восемь 八",
            "nine neun nueve nove negen dziewięć nio dokuz девять 九",
            "ten zehn dix diez dieci dez tien dziesięć tio десять 十",
            "eleven elf onze undici",
            "twelve zwölf douze doce dodici doze twaalf",
        )
    )
    for word in words.split()
}
_TEENS = dict(zip("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
                  range(13, 20), strict=True))  # fmt: skip
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(),
                 range(20, 100, 10), strict=True))  # fmt: skip
_POWERS = {"hundred": 100, "thousand": 1000, "grand": 1000, "dozen": -12, "dutzend": -12}
_BEYOND = re.compile(
    r"(?:cent|hundert|mil|mille|tausend|cien\w{0,4}|cento|honderd|duizend|sto|tysi\w{0,6}|hundra|tusen"
    r"|yüz|bin|сто|тысяч\w{0,3}|\w{1,12}cent\w{0,6})\b"
)
"""Parts of numbers that are not read: the number is not known."""
_JOINED = re.compile(r"(?:\b(?:y|e|et|und|en|i|och|ve)|cent\w{0,6}|mil\w{0,6}|hundert|tausend)\s$")
_DIGITS = (
    r"(?P<sign>[$€£¥₹₺₽]|r\$|\b(?:eur|usd|gbp"
    r"|chf))?\s?(?<![\w.,:/#@-])(?P<number>-?\d{1,3}(?:[.,'’ ]\d{3}){1,4}"
    r"(?:[.,]\d{1,2})?|-?\d{1,15}(?:[.,]\d{1,4})?)(?P<k>k)?(?![\d:/@]|[.,-]\d|-\w)\s?"
    r"(?P<unit>[^\W\d_]{1,12}|[€$£¥%₹₺₽]|°[cf]?)?(?P<cents>\s\d\d(?!\s?[\w:/%-]|[.,]\d))?"
)
_FOUND = re.compile(rf"{_DIGITS}|(?P<word>[^\W\d_]{{2,14}}(?:-[^\W\d_]{{3,8}})?)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit."""

    values: frozenset[float]
    """Several where its writing is ambiguous."""
    unit: str
    """Empty where none is named."""
    noun: str
    """The word behind the number, where it is no unit."""
    start: int
    end: int

    @property
    def value(self) -> float:
        """The likeliest reading."""
        return max(self.values)

    def equals(self, other: "Quantity") -> bool:
        """Whether both may be the same amount, units apart."""
        return any(abs(a - b) <= 0.005 * max(1e-9, abs(b)) for a in self.values
                   for b in other.values)  # fmt: skip


def numbers(text: str) -> frozenset[float]:
    """What a number may mean, as it is written."""
    bare = text.replace(" ", "").replace("'", "").replace("’", "")
    ways = set()
    dots, commas = bare.count("."), bare.count(",")
    if not dots and not commas:
        ways.add(bare)
    elif dots and commas:
        last = max(bare.rfind("."), bare.rfind(","))
        ways.add(re.sub(r"[.,]", "", bare[:last]) + "." + bare[last + 1 :])
    else:
        mark = "." if dots else ","
        groups = bare.split(mark)
        if all(len(one) == 3 for one in groups[1:]) and 1 <= len(groups[0].lstrip("-")) <= 3:
            ways.add("".join(groups))
        if len(groups) == 2:
            ways.add(".".join(groups))
    return frozenset(float(way) for way in ways if re.fullmatch(r"-?\d{1,18}(?:\.\d{1,18})?", way))


def quantities(low: str) -> tuple[Quantity, ...]:
    """The quantities in a text in lower case, in order. Ids, dates and times are none."""
    found: list[Quantity] = []
    spelled: list[tuple[int, int, int]] = []  # numbers in words that follow each other

    def close(unit: str, noun: str) -> None:
        if spelled:
            total = _spelled([number for number, _, _ in spelled])
            values = frozenset([float(total)])
            start, end = spelled[0][1], spelled[-1][2]
            spelled_out = _JOINED.search(low[max(0, start - 12) : start]) or _BEYOND.match(
                low, end + 1
            )
            if spelled_out:
                spelled.clear()
                return
            found.append(Quantity(values, unit, noun, spelled[0][1], spelled[-1][2]))
            spelled.clear()

    for match in _FOUND.finditer(low):
        if match["word"]:
            word = match["word"]
            number = _word_number(word)
            if number is not None and (not spelled or match.start() - spelled[-1][2] <= 5):
                spelled.append((number, match.start(), match.end()))
            elif not (word == "and" and spelled):
                close(UNIT.get(word, ""), "" if word in UNIT else word)
            continue
        close("", "")
        if match["number"] is None:
            continue
        values = numbers(match["number"])
        if match["k"]:
            values = frozenset(1000 * value for value in values)
        after = match["unit"] or ""
        unit = UNIT.get(match["sign"] or "", "") or UNIT.get(after, "")
        if match["cents"] and unit == "money" and len(values) == 1:
            values = frozenset(value + int(match["cents"]) / 100 for value in values)
        if values:
            end = match.end("unit") if unit and after in UNIT else match.end("number")
            noun = "" if after in UNIT else after
            begin = match.start("sign") if match["sign"] else match.start("number")
            found.append(Quantity(values, unit, noun, begin, end))
    close("", "")
    return tuple(found)


def in_base(value: float, unit: str) -> tuple[str, float]:
    """A dimension and the amount in its base unit."""
    dimension, factor = _SCALES.get(unit, (unit, 1.0))
    return dimension, value * factor


def _word_number(word: str) -> int | None:
    if word in _SMALL:
        return _SMALL[word]
    if "-" in word:
        ten, _, small = word.partition("-")
        if ten in _TENS and small in _SMALL:
            return _TENS[ten] + _SMALL[small]
    return _TEENS.get(word, _TENS.get(word, _POWERS.get(word)))


def _spelled(parts: list[int]) -> int:
    """The number that number words spell: twelve hundred, two thousand five hundred."""
    total = current = 0
    for part in parts:
        if part == 1000:
            total += max(1, current) * 1000
            current = 0
        elif part in (100, -12):
            current = max(1, current) * abs(part)
        else:
            current += part
    return total + current
