"""Delegation in German, French, Spanish, Portuguese, Italian, Dutch and Polish."""

import re

_LONGEST = 120
_FLAGS = re.IGNORECASE
_NP = r"(?P<{0}>[^,;.!?:\n]{{1,70}}?)"


def _np(name: str) -> str:
    return _NP.format(name)


_GERMAN = (
    rf"\bwas\s++{_np('de1')}\s++(?:dort\s++|darin\s++|da\s++)?(?:sagt|schreibt|will|möchte|verlangt"
    rf"|fordert|wünscht"
    r"|vorgibt|auflistet|vorschlägt|braucht|wissen\s++will|gesagt\s++hat|geschrieben\s++hat"
    r"|verlangt\s++hat"
    r"|steht|aufgeschrieben\s++hat|beschreibt|bittet)\b",
    rf"\b(?:so\s++)?wie\s++(?:es\s++)?{_np('de2')}\s++(?:sagt|schreibt|will|möchte|verlangt|wünscht"
    rf"|vorgibt|beschreibt"
    r"|vorschlägt|beschrieben|gewünscht|angegeben|geschrieben|verlangt|vorgegeben|steht|erklärt"
    r"|gebeten\s++hat"
    r"|geschrieben\s++hat|beschrieben\s++hat)\b",
    r"\b(?:laut|gemäß|entsprechend|nach)\s++(?P<de3>(?:den|der|dem|unserer?n?|meiner?n?|ihrer?n?"
    r"|seiner?n?|einer?)?\s*+"
    r"(?:\S+\s++){0,3}?\S*(?:anweisung|anleitung|vorgabe|liste|richtlinie|regel|verfahren|plan"
    r"|ordnung|mail"
    r"|nachricht|notiz|rezept|brief|wünsche|ticket|protokoll)\w*[^,;.!?:\n]{0,60})",
    r"\b(?:befolge|folge|befolg|arbeite|erledige|führe?"
    r"|setze?)\s++(?P<de4>(?:\S+\s++){0,5}?\S*(?:anweisung|anleitung"
    r"|schritt|liste|vorgabe|punkt|aufgabe|korrektur|änderung|wünsche)\w*[^,;.!?:\n]{0,60})",
    r"\bdie\s++(?P<de5>(?:er|sie|es|herr\s++\S+|frau\s++\S+))\s++(?:[^,;.!?]{0,30}\s)?(?:verlangt"
    r"|will|möchte|braucht"
    r"|wünscht|stellt|nennt|auflistet|fordert|anfordert|haben\s++will)\b",
    r"\b(?:beantworte|antworte)\w*\s++(?P<de6>(?:\S+\s++){0,5}?fragen\b[^,;.!?:\n]{0,60})",
)
_FRENCH = (
    rf"\b(?:ce|tout\s++ce|celles?|ceux)\s++qu(?:e\s++|['’]){_np('fr1')}\s++(?:(?:me|te|lui|nous|vous|leur)\s++)?(?:dit|demande"
    rf"|écrit|veut|souhaite|propose"
    r"|indique|exige|réclame|a\s++(?:dit|demandé|écrit|noté|indiqué|listé))\b",
    rf"\b(?:comme|tel(?:le)?s?\s++que?)\s++(?:l['’]|le\s++)?{_np('fr2')}\s++(?:dit|demande|écrit|veut"
    rf"|souhaite|indique|explique"
    r"|décrit|propose|l['’](?:a\s++)?(?:dit|demandé|écrit|indiqué|expliqué|explique|indique"
    r"|demande))\b",
    r"\b(?:comme|tel\s++qu['’]?)\s*+(?:c['’]est\s++)?(?:indiqué|décrit|demandé|expliqué|écrit|précisé"
    r"|noté|prévu)e?s?\s++"
    r"(?P<fr3>(?:dans|par|sur|à|au)\s[^,;.!?:\n]{1,70})",
    r"\b(?:selon|conformément\s++(?:à|aux?)|d['’]après"
    r"|en\s++suivant)\s++(?P<fr4>(?:\S+\s++){0,4}?(?:instructions?|consignes?|étapes"
    r"|procédure|règle\w*|guide|politique|message|mail|courriel|lettre|note"
    r"|liste)\b[^,;.!?:\n]{0,60})",
    r"\b(?:suis|suivez|suivre|applique[zr]?|exécute[zr]?|effectue[zr]?|fais"
    r"|faites)\s++(?P<fr5>(?:\S+\s++){0,4}?(?:instructions?"
    r"|consignes?|étapes|procédure|corrections|modifications|liste\s++de\s++tâches"
    r"|tâches)\b[^,;.!?:\n]{0,60})",
    r"\b(?:les?|la|chaque)\s++\w+\s++qu(?:['’]|e\s++)(?P<fr6>ils?|elles?|on"
    r"|\S+(?:\s++\S+)?)\s++(?:demandent?|veu(?:t|lent)|réclament?"
    r"|exigent?)\b",
    r"\brépond\w*\s++(?P<fr7>(?:\S+\s++){0,4}?questions\b[^,;.!?:\n]{0,60})",
)
_IBERIAN = (
    rf"\b(?:lo|todo\s++lo|o|tudo\s++o|aquilo)\s++que\s++{_np('es1')}\s*+\b(?:dice|diga|pide|pida|quiere"
    rf"|quiera|ponga|pone|indica|indique"
    r"|escribió|escribe|necesita|necesite|propone|ha\s++(?:pedido|escrito|dicho)|diz|pede|pedir"
    r"|quer|escreveu|disse|pediu"
    r"|precisa|manda)\b",
    r"\b(?:lo|todo\s++lo|o|tudo\s++o)\s++que\s++(?:me\s++|nos\s++)?(?:dice|diga|pide|pida|piden|quiere"
    r"|ponga|indica|indique|diz|pede|quer)\b"
    r"\s*+(?P<es2>[^,;.!?:\n]{0,70})",
    r"\b(?:como|tal\s++como|tal\s++y\s++como|conforme)\s++(?:se\s++|lo\s++)?(?:dice|pide|indica|describe"
    r"|explica|descrito|indicado|pedido"
    r"|explicado|escrito|diz|pede|descreve|está\s++(?:descrito|escrito"
    r"|indicado))[oa]?s?\s++(?P<es3>[^,;.!?:\n]{1,70})",
    r"\b(?:según|conforme|segundo|de\s++acuerdo\s++con|de\s++acordo\s++com|siguiendo"
    r"|seguindo)\s++(?P<es4>(?:as?|os?|el|las?|los|nuestr\w+"
    r"|noss\w+|su|sus)\s++(?:\S+\s++){0,3}?(?:instruc\w+|indica\w+|pasos|passos|regla\w*|regra\w*"
    r"|regulament\w*|reglament\w*|normas?"
    r"|política|procedimi?ento|lista|receta|receita|mensaje|mensagem|correo|nota"
    r"|carta)\b[^,;.!?:\n]{0,60})",
    r"\b(?:sigue|siga|seguir|cumple|cumpre|aplica|aplique|ejecuta|executa|haz|faz|faça|completa"
    r"|complete)\s++(?P<es5>(?:\S+\s++){0,4}?"
    r"(?:instrucciones|instruções|indicaciones|indicações|pasos|passos|lista\s++de\s++tar\w+|tareas"
    r"|tarefas|correcciones|correções)\b"
    r"[^,;.!?:\n]{0,60})",
    r"\b(?:responde|contesta|responda)\w*\s++(?P<es6>(?:\S+\s++){0,4}?(?:preguntas"
    r"|perguntas)\b[^,;.!?:\n]{0,60})",
)
_ITALIAN = (
    rf"\b(?:quello|ciò|quanto|tutto\s++quello)\s++che\s++{_np('it1')}\s*+\b(?:dice|chiede|vuole|scrive"
    rf"|ha\s++(?:scritto|chiesto|detto)"
    r"|indica|propone|richiede)\b",
    r"\bcome\s++(?:è\s++)?(?:descritto|indicato|scritto|richiesto|spiegato|chiesto)\s++(?P<it2>(?:in"
    r"|nel\w*|da\w*|su\w*)\s[^,;.!?:\n]{1,70})",
    r"\bcome\s++(?:dice|chiede|scrive|indica|vuole)\s++(?P<it3>[^,;.!?:\n]{1,70})",
    r"\b(?:segui|seguire|esegui|applica)\s++(?P<it4>(?:\S+\s++){0,4}?(?:istruzioni|passaggi"
    r"|indicazioni|procedura|correzioni)\b"
    r"[^,;.!?:\n]{0,60})",
    r"\b(?:secondo|in\s++base\s++a\w*|seguendo)\s++(?P<it5>(?:\S+\s++){0,3}?(?:istruzioni|indicazioni"
    r"|procedura|regole|regolamento)\b"
    r"[^,;.!?:\n]{0,60})",
)
_OTHERS = (
    rf"\bwat\s++{_np('nl1')}\s++(?:zegt|vraagt|schrijft|wil|staat|heeft\s++(?:gevraagd|geschreven))\b",
    r"\bzoals\s++(?P<nl2>[^,;.!?:\n]{0,60}?)\s*+(?:beschreven|vermeld|gevraagd|staat|zegt|vraagt"
    r"|schrijft)\b(?:\s++in\b[^,;.!?:\n]{1,60})?",
    r"\b(?:volg|volgens)\s++(?P<nl3>(?:\S+\s++){0,3}?(?:instructies|stappen|aanwijzingen|regels"
    r"|handleiding|procedure|lijst)\b"
    r"[^,;.!?:\n]{0,60})",
    rf"\bto,?\s++co\s++{_np('pl1')}\s*+(?:pisze|prosi|mówi|chce|napisał\w*|prosił\w*|każe)\b",
    r"\b(?:zgodnie\s++z|według)\s++(?P<pl2>(?:\S+\s++){0,2}?(?:instrukcj|wskazówk|list|zasad|procedur"
    r"|regulamin)\w*[^,;.!?:\n]{0,60})",
    r"\bjak\s++(?:opisano|napisano|podano|w\s++mailu)\s++(?P<pl3>[^,;.!?:\n]{1,60})",
)
_PATTERNS = tuple(
    re.compile(pattern, _FLAGS) for pattern in (*_GERMAN, *_FRENCH, *_IBERIAN, *_ITALIAN, *_OTHERS)
)
_MINE = re.compile(
    r"(?:ich|wir|du|je|j|nous|vous|tu|yo|nosotros|eu|nós|io|noi|ik|wij|we|i|you|me|te|se)\b", _FLAGS
)
_READING = re.compile(
    r"\A\W*+(?:(?:und|et|y|e|en|bitte|peux-tu|pouvez-vous|kannst\s+du|können\s+sie|puedes|podes|pode"
    r"|puoi|kun\s+je)\s+)*"
    r"(?:sag|sage|fass|fasse|zeig|zeige|lies|erklär|schau|finde?|nenne|dis|dites|résume|montre|lis"
    r"|explique|dime|dígame|resume"
    r"|resúmeme|muéstrame|lee|explica|cuéntame|diz|resume|mostra|lê|riassumi|dimmi|mostrami|leggi"
    r"|spiega|vertel|zeg|lees"
    r"|powiedz|streść|was|wer|wie|wann|que\b|qué|quoi|qu['’]est|cosa|o\s+que|lo\s+que\s+dice"
    r"|wat)\w*\b",
    _FLAGS,
)
_CLAUSE = re.compile(r"(?<![.!?;\n])[.!?;\n]+(?=\s|$)|,\s*+(?=(?:und|et|y|e|en)\s)")


def foreign_source(order: str) -> str | None:
    """The words that name the source an order delegates to, in a language other than English."""
    start = 0
    for end in (*(match.end() for match in _CLAUSE.finditer(order)), len(order)):
        clause = order[start:end]
        start = end
        if _READING.match(clause):
            continue
        for pattern in _PATTERNS:
            match = pattern.search(clause)
            if match is not None and not _MINE.match(_found(match)):
                return _found(match)[:_LONGEST] or clause.strip()[:_LONGEST]
    return None


def _found(match: re.Match[str]) -> str:
    return next((found for found in match.groups() if found is not None), "").strip()
