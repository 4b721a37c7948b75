import pytest
from starlette.datastructures import Headers

from taskshield.core.errors import ConfigError
from taskshield.server.access.api_keys import key_hash, key_in, new_key


def test_keys_are_random_and_only_their_hashes_are_stored() -> None:
    made = [new_key(tenant="t", name="n", scopes=["check"]) for _ in range(2)]
    assert made[0].secret != made[1].secret
    assert all(each.secret.startswith("tsk_") and len(each.secret) > 40 for each in made)
    assert made[0].stored.hash == key_hash(made[0].secret)
    assert made[0].secret.removeprefix("tsk_") not in repr(made[0].stored)


@pytest.mark.parametrize("tenant", ["", "x" * 101, "mine\x1fagent-hooks", "two\nlines"])
def test_an_invalid_tenant_name_is_refused(tenant: str) -> None:
    with pytest.raises(ConfigError, match="printable"):
        new_key(tenant=tenant, name="n", scopes=["check"])


def test_no_key_is_found_in_empty_headers() -> None:
    assert key_in(Headers()) is None
