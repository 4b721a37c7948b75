"""Varies people, places, numbers and dates of a scenario."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random

from taskshield.core.messages import Json
from taskshield_lab.training.augmentation.invented_names import NOT_NAMES, invent_name
from taskshield_lab.training.augmentation.scenario_rewriting import (
    all_calls,
    leaf_values,
    rewrite_scenario,
    source_texts,
)
from taskshield_lab.training.augmentation.value_shapes import (
    TOKEN,
    ValueChanges,
    is_year,
    month_number,
    parse_amount,
)
from taskshield_lab.training.sources.scenarios import Scenario

_FACTORS = tuple(map(Decimal, ("1.1", "1.2", "1.3", "1.5", "1.7", "2", "2.5", "3", "0.5", "0.8")))
_SUFFIXES = ("_v2", "-final", "_copy", "_rev3", "-draft")
_HOST = re.compile(r"(?<=[@/.])([\w-]+)\.(?:example|test|invalid)\b")
_IN_A_SENTENCE = re.compile(r"[a-zß-ÿ,;&(<] ?\b([A-ZÀ-Þ][a-zß-ÿ]+)\b")
"""The first word of a sentence has a capital letter and may be no name."""
_JOINED = re.compile(r"[A-Za-z_#/-]")
_DAY = re.compile(r"\b(29|30|31)\b|-(29|30|31)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """What can be varied in a scenario, and which values must stay readable in which texts."""

    scenario: Scenario
    words: tuple[str, ...]
    runs: tuple[str, ...]
    amounts: tuple[Decimal, ...]
    years: bool
    months: tuple[int, ...]
    """The months that occur; empty if they must stay."""
    relations: tuple[tuple[str | int | float, str], ...]
    """A value and a text that it occurs in."""


def common_words(scenarios: Iterable[Scenario]) -> frozenset[str]:
    """Words that occur in lower case outside of addresses: these are no names."""
    found: set[str] = set()
    for scenario in scenarios:
        for text in (*source_texts(scenario), scenario.final):
            found.update(re.findall(r"(?<![\w@.#/_-])[^\W\d_A-Z]+(?![\w@#/_-]|\.\w)", text))
    return frozenset(found)


def find_entities(scenario: Scenario, common: frozenset[str]) -> Entities:
    """What can be varied in a scenario."""
    sources = source_texts(scenario)
    whole = "\n".join((*sources, scenario.final, scenario.system or ""))
    numbers = [leaf for leaf in _leaves(scenario) if not isinstance(leaf, str)]
    amounts = {Decimal(str(number)) for number in numbers}
    runs: set[str] = set()
    months: set[int] = set()
    for match in TOKEN.finditer(whole):
        token, kind = match[0], match.lastgroup
        if kind == "iso":
            months.add(int(token[5:7]))
        elif kind == "month":
            months.add(month_number(token) or 0)
        elif kind == "amount" and (_by_currency(match) or not _like_a_time(token)):
            amounts.add(parse_amount(token) or Decimal(0))
        elif kind in ("amount", "digits") and _is_id(match):
            runs.add(token)
    movable = scenario.lang == "en" and not re.search(r"\d[./]\d{1,2}[./]\d\d|\bMay\b", whole)
    return Entities(
        scenario=scenario,
        words=_names(whole, scenario.lang, common),
        runs=tuple(sorted(runs)),
        amounts=tuple(sorted(one for one in amounts if _scalable(one))),
        years="29 Feb" not in whole and "-02-29" not in whole,
        months=tuple(sorted(months)) if movable else (),
        relations=tuple(_relations(scenario)),
    )


def vary_scenario(found: Entities, rng: Random, common: frozenset[str]) -> Scenario:
    """The scenario with its entities changed; every value still occurs where it occurred before."""
    changes = _sampled(found, rng, common)
    while True:
        texts = {text: changes.apply_to_text(text) for _, text in found.relations}
        broken = {
            key
            for value, text in found.relations
            if not _holds(_value(changes, value), texts[text])
            for key in (*changes.keys_in(str(value)), *changes.keys_in(_window(text, value)))
        }
        if not broken:
            break
        fewer = _without(changes, broken)
        if fewer == changes:  # nothing left to take back that would help
            return found.scenario
        changes = fewer
    return rewrite_scenario(
        found.scenario, changes.apply_to_text, lambda value: _json(changes, value)
    )


def _sampled(found: Entities, rng: Random, common: frozenset[str]) -> ValueChanges:
    words: dict[str, str] = {}
    taken = set(found.words) | set(common)
    for word in found.words:
        stem = next((one for one in words if word.startswith(one) and len(one) > 3), None)
        words[word] = words[stem] + word[len(stem) :] if stem else invent_name(word[0], taken, rng)
        taken.add(words[word])
    runs: dict[str, str] = {}
    for run in found.runs:
        new = run
        while new in runs.values() or new == run or is_year(new):
            digits = "".join(rng.choice("0123456789") for _ in run[1:])
            new = ("0" if run[0] == "0" else rng.choice("123456789")) + digits
        runs[run] = new
    factors = rng.sample(_FACTORS, len(_FACTORS))
    factor = next((one for one in factors if _fits(one, found.amounts)), Decimal(2))
    months = [by for by in range(-11, 12) if all(1 <= one + by <= 12 for one in found.months)]
    whole = "\n".join(source_texts(found.scenario))
    moved = found.months and rng.random() < 0.5 and not _DAY.search(whole)
    return ValueChanges(
        words=words,
        names=frozenset(words),
        runs=runs,
        amounts={one: (one * factor).normalize() + 0 for one in found.amounts},
        years=rng.choice([-4, -3, -2, -1, 0, 1]) if found.years else 0,
        months=rng.choice(months) if moved and months else 0,
        suffix=rng.choice(_SUFFIXES) if rng.random() < 0.4 else "",
    )


def _without(changes: ValueChanges, broken: set[str | Decimal]) -> ValueChanges:
    return replace(
        changes,
        words={old: new for old, new in changes.words.items() if old not in broken},
        runs={old: new for old, new in changes.runs.items() if old not in broken},
        amounts={old: new for old, new in changes.amounts.items() if old not in broken},
        years=0 if "years" in broken else changes.years,
        months=0 if "months" in broken else changes.months,
        suffix="" if "suffix" in broken else changes.suffix,
    )


def _names(text: str, lang: str, common: frozenset[str]) -> tuple[str, ...]:
    """Proper names: words that are never written small, and the names in addresses."""
    hosts = {part.lower() for host in _HOST.findall(text) for part in re.split(r"[\W\d_]+", host)}
    local = {part.lower() for part in re.findall(r"[^\W\d_]+(?=[\w.]*@)", text)}
    titled = {word.lower() for word in _IN_A_SENTENCE.findall(text)}
    found = {word for word in titled if lang == "en" or word in local} | hosts
    fit = sorted(one for one in found if len(one) > 3 and not _ordinary(one, common))
    return tuple(one for one in fit if not any(_alike(one, other) for other in fit))


def _ordinary(word: str, common: frozenset[str]) -> bool:
    stems = (word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ing"))
    return word in NOT_NAMES or any(stem in common for stem in stems)


def _alike(one: str, other: str) -> bool:
    """Whether one name may be a deliberate look-alike of the other."""
    same = sum(left == right for left, right in zip(one, other, strict=False))
    return one != other and len(one) == len(other) and same >= len(one) - 2 and len(one) > 4


def _by_currency(match: "re.Match[str]") -> bool:
    before, after = match.string[: match.start()][-5:], match.string[match.end() :][:5]
    signs = r"[€$£¥₹]|\b[A-Z]{3}\b|[Ee]uro|R\$"
    return bool(re.search(rf"(?:{signs}) ?$", before) or re.match(rf" ?(?:{signs})", after))


def _like_a_time(token: str) -> bool:
    """Whether a number could be a time of day, or anything at all."""
    return token.isdigit() or bool(re.fullmatch(r"(?:[01]?\d|2[0-4])[.,][0-5]\d", token))


def _is_id(match: "re.Match[str]") -> bool:
    token = match[0]
    around = match.string[match.start() - 1 : match.start()] + match.string[match.end() :][:1]
    return (
        token.isdigit()
        and not is_year(token)
        and (len(token) >= 5 or (len(token) >= 3 and bool(_JOINED.search(around))))
    )


def _scalable(amount: Decimal) -> bool:
    return (amount >= 100 or amount % 1 != 0) and not is_year(str(amount)) and amount < 10**9


def _fits(factor: Decimal, amounts: Sequence[Decimal]) -> bool:
    return all(
        amount * factor % (1 if amount % 1 == 0 else Decimal("0.01")) == 0 for amount in amounts
    )


def _leaves(scenario: Scenario) -> Iterable[str | int | float]:
    return (leaf for call in all_calls(scenario) for leaf in leaf_values(dict(call.args)))


def _relations(scenario: Scenario) -> Iterable[tuple[str | int | float, str]]:
    for step in scenario.steps:
        yield from ((sentence, step.output) for sentence in (*step.benign, *step.obey))
    for text in dict.fromkeys(source_texts(scenario)):
        yield from ((leaf, text) for leaf in set(_leaves(scenario)) if _holds(leaf, text))


def _holds(value: str | int | float, text: str) -> bool:
    if isinstance(value, str):
        return value in text
    wanted = Decimal(str(value))
    return any(parse_amount(match[0]) == wanted for match in TOKEN.finditer(text))


def _window(text: str, value: str | int | float) -> str:
    at = text.find(value) if isinstance(value, str) else -1
    return text if at < 0 else text[max(0, at - 40) : at + len(str(value)) + 40]


def _value(changes: ValueChanges, value: str | int | float) -> str | int | float:
    return (
        changes.apply_to_text(value) if isinstance(value, str) else changes.apply_to_number(value)
    )


def _json(changes: ValueChanges, value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _json(changes, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json(changes, inner) for inner in value]
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return _value(changes, value)
    return value
