"""Patterns of the phrases that restrict, one for each thing they do, in many languages.

All are searched in text in lower case, and all are linear.
"""

import re


def _any(*alternatives: str) -> str:
    return "|".join(alternatives)


BREAK = re.compile(
    r"[.!?;:,](?=[\s\"')”]|$)|[\n。！？；，、…—–()]|\s-\s"
    r"|\s(?=(?:but|aber|sondern|mais|pero|sino|maar|ale|men|но)\s)"
)
"""Where a clause ends."""
CONDITION = re.compile(
    r"^\W{0,3}(?:and |but |so |und |et |y |e |en )?(?:if|unless|when|whenever|in case|wenn|falls"
    r"|sofern|si|"
    r"quand|cuando|se|quando|als|wanneer|jeśli|gdyby|om|eğer|если|como)\b|如果|要是|もし|たら",
)
TENTATIVE = re.compile(r"\b(?:if|unless|except|wenn|falls|außer|sauf|salvo|tenzij|chyba)\b|除非")
_FILLER = (
    r"\W{0,4}(?:(?:please|pls|plz|and|but|also|so|just|ok|okay|then|however|though|actually|oh|no"
    r"|for now|kindly|you|hey|now|again|yes|yeah|definitely|absolutely|whatever you do|either|or"
    r"|i want you to|i said|remember|remember to|make sure you|make sure to|careful)\W{1,3}){0,5}"
)
_DO_NOT = (
    r"(?:do\s?n['o]?t|do not|never|must not|mustn't|should not|shouldn't|may not|are not to"
    r"|better not"
    r"|i(?: do not|['d]{0,2} rather you did| don't| would not| wouldn't) ?(?:n't|not)?"
    r" ?(?:want|like)?(?: you| us)? ?(?:to)?)"
)
PASSIVE = re.compile(
    r"(?P<what>[^,;]{2,40}?) (?:must|should|may|can|is|are)(?: not|n't)(?: to)? be"
    r" (?P<verb>[a-z]{3,15})\b"
)
ANYTHING = re.compile(
    r"\b(?:anything|nichts|nix|rien|nada|niente|nulla|niets|nic|inget|ingenting|hiçbir|ничего)\b"
)
PROHIBITS = re.compile(rf"^{_FILLER}{_DO_NOT}\s+(?P<rest>.+)", re.DOTALL)
WITHOUT = re.compile(
    r"\b(?:without|instead of|rather than|avoid|refrain from|hold off(?: on)?|no need to|not to be)"
    r"\s+(?P<rest>.+)",
    re.DOTALL,
)
NO_NOUN = re.compile(
    r"^(?:\W{0,3}(?:and|but|please|so|also|ok|just)\b)?\W{0,3}no (?:more |further |extra"
    r" )?(?P<noun>[a-z-]{3,16})"
    r"(?P<rest>(?: (?:to|for|of|on|about|with) .{1,40})?(?: yet| please| pls| for now| today| at"
    r" all| for"
    r" this)?)\W*$"
)
NOTHING = re.compile(
    r"\b(?P<who>nothing|nobody|no one|none)\s+(?:(?:of \w+|should|shall|may|must|can|is|gets|to"
    r"|be|may|will|"
    r"gets|else|has|goes|yet)\s+){0,4}(?P<rest>.+)",
    re.DOTALL,
)
ADVERB = frozenset(
    "actually ever yet even please you dare go and bother try to be get also let have him her"
    " it them already under any circumstances accidentally".split()
)
"""What may stand between the negation and the verb."""
FOREIGN_NO = re.compile(
    r"\b(?:nicht|kein\w*|niemand\w*|nichts|ohne|rien|jamais|aucune?|pas|nada|nunca|niente|nessun\w*|senza|non|não|nao"
    r"|ningun\w*|niets?|geen|nie|nic|inte|ingen|inget|не|ничего|никому)\b"
)
NEGATIONS = frozenset(
    "nicht kein keine keinen keiner keinem niemand niemandem niemanden niemals nie ohne nichts"
    " pas rien jamais sans aucun aucune personne no sin nunca nada ningún ninguna nadie ni"
    " non senza mai niente nessun nessuno não nao sem ninguém nenhum nenhuma niet niets geen zonder"
    " nooit niemand nie bez nigdy nic nikogo nikomu inte ingen inga inget utan aldrig ikke"
    " не без никогда ничего никому hiç".split()
)
OWN_ACT = re.compile(
    r"\b(?:ich|wir|habe|hat|haben|hatte|wurde|wird|er|j'ai|je|il|elle|on|nous|a été|avons|he|ha"
    r"|han|hemos"
    r"|yo|ho|hanno|abbiamo|è|eu|foi|ik|heb|heeft|hebben|wordt|is|jag|har|han|hon|nie wiem|я|он"
    r"|она|мы)\b"
)
"""In other languages than English: words that make a negated clause a statement."""
CJK_PROHIBITS = re.compile(
    r"(?P<said>(?:不要|别|先别|勿|不用|请勿|不准)(?:再|给|先|把)?[^，。！？、\s]{0,8}?(?P<zh>发|删|取消|付|转账|订|买|改|移|提交"
    r"|回复|通知)(?P<what>[^，。！？、\s]{0,16}))"
    r"|(?P<said2>(?P<ja>送|送信|消|削除|キャンセル|予約|支払|注文|変更|投稿|返信)[^。、！？\s]{0,6}(?:ないで|しないで|せずに|は不要|なくていい))"
    r"|(?P<said3>(?P<tr>gönder|sil|iptal et|öde|sipariş et|sipariş ver|dokun|ara|değiştir|paylaş"
    r"|yayınla"
    r"|ekle)(?:me|ma)(?:yin|yın)?\b)"
)  # fmt: skip
CJK_ACTS = {
    "发": "send", "回复": "send", "通知": "send", "删": "delete", "取消": "cancel", "付": "pay",
    "转账": "pay", "订": "buy", "买": "buy", "改": "change", "移": "move", "提交": "approve",
    "送": "send", "送信": "send", "返信": "send", "消": "delete", "削除": "delete",
    "キャンセル": "cancel", "予約": "buy", "支払": "pay", "注文": "buy", "変更": "change",
    "投稿": "publish", "修正": "change", "修改": "change", "登録": "create", "预约": "buy",
    "预订": "buy", "发布": "publish", "执行": "run",
    "gönder": "send", "sil": "delete", "iptal et": "cancel", "öde": "pay",
    "sipariş et": "buy", "sipariş ver": "buy", "dokun": "change", "ara": "call",
    "değiştir": "change", "paylaş": "publish",
    "yayınla": "publish", "ekle": "create",
}  # fmt: skip
CONTENT = re.compile(r"\b(?:who|what|about|why|how|which|any of (?:that|those|these|them))\b")
"""In an English prohibition: it is about what is said, or about a part."""
NOW = re.compile(
    r"\b(?:now|jetzt|maintenant|ahora|adesso|agora|nu|teraz|şimdi|сейчас|теперь)\b|现在|今"
)
SKIPS = re.compile(
    r"\b(?:scrap|skip|drop|forget|leave out|call off|vergiss|streich\w*|oublie[zr]?|olvida"
    r"|annulla|esquece"
    r"|vergeet|strunt i)\s(?:about )?(?:the|that|my|our|die|den|das|la|le|el|il|o|a|de|het)\s"
    r"(?P<what>[^\W\d_]{3,20})(?=\W*$|[.,;!?])"
)
"""An act that is called off, as in "scrap the move"."""
YET = re.compile(
    r"\b(?:yet|until|till|before|noch|erst|bevor|encore|avant|jusqu|todavía|aún|hasta|antes"
    r"|ancora|prima"
    r"|ainda|nog|voordat|jeszcze|zanim|ännu|förrän|innan|henüz|ещё|еще|пока)\b|先别|まだ"
)
LOOK_ONLY = re.compile(
    _any(
        r"\bjust tell me(?=\W*$|[.,;!?])",
        r"\b(?:just|only|simply|merely) (?:show|check|look|list|read|looking|checking|asking"
        r"|curious"
        r"|browsing|want(?:ed)? to (?:know|see)|need to (?:know|see)|a look|a question)\b",
        r"\b(?:show|tell) me (?:only|first)\b|\bread[- ]only\b|\blook(?: but|,)? don't touch\b"
        r"|\bdon't (?:do|change|touch|act on) anything(?=\W*$|[.,;!?]| yet| else| for now)",
        r"\b(?:nur|bloß) (?:mal )?(?:zeigen|zeig|ansehen|anschauen|anzeigen|schauen|gucken"
        r"|prüfen|nachsehen"
        r"|nachschauen|wissen|auflisten)\b|\bzeig mir (?:nur|erstmal nur)\b|\bschau nur\b",
        r"\b(?:juste|seulement) (?:montre|montrer|regarde|regarder|vérifie|vérifier|voir|lister"
        r"|liste|dis)\b"
        r"|\b(?:montre|dis)[- ]moi (?:juste|seulement)\b",
        r"\b(?:sólo|solo|solamente|nomás) (?:muéstrame|muestra|mira|mirar|enséñame|comprueba"
        r"|quiero (?:ver|saber)"
        r"|consulta|dime)\b",
        r"\b(?:solo|soltanto|solamente) (?:mostrami|mostra|guarda|guardare|controlla|vedere"
        r"|dimmi|dare"
        r" un'occhiata|fammi vedere)\b|\bfammi solo vedere\b",
        r"\b(?:só|apenas|somente) (?:mostra|mostre|ver|verifica|verifique|me diga|olhar|quero"
        r" (?:ver|saber))\b",
        r"\b(?:alleen|enkel)(?: maar| even)? (?:kijken|zien|laten zien|tonen|checken|nakijken"
        r"|weten)\b"
        r"|\blaat (?:me )?alleen (?:maar )?zien\b",
        r"\btylko (?:pokaż|sprawdź|zobacz|popatrz)|\b(?:bara|endast) (?:visa|kolla|titta|se"
        r" efter)\b",
        r"\bsadece (?:göster|bak|kontrol et|listele)|\bтолько (?:покажи|посмотри|проверь)",
        r"見るだけ|確認だけ|だけ見せて|見せるだけ|只看|只想看|只是看看|看看就好|只查",
    )
)
WITHDRAWN = re.compile(
    _any(
        r"\b(?:forget (?:it|that|about it|about that|the whole thing)|never ?mind|nvm|scrap"
        r" (?:it|that)"
        r"|leave it(?: be| at that| alone)?(?=\W*$|[.,;!])|don't bother(?=\W*$|[.,;!])|drop"
        r" it(?=\W*$|[.,;!])"
        r"|call it off|stand down|cancel (?:everything|all of it|the lot)|take (?:that|it) back"
        r"|nope(?=\W*$)|(?:i've |i )?changed my mind|hold off(?! on)|let me (?:sleep on|think"
        r" about) it"
        r"|none of (?:these|those|them)|let me (?:ask|talk to|check with|think)|no then)\b"
        r"|^\W*(?:neither|none)\b(?! of)",
        r"\b(?:vergiss (?:es|das)|lass (?:es|das|mal|gut sein)|doch (?:lieber )?nicht|hat sich"
        r" erledigt"
        r"|keine[nrs]? davon|doch nichts|lieber (?:doch )?nicht)\b",
        r"\b(?:oublie(?:z)?(?: ça)?|annule(?:z)? tout|laisse(?:z)? (?:tomber|ça|béton)"
        r"|finalement non|aucun(?:e)?"
        r" des|non finalement|pas la peine)\b",
        r"\b(?:olvídalo|olvidalo|déjalo|dejalo|ninguno|ninguna|mejor no|no hace falta)\b",
        r"\b(?:lascia (?:stare|perdere|così)|lascia(?:mo)? stare|meglio di no|non serve più)\b",
        r"\b(?:esquece(?: isso)?|esqueça|deixa (?:pra lá|para lá|estar|isso)|melhor não)\b",
        r"\b(?:laat maar|vergeet het|hoeft niet meer|toch maar niet)\b",
        r"\b(?:nieważne|zostaw to|daj spokój|jednak nie|zapomnij)\b|\b(?:glöm det|ingen av dem"
        r"|strunt i det|låt bli|låt det vara)\b",
        r"\b(?:boş ver|boşver|vazgeçtim|vazgeç|kalsın)|\b(?:забудь|не надо|неважно|передумал"
        r"|передумала|отбой)\b",
        r"やっぱり(?:いい|やめ|結構)|やめておき|やめとく|算了|不用了|别管了|不弄了",
    )
)
NOTHING_ELSE = re.compile(
    r"\b(?:nothing else|and that's it|nothing more|and only that|only that|sonst nichts|nichts"
    r" weiter"
    r"|nichts anderes|rien d'autre|rien de plus|nada más|nada mas|nient'altro|nada mais|mais nada"
    r"|verder niets|niets anders|nic więcej|nic innego|inget annat|başka bir şey|больше ничего)\b"
    r"|其他不要|其他的不用|それだけ|他は何も"
)
WAITS = re.compile(
    r"\b(?:wait (?:for|until|till)|hold (?:it|that|this|off(?! on)|them|everything|fire)\b(?!"
    r" at)|not yet|not today"
    r"|not now|ask me (?:first|before)|check with me|(?:until|till) i (?:say|confirm|tell|ok"
    r"|approve|give|have)"
    r"|before i (?:say|confirm|ok|approve)|once i (?:say|confirm|ok|approve|give)|when i (?:say"
    r"|give you) (?:so|the)"
    r"|after i (?:say|confirm|ok|approve)|warte (?:auf|bis)|wart(?:e)? noch|noch nicht|erst wenn"
    r" ich|frag mich (?:erst|vorher)"
    r"|pas encore|pas tout de suite|demande-moi avant|aún no|todavía no|pregúntame antes"
    r"|non ancora|chiedimi prima|ainda não|me pergunte antes|wacht even|nog niet|vraag (?:me"
    r"|mij) eerst"
    r"|jeszcze nie|inte än|henüz|пока не|ещё не)\b|^\W*(?:attends|attendez|espera|aspetta|espere"
    r"|wacht|poczekaj|vänta|bekle|подожди)\b(?=\W*$|[,.!])|等我|先等|还不要|まだ(?:送|し|や)|待って"
)
ONCE = re.compile(
    r"\b(?:once|as soon as|only when|only after|when|after|sobald|erst wenn|nachdem|dès que|una"
    r" vez que"
    r"|cuando|quando|appena|zodra|als) (?P<who>[^\W\d_][\w'-]{1,20}(?: [^\W\d_][\w'-]{1,20})?)"
    r" (?:has |have |had |is |are |says |gives |hat |ha |a |haya |heeft |)?"
    r"(?:agreed|agrees|confirmed|confirms|approved|approves|ok|okay|ok'd|ok's|said yes|says yes"
    r"|signed|signs"
    r"|signed off|replied|replies|paid|accepted|accepts|happy|zugesagt|zustimmt|bestätigt"
    r"|zugestimmt|confirmé"
    r"|accepté|d'accord|confirma|confirme|aceptado|acepte|conferma|accettato|akkoord|bevestigd)\b"
)
AGREED = re.compile(
    r"agree|confirm|approv|yes|okay|\bok\b|sign|accept|paid|happy|fine|sure|done|bestätig|ja\b"
    r"|zugestimmt"
    r"|einverstanden|accept|oui|d'accord|\bsí\b|confirm|acept|conferm|akkoord|bevestig|tak\b"
    r"|да\b|好|はい"
)
GO_AHEAD = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|ya|ok|okay|sure|go|do it|fine|please do|perfect|great|good|right"
    r"|now|alright"
    r"|k|cool|ja|jo|oui|si|sí|sim|tak|evet|да|好|はい|vale|va bene|d'accord|correct|exactly"
    r"|confirmed|lovely|nice"
    r"|sounds|looks|looking|thanks|thx|ta|cheers|brilliant|excellent|love|approved|both|all"
    r"|either|any|whichever"
    r"|super|prima|passt|klar|gut|bien|genau|parfait|claro|perfetto|perfecto|perfeito|goed"
    r"|dobrze|dobra|bra)\b"
    r"|\b(?:go ahead|do it|you can|you may|go for it|send it|let's do|now you|please proceed"
    r"|ship it|mach das)\b"
)
PLURAL = re.compile(
    r"\b(?:all|both|each|every|everything|everyone|rest|others?|remaining|same|another|also|too"
    r"|them|those|these|"
    r"whole|entire|any|whatever|ones|alle|beide|jede\w*|rest|andere\w*|auch|tous|toutes|chaque"
    r"|autres?|aussi|todos|"
    r"todas|cada|ambos|otros?|otras?|también|tutti|tutte|ogni|altri|altre|anche|allemaal|elke"
    r"|andere|ook|wszystk\w+|"
    r"każd\w+|inn\w+|też|alla|varje|andra|också|hepsi|tüm|все|всех|кажд\w+|друг\w+|также)\b|都|全部"
    r"|其他|全て|すべて|他の"
)
"""Words that may speak of more than what is named."""
NUMBER_AFTER = re.compile(
    r"(?:\b(?:at most|no more than|not more than|up to|max(?:imum|\.)?(?: of)?|under|below|less"
    r" than"
    r"|cheaper than|not? (?:over|above|exceed(?:ing)?)|(?:spend|pay|go|cost|costs) (?:over|above"
    r"|beyond|more than)"
    r"|as high as|jusqu'à|hasta|fino a|hooguit|capped at|cap of|cap it at|budget(?: is| of|:)?"
    r"|limit(?: is| of|:)?"
    r"|höchstens|maximal|bis zu|unter|weniger als|nicht mehr als|nicht über|au plus|au maximum"
    r"|pas plus (?:de|que)"
    r"|moins de|como mucho|como máximo|máximo|no más de|menos de|al massimo|massimo|non più di"
    r"|meno di|no máximo"
    r"|até|não mais (?:de|que)|menos de|hoogstens|maximaal|niet meer dan|minder dan|onder de"
    r"|maksymalnie|najwyżej"
    r"|nie więcej niż|poniżej|högst|inte mer än|en fazla|не более|не больше"
    r"|максимум)\W{1,3}(?:the |de |a )?$"
    r"|(?:最多|不超过|低于|最大)$)"
)
"""What stands before the number of a limit."""
NUMBER_BEFORE = re.compile(
    r"^\W{0,2}(?:max\b|maximum\b|tops\b|or (?:less|under|cheaper|fewer|below)\b|at most\b|at the"
    r" most\b"
    r"|and no more\b|not a \w+ more|and not more|maximal\b|höchstens\b|au maximum\b|au plus\b"
    r"|maxi\b|o menos\b|como mucho\b|al massimo\b|no máximo\b|maximaal\b|以内|以下|まで)"
)
MAY_SELECT = re.compile(
    r"^(?:under|below|less than|unter|weniger als|moins de|menos de|meno di|minder dan|onder)\b"
)
"""Limits that as often say which records are meant."""
ONLY_IF = re.compile(
    r"\b(?:only if|if (?:it|that|this|the \w+)(?:'s| is| costs?| are)|as long as|provided|nur"
    r" wenn|nur falls|wenn"
    r" (?:es|er|sie|das)|seulement si|si (?:c'est|ça|le prix|el precio|cuesta|es)|solo si|sólo"
    r" si|solo se|se (?:costa|è)"
    r"|só se|alleen als|tylko jeśli|bara om)\b|只有|如果"
)
