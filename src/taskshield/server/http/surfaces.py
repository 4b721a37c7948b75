"""What a surface is: a family of routes whose clients share a wire format and its errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from taskshield.server.http.errors import Renderer, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A family of routes. The app is made of a list of these."""

    name: str
    """In records, metrics and logs: "native", "azure", "proxy", ..."""
    prefixes: tuple[str, ...]
    """How its paths begin, so that errors outside any route get the right body, too."""
    paths: tuple[str, ...] = ()
    """Paths of its own that are no beginning of others."""
    router: APIRouter
    render: Renderer = render
    timed: bool = True
    """Whether `limits.request_s` holds; the proxy has limits of its own."""
    logins: bool = False
    """Whether a login on the page counts as its key here."""


NOWHERE = Surface(name="none", prefixes=(), router=APIRouter())
"""Where paths belong that no surface knows."""


def surface_of(path: str, surfaces: Sequence[Surface]) -> Surface:
    """The surface that a path belongs to: the one that names it, or has the longest prefix."""
    named = next((surface for surface in surfaces if path in surface.paths), None)
    if named is not None:
        return named
    fitting = [
        (len(prefix), surface)
        for surface in surfaces
        for prefix in surface.prefixes
        if path.startswith(prefix)
    ]
    return max(fitting, key=lambda item: item[0])[1] if fitting else NOWHERE
