import pytest

from taskshield.core.errors import ConfigError
from taskshield.server.access.local_requests import check_binding, is_loopback
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import keyed


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("LocalHost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_need_no_key(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    store = MemoryStore()
    if loopback:
        run(check_binding(host, store))
    else:
        with pytest.raises(ConfigError, match="taskshield keys create"):
            run(check_binding(host, store))
        run(keyed(store, "check"))
        run(check_binding(host, store))
