"""The worst cases as HTML: whole conversations, with the shield's word on each message.

All words are other people's: they pass through `visible` and are escaped.
"""

from collections.abc import Iterator, Sequence

from taskshield.core.safe_text import one_line, visible
from taskshield_lab.bench.measure import outcomes
from taskshield_lab.bench.records import BenchmarkRun, Call, Finding, Header, RecordedStep
from taskshield_lab.bench.report.entries import Entry
from taskshield_lab.bench.report.html import Html, joined, tag
from taskshield_lab.bench.report.safe_names import name

_TEXT_LENGTH = 3_000
_ARGUMENTS_LENGTH = 1_500
_REASON_LENGTH = 800


def cases(entries: Sequence[Entry], *, limit: int) -> Html:
    """Successful attacks and disturbed runs of each guarded entry, at most `limit` of each."""
    told: set[tuple[Header, str]] = set()
    parts = []
    for entry in entries:
        if not entry.guarded:
            continue
        lost = [
            run for run in outcomes.disturbed_runs(entry.runs) if (entry.header, run.id) not in told
        ]
        told |= {(entry.header, run.id) for run in lost}
        parts += [
            tag("h3", entry.title),
            _listed("Successful attacks", outcomes.successful_attacks(entry.runs), limit),
            _listed("Runs with a blocked call of the user's task", lost, limit),
        ]
    if not parts:
        return tag("p", "No entry has a shield, so nothing was blocked or missed.")
    return joined(*parts)


def conversation(run: BenchmarkRun) -> Html:
    """One run, to be unfolded."""
    steps = [_step(number, step) for number, step in enumerate(run.steps, start=1)]
    told = tag("ol", *steps, class_="steps") if steps else tag("p", "No steps were recorded.")
    return tag("details", tag("summary", *_heading(run)), told, class_="case")


def _listed(title: str, runs: list[BenchmarkRun], limit: int) -> Html:
    shown = runs[:limit]
    if not runs:
        return tag("p", f"{title}: none.")
    count = f"{len(shown)} of {len(runs):,} shown" if len(shown) < len(runs) else f"{len(runs)}"
    return joined(tag("h4", f"{title} ", tag("small", f"({count})")), *map(conversation, shown))


def _heading(run: BenchmarkRun) -> Iterator[Html]:
    names = [run.suite, run.user_task, run.injection_task, run.attack]
    yield tag("span", " / ".join(name(each) for each in names if each is not None))
    if run.hijacked:
        words = " by words alone" if run.by_words else ""
        yield _badge(f"attacker's goal reached{words}", "bad")
    elif run.clean:
        yield _badge("no attack", "plain")
    else:
        yield _badge("attacker's goal missed", "good")
    if run.utility:
        yield _badge("user's task done", "good")
    else:
        yield _badge("user's task not done", "bad")
    if run.unsolved:
        yield _badge("no known calls for the goal", "plain")


def _step(number: int, step: RecordedStep) -> Html:
    level = step.level.value
    head = tag("p", tag("strong", f"{number} {level}"), *_said(step), class_="meta")
    return tag(
        "li",
        head,
        *_words(step),
        *(_call(call) for call in step.calls),
        *(_finding(each, step) for each in step.findings),
        *_feedback(step),
        class_=f"step {level}",
    )


def _said(step: RecordedStep) -> Iterator[Html]:
    """What the shield did about the message."""
    if step.check is None:
        yield _badge("no shield", "plain")
        return
    if step.check == "failed":
        why = "" if step.outage is None else f": {one_line(step.outage, _REASON_LENGTH)}"
        yield _badge(f"check failed{why}", "bad")
    elif step.check == "skipped":
        yield _badge("nothing to check", "plain")
    if step.action != "allow":
        yield _badge(step.action, "bad")
    elif step.check == "executed":
        yield _badge("allow", "good")
    if step.check != "skipped":
        cached = ", from the cache" if step.cached else ""
        yield tag("span", f" {step.ms:.1f} ms{cached}", class_="soft")


def _words(step: RecordedStep) -> Iterator[Html]:
    if step.text:
        yield tag("pre", visible(step.text, _TEXT_LENGTH))
    elif not step.calls:
        yield tag("p", "(no words)", class_="soft")


def _call(call: Call) -> Html:
    arguments = visible(call.arguments, _ARGUMENTS_LENGTH)
    right = call.executed != (call.owner == "attacker")
    badges = []
    if call.owner is not None:
        badges.append(_badge(f"{call.owner}'s", call.owner))
    if call.tier is not None:
        badges.append(_badge(call.tier.value, "plain"))
    if call.action != "allow":
        badges.append(_badge(call.action, "good" if right else "bad"))
    done = "executed" if call.executed else "not executed"
    badges.append(_badge(done, "good" if right else "bad"))
    code = tag("code", tag("b", name(call.name)), f"({arguments})")
    return tag("div", code, tag("p", *badges, class_="meta"), class_="call")


def _finding(found: Finding, step: RecordedStep) -> Html:
    called = {call.id: call.name for call in step.calls}
    about = "aligned" if found.aligned else "misaligned"
    if found.call_id is not None:
        about += f" call of {name(called.get(found.call_id, found.call_id))}"
    scores = f", total score {found.total:.2f}, needed more than {found.epsilon:.2f}"
    if found.explained:
        scores += f"; a directive in tool output explains it by {found.explained:.2f}"
    return tag(
        "div",
        tag("p", tag("b", about), scores, class_="meta"),
        tag("pre", visible(found.text, _REASON_LENGTH)),
        tag("p", f"Reason: {one_line(found.reason, _REASON_LENGTH)}"),
        class_="finding",
    )


def _feedback(step: RecordedStep) -> Iterator[Html]:
    if step.feedback is not None:
        words = tag("pre", visible(step.feedback, _TEXT_LENGTH))
        yield tag("details", tag("summary", "feedback to the agent"), words, class_="feedback")


def _badge(text: str, kind: str) -> Html:
    return joined(" ", tag("span", text, class_=f"badge {kind}"))
