"""Which tier each verb, and each noun beside a verb, tells of.

The words are common English ones. What a definition says with them is for others to read.
"""

from collections.abc import Iterable, Mapping

from taskshield.core.tools import Tier

SEVERITY = (
    Tier.READ,
    Tier.WRITE,
    Tier.EXTERNAL,
    Tier.DESTRUCTIVE,
    Tier.FINANCIAL,
    Tier.ACCESS,
)

READ_VERBS = frozenset(
    "calculate check compare compute convert count describe detect display estimate evaluate"
    " examine explain extract fetch filter find get grep inspect list locate look lookup measure"
    " monitor parse ping preview query read recall retrieve return review scan search see select"
    " show sort status summarise summarize tail test track translate validate verify view watch"
    " whoami".split()
)
VERB_TIERS: Mapping[Tier, frozenset[str]] = {
    Tier.WRITE: frozenset(
        "add append apply archive assign book bookmark cancel change close comment complete copy"
        " create disable draft edit enable enter fill generate insert install label log make mark"
        " merge modify move open organise organize pin put record register rename replace reply"
        " reschedule reserve restart restore run save schedule set sort star start stop store"
        " submit subscribe tag toggle turn unpin unsubscribe update upsert write".split()
    ),
    Tier.EXTERNAL: frozenset(
        "broadcast browse call commit contact crawl deploy dial dispatch download email export"
        " forward mail message navigate notify post print publish push release report request send"
        " sms submit sync text tweet upload visit webhook".split()
    ),
    Tier.DESTRUCTIVE: frozenset(
        "bash clear delete destroy discard drop empty erase eval exec execute format kill overwrite"
        " purge remove reset revert rollback shell shred sudo terminate truncate uninstall"
        " wipe".split()
    ),
    Tier.FINANCIAL: frozenset(
        "bid buy charge checkout deposit donate invest order pay purchase refund reimburse remit"
        " repay sell tip trade transfer wire withdraw".split()
    ),
    Tier.ACCESS: frozenset(
        "allow authorise authorize ban block deny grant impersonate invite kick lock permit"
        " promote revoke share unblock unlock unshare whitelist".split()
    ),
}
NOUN_TIERS: Mapping[Tier, frozenset[str]] = {
    Tier.FINANCIAL: frozenset(
        "bill funds invoice loan money payment payout salary subscription transaction".split()
    ),
    Tier.ACCESS: frozenset(
        "access acl admin collaborator credential credentials key member membership passphrase"
        " password permission permissions privilege privileges role secret sharing token user"
        " visibility".split()
    ),
    Tier.EXTERNAL: frozenset("email mail sms tweet webhook".split()),
}
VERBS = READ_VERBS.union(*VERB_TIERS.values())
ALSO_NOUNS = frozenset(
    "archive book call comment copy draft email label log mail message note post print"
    " record report request schedule star store tag text".split()
)
"""Verbs that are as often nouns: `autobelay_log`."""
JOINING = frozenset("and or then".split())
ARTICLES = frozenset("a all an any each every full its my one our the their your".split())


def stem(word: str) -> str:
    """Third person to base form, for words in the lists: returns, fetches, queries."""
    bases = (word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    return next((base for base in bases if base in VERBS), word)


def graver(one: Tier, other: Tier) -> Tier:
    """The one that can do more harm."""
    return max(one, other, key=SEVERITY.index)


def gravest(tiers: Iterable[Tier | None]) -> Tier | None:
    """The one that can do most harm; None where there is none."""
    return max((tier for tier in tiers if tier is not None), key=SEVERITY.index, default=None)
