"""The files of the page, read once: no other file can be requested, whatever the path."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"

HEADERS: Mapping[str, str] = {
    # Text from conversations is untrusted. Even where it became markup, it could do nothing.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
"""Headers of every file of the page."""

_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
"""Media types of the files that are served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the page."""

    body: bytes
    kind: str
    tag: str
    """Changes with the body."""


def read_files(folder: Path = FOLDER) -> Mapping[str, File]:
    """All files of the page, by their path in the folder."""
    return {
        path.relative_to(folder).as_posix(): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in _KINDS and path.is_file()
    }


def served(file: File, request: Request) -> Response:
    """A file, or 304 where the browser has it already."""
    headers = {**HEADERS, "etag": file.tag}
    known = request.headers.get("if-none-match", "").split(",")
    if any(each.strip().removeprefix("W/") in (file.tag, "*") for each in known):
        return Response(status_code=304, headers=headers)
    return Response(file.body, media_type=file.kind, headers=headers)


def _read(path: Path) -> File:
    body = path.read_bytes()
    return File(body=body, kind=_KINDS[path.suffix], tag=f'"{sha256(body).hexdigest()[:32]}"')
