import pytest

from taskshield.clients.endpoint import PLACEHOLDER_KEY, check_base_url, resolve_key
from taskshield.core.errors import ConfigError
from tests.clients.providers import Provider, for_every_provider

URL = "http://localhost:8000/v1"


def test_a_configured_key_takes_precedence_over_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", "from-env")
    assert resolve_key("given", base_url=None, variable="SOME_KEY") == "given"
    assert resolve_key(None, base_url=URL, variable="SOME_KEY") == "from-env"


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_key_a_self_hosted_server_gets_a_placeholder(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    assert resolve_key(None, base_url=URL, variable="SOME_KEY") == PLACEHOLDER_KEY


@for_every_provider
def test_without_key_and_address_the_error_says_what_to_set(provider: Provider) -> None:
    with pytest.raises(ConfigError, match=f"Set {provider.variable} or api_key"):
        provider.make(model="m")


@for_every_provider
@pytest.mark.parametrize("key", ["sk-1234\n", "sk-…1234", "sk 1234", "sk-\x001234"])
@pytest.mark.parametrize("from_environment", [False, True])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    provider: Provider, key: str, from_environment: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if from_environment and "\x00" not in key:
        monkeypatch.setenv(provider.variable, key)
        source = provider.variable
        given = None
    else:
        source = "api_key"
        given = key
    with pytest.raises(ConfigError, match=f"^{source} cannot be sent as an API key") as caught:
        provider.make(model="m", api_key=given)
    assert "1234" not in str(caught.value)


def test_an_empty_key_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="api_key"):
        resolve_key("", base_url=URL, variable="SOME_KEY")


@pytest.mark.parametrize("url", [None, URL, "https://my.openai.azure.com/openai/v1/"])
def test_addresses_that_can_be_reached_pass(url: str | None) -> None:
    check_base_url(url)


@for_every_provider
@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000/v1", "ftp://secret@host", "http://", "http://[::1", "http://host:99999"],
)
def test_an_address_that_cannot_be_reached_is_refused_and_not_shown(
    provider: Provider, url: str
) -> None:
    with pytest.raises(ConfigError, match="^base_url must look like") as caught:
        provider.make(model="m", base_url=url, api_key="k")
    assert "secret" not in str(caught.value)
