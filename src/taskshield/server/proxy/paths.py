"""Which paths under /v1 the proxy guards, passes on, or refuses. Pure.

A path passes where no SDK does what its answer says. All others are refused: the answer of a path
that is not known here could hold a call.
"""

import re
from collections.abc import Collection

from taskshield.server.http.errors import RequestError

_PLAIN = re.compile(r"/v1/[/\w.~:@,+=!$&'()*-]*", re.ASCII)
_DOTS = frozenset({".", ".."})
_RESOURCES = frozenset(
    (
        "audio classify containers content_provenance_checks conversations credits detokenize"
        " embeddings evals files fine_tuning generation images key keys models moderations"
        " organization organizations pooling rerank safety score skills tokenize uploads usage"
        " user_profiles vector_stores version videos"
    ).split()
)
"""First segments of paths that give no answer of a model to an agent, or only show what was said
before, such as the items of a conversation."""
_HARMLESS = frozenset(
    {
        ("DELETE", "/v1/chat/completions/*"),
        ("DELETE", "/v1/responses/*"),
        ("GET", "/v1/responses/*/input_items"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/responses/input_tokens"),
    }
)
"""Single paths without new calls; `*` is an id."""
_OF_IDS = re.compile(r"(/v1/(?:chat/completions|responses))/[^/]+")
_ASKING_ONLY = frozenset({"HEAD", "OPTIONS"})


def segments_of(path: str, raw_path: bytes) -> list[str]:
    """The segments of a path that all servers read in the same way.

    Raises:
        RequestError: Some may take it for another one.
    """
    segments = [each for each in path.split("/") if each]
    plain = _PLAIN.fullmatch(path) is not None and _DOTS.isdisjoint(segments)
    if not plain or not raw_path.startswith(b"/v1/"):
        raise RequestError(
            400,
            "invalid_request",
            "The path must start with /v1/ unescaped, must not contain `.` or `..`, and must not"
            " have characters that are unusual in a path.",
        )
    return segments


def check_passes(method: str, path: str, unguarded: Collection[str]) -> None:
    """Check that a request may pass though it is not guarded.

    Args:
        method: Of the request.
        path: With single slashes, in lower case.
        unguarded: How other paths begin that may pass, from the settings.

    Raises:
        RequestError: It may not.
    """
    if path.split("/")[2] in _RESOURCES or method in _ASKING_ONLY:
        return
    if (method, _OF_IDS.sub(r"\1/*", path)) in _HARMLESS or (method, path) in _HARMLESS:
        return
    if any(f"{path}/".startswith(f"{each.rstrip('/').lower()}/") for each in unguarded):
        return
    raise RequestError(
        400,
        "not_guarded",
        "Answers to this request cannot be guarded, so it is not sent to the provider. If no agent"
        " acts on them, name the path in the setting server.upstream.unguarded.",
    )
