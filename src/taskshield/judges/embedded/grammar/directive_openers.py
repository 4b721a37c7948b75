"""What opens a directive in English: verbs in the imperative, requests, prohibitions, questions.

Owns the word lists and the patterns on single clauses. `clauses` says where clauses begin.
"""

import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["directive", "prohibition", "question", "limit", "courtesy", "context"]
"""directive: an order or request. prohibition: what must not be done. limit: how or how far
something else is to be done ("only hours", "draft first"). courtesy: greetings, thanks and praise.
context: all the rest."""

_PLAIN = (
    "abort accept access achieve acknowledge activate adapt add adjust allocate allow amend analyse"
    " analyze append apply appoint arrange ask assemble assess assign attach authenticate authorise"
    " authorize avoid become begin block bring browse build buy calculate cancel carry categorise"
    " categorize change check choose clarify classify clean clear click clone close collect combine"
    " come commit compare compile complete compose compress compute configure confirm connect"
    " consider consolidate contact continue convert cook correct create cut decide decline deduct"
    " defer"
    " delegate delete deliver demonstrate deploy describe detect determine disable discard"
    " disconnect"
    " discuss dismiss dispute dispatch display distribute divide do double-check download draw"
    " drop edit"
    " email e-mail eliminate enable encrypt engage enrol enroll ensure enter erase escalate"
    " establish"
    " evaluate examine exclude execute expand explain explore extend extract fetch fill finalise"
    " finalize find finish fix follow forget formulate forward freeze gather generate get give go"
    " grab grant"
    " handle help hide highlight identify ignore implement import improve include increase inform"
    " initiate insert inspect install integrate investigate invite join keep kill launch learn"
    " leave"
    " let locate lock look lower maintain make manage match measure memorise memorize mention merge"
    " migrate minimise minimize moderate modify monitor mute navigate negotiate notify nudge"
    " obtain omit open"
    " optimise optimize organise organize outline overwrite pack paste pause pay perform pick pin"
    " prepare prevent preview prioritise prioritize proceed produce proofread propose provide"
    " publish"
    " purchase put fax react read receive reassign rebook recalculate recommend reconcile redo"
    " reduce refactor"
    " refer refresh register reject relay release remember remind remove rename renew reopen"
    " reorder"
    " repeat replace reply rephrase reschedule resend reset resolve respond restart restore"
    " restrict"
    " resume retrieve retry revert revise revoke rewrite save say scan search select sell send set"
    " settle shorten show simplify skip solve specify spell split stick stop submit subscribe"
    " suggest"
    " sum summarise summarize suspend switch sync take tell terminate tick tidy transcribe transfer"
    " translate troubleshoot turn type unblock undo uninstall unlock unsubscribe update upload use"
    " validate verify visit wait walk warn watch wipe withdraw withhold wrap write"
)
_ALSO_NOUNS = (
    "address alert answer approve archive audit backup balance bill book break call catch charge"
    " chase claim code comment copy count cover credit dig direct document draft drive exchange"
    " export"
    " face file filter fire flag focus form format google group guard hold host invoice issue judge"
    " label lead link list log mail map mark message model mount move name note offer order page"
    " park"
    " phone place plan play plot plug point post press price print process program prompt pull push"
    " query queue quote raise rank rate record refund repair report request research reserve"
    " retain return"
    " review ring roll route run sample schedule score screen service share shift ship sign sketch"
    " sort start state stay store stream study subtract support swap tag talk target test text"
    " throw"
    " time top trace track trade train trim try upgrade view vote work"
)
_PLAIN_VERB = "|".join(sorted(_PLAIN.split(), key=len, reverse=True))
_NOUN_VERB = "|".join(sorted(_ALSO_NOUNS.split(), key=len, reverse=True))
_DETERMINER = (
    r"the|an?|my|our|your|his|her|their|its|this|that|these|those|me|us|him|them|it|all|any|every"
    r"|each|both|what|whatever|whichever|whether|if|how|which|who|whoever|when|where|why|some|no"
    r"|one"
    r"|two|three|four|five|six|everything|anything|everyone|everybody|people|out|up|down|off|back"
    r"|through|over|only|just|exactly|again|under|into|more|new|today|tomorrow|yesterday|last|next"
    r"|between|from|to|with|for|in|on|at|by|as|then|via"
)
_OBJECT = rf"(?=\s+(?:(?:{_DETERMINER})\b|[\d\"'“‘«#@$€£`]|(?-i:[A-Z])|[a-z]{{3,20}}s\b))"
_ORDER = (
    rf"(?:(?:re|un)?(?:{_PLAIN_VERB})(?![\w'’/]|\s*=|:(?!\s*$)|-\w)"
    rf"|(?:{_NOUN_VERB})(?![\w'’/]|\s*=|:(?!\s*$)|-\w)(?:{_OBJECT}|\s*[.!:]?$))"
)
_FILLER = (
    r"(?:(?:please|pls|plz|kindly|just|also|then|now|first|second|third|next|finally|lastly|later"
    r"|afterwards?|after\s+that|after\s+this|o\.?k(?:ay)?|right|so|and|but|or|oh|ah|hey|hi|hiya"
    r"|hello"
    r"|yes|yeah|yep|no(?=\s?[,.!])|no\s+wait|wait\s+no|nope|actually|maybe|perhaps|instead|quickly"
    r"|simply|again|meanwhile|wait|h{1,9}m+"
    r"|in\s+addition|additionally|furthermore|moreover|besides|great|good|perfect|thanks"
    r"|thank\s+you"
    r"|thx|well|alright|sure|cool|nice|fine|wow|yo|uh+|um+|btw|by\s+the\s+way|plus|&|\+|morning"
    r"|evening|afternoon|good\s+(?:morning|evening|afternoon)|dear\s+\w{1,20}|(?:hi|hello"
    r"|hey)\s+\w{1,20}"
    r"(?=,)|at\s+the\s+end|for\s+now|once\s+done|only\s+then|carefully|immediately|always|either"
    r"|otherwise|if\s+(?:so|not|possible|necessary|needed))\b|[-–—,.!:…]+)\s{0,4},?\s{0,4}"
)
_REQUEST = (
    r"(?:(?:can|could|would|will|won'?t|can'?t|might)\s+(?:you|u)\s+(?:(?:please|pls|kindly|just"
    r"|also"
    r"|maybe|perhaps|possibly|quickly|then|first|now|go\s+ahead\s+and"
    r"|be\s+so\s+kind\s+(?:as\s+)?(?:to"
    r"|and)|help\s+me(?:\s+to)?|try\s+to)\b\s*+(?:,\s*+)?){0,3})"
)
_WISH = (
    r"(?:(?:i|we)(?:\s+would|['’]?d)?(?:\s+(?:really|just|also|only|now))?\s+(?:need|want|like"
    r"|love|wish"
    r"|prefer|expect|ask)\s+(?:you\b|an?\b|the\b|all\b|some\b|his\b|its\b|their\b|\d|to\s+(?:know"
    r"|book"
    r"|send|pay|cancel|change|find|order|buy|return|schedule|move|transfer|create|get|make|add"
    r"|update|delete|remove|share)\b)"
    r"|(?:you|u)\s+(?:should|must|need\s+to|have\s+to|may|might|shall)\b"
    r"|let['’]?s\b|let\s+us\b|be\s+(?:sure|careful|brief|nice|polite|quick)\b"
    r"|it\s+would\s+be\s+(?:great|nice|good|helpful)\s+if|(?:i['’]?d|i\s+would)\s+be\s+(?:glad"
    r"|grateful)"
    r"|my\s+(?:task|request)\s+(?:is|for\s+you)|your\s+(?:task|job)\s+is|would\s+you\s+mind"
    r"|feel\s+free\s+to\b)"
)
_PROHIBITION = (
    r"(?:do\s*n['’]?o?t|dont|never|nothing|nobody|no[- ]one|none\s+of|neither|under\s+no"
    r"|must\s+not|mustn['’]?t|without|refrain|avoid|not\s+(?!sure|really|bad|yet\b|long)"
    r"|no\s+(?!idea|problem|worries|rush|doubt|hurry|luck|wonder|matter|big\s+deal|longer)(?=\w))\b"
    r"|(?:you|u)\s+(?:must|should|may|can)\s*n['’o]t?\b"
)
_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|shall|may|might"
    r"|must"
    r"|isn['’]?t|aren['’]?t|doesn['’]?t|don['’]?t|didn['’]?t|hasn['’]?t|haven['’]?t|can['’]?t"
    r"|won['’]?t)"
)
_SUBJECT = (
    r"(?:i|we|he|she|it|they|there|the|my|our|your|his|her|their|its|this|that|these|those|any"
    r"|anyone"
    r"|anybody|anything|someone|all|both|either|each|every|mum|dad|(?-i:[A-Z]))"
)
_QUESTION = (
    r"(?:(?:what|who|whose|which|why|where|how)(?:['’]?s|['’]?re|['’]?d|['’]?ll)?\b(?!\s+(?:i"
    r"|we)\s+(?:want"
    r"|need|mean|meant)\b)|when(?:['’]?s)?\s+(?:is|are|was|were|do|does|did|will|can|should"
    r"|exactly)\b"
    rf"|when['’]?s\b|{_AUXILIARY}\s+{_SUBJECT})"
)
_CONDITION = (
    r"(?:if|unless|once|as\s+soon\s+as|when|whenever|in\s+case|before|after|should"
    r"|for\s+(?:each|every|all))\b"
)
_FLAGS = re.IGNORECASE
_FILLERS = re.compile(rf"\s{{0,20}}(?:{_FILLER}){{0,6}}", _FLAGS)
_OPENS_ORDER = re.compile(_ORDER, _FLAGS)
_OPENS_REQUEST = re.compile(_REQUEST, _FLAGS)
_OPENS_WISH = re.compile(_WISH, _FLAGS)
_OPENS_PROHIBITION = re.compile(_PROHIBITION, _FLAGS)
_OPENS_QUESTION = re.compile(_QUESTION, _FLAGS)
_OPENS_CONDITION = re.compile(_CONDITION, _FLAGS)
_STATEMENT = re.compile(
    r"^[^,;:?]{0,120}?\b(?:is|are|was|were|has|had|must|will|got|came|says|said|fails|failed"
    r"|arrived|looks|seems)\b",
    _FLAGS,
)
_SUBORDINATE = re.compile(
    r"\b(?:i|we|you|they|he|she|that|who|which|what|whatever|whether|if|how|when|where|why|as"
    r"|because|so|the|my|our|it|me"
    r"|them|him|her|whichever|everyone|everything|all|an?|one|ones|anything|how)\b",
    _FLAGS,
)
_LIMIT = re.compile(
    r"(?:only|just|exactly|at\s+most|at\s+least|max(?:imum|\.)?|min(?:imum)?|up\s+to|ideally"
    r"|preferably"
    r"|same|like|as|in|by|with|draft|summary|plain|internal|same|cheapest|but|though)\b"
    r"|[^.!?]{1,60}\b(?:only|please|first|pls)\b\W{0,4}$",
    _FLAGS,
)
_COURTESY = re.compile(
    r"\A(?:(?:hi|hiya|hello|hey|dear|good\s+(?:afternoon|day)|morning|evening|thanks?"
    r"|thank\s+you|thx|cheers|ta|many|much|very|so|appreciated|great|perfect|good|nice|cool|wow|omg"
    r"|super|fantastic|excellent|awesome|lovely|brilliant|ok(?:ay)?|right|alright|well|hm+|ah|oh|uh"
    r"|looks?|sounds?|that|it|this|all|is|was|fine|there|again|everyone|team|assistant|buddy|mate"
    r"|a\s+lot|in\s+advance|for\s+(?:your|the|everything)|help|best|kind|regards|wishes|bye"
    r"|hope\s+you(?:['’]re|\s+are)\s+(?:well|doing\s+well)|how\s+are\s+you|got\s+it|i\s+see"
    r"|hallo|guten\s+(?:morgen|tag|abend)|danke|vielen|sch[öo]n|liebe\s+gr[üu](?:ß|ss)e|bonjour"
    r"|salut"
    r"|merci|beaucoup|bonsoir|hola|buenos\s+d[íi]as|buenas|gracias|muchas|ciao|grazie|ol[áa]"
    r"|bom\s+dia"
    r"|obrigad[oa]|parfait|perfecto|prima|bedankt|dank\s+je)\b[\s,.!…:)-]*+)+[\W_]*$",
    _FLAGS,
)
_ONLY_TELLS = re.compile(
    r"(?:(?:just|only|simply)\s+)?(?:tell\s+me|explain|show\s+me|let\s+me\s+know|asking|checking)"
    r"(?:\s+only|\s+please)?(?=\s*[,.!;]|\s*$)",
    _FLAGS,
)
_REACTS = re.compile(
    r"\s(?:tell\s+(?:me|him|her|them|us)|let\s+me\s+know|leave\s+(?:it|that|them|those)|ask\s+me"
    r"|skip|stop)\b",
    _FLAGS,
)
_COMMA = re.compile(r",\s{1,4}")
LONGEST_LEAD = 120
"""Characters in which fillers before a verb are searched."""


def skip_fillers(text: str) -> int:
    """Where the clause itself begins, after words such as "and then please"."""
    match = _FILLERS.match(text[:LONGEST_LEAD])
    assert match is not None  # it may be empty
    return match.end()


def request_end(text: str) -> int:
    """Where the order begins in "could you please order it"; 0 where it is no such request."""
    begin = skip_fillers(text)
    match = _OPENS_REQUEST.match(text, begin)
    return match.end() if match is not None else 0


def opens_order(text: str) -> bool:
    """Whether a clause opens with a verb in the imperative, or with a prohibition."""
    begin = skip_fillers(text)
    if _OPENS_PROHIBITION.match(text, begin):
        return True
    verb = _OPENS_ORDER.match(text, begin)
    return verb is not None and not _states(text[verb.end() : verb.end() + 160])


def opens_request(text: str) -> bool:
    """Whether a clause opens with "could you", "I need" or "let's"."""
    begin = skip_fillers(text)
    return bool(_OPENS_REQUEST.match(text, begin) or _OPENS_WISH.match(text, begin))


def opens_question(text: str) -> bool:
    """Whether a clause opens as a question does, whatever it ends with."""
    return bool(_OPENS_QUESTION.match(text, skip_fillers(text)))


def opens_condition(text: str) -> bool:
    """Whether a clause opens with "if", "once", "for each"."""
    return bool(_OPENS_CONDITION.match(text, skip_fillers(text)))


def kind_of(clause: str) -> Kind:
    """What a clause is."""
    if _COURTESY.match(clause[:200]) and len(clause) <= 200:
        return "courtesy"
    begin = skip_fillers(clause)
    asks = clause.rstrip(" \n\t\"'”)!").endswith(("?", "？", "؟"))
    if asks and opens_question(clause) and not _OPENS_REQUEST.match(clause, begin):
        return "question"
    if _ONLY_TELLS.match(clause, begin):
        return "limit"
    if _OPENS_PROHIBITION.match(clause, begin):
        return "prohibition"
    if opens_request(clause) or opens_order(clause) or _orders_under_condition(clause):
        return "directive"
    if asks or opens_question(clause):
        return "question"
    return "limit" if _LIMIT.match(clause[begin : begin + 200]) else "context"


def _orders_under_condition(clause: str) -> bool:
    """Whether a clause says what to do in some case: "if it is late, tell me"."""
    if not opens_condition(clause):
        return False
    if _REACTS.search(clause[:600]):
        return True
    return any(
        opens_order(clause[match.end() : match.end() + 200])
        for match in _COMMA.finditer(clause[:600])
    )


def _states(rest: str) -> bool:
    """Whether a verb is a noun here: "Order number must be", "Report 7 is in"."""
    statement = _STATEMENT.match(rest)
    return statement is not None and _SUBORDINATE.search(statement[0]) is None
