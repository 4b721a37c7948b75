"""Which variables are settings: typing errors stop the command line, other variables do not."""

import pytest

from taskshield.core.errors import ConfigError
from taskshield.settings import Settings, load, paths


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TASKSHIELD_KEY_OF_MINE", "tsk_1"),
        ("TASKSHIELD_KEY", "tsk_1"),
        ("TASKSHIELD_SERVER_KEY", "tsk_1"),
        ("TASKSHIELD_STATE", "somewhere"),
        ("TASKSHIELD_TEST", "1"),
        ("TASKSHIELD_TOKEN", "x"),
        ("TASKSHIELD_", "x"),
        # What Kubernetes makes for services called taskshield and taskshield-server.
        ("TASKSHIELD_SERVICE_HOST", "10.0.0.1"),
        ("TASKSHIELD_SERVICE_PORT", "8787"),
        ("TASKSHIELD_SERVICE_PORT_HTTP", "8787"),
        ("TASKSHIELD_PORT", "tcp://10.0.0.1:8787"),
        ("TASKSHIELD_PORT_8787_TCP", "tcp://10.0.0.1:8787"),
        ("TASKSHIELD_PORT_8787_TCP_PROTO", "tcp"),
        ("TASKSHIELD_PORT_8787_TCP_PORT", "8787"),
        ("TASKSHIELD_PORT_8787_TCP_ADDR", "10.0.0.1"),
        ("TASKSHIELD_SERVER_SERVICE_HOST", "10.0.0.1"),
        ("TASKSHIELD_SERVER_PORT", "tcp://10.0.0.1:8787"),
    ],
)
def test_a_variable_that_resembles_no_setting_is_ignored(name: str, value: str) -> None:
    assert load({}, environment={name: value}) == Settings()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TASKSHIELD_SERVER_PORT", "TASKSHIELD_SERVER__PORT"),
        ("TASKSHIELD_PORT", "TASKSHIELD_SERVER__PORT"),
        ("TASKSHIELD_STORE", "TASKSHIELD_SERVER__STORE"),
        ("TASKSHIELD_POLICY_OUTPUT", "TASKSHIELD_POLICY__OUTPUT"),
        ("TASKSHIELD_POLCY__OUTPUT", "TASKSHIELD_POLICY__OUTPUT"),
        ("TASKSHIELD_JUDGR", "TASKSHIELD_JUDGE"),
        ("TASKSHIELD_JUGDE", "TASKSHIELD_JUDGE"),
        ("TASKSHIELD_TIMEOUT", "TASKSHIELD_TIMEOUT_S"),
        ("TASKSHIELD_APIKEY", "TASKSHIELD_API_KEY"),
        ("TASKSHIELD_CONFG", "TASKSHIELD_CONFIG"),
        ("TASKSHIELD_SERVER_UPSTREAM_OPENAI", "TASKSHIELD_SERVER__UPSTREAM__OPENAI"),
        ("TASKSHIELD_SERVER_LIMITS__MESAGES", "TASKSHIELD_SERVER__LIMITS__MESSAGES"),
    ],
)
def test_a_mistyped_setting_is_an_error_that_names_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name}: no such setting .*Is {meant} meant\?"):
        load({}, environment={name: "9000"})


def test_two_underscores_name_a_setting() -> None:
    with pytest.raises(ConfigError, match="^TASKSHIELD_OF__MINE: no such setting"):
        load({}, environment={"TASKSHIELD_OF__MINE": "1"})


def test_all_mistyped_variables_are_named_and_no_value_is_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        load({}, environment={"TASKSHIELD_APIKEY": "canary", "TASKSHIELD_JUDGR": "canary"})
    assert str(caught.value).count("\n") == 1 and "canary" not in str(caught.value)


def test_no_setting_is_taken_for_a_typing_error_of_another() -> None:
    for path in paths():
        name = "TASKSHIELD_" + "__".join(path).upper()
        try:
            load({}, environment={name: "{"})
        except ConfigError as error:
            assert not str(error).startswith("TASKSHIELD_"), name
