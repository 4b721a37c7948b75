"""People in an SQL database: their keys, their logins, and what they say of decisions."""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, insert, update

from taskshield.core.store import ApiKey, Label, Login, Page
from taskshield.stores.deadlines import utc_now
from taskshield.stores.sql_rows import SqlRows, row_of, select_of
from taskshield.stores.tables import KEYS, LABELS, LOGINS
from taskshield.stores.texts import check_names


class SqlPeople(SqlRows):
    """Remembers who may ask, who is logged in, and who labelled what."""

    async def set_label(self, label: Label) -> None:
        """Keep a person's word on a decision, in the place of an earlier one."""
        check_names(label.tenant, label.decision)
        row = row_of(label)
        async with self._writing() as connection:
            await connection.execute(self._put(LABELS, [row], row))

    async def remove_label(self, tenant: str, decision: str) -> bool:
        """Take a label back; whether there was one."""
        gone = delete(LABELS).where(LABELS.c.tenant == tenant, LABELS.c.decision == decision)
        async with self._writing() as connection:
            done = await connection.execute(gone)
        return done.rowcount == 1

    async def labels(
        self, tenant: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Label]:
        """Labels, newest first."""
        return await self._page(Label, LABELS, tenant, (), after, limit)

    async def labels_of(self, tenant: str, decisions: Sequence[str]) -> Mapping[str, Label]:
        """The labels that these decisions have, by decision."""
        wanted = select_of(Label, LABELS).where(
            LABELS.c.tenant == tenant, LABELS.c.decision.in_(decisions)
        )
        return {label.decision: label for label in await self._all(Label, wanted)}

    async def add_login(self, login: Login) -> None:
        """Keep a new login."""
        check_names(login.id, login.key)
        async with self._writing() as connection:
            await connection.execute(insert(LOGINS), row_of(login))

    async def login(self, id: str) -> Login | None:
        """A login, unless it has expired."""
        wanted = select_of(Login, LOGINS).where(LOGINS.c.id == id, LOGINS.c.expires_at > utc_now())
        found = await self._all(Login, wanted)
        return found[0] if found else None

    async def remove_login(self, id: str) -> None:
        """Forget a login, where there is one."""
        async with self._writing() as connection:
            await connection.execute(delete(LOGINS).where(LOGINS.c.id == id))

    async def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        check_names(key.id, key.tenant, key.hash)
        async with self._writing() as connection:
            await connection.execute(insert(KEYS), row_of(key))

    async def key(self, hash: str) -> ApiKey | None:
        """The key with this hash, of any tenant."""
        found = await self._all(ApiKey, select_of(ApiKey, KEYS).where(KEYS.c.hash == hash))
        return found[0] if found else None

    async def keys(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant."""
        wanted = select_of(ApiKey, KEYS).order_by(KEYS.c.created_at, KEYS.c.id)
        if tenant is not None:
            wanted = wanted.where(KEYS.c.tenant == tenant)
        return tuple(await self._all(ApiKey, wanted))

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; whether there was one that was not revoked yet."""
        revoked = update(KEYS).where(KEYS.c.id == id, KEYS.c.revoked_at.is_(None))
        async with self._writing() as connection:
            done = await connection.execute(revoked.values(revoked_at=utc_now()))
        return done.rowcount == 1
