"""Keys, logins and labels in an SQL database."""

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, insert, update

from taskshield.core.store import ApiKey, Label, Login, Page
from taskshield.stores.approval_expiry import utc_now
from taskshield.stores.sql.rows import SqlRows, put, row_of, select_of
from taskshield.stores.sql.tables import KEYS, LABELS, LOGINS
from taskshield.stores.storable_text import check_names

_ADD_LOGIN = insert(LOGINS)
_LOGIN = select_of(Login, LOGINS).where(
    LOGINS.c.id == bindparam("id"), LOGINS.c.expires_at > bindparam("now")
)
_REMOVE_LOGIN = delete(LOGINS).where(LOGINS.c.id == bindparam("id"))
_ADD_KEY = insert(KEYS)
_KEY = select_of(ApiKey, KEYS).where(KEYS.c.hash == bindparam("hash"))
_REMOVE_LABEL = delete(LABELS).where(
    LABELS.c.tenant == bindparam("tenant"), LABELS.c.decision == bindparam("decision")
)
_LABELS = select_of(Label, LABELS).where(
    LABELS.c.tenant == bindparam("tenant"), LABELS.c.decision.in_(bindparam("decisions"))
)


class SqlPeople(SqlRows):
    """Stores API keys, logins and labels of decisions."""

    async def set_label(self, label: Label) -> None:
        """Store a reviewer's label for a decision. It replaces an earlier one."""
        check_names(label.tenant, label.decision)
        await self._write(put(LABELS, is_sqlite=self._database.is_sqlite), **row_of(label))

    async def remove_label(self, tenant: str, decision: str) -> bool:
        """Take a label back; whether there was one."""
        return await self._write(_REMOVE_LABEL, tenant=tenant, decision=decision) == 1

    async def labels(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Label]:
        """Labels, newest first."""
        return await self._page(Label, LABELS, tenant, (), after, limit)

    async def labels_of(self, tenant: str, decisions: Sequence[str]) -> Mapping[str, Label]:
        """The labels that these decisions have, by decision."""
        found = await self._all(Label, _LABELS, tenant=tenant, decisions=decisions)
        return {label.decision: label for label in found}

    async def add_login(self, login: Login) -> None:
        """Keep a new login."""
        check_names(login.id, login.key)
        await self._write(_ADD_LOGIN, **row_of(login))

    async def login(self, id: str) -> Login | None:
        """A login, unless it has expired."""
        return await self._one(Login, _LOGIN, id=id, now=utc_now())

    async def remove_login(self, id: str) -> None:
        """Forget a login, where there is one."""
        await self._write(_REMOVE_LOGIN, id=id)

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        check_names(key.id, key.tenant, key.hash)
        await self._write(_ADD_KEY, **row_of(key))

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant."""
        return await self._one(ApiKey, _KEY, hash=hash)

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        wanted = select_of(ApiKey, KEYS).order_by(KEYS.c.created_at, KEYS.c.id)
        if tenant is not None:
            wanted = wanted.where(KEYS.c.tenant == tenant)
        return tuple(await self._all(ApiKey, wanted))

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; whether there was one that was not revoked yet."""
        valid = update(KEYS).where(KEYS.c.id == id, KEYS.c.revoked_at.is_(None))
        return await self._write(valid, revoked_at=utc_now()) == 1
