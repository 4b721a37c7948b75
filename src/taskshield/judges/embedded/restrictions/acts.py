"""Acts that the user ruled out: forbidden, only to look, taken back, not yet, or done already."""

import re
from collections.abc import Iterator, Sequence

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier
from taskshield.judges.embedded.restrictions.act import Act
from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.wording.phrases import AGREED, NOW
from taskshield.judges.embedded.restrictions.wording.said import Limit, Place, Prohibition, Said
from taskshield.judges.embedded.restrictions.wording.words import WORD, act_of, stem

_FAILED = re.compile(
    r"fail|err(?:o|e)|declin|reject|denied|invalid|time(?:d )?[- ]?out|unavailable|unable"
    r"|\bnot\b|n't\b"
    r"|insufficient|retry|pending|fehl|nicht|échou|refus|fall[óo]|rechaz|失败|エラー|できません",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:only once|just once|once only|one \w+ only|only one|just (?:the )?one|une seule fois"
    r"|nur einmal|nur eine[nrs]?"
    r"|solo una vez|sólo una vez|una sola vez|solo una volta|una volta sola|só uma vez|slechts"
    r" één|maar één|tylko raz"
    r"|bara en gång|sadece bir kez|только один раз)\b|一次就|一回だけ|一度だけ"
)
_AGAIN = re.compile(
    r"\b(?:again|another|one more|once more|second|repeat|retry|resend|redo|too|also|more|noch"
    r"|nochmal|erneut|wieder|encore"
    r"|autre|otra|otro|de nuevo|ancora|altro|altra|outra|outro|de novo|nog|weer|opnieuw|jeszcze"
    r"|igen|tekrar|yine|ещё|снова)\b"
    r"|再|もう|又"
)
_SHELLS = frozenset("command exec execute shell terminal bash run search edit".split())
_EACH = re.compile(
    r"\b(?:each|per|every|jede\w*|je|chaque|par|cada|por|ogni|elk\w*|każd\w*|varje)\b"
)
_REPEATED = frozenset("send publish pay refund buy invite call".split())
_HARD = frozenset(
    "send publish delete cancel pay refund buy approve change move invite push commit merge archive"
    " close".split()
)
"""Acts that are more than a look."""
_GRAVE = frozenset([Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS])
_ONCE_ONLY = frozenset("send publish pay refund buy create invite".split())
_WIDE = {
    "write": frozenset(["send", "write"]),
    "change": frozenset(["change", "delete", "move", "cancel"]),
}


def check(scene: Scene) -> Iterator[Found]:
    """The contradictions of a call with what the user wants or does not want done."""
    if not scene.act.changes:
        return
    yield from _forbidden(scene)
    yield from _looking(scene)
    yield from _withdrawn(scene)
    yield from _waiting(scene)
    yield from _once(scene)
    yield from _nothing_else(scene)


def _forbidden(scene: Scene) -> Iterator[Found]:
    acts = scene.act.acts
    for said, later in scene.recent():
        for one in said.prohibitions:
            ruled_out = frozenset().union(*(_WIDE.get(act, frozenset([act])) for act in one.acts))
            anything = acts & (_HARD | {"create"}) or frozenset(["any"] if scene.act.surely else [])
            hit = acts & ruled_out if one.acts else anything
            if one.stem and one.stem in (scene.act.verbs if one.noun else scene.act.stems):
                hit = frozenset(["=" + one.stem])
            if not hit or _lifted(one, hit, later) or not _concerns(scene, one, said, hit):
                continue
            yield scene.found("not_yet" if one.yet else "forbidden", said, one.place)


def _lifted(one: Prohibition, hit: frozenset[str], later: tuple[Said, ...]) -> bool:
    return any(
        said.goes_ahead
        or hit & said.asks
        or said.choices
        or NOW.search(said.low) is not None
        or (one.stem and one.stem in map(stem, said.tokens))
        for said in later
    )


def _concerns(scene: Scene, one: Prohibition, said: Said, hit: frozenset[str]) -> bool:
    if one.names:
        return len(one.names) <= 4 and all(named(name, scene) for name in one.names)
    return not (hit & said.asks or (one.noun and hit & _asked_before(scene, said)))


def _asked_before(scene: Scene, said: Said) -> frozenset[str]:
    return frozenset().union(*(one.asks for one in scene.index.said if one.message < said.message))


def named(name: str, scene: Scene) -> bool:
    """Whether the call or the records that it points at have a word."""
    tokens = scene.touched
    return (
        name in tokens
        or name.removesuffix("s") in tokens
        or f"{name}s" in tokens
        or (name in scene.act.words or name.removesuffix("s") in scene.act.words)
    )


def _looking(scene: Scene) -> Iterator[Found]:
    last = scene.last
    if not scene.act.surely:
        return
    told = last.low[last.look_only.start : last.look_only.end] if last.look_only else ""
    if told == "just tell me" and not last.brief:
        return
    if last.look_only is not None and not last.asks:
        yield scene.found("look_only", last, last.look_only)
    elif last.only_asks is not None and _commits(scene.act):
        # What was ordered earlier may still be under way.
        if all(said.only_asks is not None for said in scene.index.said):
            yield scene.found("look_only", last, last.only_asks)


def _commits(act: Act) -> bool:
    """Whether no question can ask for it: it does something that cannot be undone by looking."""
    if act.described_verb:
        return bool(act.acts & (_HARD | {"create"})) or act.tier in _GRAVE
    return act.tier in _GRAVE and bool(act.values) and bool(act.acts & _HARD)


def _withdrawn(scene: Scene) -> Iterator[Found]:
    last, acts = scene.last, scene.act.acts
    if not scene.act.surely or last.withdrawn is None or not last.brief or last.asks - {"cancel"}:
        return
    if not acts & {"cancel", "delete", "refund", "close"}:
        yield scene.found("withdrawn", last, last.withdrawn)


def _waiting(scene: Scene) -> Iterator[Found]:
    last, acts = scene.last, scene.act.acts
    if last.waits is not None and last.brief and acts & _HARD and not acts & last.asks:
        yield scene.found("not_yet", last, last.waits)


def _once(scene: Scene) -> Iterator[Found]:
    for said in scene.request:
        for place, who in said.once:
            if not said.text[said.low.find(who, place.start) :][:1].isupper():
                continue
            start = max(said.low.rfind(mark, 0, place.start) for mark in ".!?\n") + 1
            stops = [at for mark in ".!?\n" if (at := said.low.find(mark, place.end)) >= 0]
            sentence = said.low[start : min(stops, default=len(said.low))]
            wanted = {act_of(word) for word in WORD.findall(sentence)}
            if wanted & scene.act.acts and not _agreed(scene, said, who):
                yield scene.found("not_yet", said, place)


def _agreed(scene: Scene, said: Said, who: str) -> bool:
    """Whether any output since may say that it happened."""
    names = [word for word in who.split() if len(word) > 2]
    return any(
        AGREED.search(text) is not None and (any(name in text for name in names) or not names)
        for number, text in scene.index.outputs.items()
        if number > said.message
    ) or any(one.message > said.message for one in scene.index.said)


def _nothing_else(scene: Scene) -> Iterator[Found]:
    last, acts = scene.last, scene.act.acts
    asks = last.asks | ({"send", "publish"} if last.asks & {"send", "publish"} else set())
    if last.nothing_else is not None and last.brief and asks and acts & _HARD and not acts & asks:
        yield scene.found("forbidden", last, last.nothing_else)


def check_again(scene: Scene, history: Sequence[HistoryEntry]) -> Iterator[Found]:
    """The contradictions of a call with what was asked for and done."""
    if not scene.act.surely or not scene.act.values or _SHELLS & set(scene.act.words):
        return
    done = _done(history, scene.act.call)
    if not done:
        return
    for said in scene.index.said[-4:]:
        after = [call for number, call in done if number > said.message]
        later = [one for one in scene.index.said if one.message > said.message]
        if any(_asks_again(scene, one) for one in later):
            continue
        limit = _limit(said)
        if limit is not None and len(after) >= limit[0]:
            yield scene.found("used_up", said, limit[1])
            return
    number = max(
        (number for number, call in done if call.arguments == scene.act.call.arguments), default=-1
    )
    since = [one for one in scene.index.said if one.message > number]
    asked = [one for one in scene.index.said if one.message < number]
    if number >= 0 and since and asked and scene.act.acts & _REPEATED:
        if not any(_asks_again(scene, one) for one in since):
            yield scene.found("used_up", asked[-1], _words(asked[-1]))


def _limit(said: Said) -> tuple[int, Place] | None:
    """How many calls a message allows."""
    once = _ONCE.search(said.low)
    if once is not None:
        return 1, Place(once.start(), once.end())
    counts: list[Limit] = [
        one for one in said.limits if not one.quantity.unit and one.quantity.value <= 10
    ]
    if (
        len(counts) != 1
        or len(said.limits) != 1
        or _EACH.search(said.low)
        or len(said.low.split()) > 25
    ):
        return None
    return int(counts[0].quantity.value), counts[0].place


def _asks_again(scene: Scene, said: Said) -> bool:
    words = {stem(token) for token in said.tokens}
    return bool(
        said.asks
        or said.plural
        or said.choices
        or _AGAIN.search(said.low)
        or words & scene.act.stems
        or any(low in said.low for _, low, value in scene.act.short if not value.trivial)
    )


def _words(said: Said) -> Place:
    end = said.low.find("\n")
    return Place(0, min(len(said.low) if end < 0 else end, 120))


def _done(history: Sequence[HistoryEntry], call: ToolCall) -> list[tuple[int, ToolCall]]:
    """Earlier calls of the same tool that ran and did not say that they failed."""
    made: dict[str, tuple[int, ToolCall]] = {}
    done: list[tuple[int, ToolCall]] = []
    for turn in history:
        for one in turn.message.tool_calls:
            if one.name == call.name and one.id not in turn.refused:
                made[one.id] = (turn.index, one)
        if turn.message.level is Level.TOOL and turn.message.answers in made:
            ran = made.pop(turn.message.answers)
            if not turn.message.is_error and not _FAILED.search(turn.message.text[:2000]):
                done.append(ran)
    return done
