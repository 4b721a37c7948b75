"""API keys: their form, their headers and their hash.

A key is "tsk_" and random letters. Only its hash is stored, so the store does not reveal keys.
"""

import secrets
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import get_args

from starlette.datastructures import Headers

from taskshield.core.errors import ConfigError
from taskshield.core.store import ApiKey, Scope

KEY_PREFIX = "tsk_"
KEY_HEADERS = ("x-taskshield-key", "ocp-apim-subscription-key", "x-api-key", "authorization")
"""Headers that may have a key. Values without our prefix are ignored: at the proxy, these
headers may also have the key for the client's provider."""
SCOPES: frozenset[Scope] = frozenset(get_args(Scope))

_LONGEST_TENANT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new key. Its secret cannot be read again later."""

    secret: str
    stored: ApiKey
    """The key as the store has it: without the secret."""


def new_key(
    *,
    tenant: str,
    name: str,
    scopes: Iterable[Scope],
    per_minute: int | None = None,
    lifetime: timedelta | None = None,
) -> NewKey:
    """Make a key.

    Raises:
        ConfigError: The name of the tenant is not valid.
    """
    # Names that are not printable are the server's own: see `routes.agent_hooks.session_memory`.
    if not (0 < len(tenant) <= _LONGEST_TENANT and tenant.isprintable()):
        raise ConfigError(
            f"The name of a tenant must have 1 to {_LONGEST_TENANT} printable characters."
        )
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    stored = ApiKey(
        id=uuid.uuid4().hex[:12],
        tenant=tenant,
        name=name,
        hash=key_hash(secret),
        scopes=frozenset(scopes),
        per_minute=per_minute,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
    )
    return NewKey(secret=secret, stored=stored)


def key_hash(secret: str) -> str:
    """The hash of a key. Keys are long and random, so no salt is needed."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def key_in(headers: Headers) -> str | None:
    """The first value in the headers that looks like an API key."""
    for header in KEY_HEADERS:
        value = headers.get(header, "").strip()
        if header == "authorization":
            scheme, _, value = value.partition(" ")
            value = value.strip() if scheme.lower() == "bearer" else ""
        if value.startswith(KEY_PREFIX):
            return value
    return None


def is_valid(key: ApiKey) -> bool:
    """Whether a key is neither expired nor revoked."""
    expired = key.expires_at is not None and key.expires_at <= datetime.now(UTC)
    return key.revoked_at is None and not expired
