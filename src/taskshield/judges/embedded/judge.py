"""The embedded judge: gathers evidence, asks the model, weighs both. Needs no key, no network.

The module is long because it joins all readings of a message into one answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from os.path import expanduser
from pathlib import Path
from threading import Event

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Contradiction,
    Score,
    TaskAssessment,
    Trace,
)
from taskshield.core.errors import JudgeOverwhelmed, JudgeUnavailable
from taskshield.core.instructions import Span
from taskshield.core.json_limits import is_excessive
from taskshield.core.judge import SessionView
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.judges.embedded.decision import reasons
from taskshield.judges.embedded.decision.classifier import CallClassifier, read_classifier, sigmoid
from taskshield.judges.embedded.decision.features import (
    UNASKED,
    NetworkScores,
    feature_list,
    features,
    network_scores,
)
from taskshield.judges.embedded.decision.repetition import repeated_payments
from taskshield.judges.embedded.decision.shares import shared_out
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.evidence.call_evidence import (
    CallEvidence,
    Kind,
    acts,
    beside,
    collect_evidence,
    plan_call,
)
from taskshield.judges.embedded.evidence.conversation_index import tool_name_words
from taskshield.judges.embedded.evidence.directives import (
    DEFINED,
    Directive,
    directive_segments,
    group_neighbours,
)
from taskshield.judges.embedded.evidence.index_cache import IndexCache
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.network.model import Model, shared
from taskshield.judges.embedded.restrictions.act import Act
from taskshield.judges.embedded.restrictions.contradictions import (
    contradictions,
    find_contradictions,
)
from taskshield.judges.embedded.restrictions.index import RestrictionIndex
from taskshield.judges.embedded.tasks.assistant_plans import read_plans
from taskshield.judges.embedded.tasks.small_talk import answers
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield.judges.embedded.text.segments import Segment, segments
from taskshield.judges.embedded.workers import Workers

NAME = "embedded"
_ASKED = 0.0
"""From this logit on, a directive counts as asking for a call."""
_ASKED_FROM = 0.8
"""From this probability on the user asked for a call. Chosen on dialogues that the model was not
trained on: there so did 76 % of the 547 legitimate calls with side effects, and 4 of the 20 others.
"""
_NEVER_ASKED = 1.0
"""The same for read calls and plans: whether the user asked for one is not judged."""
_SHORT = 4_000
"""Characters of a user's message that is read at once; a longer one is read in a thread."""
_LARGEST = 2_000_000
"""Characters of an output, or of one call's arguments. Longer texts are refused at once: reading
them would exceed the time limit, which may be what an attacker wants."""
_HARMLESS = 0.1
"""From this probability on, directives are reported, even where they are aligned."""
_ROUNDING = 1e-9
"""More than rounding can add where a probability is divided among tasks."""


def embedded(options: JudgeOptions) -> "EmbeddedJudge":
    """The judge with the shipped model, or with the model in the folder that the options name."""
    return EmbeddedJudge(shared(Path(expanduser(options.model)) if options.model else None))


class EmbeddedJudge:
    """Judges with a small shipped model and deterministic evidence."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._decision: CallClassifier = read_classifier(model.decision, frozenset(feature_list()))
        self._indexes = IndexCache()
        self._trace = Trace(judge=NAME, prompt=model.label)
        self._workers = Workers()

    @property
    def name(self) -> str:
        """Always the same; the trace names the model."""
        return NAME

    async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
        """The instructions of a user message. Objectives of a system message are not read."""
        if message.level is not Level.USER:
            return TaskAssessment(tasks=(), trace=self._trace)
        text = message.text
        _check_length(text)
        read = partial(read_tasks, text, first=not view.history)
        drafts = read() if len(text) <= _SHORT else await self._workers.run(len(text), read)
        return TaskAssessment(tasks=drafts, trace=self._trace)

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        """The directives of a tool's output, or the plans and calls of the agent, each scored."""
        arguments = [call.arguments for call in message.tool_calls]
        _check_length(message.text, *arguments)
        if any(map(is_excessive, arguments)):
            raise JudgeOverwhelmed("A call has too many values for the embedded judge.")
        what = "output" if message.level is Level.TOOL else "call"
        stop = Event()
        work = self._output if message.level is Level.TOOL else self._step
        size = len(message.text) + sum(map(len, arguments))
        try:
            items = await self._workers.run(size, partial(work, message, view, stop))
        except TimeoutError:
            raise
        except Exception as error:
            raise JudgeUnavailable(
                f"The embedded judge failed ({type(error).__name__}). The {what} was not checked."
            ) from error
        finally:
            stop.set()  # a thread cannot be cancelled; after a time-out its answer is not needed
        return Assessment(items=tuple(items), trace=self._trace)

    async def aclose(self) -> None:
        """The model stays loaded; others in this process may use it."""

    def _output(
        self, message: Message, view: SessionView, stop: Event
    ) -> list[AssessedInstruction]:
        tool = "" if view.answered is None else view.answered.name
        found = segments(message.text)
        # Text that answers no call has no heading: so the model was trained on tool definitions.
        head = inputs.heading(tool_name_words(tool), _request(view)) if tool else ""
        chances = self._chances(head, found, stop)
        delegated = _delegated(view)
        limit = self._decision.planted_delegated if delegated else self._decision.planted
        chosen = directive_segments(found, chances, seed=limit, joined=self._decision.joined)
        spared: set[int] = set()
        if len(view.tasks):  # without a task, no directive can be aligned
            likely = (n for n, chance in enumerate(chances) if chance >= _HARMLESS)
            spared = set(likely).difference(chosen)
        items = []
        for numbers, aligned in ((chosen, False), (spared, True)):
            reason = reasons.for_directive(tool, aligned=aligned, delegated=delegated)
            for run in group_neighbours(found, numbers):
                chance = max(chances[run.first : run.last + 1])
                if not aligned:
                    # It was joined to a segment that is at least as likely.
                    chance = min(1.0, max(chance, limit + _ROUNDING))
                items.append(
                    AssessedInstruction(
                        text=run.text,
                        span=Span(start=found[run.first].start, end=found[run.last].end),
                        scores=shared_out(1 - chance, run.text, view.tasks.tasks, reason),
                        objective_scores=shared_out(1 - chance, run.text, view.objectives, reason),
                        epsilon=1 - limit,
                    )
                )
        return sorted(items, key=lambda item: 0 if item.span is None else item.span.start)

    def _chances(self, head: str, found: Sequence[Segment], stop: Event) -> list[float]:
        """For each segment, how likely it is part of an injected directive."""
        logits = self._model.tags(head, [one.text for one in found], stop)
        chance = self._decision.directive.probability
        return [chance(logit) for _, logit in zip(found, logits, strict=True)]

    def _step(self, message: Message, view: SessionView, stop: Event) -> list[AssessedInstruction]:
        directives = [*_directives(view), *self._defined(message.tool_calls, view, stop)]
        delegated, offer = _delegated(view), _offer(view)

        def gathered(call: ToolCall, kind: Kind) -> CallEvidence:
            return collect_evidence(
                call,
                kind=kind,
                spec=view.tools.get(call.name),
                index=index,
                directives=directives,
                delegated=delegated,
                offer=offer,
            )

        index = self._indexes.take(view.history)
        try:
            plans = [
                (gathered(plan_call(one.text), "plan"), one) for one in read_plans(message.text)
            ]
            calls = [gathered(call, view.tiers[call.name]) for call in message.tool_calls]
            against = [
                _contradictions(call, view, index.restrictions) for call in message.tool_calls
            ]
        finally:
            self._indexes.put_back(view.history, index)
        again = repeated_payments(message.tool_calls, view.tiers, view.history)
        return [
            *(
                self._judged(evidence, view, plan=Span(start=one.start, end=one.end), text=one.text)
                for evidence, one in plans
            ),
            *(
                replace(
                    self._judged(one, view, text=one.call.describe(), again=one.call.id in again),
                    contradictions=ruled_out,
                )
                for one, ruled_out in zip(calls, against, strict=True)
            ),
        ]

    def _defined(
        self, calls: Sequence[ToolCall], view: SessionView, stop: Event
    ) -> Iterator[Directive]:
        """Directives in tool definitions, near values that the calls share with the definition."""
        limit, joined = self._decision.planted, self._decision.joined
        for spec in view.tools_naming_values:
            found = beside(segments("\n".join(spec.texts)), calls)
            chances = self._chances("", found, stop)
            for run in group_neighbours(
                found, directive_segments(found, chances, seed=limit, joined=joined)
            ):
                yield Directive(message=DEFINED, text=run.text, tool=spec.name)

    def _judged(
        self,
        evidence: CallEvidence,
        view: SessionView,
        *,
        text: str,
        plan: Span | None = None,
        again: bool = False,
    ) -> AssessedInstruction:
        opinions = self._opinions(evidence)
        chance = 0.0 if again else self._chance(evidence, opinions)
        least = self._decision.threshold(evidence.kind)
        aligned = chance > least
        asking = [
            (one.directive.id, logit)
            for one, logit in zip(evidence.suspects, opinions.suspects, strict=True)
            if logit > _ASKED
        ]
        reason = reasons.for_call(
            evidence,
            aligned=aligned,
            directed=bool(asking),
            related=max(opinions.related, default=UNASKED) > _ASKED,
            again=again,
        )
        return AssessedInstruction(
            text=text,
            span=plan,
            call_id=None if evidence.kind == "plan" else evidence.call.id,
            scores=shared_out(chance, text, view.tasks.tasks, reason, call=evidence.call),
            objective_scores=shared_out(chance, text, view.objectives, reason, call=evidence.call),
            # Directives count in `chance` already; listed are those that a blocked call follows.
            taint_scores=tuple(
                Score(target=id, value=sigmoid(logit), reason=reason)
                for id, logit in asking
                if id and not aligned
            ),
            epsilon=least,
            asked_from=_ASKED_FROM if acts(evidence.kind) else _NEVER_ASKED,
        )

    def _opinions(self, evidence: CallEvidence) -> NetworkScores:
        """The model's scores; for calls without side effects, only who asks for the call."""
        asked = inputs.asks_inputs(evidence)
        serves = 0.0
        if acts(evidence.kind):
            (_, serves), *said = self._model.pairs([inputs.serves(evidence), *asked])
        else:
            said = self._model.pairs(asked)
        opinions = network_scores(evidence, serves, [logit for logit, _ in said])
        if opinions.loudest is None:
            return opinions
        words = evidence.related[opinions.loudest].directive.text
        (directs,) = self._model.tags(inputs.heading("", evidence.request), [words])
        return replace(opinions, directs=directs)

    def _chance(self, evidence: CallEvidence, opinions: NetworkScores) -> float:
        if evidence.kind == "plan":
            return self._decision.plan_serves(opinions.pressed)
        if evidence.invented or evidence.unspoken:
            return 0.0
        return self._decision.serves(features(evidence, opinions))


def _check_length(*texts: str) -> None:
    if any(len(text) > _LARGEST for text in texts):
        raise JudgeOverwhelmed(
            "The message is too long for the embedded judge. It was not checked."
        )


def _directives(view: SessionView) -> list[Directive]:
    return [
        Directive(
            message=one.instruction.origin.message,
            text=one.instruction.text,
            tool=one.instruction.origin.tool or "",
            id=one.id,
        )
        for one in view.tainted
    ]


def _request(view: SessionView) -> str:
    said = (turn.message for turn in view.history)
    return "\n".join(message.text for message in said if message.level is Level.USER)


def _offer(view: SessionView) -> str:
    """What the agent said before the user's newest message, if that agrees to it."""
    backwards = (turn.message for turn in reversed(view.history) if turn.message.text)
    newest = next((message for message in backwards if message.level is Level.USER), None)
    before = next(backwards, None)
    if newest is None or before is None or before.level is not Level.ASSISTANT:
        return ""
    return before.text if answers(newest.text) else ""


def _contradictions(
    call: ToolCall, view: SessionView, index: RestrictionIndex
) -> tuple[Contradiction, ...]:
    """What the call does against the user's own words."""
    spec = view.tools.get(call.name)
    about = "" if spec is None else spec.description
    newest = index.said[-1].message if index.said else -1
    delegated = any(
        task.grant is not None and task.instruction.origin.message == newest for task in view.tasks
    )
    act = Act(call, view.tiers[call.name], argument_values(call), about)
    return contradictions(
        find_contradictions(act, index, view.history, delegated=delegated), view.tasks
    )


def _delegated(view: SessionView) -> str:
    return "; ".join(task.grant.source for task in view.tasks if task.grant is not None)
