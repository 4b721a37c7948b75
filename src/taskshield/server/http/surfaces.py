"""Surfaces: groups of routes whose clients share a wire format and its errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from taskshield.server.http.errors import Renderer, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A group of routes. The app is assembled from a list of these."""

    name: str
    """Its name in audit records, metrics and logs: "native", "azure", "proxy", ..."""
    prefixes: tuple[str, ...]
    """How its paths begin. Errors outside any route get the body of the surface, too."""
    paths: tuple[str, ...] = ()
    """Single paths that are not prefixes."""
    router: APIRouter
    render: Renderer = render
    timed: bool = True
    """Whether `limits.request_s` applies; the proxy has its own limits."""
    logins: bool = False
    """Whether a login on the dashboard counts as an API key here."""


NOWHERE = Surface(name="none", prefixes=(), router=APIRouter())
"""The surface of all other paths."""


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
