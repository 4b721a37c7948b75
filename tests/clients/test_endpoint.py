import pytest

from taskshield.clients.endpoint import PLACEHOLDER_KEY, check_base_url, resolve_key
from taskshield.core.errors import ConfigError
from tests.clients.wires import Wire, on_every_wire

URL = "http://localhost:8000/v1"


def test_a_key_given_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "from-env")
    assert resolve_key("given", base_url=None, variable="SOME_KEY") == "given"
    assert resolve_key(None, base_url=URL, variable="SOME_KEY") == "from-env"


@pytest.mark.parametrize("value", [None, ""])
def test_without_any_key_an_own_server_gets_a_placeholder(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    assert resolve_key(None, base_url=URL, variable="SOME_KEY") == PLACEHOLDER_KEY


@on_every_wire
def test_without_key_and_address_the_error_says_what_to_set(wire: Wire) -> None:
    with pytest.raises(ConfigError, match=f"set {wire.variable} or api_key"):
        wire.make(model="m")


@on_every_wire
@pytest.mark.parametrize("key", ["sk-1234\n", "sk-…1234", "sk 1234", "sk-\x001234"])
@pytest.mark.parametrize("from_environment", [False, True])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    wire: Wire, key: str, from_environment: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if from_environment and "\x00" not in key:
        monkeypatch.setenv(wire.variable, key)
        source = wire.variable
        given = None
    else:
        source = "api_key"
        given = key
    with pytest.raises(ConfigError, match=f"^{source} is empty or has") as caught:
        wire.make(model="m", api_key=given)
    assert "1234" not in str(caught.value)


def test_an_empty_key_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="api_key"):
        resolve_key("", base_url=URL, variable="SOME_KEY")


@pytest.mark.parametrize("url", [None, URL, "https://my.openai.azure.com/openai/v1/"])
def test_addresses_that_can_be_reached_pass(url: str | None) -> None:
    check_base_url(url)


@on_every_wire
@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000/v1", "ftp://secret@host", "http://", "http://[::1", "http://host:99999"],
)
def test_an_address_that_cannot_be_reached_is_refused_and_not_shown(wire: Wire, url: str) -> None:
    with pytest.raises(ConfigError, match="^base_url must look like") as caught:
        wire.make(model="m", base_url=url, api_key="k")
    assert "secret" not in str(caught.value)
