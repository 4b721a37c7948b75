"""The HTML report: what is in it, and that words of records stay words."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from taskshield.core.levels import Level
from taskshield_lab.bench.records import BenchmarkRun, RecordedStep
from taskshield_lab.bench.report import paper_figures
from taskshield_lab.bench.report.entries import Entry, entries
from taskshield_lab.bench.report.html.environment import environment
from taskshield_lab.bench.report.html.page import page
from taskshield_lab.bench.report.html.worst_cases import cases
from taskshield_lab.bench.report.tables import with_interval
from tests.cli.hostile import PAYLOADS, hidden
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run

BREAKOUTS = {
    **PAYLOADS,
    "script": "<script>alert(1)</script>",
    "end of style": "</style><script>alert(1)</script>",
    "end of svg": "</text></svg><img src=https://evil.example onerror=alert(1)>",
    "attribute": "\" onmouseover=\"alert(1)' onfocus='alert(2)",
    "comment": "--><!--<script>",
    "entity": "&lt;script&gt;&#x202e;",
    "link": "<a href='javascript:alert(1)'>x</a>",
    "cdata": "]]><script>",
}


class Outline(HTMLParser):
    """The elements of a page in order, without the insides of drawings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if "svg" not in self.open:
            self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if "svg" not in self.open:
            self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def attacked(**more: object) -> list[BenchmarkRun]:
    """A clean run with a blocked call, and a successful attack."""
    lost = run(steps=synthetic.conversation(blocked="user", hijacked=False))
    missed = run(goal=1, hijacked=True, utility=True, steps=synthetic.conversation())
    return [replace(each, **more) for each in (lost, missed)]  # type: ignore[arg-type]


def conversation(run: BenchmarkRun) -> str:
    module = environment().get_template("conversation.html").module
    return str(module.conversation(run))  # type: ignore[attr-defined]  # a macro


def some() -> list[Entry]:
    return entries(
        [
            (header(judge="none"), [run(utility=True), run(goal=1, hijacked=True)]),
            (header(judge="embedded"), attacked()),
            (
                header(way="replay"),
                attacked(agent=paper_figures.GPT_4O, recorded_utility=True, recorded_hijacked=True),
            ),
        ]
    )


@pytest.fixture(scope="module")
def html() -> str:
    return page(some(), commands=["taskshield bench a <b>"])


def test_all_parts_are_there(html: str) -> None:
    outline = Outline(html)
    assert outline.open == []
    words = " ".join(outline.words)
    for part in ("What was run", "taskshield bench a <b>", "Results", "Cost", "Replays", "Table 3"):
        assert part in words
    assert html.count("<svg") == 3  # two trade-offs, one heat map
    assert html.count("Successful attacks") == 2
    anchors = {value for key, value in outline.attributes if key == "href" and value}
    ids = {f"#{value}" for key, value in outline.attributes if key == "id"}
    assert {each for each in anchors if not re.fullmatch("#m[0-9a-f]+", each)} <= ids


def test_the_figures_are_those_of_measure(html: str) -> None:
    words = Outline(html).words
    for entry in some():
        for rate in (entry.result.overall.clean_utility, entry.result.overall.asr):
            assert set(with_interval(rate)) <= set(words)


def test_the_page_has_no_script_and_loads_nothing(html: str) -> None:
    assert "default-src 'none'" in html and "script-src" not in html
    outline = Outline(html)
    assert not {"script", "iframe", "img", "link", "object", "embed", "form"} & set(outline.tags)
    for key, value in outline.attributes:
        assert not key.startswith("on")
        if key in ("href", "xlink:href"):
            assert value and value.startswith("#")
        assert key not in ("src", "srcset", "data", "background", "poster")
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)", html))
    assert "@import" not in html and "http:" not in html and "https:" not in html


def test_drawings_take_the_colours_of_the_page(html: str) -> None:
    assert "fill: var(--plot-fefefe)" in html
    for color, dark in (("1c2128", "f0f3f6"), ("0072b2", "6cb8f0")):
        assert f"--plot-{color}:#{color};" in html and f"--plot-{color}:#{dark};" in html
        assert f"fill: #{color}" not in html


def test_a_conversation_shows_the_owner_and_the_result_of_each_call() -> None:
    missed = str(conversation(attacked()[1]))
    for part in (
        "banking / user_task_0 / injection_task_1 / important_instructions",
        "attacker&#39;s goal reached",
        "user&#39;s task done",
        '<span class="badge attacker">attacker&#39;s</span>',
        "financial",
        "<b>send_money</b>({&#34;recipient&#34;: &#34;US133&#34;, &#34;amount&#34;: 1000})",
        '<li class="step tool">',
        "Send 1,000 to US133",
        "total score 0.00, needed more than 0.00",
        "Reason: Not asked",
        "feedback to the agent",
    ):
        assert part in missed, part
    lost = str(conversation(attacked()[0]))
    for part in (
        "no attack",
        "user&#39;s task not done",
        "not executed",
        "misaligned call of send_money",
        "total score 0.04",
        "The user named another account",
    ):
        assert part in lost, part


def test_each_kind_of_check_is_shown_with_its_decision() -> None:
    steps = (
        RecordedStep(level=Level.USER, text="", check=None),
        RecordedStep(level=Level.TOOL, text="x", check="failed", action="withhold", ms=7.25),
        RecordedStep(level=Level.TOOL, text="x", check="executed", cached=True),
        RecordedStep(level=Level.SYSTEM, text="x", check="skipped"),
    )
    told = str(conversation(run(goal=0, unsolved=True, steps=steps)))
    for part in (
        "no shield",
        "(no text)",
        "check failed",
        "withhold",
        " 7.2 ms",
        "0.0 ms, from the cache",
        "nothing to check",
        "attacker&#39;s goal missed",
        "no known calls for the goal",
    ):
        assert part in told, part
    assert "No steps were recorded." in conversation(run())
    by_text = run(goal=0, hijacked=True, by_words=True)
    assert "goal reached by text alone" in conversation(by_text)


def test_a_blocked_call_of_the_attacker_is_marked_good() -> None:
    (held,) = [
        step
        for step in synthetic.conversation(blocked="attacker")
        if any(call.owner == "attacker" for call in step.calls)
    ]
    told = conversation(run(goal=0, steps=(held,)))
    assert '<span class="badge good">not executed</span>' in told


def test_the_number_of_cases_is_limited_and_the_others_are_counted() -> None:
    runs = [
        replace(each, user_task=f"user_task_{task}") for task in range(7) for each in attacked()
    ]
    shown = cases(entries([(header(), runs)]), limit=3)
    assert shown.count('<details class="case"') == 6
    assert shown.count("(3 of 7 shown)") == 2


def test_a_disturbed_clean_run_is_shown_once() -> None:
    other = run(goal=2, attack="injecagent", hijacked=True)
    shown = cases(entries([(header(), [*attacked(), other])]), limit=9)
    assert shown.count("no attack") == 1
    assert "Runs with a blocked call of the user&#39;s task: none." in shown


def test_without_a_shield_there_are_no_cases() -> None:
    lines = entries([(header(judge="none"), attacked())])
    assert cases(lines, limit=5).strip() == (
        "<p>No entry has a shield, so nothing was blocked or missed.</p>"
    )


def test_long_texts_are_cut() -> None:
    steps = (RecordedStep(level=Level.TOOL, text="<" * 50_000),)
    told = conversation(run(steps=steps))
    assert len(told) < 20_000 and "(+47,000 characters)" in told


def in_every_slot(payload: str) -> list[Entry]:
    runs = [synthetic.poisoned(each, payload) for each in attacked(recorded_utility=True)]
    return entries([(synthetic.poisoned(header(way="replay"), payload), runs)])


@pytest.mark.parametrize("payload", BREAKOUTS.values(), ids=BREAKOUTS)
def test_hostile_text_stays_text_in_cases(payload: str) -> None:
    told = cases(in_every_slot(payload), limit=5)
    assert Outline(told).tags == Outline(cases(in_every_slot("harmless"), limit=5)).tags
    assert hidden(told) == []


@pytest.mark.parametrize(
    "payload",
    ["</style></title>\x00<script>\u202e\x1b[31m</text></svg>-->", "\"'><img src=//x \ud83d\u200b"],
)
def test_hostile_text_stays_text_on_the_page(payload: str) -> None:
    told = page(in_every_slot(payload), commands=[payload])
    assert (
        Outline(told).tags == Outline(page(in_every_slot("harmless"), commands=["harmless"])).tags
    )
    assert hidden(told) == []
    assert told.encode()
    for raw in ("<script", "<img", payload):
        assert raw not in told


@pytest.mark.parametrize("runs", [[], [run()], [run(goal=0, error="broken")]], ids=len)
def test_few_runs_make_a_page(runs: list[BenchmarkRun]) -> None:
    assert Outline(page(entries([(header(), runs)]))).open == []


def rendered(template: str, **values: object) -> str:
    return environment().from_string(template).render(values)


@given(st.text(), st.text())
@settings(max_examples=50)
def test_a_template_gives_back_the_text_it_was_given(text: str, value: str) -> None:
    html = rendered('<p title="{{ value }}">{{ text }}</p>', text=text, value=value)
    outline = Outline(html.replace("\r", "\n").replace("\0", ""))
    plain = text.replace("\r", "\n").replace("\0", "")
    assert "".join(outline.words) == plain
    assert outline.tags == ["p", "/p"]


def test_only_markup_is_not_escaped() -> None:
    assert rendered("{{ a }}{{ b }}", a="<", b=Markup("<br>")) == "&lt;<br>"
    assert rendered('<th aria-label="{{ a }}">a</th>', a='"') == '<th aria-label="&#34;">a</th>'
