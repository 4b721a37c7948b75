"""The compose file: each variable, image, volume and health check of it."""

import re
from pathlib import Path
from typing import Any

import yaml

from taskshield._version import __version__
from taskshield.settings import load

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "compose.yaml").read_text()
HEALTH = (ROOT / "deploy" / "Containerfile").read_text()


def compose() -> dict[str, Any]:
    """The file with its variables set."""
    given = {"POSTGRES_PASSWORD": "p@ss:word/1"}

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2] or ""
        assert name in given or default.startswith("-"), f"{name} has no default"
        return given.get(name, default.removeprefix("-"))

    read: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{(\w+):([^}]*)\}", value, TEXT))
    return read


def test_every_variable_is_explained_at_the_top_and_a_missing_password_is_an_error() -> None:
    used = set(re.findall(r"\$\{(\w+)", TEXT))
    explained = set(re.findall(r"^# ([A-Z_]+)  ", TEXT, re.MULTILINE))
    assert used == explained == {"POSTGRES_PASSWORD", "TASKSHIELD_IMAGE", "HOST_PORT"}
    assert re.findall(r"\$\{POSTGRES_PASSWORD(..)", TEXT) == [":?", ":?"]


def test_the_image_is_that_of_this_version() -> None:
    services = compose()["services"]
    assert services["taskshield"]["image"] == f"taskshield:{__version__}"
    assert re.fullmatch(r"postgres:\d+", services["postgres"]["image"])


def test_its_variables_are_settings() -> None:
    given = compose()["services"]["taskshield"]["environment"]
    ours = {key: text for key, text in given.items() if key.startswith("TASKSHIELD_")}
    store = load({}, environment=ours).server.store
    assert store is not None
    assert store.get_secret_value() == "postgresql://taskshield@postgres:5432/taskshield"
    database = compose()["services"]["postgres"]["environment"]
    assert database["POSTGRES_USER"] == database["POSTGRES_DB"] == "taskshield"
    assert given["PGPASSWORD"] == database["POSTGRES_PASSWORD"] == "p@ss:word/1"


def test_the_server_is_read_only_and_waits_for_the_database() -> None:
    server = compose()["services"]["taskshield"]
    assert server["read_only"] is True and server["cap_drop"] == ["ALL"]
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert server["depends_on"]["postgres"] == {"condition": "service_healthy"}
    assert [each.split(":")[0] for each in server["tmpfs"]] == ["/tmp"]
    assert server["ports"] == ["127.0.0.1:8787:8787"], "other machines need TLS in front"
    shutdown_s = load({}, environment={}).server.shutdown_s
    assert int(server["stop_grace_period"].removesuffix("s")) > shutdown_s


def test_every_volume_is_declared_and_every_service_has_a_health_check() -> None:
    read = compose()
    mounted = {
        mount.split(":")[0]
        for each in read["services"].values()
        for mount in each.get("volumes", [])
    }
    assert mounted == set(read["volumes"])
    assert all(each["healthcheck"]["test"][0] == "CMD" for each in read["services"].values())


def test_the_health_check_is_that_of_the_image() -> None:
    check = compose()["services"]["taskshield"]["healthcheck"]
    code = check["test"][-1]
    (of_image,) = re.findall(r'"-c", "(.*)"\]', HEALTH)
    port = "int(os.environ.get('TASKSHIELD_SERVER__PORT', '8787'))"
    assert (
        code.replace("8787", port).replace("http.client, sys", "http.client, os, sys") == of_image
    )
    compile(code, "the health check", "exec")
