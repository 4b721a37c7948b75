"""Encodes texts from outside so that any database can store them."""

import re
from collections.abc import Sequence

from taskshield.core.errors import WireFormatError
from taskshield.core.store import Approval, AuditRecord, StoredSession

NAME_BYTES = 512
"""Longest id, alias or tenant, in bytes as it is stored: an index takes no more."""

_ESCAPE = "\x10"
_REFUSED = re.compile(r"[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile(r"\x10([0-9a-f]{4})")


def storable(text: str) -> str:
    """The text without what databases refuse: NUL, and surrogates without a partner.

    Those are written as a control character (data link escape) and four hex digits, so that every
    text comes back as it was, and ordinary ones are stored as they are.
    """
    return _REFUSED.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """The text that `storable` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def check_names(*names: str) -> None:
    """Refuse names that are too long to be looked up.

    Raises:
        WireFormatError: One of them is.
    """
    if any(len(storable(name).encode()) > NAME_BYTES for name in names):
        raise WireFormatError(
            f"An id or a name is longer than {NAME_BYTES} bytes. Use a shorter one."
        )


def check_names_of(
    session: StoredSession, records: Sequence[AuditRecord], approvals: Sequence[Approval]
) -> None:
    """Refuse names that are too long in what is to be committed.

    Raises:
        WireFormatError: One of them is.
    """
    check_names(session.tenant, session.id)
    rows: list[AuditRecord | Approval] = [*records, *approvals]
    for row in rows:
        check_names(row.tenant, row.id, row.session)
