"""Which tier verbs of other languages tell of, in a tool's name or its description's opening.

They only raise a tier: `status_aendern` changes a status, whatever "status" means in English. The
lists have common verbs of German, French, Spanish, Portuguese, Italian and Dutch, without accents.
"""

import re
import unicodedata
from collections.abc import Mapping

from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.wording.verbs import gravest

_VERBS: Mapping[Tier, frozenset[str]] = {
    Tier.WRITE: frozenset(
        "aendern andern aendert andert aktualisieren aktualisiert anlegen anpassen bearbeiten"
        " erstellen erstellt hinzufuegen hinzufugen schreiben speichern setzen umbenennen"
        " verschieben eintragen stornieren storniert kuendigen kundigen absagen abbestellen"
        " deaktivieren aktivieren modifier changer ajouter creer ecrire enregistrer renommer"
        " deplacer annuler mettre cambiar modificar actualizar anadir agregar crear escribir"
        " guardar renombrar mover anular alterar atualizar adicionar criar escrever salvar"
        " renomear cambiare cambia modificare modifica aggiornare aggiorna aggiungere creare"
        " scrivere salvare rinominare spostare annullare wijzigen aanpassen bijwerken"
        " toevoegen aanmaken schrijven opslaan hernoemen verplaatsen annuleren opzeggen".split()
    ),
    Tier.EXTERNAL: frozenset(
        "senden sendet versenden schicken verschicken weiterleiten veroeffentlichen"
        " veroffentlichen hochladen benachrichtigen anrufen envoyer envoie publier telecharger"
        " appeler enviar envia publicar subir llamar inviare invia pubblicare caricare"
        " chiamare versturen verzenden publiceren uploaden bellen".split()
    ),
    Tier.DESTRUCTIVE: frozenset(
        "loeschen loschen loescht loscht entfernen entfernt vernichten leeren zuruecksetzen"
        " zurucksetzen formatieren ausfuehren ausfuhren beenden supprimer supprime effacer"
        " vider detruire executer borrar borra eliminar elimina vaciar destruir ejecutar"
        " apagar excluir remover executar cancellare cancella eliminare rimuovere svuotare"
        " eseguire verwijderen verwijder wissen legen uitvoeren".split()
    ),
    Tier.FINANCIAL: frozenset(
        "ueberweisen uberweisen ueberweist uberweist bezahlen zahlen kaufen bestellen"
        " abbuchen erstatten spenden payer virer acheter commander rembourser transferer pagar"
        " paga comprar pedir transferir reembolsar donar doar pagare comprare ordinare"
        " trasferire rimborsare betalen kopen bestellen overmaken terugbetalen".split()
    ),
    Tier.ACCESS: frozenset(
        "sperren sperrt entsperren freigeben freischalten berechtigen teilen einladen bloquer"
        " debloquer autoriser partager inviter revoquer bloquear desbloquear autorizar"
        " compartir invitar revocar compartilhar convidar revogar bloccare sbloccare"
        " autorizzare condividere invitare blokkeren deblokkeren toestaan delen uitnodigen".split()
    ),
}
_TIERS = {verb: tier for tier, verbs in _VERBS.items() for verb in verbs}
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-ZÀ-ÖØ-Þ])")
_WORD = re.compile(r"[^\W\d_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_OPENING = 80


def foreign_tier_of_name(name: str) -> Tier | None:
    """The gravest tier of such verbs in a tool's name."""
    return gravest(map(_tier, _WORD.findall(_HUMP.sub("_", unicodedata.normalize("NFC", name)))))


def foreign_tier(spec: ToolSpec) -> Tier | None:
    """The gravest tier of such verbs in a tool's name, and in the opening of its description."""
    opening = unicodedata.normalize("NFC", spec.description[:_OPENING])
    return gravest([foreign_tier_of_name(spec.name), *map(_tier, _WORD.findall(opening))])


def _tier(word: str) -> Tier | None:
    spelled = word.casefold().translate(_UMLAUTS)
    plain = unicodedata.normalize("NFKD", spelled)
    return _TIERS.get("".join(char for char in plain if not unicodedata.combining(char)))
