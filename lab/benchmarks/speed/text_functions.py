"""The functions of taskshield that read untrusted text, each as work on one text."""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise

from taskshield.core.instructions import Span
from taskshield.core.messages import ToolCall
from taskshield.core.quotations import find_quote, find_repeats, shorten
from taskshield.core.safe_text import one_line, visible
from taskshield.core.tools import Tier, ToolSpec, name_words
from taskshield.engine.definition_values import tools_naming_values
from taskshield.engine.risk_tiers import infer
from taskshield.judges.embedded.evidence.argument_values import argument_values, kinds_in
from taskshield.judges.embedded.evidence.call_evidence import beside, collect_evidence
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.evidence.directives import Directive, group_neighbours
from taskshield.judges.embedded.evidence.explanation import explained_share
from taskshield.judges.embedded.evidence.read_only_calls import only_looks
from taskshield.judges.embedded.evidence.tokens import tokenize
from taskshield.judges.embedded.grammar.clauses import clauses, sentences
from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.grammar.run_ons import run_on_starts
from taskshield.judges.embedded.grammar.sentences import sentence_ends
from taskshield.judges.embedded.network.inputs import request
from taskshield.judges.embedded.tasks.assistant_plans import is_plan, read_plans
from taskshield.judges.embedded.tasks.blocks import blocks
from taskshield.judges.embedded.tasks.deferred_work import standing
from taskshield.judges.embedded.tasks.delegation import delegated_source
from taskshield.judges.embedded.tasks.delegation_languages import foreign_source
from taskshield.judges.embedded.tasks.inline_lists import is_inline_list
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
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
UNITS = (
    *("Send it to Bob. ", "| a |\n", "a: b\n", '{"a":"b"},', '"a", ', "- a\n", "<p>a</p>", "&#65;"),
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
    arguments=json.dumps({"to": "Bob", "amount": "1200", "note": "a b c d"}),
)


def _arguments(text: str) -> ToolCall:
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
    directives = [Directive(message=1, text=one.text) for one in groups[:20]]
    evidence = collect_evidence(
        _CALL,
        kind=Tier.FINANCIAL,
        spec=None,
        index=index,
        directives=directives,
        delegated="",
    )
    return request(evidence)


def _repeats(text: str) -> object:
    """The places of 40 findings in an output, and all repeats of their words."""
    cuts = range(0, len(text), len(text) // 40 + 1)
    return find_repeats([Span(start=a, end=a + 20) for a, _ in pairwise(cuts)], text)


def _all(found: Callable[[str], Iterable[object]]) -> Work:
    return lambda text: list(found(text))


FUNCTIONS: dict[str, Work] = {
    "segments": segments,
    "control_characters": _all(control_characters.edits),
    "glued_words.mark_edits": _all(glued_words.mark_edits),
    "glued_words.separated_edits": _all(glued_words.separated_edits),
    "literals": _all(literals.edits),
    "obfuscation": _all(obfuscation.edits),
    "braille_morse": _all(braille_morse.spelled),
    "markup": _all(markup.edits),
    "lines": _all(lines.edits),
    "sentence_ends": _all(sentence_ends),
    "run_on_starts": _all(run_on_starts),
    "sentences": _all(lambda text: sentences(text, 0, len(text))),
    "clauses": _all(lambda text: clauses(text, 0, len(text))),
    "is_english": is_english,
    "read_tasks": read_tasks,
    "split_pasted": split_pasted,
    "split_pasted behind an order": lambda text: split_pasted(f"Summarise this:\n\n{text}"),
    "blocks": _all(blocks),
    "delegated_source": delegated_source,
    "foreign_source": foreign_source,
    "standing": standing,
    "is_inline_list": is_inline_list,
    "read_plans": read_plans,
    "is_plan": is_plan,
    "tokenize": tokenize,
    "kinds_in": kinds_in,
    "argument_values": lambda text: argument_values(_arguments(text)),
    "explained_share": lambda text: explained_share(_CALL, text),
    "explained_share of a long call": lambda text: explained_share(_arguments(text), text),
    "only_looks": lambda text: only_looks(
        ToolCall(id="c", name="run", arguments=json.dumps({"command": text}))
    ),
    "only_looks at a query": lambda text: only_looks(
        ToolCall(id="c", name="run", arguments=json.dumps({"sql": f"select {text}"}))
    ),
    "index": _indexed,
    "evidence": _evidence,
    "beside": lambda text: beside(segments(text), [_CALL]),
    "tools_naming_values": lambda text: tools_naming_values(
        [ToolSpec(name="t", description=text)], [_arguments(text[:4000])], ["Pay Bob"]
    ),
    "infer": lambda text: infer(ToolSpec(name=text, description=text)),
    "name_words": name_words,
    "find_quote": _all(lambda text: find_quote(text[:30], text)),
    "find_repeats": _repeats,
    "shorten": lambda text: shorten(text, 1000),
    "visible": lambda text: visible(text, len(text)),
    "one_line": lambda text: one_line(text, len(text)),
    "secrets": secrets,
    "redacted": redacted,
    "redacted JSON": lambda text: redacted(json.dumps({"text": text, "list": [text]})),
    "redacted_state": redacted_state,
}
