"""Whether a task hands authority to a source, and the words that name the source.

"Do what David's e-mail says" does, "tell me what it says" does not: the first clause of an order
must act, not read. Owns the patterns for English; other languages are in `delegation_languages`.
The module is long because the patterns for one language belong together.
"""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.grammar.clauses import clauses, sentences
from taskshield.judges.embedded.grammar.directive_openers import request_end, skip_fillers
from taskshield.judges.embedded.grammar.language import is_english
from taskshield.judges.embedded.tasks.deferred_work import LONGEST, TAKES_UP, standing
from taskshield.judges.embedded.tasks.delegation_languages import foreign_source
from taskshield.judges.embedded.tasks.inline_lists import is_inline_list

_LOOKED_AT = 2000
"""Characters of an order that are read; the rest is data that was pasted into it."""

_RULES = (
    r"instructions?|directions|guidelines?|guide|steps?|checklists?|check-list|procedures?|process"
    r"|sop"
    r"|runbooks?|playbooks?|protocol|manual|how-?to|readme|policy|policies|rules?|regulations?"
    r"|template"
    r"|recipe|to-?do(?:s|\s+list)?|to-dos|todo|action\s+(?:items?|points?|list)|handover|standard"
    r"|style\s+guide|ladder|brief|briefing|specs?|specification|agenda|programme|schedule|rulebook"
)
_PARTS = (
    r"items?|points?|tasks?|lines?|sections?|parts?|paragraphs?|things|bits|entries|rows|chores"
    r"|jobs|errands|stuff|actions|measures"
)
_CHANGES = (
    r"changes|edits|corrections?|fixes|amendments|revisions|decisions?|requests?|wishes|orders"
    r"|suggestions?|remarks|demands|recommendations?|comments|feedback|review"
)
_TEXTS = (
    r"e-?mails?|mails?|messages?|notes?|memos?|letters?|texts?|tickets?|issues?|threads?|pages?"
    r"|documents?|docs?|files?|sheets?|spreadsheets?|forms?|posts?|repl(?:y|ies)|reviews?|dms?"
    r"|chats?"
    r"|voicemails?|notices?|minutes|lists?|tables?|calendar|plans?|reports?|proposals?|wiki|board"
    r"|bulletins?|circulars?|cards?|slips?|cables?|contracts?|agreements?|quotes?|articles?|blog"
    r"|sites?|website|inbox|mailbox|channel|group|comments?|transcripts?|notebook|diary|sop"
)
_SOURCE = rf"(?:{_TEXTS}|{_RULES})"
"""Texts that can say what to do."""
_SAYS = (
    r"says|said|asks(?:\s+for)?|asked(?:\s+for)?|wants|wanted|requested|required|listed|wrote"
    r"|writes"
    r"|tells|told|describes|described|suggests|suggested|proposes|proposed|needs|needed"
    r"|specif(?:ies|ied)"
    r"|instructs|instructed|decided|agreed|voted|explains|explained|stated|outlines|outlined"
    r"|recommends"
    r"|recommended|marked|ticked|prescribes|dictates|calls\s+for|sets\s+out|lays\s+out|would\s+like"
    r"|ha(?:s|ve)\s+(?:asked|requested|listed|written|described)|(?:is|are)\s+asking(?:\s+for)?"
    r"|requires|demands|lists|names|requests|states"
)
"""Of one person or text, or in the past."""
_SAY = (
    r"say|ask(?:\s+for)?|want|request|require|list|tell|describe|demand|suggest|propose|need|name"
    r"|specify"
    r"|explain|state|outline|recommend|put|call\s+for|write|dictate"
)
_NO_NAME = (
    r"(?:i|we|you|u|ive|i['’]\w+|we['’]\w+|you['’]\w+|to|and|or|if|is|are|was|were|that|which|who"
    r"|whom|whose"
    r"|what|whatever|on|in|at|for|from|with|about|by|not|have|has|had|did|does|do|be|been|as|but"
    r"|than|then"
    r"|when|where|how|so|can|could|will|would|should|must|may|might|both|already|\w+n['’]t|fits?"
    r"|comes?)\b"
)
_WORD = rf"(?!{_NO_NAME})[\w@#/&.\"“”'’-]+(?:\s*\([^()]{{0,60}}\))?"
_PLURAL = (
    r"(?:they|people|folks|(?:the\s+)?others|ppl|everyone"
    r"|(?:the\s+|their\s+|my\s+|our\s+)(?:\w+\s+){0,2}\w+s)"
)
_SOMEBODY = (
    rf"(?:(?P<who>{_WORD}(?:\s+{_WORD}){{0,5}}?)(?:\s*['’]s|\s*['’]re)?\s+(?P<says>{_SAYS}"
    rf"|asking(?:\s+for)?)|(?P<they>{_PLURAL})\s+(?:{_SAY}|ticked|marked))\b"
)
_NOT_ME = r"(?!(?:i|we|you)\b)"
_FLAGS = re.IGNORECASE

_OBEY = re.compile(
    # "follow the instructions in", "work through the checklist", "apply her corrections"
    r"\b(?:(?:follow|obey|carry(?:ing)?\s+out|work(?:ing)?\s+(?:through|off)|execute|implement"
    r"|act\s+on"
    r"|comply\s+with|work\s+in|adhere\s+to|stick\s+to|abide\s+by|action)"
    rf"\s+(?P<strong>(?:[^\s,;.!?]+\s+){{0,7}}?(?:{_RULES}|{_PARTS}|{_CHANGES}|{_TEXTS})\b"
    r"(?:\s+[A-Z\d][\w/-]*)*)|(?:go|run|walk|step)\s+through\s+"
    rf"(?P<through>(?:[^\s,;.!?]+\s+){{0,6}}?(?:instructions|steps|checklist|procedure|runbook|sop"
    rf"|to-?dos?"
    r"|playbook|action\s+items)\b)"
    r"|(?:do|complete|perform|run|finish|tackle|tick\s+off|handle|take\s+care\s+of|deal\s+with"
    r"|arrange|fulfil|process|fix|clear|sort\s+out)\s+"
    rf"(?P<weak>(?:all\s+|only\s+|just\s+|the\s+|my\s+|our\s+|his\s+|her\s+|their\s+|its\s+"
    rf"|every\s+|each\s+"
    rf"|[^\s,;.!?]+['’]s\s+|open\s+|first\s+|last\s+|remaining\s+|[A-Z\d][\w-]*\s+"
    rf"|[a-z-]+\s+){{0,4}}?"
    rf"(?:steps?|checklist|to-?do(?:s|\s+list)?|todos?|action\s+(?:items?|points?)|{_PARTS})\b"
    rf"(?=(?:\s+[\w#\[\]().-]+){{0,8}}?\s+(?:in|on|of|from|under|listed|marked|tagged|that|which"
    rf"|she|he|they"
    r"|linked|described|[A-Z]\w+\s+(?:asks|put|wrote|listed|left))\b))"
    rf"|(?:do|complete|run|perform|finish|execute)\s+(?P<named>(?:[^\s,;.!?]+\s+){{0,4}}?"
    r"(?:steps?\s+\d+|points?\s+\d+|checklist|to-?do(?:\s+list)?s?|todos?"
    r"|runbook|sop(?:[- ]?\w+)?|action\s+(?:items?|points?))\b)"
    r"|(?:apply|make|enter|implement|do|add|include|incorporate|work\s+in)\s+"
    rf"(?P<changes>(?:all\s+|only\s+|exactly\s+)?(?:his|her|their|its|[^\s,;.!?]+['’]s?"
    rf"|the\s+[^\s,;.!?]+['’]s?)\s+"
    rf"(?:[\w-]+\s+){{0,3}}?(?:{_CHANGES})\b)"
    r"|(?:apply|make|enter|implement|do|carry\s+out|incorporate)\s+"
    rf"(?P<changes_of>(?:all\s+|only\s+)?the\s+(?:[\w-]+\s+){{0,3}}?(?:{_CHANGES})"
    r"\s+(?:[\w-]+\s+){0,4}?(?:from|by|in|on|of)\s+))",
    _FLAGS,
)
_WISH = re.compile(
    # "take care of the request in her mail", "do the job described on the card"
    r"\b(?:do|complete|finish|fulfil|fulfill|grant|honou?r|meet|settle|handle|execute|perform|see\s+to"
    r"|attend\s+to|take\s+care\s+of|deal\s+with|sort\s+out|carry\s+out|look\s+after)\s+"
    r"(?P<wish>(?:[^\s,;.!?]+\s+){0,3}?(?:requests?|wish(?:es)?|jobs?|tasks?|orders?|favou?rs?|demands?"
    r"|errands?|asks?)\s+(?:(?!and\b|to\b)\w+\s+){0,3}?(?:in|from|on|under)\s+"
    rf"(?=(?:[^\s,;.!?]+\s+){{0,5}}?[^\s,;.!?]*\b{_SOURCE}\b))"
    # "go by the note", "attend to ticket 12"
    r"|\b(?:go\s+by|attend\s+to|take\s+your\s+orders\s+from)\s+"
    rf"(?P<by>(?:[^\s,;.!?]+\s+){{0,4}}?{_SOURCE}\b)",
    _FLAGS,
)
_STATED = re.compile(
    # "everything you need to do is in the note", "her mail says what to do"
    r"\b(?:(?:everything|all|what|the\s+one\s+thing)\s+(?:that\s+)?(?:you|i)\s+"
    r"(?:need|have|want|are|should)\s+(?:you\s+)?(?:to\s+)?do|(?:your|the)\s+(?:next\s+|one\s+)?"
    r"(?:jobs?|tasks?|orders?|to-?dos?|instructions?))\s+(?:is|are|stands?|can\s+be\s+found)\s+"
    rf"(?P<stands>(?:in|on)\b)(?=[^,;.!?]{{0,60}}\b{_SOURCE}\b)"
    r"|\b(?P<telling>(?:the|this|that|my|our|his|her|their|[^\s,;.!?]{1,60}['’]s)\s+"
    rf"(?:[\w-]+\s+){{0,3}}?{_SOURCE}"
    r"(?:\s+(?:from|by|of|on)\s+(?:the\s+)?[\w-]+)?)"
    r"\s+(?:says|tells|lists|describes|explains|names|has|shows)\s+"
    r"(?:you\s+|us\s+)?(?:exactly\s+)?what\s+(?:to\s+do|(?:i|we)\s+(?:need|want)|comes\s+next"
    r"|you\s+(?:have\s+to\s+|need\s+to\s+|should\s+|must\s+|are\s+to\s+)?do"
    r"|(?:is|has)\s+(?:open|left|needed|to\s+be\s+done))\b",
    _FLAGS,
)
_ANSWER = re.compile(
    # "answer all her questions", "reply to the questions in", "answer whatever"
    r"\b(?:answer|respond\s+to|reply\s+to|draft\s+(?:the\s+)?answers?\s+to|answers?\s+to)\s+"
    r"(?P<questions>(?:(?!who|which|that)[^\s,;.!?]+\s+){0,6}?questions?\b(?:\s+(?:in|on|from|by"
    r"|of|about)\s+)?)",
    _FLAGS,
)
_REQUESTED = re.compile(
    # "do what her note says", "order whatever they list", "the changes that Ilse asks for"
    r"(?:(?<!\bwith )(?<!\babout )(?<!\bon )(?<!\bfor )\b(?:what(?:ever|soever)?|whichever"
    r"|everything"
    rf"|anything|all|exactly\s+that)(?:\s+(?:that|which))?\s+{_SOMEBODY})",
    _FLAGS,
)
_ASKED_FOR = re.compile(
    # "make the changes that Ilse asks for", "park it with whichever group she names"
    r"(?<!\babout )(?<!\bon )(?<!\bof )(?<!\bfrom )(?<!\bat )(?<!\bby )(?<!\bin )"
    r"\b(?:(?:the|every|each|any|those|all(?:\s+the)?|whatever|whichever)\s+"
    rf"(?:(?!{_NO_NAME})[\w'’-]+\s+){{0,4}}?(?!{_NO_NAME})[\w'’-]+?|what(?:ever)?|who(?:m?ever)?)"
    rf"(?:\s+(?:that|which)\s+(?P<who>(?!{_NO_NAME})(?:[\w'’-]+\s+){{0,3}}?[\w'’-]+)"
    r"|\s+(?P<pronoun>he|she|they|it|people|(?:the|our|my|his|her|their)\s+\w+"
    r"|(?-i:[A-Z])[\w'’-]+))(?:['’](?:s|re))?\s+"
    r"(?:asks?(?:\s+for)?|asked(?:\s+for)?|asking(?:\s+for)?|wants?|wanted|requested|requires|lists"
    r"|listed|demands|demanded|describes?|described|suggests?|suggested|recommends?|proposes|wrote"
    r"|marked|ticked|put|needs|agreed|names"
    r"|(?<=they )(?:list|request|need|demand|require|propose|name))\b",
    _FLAGS,
)
_PASSIVE = re.compile(
    r"\b(?:what(?:ever)?(?:['’]s|\s+is|\s+are)?|everything|anything|all|steps?|items?|things"
    r"|points?"
    r"|records|changes|edits|tasks?)(?:\s+that)?(?:\s+is|\s+are)?\s+"
    r"(?:listed|asked\s+for|requested|described|written|marked|required|named|set\s+out|stated"
    r"|noted"
    r"|specified|instructed|outlined|ordered)\s+(?P<where>(?:in|on|there|under|by|at|as)\b)"
    r"|\bwhat(?:['’]?s|\s+stands)\s+(?P<where_in>(?:in|on)\b)(?=[^,;.]{0,60}\b"
    rf"{_SOURCE}\b)"
    r"|\b(?:decided|agreed|requested|asked\s+for)\s+(?P<where_there>in\b)",
    _FLAGS,
)
_MANNER = re.compile(
    # "the way she describes", "as described in", "according to the policy", "following our runbook"
    r"\b(?:as|like|the\s+way|how|in\s+the\s+way|the\s+same\s+way)\s+(?:that\s+)?"
    rf"{_SOMEBODY}"
    r"|\bas\s+(?:described|explained|listed|stated|requested|instructed|specified|set\s+out"
    r"|written|outlined"
    r"|laid\s+out|indicated|asked|detailed|noted|required|suggested|proposed|posted)\s+"
    r"(?P<listed>(?:in|on|by|under|there|at|here)\b)"
    r"|\b(?:exactly|just|precisely)\s+as\s+(?P<exactly>(?:in|on|under)\b)"
    r"|\bin\s+the\s+(?:wording|words|format|style)\s+(?P<wording>(?:from|of|in|on)\b)"
    r"|\b(?:according\s+to|in\s+accordance\s+with|in\s+line\s+with|as\s+per|per|following|by|using"
    r"|under"
    rf"|in\s+compliance\s+with)\s+(?P<rule>(?:the|our|my|his|her|their|its|your|this|that"
    rf"|{_NOT_ME}[^\s,;.!?]+['’]s"
    rf"|wiki|[a-z]*['’\"][^'’\"]{{1,60}}['’\"]|house)\s+(?:[\w'’\"()/:-]+\s+){{0,5}}?(?:{_RULES}"
    rf"|wording)\b"
    rf"|(?:policy|rule|rules|sop|procedure|steps?|memo)\s+(?=[\w.-]*\d)[\w.-]++)"
    # but not "the following note: ...", which is the user's own
    rf"|\b(?:according\s+to|as\s+per|in\s+accordance\s+with"
    rf"|(?<!\bthe\s)following)\s+(?P<text>(?:[^\s,;.!?]+\s+){{0,6}}?"
    rf"(?:{_TEXTS}|{_CHANGES})\b)",
    _FLAGS,
)
_ANAPHOR = re.compile(
    r"\b(?:follow|apply|implement|work\s+through|carry\s+out|execute|act\s+on|do\s+exactly|obey"
    r"|go\s+through"
    r"|do\s+(?=all\s+of\s+(?:it|them))|complete|work\s+(?=(?:it|them|those)\s+in\b))"
    r"\s*(?:all\s+of\s+)?(?P<it>it|them|that|those|these|this|all\s+of\s+them)\b(?!\s+\w*['’]s\b)",
    _FLAGS,
)
_GO = re.compile(
    # The work was named before: "go ahead", "please do it for me", "make it so".
    r"\A\W*+(?:(?:so|then|now|and|please|pls|just|kindly)\b\W*)*(?:go\s+ahead(?:\s+and\s+do\s+(?:it|so))?"
    r"|off\s+you\s+go|proceed|get\s+(?:going|to\s+it|it\s+done|that\s+done|on\s+with\s+it)"
    r"|carry\s+(?:it|that)\s+out|carry\s+on|make\s+it\s+so|run\s+with\s+it"
    r"|do\s+(?:it|that|so|as\s+(?:you(?:['’]re|\s+are)\s+)?(?:told|asked|instructed))"
    r"|(?:act|follow\s+up)\s+on\s+(?:it|that)"
    r"|(?:deal\s+with|handle|see\s+to|take\s+care\s+of|attend\s+to)\s+"
    r"(?:it|that(?:\s+(?:job|request|task|wish))?))"
    r"(?:\W+(?:there|now|then|please|pls|thanks|today|at\s+once|right\s+away|accordingly"
    r"|for\s+(?:me|us|him|her|them)|in\s+my\s+place))*\W*$",
    _FLAGS,
)
_GO_LATER = re.compile(
    r"(?:[,;]|\band\b|\bthen\b)\s+(?=(?:(?:then|just|please)\s+){0,4}(?:act\s+on|deal\s+with|see\s+to"
    r"|attend\s+to|get\s+(?:it|that)\s+done)\b)",
    _FLAGS,
)
"""Where an order to go ahead begins within a clause."""
_IS_READ = re.compile(
    r"\b(?:open|read|look\s+(?:at|into)|check|see|pick\s+up|go\s+through|fetch|find|pull\s+up)\s+"
    rf"(?P<read>(?:[^\s,;.!?]+\s+){{0,5}}?{_SOURCE}\b(?:\s+(?>[\w#-]*\d[\w-]*))?)",
    _FLAGS,
)
_GIVEN = re.compile(rf"\b(?:{_RULES}|{_CHANGES}|lists?|memos?|plans?|notes?)\b", _FLAGS)
_SENT = re.compile(
    rf"\b(?:wrote|writes|written|sent|mailed|e-?mailed|left|posted|texted|pinned|put|made|keeps"
    rf"|says|said"
    r"|asks?|asked|answered|came|comes|listed|commented|messaged|explains|uploaded|replied|faxed"
    rf"|questions?|{_TEXTS}|{_RULES})\b",
    _FLAGS,
)
_READING = re.compile(
    r"(?:tell\s+(?:me|us)|say|summari[sz]e|sum\s+up|show|find\s+(?:out|me|what|who|which|where)"
    r"|list"
    r"|explain|report|read|look\s+(?:up|at|into|for)|see|let\s+me\s+know|give\s+me|describe"
    r"|translate"
    r"|compare|catch\s+me|remind\s+me|extract|count|check\s+(?:whether|if|what|how|that|which|who)"
    r"|figure"
    r"|work\s+out|search|display|quote|what|who|which|why|when|where|how|is|are|was|were|does|did"
    r"|do\s+(?:i"
    r"|we|they|you)|has|have|had|can\s+(?:i|we|they|he|she)|should|will|would|open"
    r"|draft\s+a\s+summary|i\s+(?:just\s+)?(?:need|want)"
    r"(?!\s+you)|i['’]d\s+like(?!\s+you))\b",
    _FLAGS,
)
_PRONOUN = re.compile(
    r"\A(?:(?:he|she|they|it|him|her|them|this|that|those|these|there|people)\b\W*+)+$", _FLAGS
)
_OWNED = re.compile(r"\A\W*+(?:his|her|their|its|the|all|every|each|those|these)\b", _FLAGS)
_PHRASE_END = re.compile(
    r"[,;!?\n]|\.(?=\s|$)|:(?=\s)|(?<!\s)\s++(?:and\s+(?!notes\b)(?=[a-z]+\s)|then\s|but\s|so\s+(?:that"
    r"|i)\b|if\s|for\s+me\b"
    r"|please\b|pls\b|up\s+to\b|as\s+long\b|to\s+(?:the\s+letter|me)\b|from\s+the\s+top\b|[–—-]\s)",
    _FLAGS,
)
_NEGATED = re.compile(
    r"\b(?:do\s*n['’]?o?t|dont|never|not|without|ignore|skip|leave)\b[^,;.:)]{0,60}$", _FLAGS
)
_IF = re.compile(r"\b(?:if|whether|unless|in\s+case)\b[^,;.:]{0,30}$", _FLAGS)
_TOLD = re.compile(
    r"\b(?:tell|show|give|send|text|mail)\s+(?:me|us)\b[^,;.]{0,40}$"
    r"|\b(?:read|summari[sz]e|explain|check|find\s+out|see|know|understand|remember"
    r"|translate)\b[^,;.]{0,30}$",
    _FLAGS,
)
_OURS = re.compile(
    r"\b(?:i|we)\s+(?!(?:\w+\s+)?(?:want|need|like|would)\b[^,;.]{0,100}\byou\b)[^,;.]{0,40}$",
    _FLAGS,
)
_NEAR = re.compile(r"(?s)\A\s++(?:for\s)?((?:in|on|under|at)\s++(?!(?:order|time|total)\b)\S.*)")
_AT = re.compile(r"\A(?:in|on|by|under|at|of|from)\s+", _FLAGS)
_ANCHOR = re.compile(r"[A-Z\d'\"“‘/_]|\b(?:in|on|from|of|my|our)\s")


def delegated_source(order: str, before: str = "") -> str | None:
    """The words that name the source an order tells the agent to obey; None where there is none.

    Args:
        order: The order, without what was said before it.
        before: What the user said before it; pronouns refer to it.
    """
    order = order[:_LOOKED_AT]
    for start, end in _acts(order):
        clause = order[start:end]
        if is_inline_list(clause):
            continue
        said = f"{before} {order[:start]}"
        source = _named(clause, said)
        if source is None and _GO.match(clause) and not re.search(r"\w", order[end:]):
            source = _said_before(said)
        if source is not None:
            return source
    return None if is_english(order) else foreign_source(order)


def _acts(order: str) -> Iterator[tuple[int, int]]:
    """The clauses of an order that ask for more than to read and to tell."""
    for left, right in sentences(order, 0, len(order)):
        for start, end in clauses(order, left, right):
            clause = order[start:end]
            begin = max(skip_fillers(clause), request_end(clause))
            if _READING.match(clause, begin) is None:
                yield start, end
            later = _GO_LATER.search(clause)
            if later is not None:
                yield start + later.end(), end


def _named(clause: str, before: str) -> str | None:
    for pattern in (_REQUESTED, _ASKED_FOR, _PASSIVE, _MANNER, _OBEY, _WISH, _STATED, _ANSWER):
        for match in pattern.finditer(clause):
            if _is_ruled_out(clause, match):
                continue
            return _source(clause, match, before)
    given = _ANAPHOR.search(clause)
    if given is not None and not _is_ruled_out(clause, given) and _GIVEN.search(before):
        return _spoken_of(before) or given["it"]
    taken = TAKES_UP.search(clause)
    return None if taken is None or _is_ruled_out(clause, taken) else standing(before)


def _said_before(before: str) -> str | None:
    """The source of the work that the one or two sentences before an order to go ahead name."""
    spans = list(sentences(before, 0, len(before)))[-2:]
    said = before[spans[0][0] :] if spans else ""
    for pattern in (_STATED, _REQUESTED, _PASSIVE, _IS_READ):
        for match in pattern.finditer(said):
            if not _is_ruled_out(said, match, (_NEGATED, _IF, _TOLD)):
                return _source(said, match, "")
    return None


def _is_ruled_out(
    clause: str,
    match: re.Match[str],
    signs: tuple[re.Pattern[str], ...] = (_NEGATED, _IF, _TOLD, _OURS),
) -> bool:
    said_before = clause[max(0, match.start() - 100) : match.start()]
    return any(sign.search(said_before) for sign in signs)


def _source(clause: str, match: re.Match[str], before: str) -> str:
    groups = match.groupdict()
    whole = groups.get("telling") or groups.get("read")
    if whole is not None:
        return whole[:LONGEST]
    who = groups.get("who") or groups.get("they") or groups.get("pronoun")
    if who is not None:
        return _resolved(who.strip(), clause[match.end() :], before)
    place = next(name for name, found in groups.items() if found is not None)
    phrase = _phrase(clause, match.start(place))
    bare = _AT.sub("", phrase)
    if _PRONOUN.match(bare) or _OWNED.match(bare) is not None and not _anchored(bare):
        spoken_of = _spoken_of(before)
        return bare if spoken_of is None else f"{bare} ({spoken_of})"
    return bare


def _resolved(who: str, rest: str, before: str) -> str:
    """The source, with the place where it was named, or the sentence that a pronoun refers to."""
    where = _NEAR.match(rest)
    said = f"{who} {_phrase(where[1], 0)}" if where is not None else who
    if _PRONOUN.match(who):
        spoken_of = _spoken_of(before)
        return said if spoken_of is None else f"{said} ({spoken_of})"
    return said[:LONGEST]


def _anchored(phrase: str) -> bool:
    """Whether a phrase identifies a text by itself: by a name, a number or a place."""
    return _ANCHOR.search(phrase) is not None


def _phrase(clause: str, start: int) -> str:
    end = _PHRASE_END.search(clause, start + 1)
    stop = min(end.start() if end is not None else len(clause), start + LONGEST)
    return clause[start:stop].strip()


def _spoken_of(before: str) -> str | None:
    """The last sentence before that mentions a message, a text or its writer."""
    found = None
    for start, end in sentences(before, 0, len(before)):
        if _SENT.search(before, start, end):
            found = before[start:end].strip()
    return None if found is None else found[-LONGEST:].strip(" ,.;:!?")
