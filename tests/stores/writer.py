"""A process that writes to a session: `python -m tests.stores.writer URL NAME COUNT`.

Waits for a line on its input once its store is open, so that several can begin at the same time.
Says on its output which versions of the session it was told are written.
"""

import asyncio
import sys

from taskshield.core.errors import StoreConflict
from tests.stores.rows import opened, record, session


async def write(url: str, name: str, count: int) -> None:
    async with opened(url) as store:
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        written = 0
        while written < count:
            found = await store.session("acme", "s1")
            version = 1 if found is None else found.version + 1
            try:
                await store.commit(
                    session(version=version), [record(id=f"{name}{version}", number=version)]
                )
            except StoreConflict:
                continue
            print(version, flush=True)
            written += 1


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
