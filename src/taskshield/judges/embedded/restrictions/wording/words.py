"""The words by which people order, forbid, limit, correct and take back, in one table.

A word that ends in "*" stands for all words that begin so. `acts_of` says what a verb does.
"""

import re
import unicodedata
from functools import lru_cache

_VERBS = {
    "send": "send sends sending sent mail mails mailing email emails emailing e-mail message"
    " messages messaging text texts texting sms reply replies replying respond responding"
    " réponse reponse respuesta risposta resposta forward"
    " forwards forwarding notify notifying notification notifications contact contacting ping tell"
    " telling inform informing remind dm answer answering page paging"
    " schick* verschick* abschick* sende senden sendet send* versend* absend* abgeschickt"
    " benachrichtig* antwort* weiterleit* envoy* envoie* envoi* répon* repon*"
    " transmet* préven* transfére* enviar* envía* envíe* envie* envia* mandar* manda mande"
    " mandes mandarlo mandare respond* contest* reenv* avis* inviar* invia inviare inoltra*"
    " spedir* spedisc* rispond* avvis* envie envies responda* stuur* sturen verstuur*"
    " versturen verzend* mailen antwoord* wysyłaj* wyślij* wysyła* wysłać odpisz*"
    " odpisuj* skicka* mejla* maila* svara* gönder* yolla* отправ* посыла* пошли* напиши*"
    " отвеча* ответь*",
    "write": "write writing schreib* anschreib* écri* escrib* scriv* escrev* schrijf* napisz*"
    " skriv* yaz"
    " напиши*",
    "publish": "publish publishes publishing post posts posting share sharing tweet announce"
    " announcing broadcast veröffentlich* poste* publi* comparti* condivid* publiceer* publicera*"
    " publikuj* opublikuj* yayınla* опублик* публик*",
    "delete": "bin binning chuck toss delete deletes deleting remove removing erase erasing wipe"
    " wiping purge purging"
    " trash trashing discard discarding rm lösch* entfern* gelösch* supprim* efface* borrar* borres"
    " borre borra eliminar* elimine* elimina* cancellare apagar* apague* apaga* excluir* exclua*"
    " verwijder* wis wissen usuń* usuwaj* usuwać skasuj* kasuj* radera* tabort sil silme* silin*"
    " удал*",
    "cancel": "cancel cancels cancelling canceling cancellation revoke revoking terminate"
    " stornier* kündig* absag* annul* résili* cancelar* cancele* cancela* anular* anule*"
    " disdir* disdi annuleer* annuleren opzeggen odwoł* anuluj* avboka* avbryt* iptal отмен*",
    "pay": "charge pay pays paying payment payments transfer transfers transferring wire remit"
    " bezahl* zahle zahlen zahl überweis* ueberweis* paie payer payes payez vire* virement pagar*"
    " pague* paga pago pagare pagarlo transfi* bonifico bonifica* transfer* betaal* betalen"
    " overmak* zapłać* płać* przelej* przelew* betala* öde ödeme* оплат* плати* перевед*",
    "refund": "refund refunds refunding reimburse erstatt* rembours* reembols* rimbors*"
    " terugbetal*",
    "buy": "book books booking bookings reserve reserving reservation order orders ordering buy"
    " buying purchase purchasing rent renting hire checkout buch* bestell* kauf* reservier* mieten"
    " réserv* command* achet* achat* reserv* compr* encarg* pedir* prenot* ordina* acquist*"
    " encomend* boek* bestel* koop kopen kupuj* kup zamów* zamawiaj* zarezerwuj* boka bokning"
    " beställ* köp* sipariş* rezerv* забронир* брони* закаж* заказыв* купи*",
    "approve": "approve approving accept accepting submit submitting confirm confirming sign"
    " signing authorize authorise file filing apply applying genehmig* bestätig* einreich*"
    " unterschreib* approuv* accept* valide* confirm* soumet* aprob* acept* firm* approv* conferm*"
    " goedkeur* bevestig* godkänn* zatwierd* potwierd* onayla* подтверд* подпи*",
    "change": "change changing update updating edit editing modify modifying alter altering"
    " overwrite overwriting rename renaming replace replacing touch touching tocar toque* toques"
    " anfass* fass touche* dokun* rusz* трога* set setting ändere*"
    " ändern überschreib* bearbeit* anfass* modifi* chang* cambi* actualiz* modific* aggiorn*"
    " alter* mude* atualiz* wijzig* verander* zmieni* edytuj* ändra* değiştir* измен* меня*",
    "move": "migrate migrating move moving reschedule rescheduling shift shifting postpone"
    " postponing relocate"
    " verschieb* déplac* report* mover* mueva* mueve* sposta* verplaats* verzet* przesu* przenie*"
    " flytta* taşı* перенес* перенос*",
    "create": "rediger* rédige* brouillon borrador bozza entwurf* rascunho szkic utkast taslak"
    " 下書き draft drafts drafting create creating add adding make making insert schedule"
    " scheduling register"
    " registering generate anleg* erstell* hinzufüg* eintrag* cré* ajout* crea cree crear* añad*"
    " agreg* aggiung* creare cria crie criar* adicion* maak maken toevoeg* dodaj* dodawaj* utwórz*"
    " skapa* ekle* oluştur* созда* добав*",
    "restart": "restart restarting reboot rebooting stop stopping kill killing neustart* redémarr*"
    " reinici* riavvi*",
    "run": "run running execute executing deploy deploying"
    " launch launching install installing starte* ausführ* deploye* ejecut*"
    " esegu* uruchom* çalıştır* запус*",
    "push": "push pushing pushe* pousse*",
    "commit": "commit commits committing committe*",
    "merge": "merge merging merges merge*",
    "invite": "invite inviting invites einlad* invit* convid* zapro* bjud* davet* пригла*",
    "close": "close closing schließ* ferme* cerrar* chiud* fech* sluit* zamkn* stäng*",
    "archive": "archive archiving archivier*",
    "call": "call calling phone phoning ring ringing callout callouts anruf* appele* llam* chiama*"
    " bel bellen zadzwo* ring* ara позвони*",
    "unlock": "unlock unlocking",
}
_LOOKS = (
    "list get find search lookup look show view read fetch check browse query status info details"
    " history track preview report stats calendar availability available balance overview summary"
    " compare calculate compute convert analyse analyze measure validate verify rows columns"
    " lines thread threads inbox body page timeline open opens shows show read"
    " reads return returns retrieve say says tell explain current open everything"
    " wyszukaj pokaż sprawdź lista zeigt zeigen liste sucht suchen prüft prüfen affiche lister"
    " cherche consulter busca lista ver"
    " muestra mostra cerca elenco toon zoek visa sök hitta göster ara listele покажи найти список"
    " quote count estimate price prices inspect describe monitor log logs"
)
UNCLEAR = frozenset(
    "mail mails email emails message messages text texts sms reply post posts order orders book"
    " bookings booking payment payments transfer transfers reservation refund refunds file share"
    " notification notifications contact note invite invites call calls phone report set"
    " open answer merge run update réponse reponse respuesta risposta resposta antwort ping".split()
)
"""Words of a tool's name that are as often nouns; another verb beside them decides."""


def plain(word: str) -> str:
    """A word without accents."""
    if word.isascii():
        return word
    bare = unicodedata.normalize("NFKD", word.replace("ı", "i").replace("ł", "l"))
    return unicodedata.normalize(
        "NFC", "".join(one for one in bare if not unicodedata.combining(one))
    )


def _table() -> tuple[dict[str, str], dict[str, str]]:
    whole: dict[str, str] = {}
    begun: dict[str, str] = {}
    for act, words in _VERBS.items():
        for word in words.split():
            bare = plain(word)
            if word.endswith("*"):
                begun.setdefault(bare[:-1], act)
            else:
                whole.setdefault(bare, act)
    return whole, begun


_WHOLE, _BEGUN = _table()
LOOKING = frozenset(_LOOKS.split())
_LONGEST = max(map(len, _BEGUN))
ACTS = frozenset(_VERBS)


@lru_cache(maxsize=4096)
def act_of(word: str) -> str | None:
    """What a verb of the user does, by its lower-case form; None for any other word."""
    word = plain(word)
    forms = (word, word[:-1], word[:-2]) if word.endswith("ed") else (word,)
    found = next((_WHOLE[form] for form in forms if form in _WHOLE), None)
    if found is None:
        for length in range(min(len(word), _LONGEST), 2, -1):
            if word[:length] in _BEGUN:
                return _BEGUN[word[:length]]
        if "ue" in word or "oe" in word or "ae" in word:
            return act_of(word.replace("ue", "u").replace("oe", "o").replace("ae", "a"))
    return found


_ORAL = frozenset("tell make making set setting schreib* touch".split())
"""Verbs that say too little in a tool's name."""


@lru_cache(maxsize=512)
def acts_of_tool(words: tuple[str, ...], *, writes: bool = True) -> frozenset[str]:
    """What a tool does, by the words of its name; nothing where it only looks something up.

    A tool that is named after mails or orders may only read them, unless it is given a text.
    """
    found = [
        (word, act) for word in words if word not in _ORAL and (act := act_of(word)) is not None
    ]
    clear = frozenset(act for word, act in found if word not in UNCLEAR)
    clear -= {"run"}
    if clear:
        return clear
    if any(word in LOOKING for word in words):
        return frozenset()
    return frozenset(act for _, act in found if writes or act != "send") - {"run"}


def stem(word: str) -> str:
    """A word without its ending and accents, for words that the table does not have."""
    bare = plain(word)
    for written, short in (("ae", "a"), ("oe", "o"), ("ue", "u")):
        bare = bare.replace(written, short)
    for ending in ("ing", "ed", "es", "en", "s", "e"):
        if bare.endswith(ending) and len(bare) - len(ending) >= 4:
            return bare[: -len(ending)]
    return bare


WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+){0,3}")
TOKEN = re.compile(r"[\w][\w@.+/#'’-]*[\w]|\w")
"""A word, number, id or address."""


def lowered(text: str) -> str:
    """The text in lower case, each character at its place."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    return low.replace("’", "'")


STOP = frozenset(
    "the a an and or but of to in on at by for from with as is are was were be been it its this"
    " that"
    " these those there here i you he she we they me him her us them my your his our their mine"
    " yours not no yes ok okay please pls thanks thank just only also too so then now yet again"
    " still"
    " any some all both each every one ones two three first second third last next new old what"
    " which"
    " who whom whose when where why how if can could will would shall should may might must do does"
    " did done has have had get got let go going want need like make made take put give see look"
    " tell"
    " say said know mean think up down out off over under about into than very much more most less"
    " few many other others another same such own good great nice fine sure right well day days"
    " week"
    " weeks month months year years today tomorrow yesterday time morning evening afternoon night"
    " monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january"
    " february march april june july august september october november december jan feb mar apr jun"
    " jul aug sep sept oct nov dec until till before after once while during anything everything"
    " something nothing anyone anybody everyone everybody someone nobody none thing things stuff"
    " der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen mit"
    " von zu zum zur im am auf für bitte nur noch auch schon dann mir mich dir dich ihm ihr uns sie"
    " er es ich du wir ist sind war le la les un une du des et ou mais ne pas que qui de dans"
    " pour sur"
    " avec au aux ce cette ça moi te il elle el los las una y o pero no que del al en por para"
    " con mi"
    " tu su lo se es gli i il e non di da che per sono os as um uma não com do da na seu het een en"
    " van niet voor op aan te dat je ik instant momento moment moment".split()
)
