"""Headers that keep browsers from misusing a response, on every surface."""

from typing import Any

import pytest

from tests.server.stage import served

EVERY = {
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/", None),
    ("GET", "/page/main.js", None),
    ("GET", "/page/me", None),
    ("GET", "/page/nothing", None),
    ("POST", "/page/login", {}),
    ("GET", "/api/sessions", None),
    ("GET", "/api/openapi.json", None),
    ("GET", "/api/labels/export", None),
    ("GET", "/api/nothing", None),
    ("POST", "/api/sessions", {"id": 1}),
    ("POST", "/hooks/claude-code", {}),
    ("POST", "/contentsafety/agent:evaluate?api-version=x", {}),
    ("POST", "/contentsafety/agent:analyzeTaskAdherence", {}),
    ("POST", "/v1/messages", {}),
    ("GET", "/healthz", None),
    ("GET", "/readyz", None),
    ("GET", "/metrics", None),
    ("GET", "/nowhere", None),
    ("DELETE", "/", None),
]


@pytest.mark.parametrize("owner", [True, False])
@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_every_response_has_them(method: str, path: str, body: Any, owner: bool) -> None:
    with served(owner=owner) as client:
        answer = client.request(method, path, json=body)
    assert EVERY.items() <= dict(answer.headers).items()
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    of_page = path == "/" or (path.startswith("/page/") and path != "/page/me")
    assert answer.headers["cache-control"] == ("no-cache" if of_page else "no-store")
