"""Stores with rows in all tables, and what is in them."""

import asyncio
from collections.abc import Sequence
from typing import Any

from taskshield.core.session_parts import SessionHead, SessionPart
from taskshield.stores.maintenance.connections import read_store, write_new_store
from taskshield.stores.maintenance.plain_rows import read_rows, tables_of
from taskshield.stores.sql.migrate import make_tables
from tests.stores.rows import APPROVAL, KEY, LABEL, LOGIN, RECORD, SESSION, opened, record

ODD = "naïve \x10 \x00 \ud800 \U0001f6e1 \n'\""


def fill(url: str, level: str = "0003") -> None:
    """Make a store of this level, with rows in all of its tables."""
    write_new_store(url, lambda connection: make_tables(connection, level))

    async def body() -> None:
        async with opened(url) as store:
            session: Any = SESSION
            if level == "0003":
                row = {each: getattr(SESSION, each) for each in SESSION.__dataclass_fields__}
                session = SessionHead(
                    **row, parts=(SessionPart(kind="turn", position=0, text=ODD),)
                )
            records = [RECORD, record(id="d2", number=1, summary=ODD, elapsed_ms=0.1 + 0.2)]
            await store.commit(session, records, [APPROVAL], ["other name"])
            await store.add_key(KEY)
            await store.set_label(LABEL)
            await store.add_login(LOGIN)

    asyncio.run(body())


def rows_of(url: str) -> dict[str, Sequence[Any]]:
    """All rows of all tables, in an order of their own."""
    return read_store(
        url,
        lambda connection: {
            table.name: sorted((table.check(row) for row in read_rows(connection, table)), key=str)
            for table in tables_of(connection)
        },
    )
