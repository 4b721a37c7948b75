"""Days and times of day in the user's words and in arguments."""

import re
from dataclasses import dataclass
from datetime import date

_WEEKDAYS = {
    word: day
    for day, words in enumerate(
        (
            "monday mon montag lundi lunes lunedì lunedi segunda-feira maandag poniedziałek måndag"
            " pazartesi понедельник 月曜 周一 星期一",
            "tuesday tue tues dienstag mardi martes martedì martedi terça-feira dinsdag wtorek"
            " tisdag"
            " salı вторник 火曜 周二 星期二",
            "wednesday wed mittwoch mercredi miércoles miercoles mercoledì quarta-feira woensdag"
            " środa"
            " środę onsdag çarşamba среда среду 水曜 周三 星期三",
            "thursday thu thur thurs donnerstag jeudi jueves giovedì quinta-feira donderdag"
            " czwartek"
            " torsdag perşembe четверг 木曜 周四 星期四",
            "friday fri freitag vendredi viernes venerdì sexta-feira vrijdag piątek fredag cuma"
            " пятница пятницу 金曜 周五 星期五",
            "saturday sat samstag sonnabend samedi sábado sabado sabato zaterdag sobota sobotę"
            " lördag"
            " cumartesi суббота субботу 土曜 周六 星期六",
            "sunday sun sonntag dimanche domingo domenica zondag niedziela niedzielę söndag pazar"
            " воскресенье 日曜 周日 星期日",
        )
    )
    for word in words.split()
}
_MONTHS = {
    word: month
    for month, words in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro januari styczeń stycznia ocak января",
            "february feb februar février febrero febbraio fevereiro februari lutego şubat февраля",
            "march mar märz mars marzo março maart marca mart марта",
            "april apr avril abril aprile kwietnia nisan апреля",
            "may mai mayo maggio maio mei maja maj mayıs мая",
            "june jun juni juin junio giugno junho czerwca haziran июня",
            "july jul juli juillet julio luglio julho lipca temmuz июля",
            "august aug août agosto augustus sierpnia augusti ağustos августа",
            "september sep sept septembre septiembre settembre setembro września eylül сентября",
            "october oct oktober octobre octubre ottobre outubro października ekim октября",
            "november nov novembre noviembre novembro listopada kasım ноября",
            "december dec dezember décembre diciembre dicembre dezembro grudnia december aralık"
            " декабря",
        ),
        1,
    )
    for word in words.split()
}
_WEEKDAY = re.compile(
    "|".join(
        rf"(?<![^\W\d_]){re.escape(word)}s?(?![^\W\d_])" if word[0] < "\u3000" else re.escape(word)
        for word in sorted(_WEEKDAYS, key=len, reverse=True)
    )
)
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_NAMED = re.compile(
    rf"(?<![\w.])(\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?(?: of| de| di)? (?:the )?({_MONTH})\b"
    rf"|\b({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])"
)
_DOTTED = re.compile(r"(?<![\w.])(\d{1,2})\.(\d{1,2})\.(?:(?:\d{4}|\d{2})(?!\d)|(?!\d))")
_CLOCK = re.compile(
    r"(?<![\w:.-])(\d{1,2})(?:[:.]|\s?h\s?)(\d{2})(?:[:.]\d{2})?\s?([ap])?\.?m?\b(?![:%€$.]\d"
    r"|-\d|\s?(?:%|€"
    r"|\$|£|eur|kg|km))"
    r"|(?<![\w:.-])(\d{1,2})\s?([ap])\.?m\b"
    r"|(?<![\w:.-])(\d{1,2})\s?(?:uhr\b|o'clock\b|h\b(?!\w)|時|点|uur\b)"
    r"|\b(?:at|um|à|a las|alle|às|om|kl\.?|o) (\d{1,2})(?![\w:.,%€$£/-]|\s?(?:%|€|\$|£|eur|h\\b"
    r"|[a-z]{3,}))"
)
_STAMP = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:[t ](\d{2}):(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Moments:
    """What is said about time. Days are (month, day)."""

    weekdays: frozenset[int] = frozenset()
    days: frozenset[tuple[int, int]] = frozenset()
    clocks: frozenset[tuple[int, int]] = frozenset()
    """Hour and minute. An hour up to 12 without am or pm may mean either."""
    places: tuple[tuple[tuple[int, int], str], ...] = ()
    """Where each of them stands, and whether it is a weekday, a day or a clock."""


def moments(low: str) -> Moments:
    """The weekdays, days and times of day that a text in lower case names."""
    weekdays = frozenset(
        day for match in _WEEKDAY.finditer(low) if (day := _weekday(match[0])) is not None
    )
    days = {(int(month), int(of)) for _, month, of in _ISO.findall(low)}
    for first, month, other, second in _NAMED.findall(low):
        named, of = (month, first) if month else (other, second)
        days.add((_MONTHS[named], int(of)))
    days |= {(int(month), int(of)) for of, month in _DOTTED.findall(low)}
    return Moments(
        weekdays,
        frozenset(day for day in days if _exists(*day)),
        frozenset(_clocks(low)),
        tuple(
            (match.span(), kind)
            for kind, patterns in (
                ("weekday", (_WEEKDAY,)),
                ("day", (_ISO, _NAMED, _DOTTED)),
                ("clock", (_CLOCK,)),
            )
            for pattern in patterns
            for match in pattern.finditer(low)
        ),
    )


def _weekday(word: str) -> int | None:
    return _WEEKDAYS.get(word, _WEEKDAYS.get(word.removesuffix("s")))


def _clocks(low: str) -> set[tuple[int, int]]:
    found = set()
    for match in _CLOCK.finditer(low):
        hour = next(int(one) for one in (match[1], match[4], match[6], match[7]) if one)
        minute = int(match[2] or 0)
        half = match[3] or match[5]
        if hour > 24 or minute > 59:
            continue
        if half == "p" and hour < 12:
            hour += 12
        elif half == "a" and hour == 12:
            hour = 0
        elif not half and not match[2] and 1 <= hour <= 12 or (not half and match[2] and hour < 12):
            found.add((hour % 12 + 12, minute))
        found.add((hour % 24, minute))
    return found


def _exists(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def stamp(text: str) -> tuple[date, tuple[int, int] | None] | None:
    """The day and, where it has one, the time of day of a value such as 2026-03-17T15:00."""
    match = _STAMP.match(text.strip().lower())
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    return day, (int(match[4]), int(match[5])) if match[4] else None
