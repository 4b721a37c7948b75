"""Payments that were made already, and that the user did not ask to make again.

A failed payment may be tried again: it was not made. Where the user's words may ask for several,
the model decides.
"""

import re
from collections.abc import Mapping, Sequence

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier
from taskshield.judges.embedded.evidence.argument_values import argument_values

_FAILED = re.compile(
    r"fail|err(?:o|e)|declin|reject|denied|invalid|time(?:d )?[- ]?out|unavailable|unable|not\b"
    r"|n't\b|insufficient|again|retry|pending|fehl|ungültig|nicht|échou|refus|fall[óo]|rechaz|失败|エラー|실패",
    re.IGNORECASE,
)
"""Words of an output that may say that a payment was not made."""
_SEVERAL = re.compile(
    r"\b(?:twice|thrice|again|another|each|every|both|all|times|repeat\w*|more|second|two|three|four"
    r"|five|six|seven|eight|nine|ten|dozen|couple|several|per|daily|weekly|monthly|also|too"
    r"|zwei\w*|drei\w*|noch\w*|erneut|wieder|jede\w*|beide\w*|alle\w*|deux|trois|encore|chaque|tou\w+"
    r"|dos|tres|otr[ao]s?|cada|tod[ao]s|due|tre|ancora|ogni|tutt[ei])\b|[^\x00-\u024f]",
    re.IGNORECASE,
)
"""Words that may ask for several payments; texts in other alphabets are not read."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def repeated_payments(
    calls: Sequence[ToolCall],
    tiers: Mapping[str, Tier],
    history: Sequence[HistoryEntry],
) -> frozenset[str]:
    """The ids of calls that make a payment again that was made since the user last spoke."""
    paying = [call for call in calls if _pays(call, tiers[call.name])]
    if not paying:
        return frozenset()
    turns = [turn.message for turn in history if turn.message.level is Level.USER]
    request = "\n".join(message.text for message in turns)
    made = _made(history)
    repeated: set[str] = set()
    for call in paying:
        fingerprint = call.fingerprint()
        if fingerprint in made and not _may_ask_for_several(request, call):
            repeated.add(call.id)
        made.add(fingerprint)  # an equal call beside it is one too many
    return frozenset(repeated)


def _pays(call: ToolCall, tier: Tier) -> bool:
    return tier is Tier.FINANCIAL and any(one.kind == "number" for one in argument_values(call))


def _made(history: Sequence[HistoryEntry]) -> set[str]:
    """Calls that ran since the user last spoke, and did not say that they failed."""
    made: dict[str, str] = {}
    done: set[str] = set()
    for turn in history:
        message = turn.message
        if message.level is Level.USER:
            made.clear()
            done.clear()
        made |= {
            call.id: call.fingerprint()
            for call in message.tool_calls
            if call.id not in turn.refused
        }
        if message.answers in made and not message.is_error and not _FAILED.search(message.text):
            done.add(made[message.answers])
    return done


def _may_ask_for_several(request: str, call: ToolCall) -> bool:
    values = " ".join(one.text for one in argument_values(call))
    others = set(_NUMBER.findall(request)) - set(_NUMBER.findall(values)) - {"1"}
    return bool(others) or _SEVERAL.search(request) is not None
