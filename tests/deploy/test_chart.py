"""The Helm chart: linted and rendered by Helm, the manifests checked by Kubernetes' schemas."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from taskshield._version import __version__
from taskshield.cli.main import main
from taskshield.settings import Settings, load
from tests.deploy.programs import program

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "taskshield"
NEEDED = {"postgres": {"existingSecret": "database"}}
EVERYTHING = {
    **NEEDED,
    "image": {"repository": "registry.example/guard", "tag": "7", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "llm": {"existingSecret": "llm", "key": "token"},
    "settings": {"judge": "cascade", "policy": {"misaligned": {"financial": "escalate"}}},
    "extraEnv": [{"name": "OTEL_SERVICE_NAME", "value": "guard"}],
    "service": {"type": "LoadBalancer", "port": 8080, "annotations": {"internal": "yes"}},
    "serviceAccount": {"name": "guard", "annotations": {"team": "a"}},
    "autoscaling": {"enabled": True, "minReplicas": 3, "maxReplicas": 9, "cpuPercent": 60},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {"matchLabels": {"agents": "yes"}}}],
        "egress": [{"ports": [{"port": 5432}]}],
    },
    "podDisruptionBudget": {"maxUnavailable": "25%"},
    "serviceMonitor": {"enabled": True, "interval": "10s", "labels": {"release": "prometheus"}},
    "podAnnotations": {"a": "b"},
    "podLabels": {"c": "d"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "agents", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    ],
    "priorityClassName": "high",
}
OLDEST, NEWEST = "1.25.0", "1.37.0"


def helm(
    verb: str, *words: str, values: object, chart: Path = CHART
) -> "subprocess.CompletedProcess[str]":
    """Run Helm on the chart with these values."""
    command = [program("helm"), *verb.split(), str(chart), *words, "--values", "-"]
    return subprocess.run(command, input=json.dumps(values), capture_output=True, text=True)


def rendered(values: object = NEEDED, *, chart: Path = CHART) -> dict[str, Any]:
    """What the chart becomes, by kind."""
    manifests: dict[str, Any] = json.loads(_rendered(json.dumps(values), chart))
    return manifests


@cache
def _rendered(values: str, chart: Path) -> str:
    done = helm("template guard", "--namespace", "agents", values=json.loads(values), chart=chart)
    assert done.returncode == 0, done.stderr
    manifests = [each for each in yaml.safe_load_all(done.stdout) if each is not None]
    kinds = [each["kind"] for each in manifests]
    assert len(set(kinds)) == len(kinds)
    return json.dumps(dict(zip(kinds, manifests, strict=True)))


def pod(values: object = NEEDED) -> Any:
    return rendered(values)["Deployment"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["needed", "everything"])
def test_helm_finds_nothing_to_complain_about(values: object) -> None:
    done = helm("lint --strict", values=values)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout and "[ERROR]" not in done.stdout


@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["needed", "everything"])
def test_kubernetes_knows_all_that_is_rendered(values: object) -> None:
    manifests = rendered(values)
    for kind, manifest in manifests.items():
        if kind != "ServiceMonitor":  # a kind of the Prometheus Operator
            for version in (OLDEST, NEWEST):
                kubernetes_validate.validate(manifest, version, strict=True)
    manifests["Deployment"]["spec"]["template"]["spec"]["readOnly"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifests["Deployment"], NEWEST, strict=True)


def test_which_kinds_are_rendered() -> None:
    always = {"Deployment", "Service", "ServiceAccount", "ConfigMap", "PodDisruptionBudget"}
    assert rendered().keys() == always
    optional = {"HorizontalPodAutoscaler", "NetworkPolicy", "ServiceMonitor"}
    assert rendered(EVERYTHING).keys() == always | optional


def test_the_pod_satisfies_the_restricted_policy_of_kubernetes() -> None:
    spec = pod()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in [*spec["containers"], *spec["initContainers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    assert spec["automountServiceAccountToken"] is False
    assert all("hostPath" not in volume for volume in spec["volumes"])


def test_services_become_no_variables_which_are_no_settings() -> None:
    assert pod()["enableServiceLinks"] is False


def test_the_probes_are_routes_of_the_server() -> None:
    (server,) = pod()["containers"]
    assert server["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert server["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert server["startupProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert server["ports"] == [{"name": "http", "containerPort": 8787}]


def test_the_database_is_a_secret_and_the_variables_are_settings() -> None:
    spec = pod(EVERYTHING)
    for container in [*spec["containers"], *spec["initContainers"]]:
        given = {each["name"]: each for each in container["env"]}
        url = given["TASKSHIELD_SERVER__STORE"]["valueFrom"]["secretKeyRef"]
        assert url == {"name": "database", "key": "url"}
        key = given["TASKSHIELD_API_KEY"]["valueFrom"]["secretKeyRef"]
        assert key == {"name": "llm", "key": "token"}
        plain = {name: each["value"] for name, each in given.items() if "value" in each}
        assert plain.pop("TASKSHIELD_CONFIG") == "/etc/taskshield/shield.yaml"
        server = load({}, environment=plain).server
        assert (server.host, server.port) == ("0.0.0.0", 8787)


def test_the_settings_become_a_file_that_the_server_reads(tmp_path: Path) -> None:
    text = rendered(EVERYTHING)["ConfigMap"]["data"]["shield.yaml"]
    path = tmp_path / "shield.yaml"
    path.write_text(text)
    read = load({}, config=path, environment={})
    assert read == Settings.model_validate(EVERYTHING["settings"])


def test_other_settings_start_new_pods() -> None:
    def checksum(settings: object) -> str:
        template = rendered({**NEEDED, "settings": settings})["Deployment"]["spec"]["template"]
        found: str = template["metadata"]["annotations"]["checksum/settings"]
        return found

    assert checksum({"judge": "embedded"}) != checksum({"judge": "cascade"})


def test_it_stops_only_after_the_server_has() -> None:
    spec = pod()
    (server,) = spec["containers"]
    command = server["lifecycle"]["preStop"]["exec"]["command"]
    assert command[0] == "sleep"
    needed = int(command[1]) + load({}, environment={}).server.shutdown_s
    assert spec["terminationGracePeriodSeconds"] > needed
    (without,) = pod({**NEEDED, "preStopSeconds": 0})["containers"]
    assert "lifecycle" not in without


def test_the_autoscaler_decides_the_number_of_pods() -> None:
    assert rendered()["Deployment"]["spec"]["replicas"] == 2
    assert "replicas" not in rendered(EVERYTHING)["Deployment"]["spec"]


def test_selectors_find_the_pods() -> None:
    manifests = rendered(EVERYTHING)
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        manifests["Deployment"]["spec"]["selector"]["matchLabels"],
        manifests["Service"]["spec"]["selector"],
        manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ):
        assert selector and selector.items() <= labels.items()
    monitored = manifests["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
    assert monitored.items() <= manifests["Service"]["metadata"]["labels"].items()


def test_the_network_policy_lets_in_the_pods_of_the_namespace_where_none_are_named() -> None:
    policy = rendered({**NEEDED, "networkPolicy": {"enabled": True}})["NetworkPolicy"]["spec"]
    assert policy["ingress"][0]["from"] == [{"podSelector": {}}]
    assert policy["policyTypes"] == ["Ingress"]


def test_the_version_is_that_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__
    assert pod()["containers"][0]["image"] == f"taskshield:{__version__}"
    assert pod(EVERYTHING)["containers"][0]["image"] == "registry.example/guard:7"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"postgres": {"existingSecret": ""}}, "postgres.existingSecret: Does not match"),
        ({"postgres": {"existingSecret": "a b"}}, "postgres.existingSecret: Does not match"),
        ({"replicas": 3}, "Additional property replicas is not allowed"),
        ({"replicaCount": "3"}, "replicaCount: Invalid type"),
        ({"replicaCount": -1}, "replicaCount: Must be greater than or equal to 0"),
        ({"service": {"port": 70_000}}, "service.port: Must be less than or equal to 65535"),
        ({"service": {"type": "Internal"}}, "service.type must be one of"),
        ({"image": {"tag": "0.1.0@sha256:1"}}, "image.tag: Does not match"),
        ({"image": {"repository": ""}}, "image.repository: Does not match"),
        ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy must be one of"),
        ({"serviceMonitor": {"interval": "soon"}}, "serviceMonitor.interval: Does not match"),
        ({"podAnnotations": {"number": 1}}, "podAnnotations.number: Invalid type"),
        ({"extraEnv": [{"value": "x"}]}, "extraEnv.0: name is required"),
        ({"settings": {"api_key": "x"}}, "name that in llm.existingSecret"),
        ({"settings": {"server": {"store": "x"}}}, "name that in postgres.existingSecret"),
        ({"settings": {"server": {"port": 1}}}, "server.port are set by the chart"),
        ({"autoscaling": {"enabled": True, "maxReplicas": 1}}, "less than autoscaling.minReplicas"),
    ],
)
def test_wrong_values_are_refused_with_the_reason(wrong: object, said: str) -> None:
    assert isinstance(wrong, dict)
    done = helm("template guard", values={**NEEDED, **wrong})
    assert done.returncode == 1
    assert said in done.stderr


def test_every_value_is_in_the_schema_and_has_a_default() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert schema["properties"].keys() - {"global"} == values.keys()


def test_the_notes_create_a_key_in_the_waiting_pod(tmp_path: Path) -> None:
    said = notes(tmp_path / "waiting", NEEDED)
    assert "--container wait-for-key" in said
    assert "taskshield keys create --name first" in said
    assert "http://guard-taskshield.agents:80/v1" in said
    assert "wait-for-key" not in notes(tmp_path / "ready", {**NEEDED, "waitForKey": False})


def notes(copy: Path, values: object) -> str:
    """What an installation prints. Helm prints it for a cluster only, so it becomes a manifest."""
    shutil.copytree(CHART, copy)
    lines = (copy / "templates" / "NOTES.txt").read_text().splitlines()
    head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: notes\nstringData:\n  notes: |\n"
    manifest = head + "".join(f"    {line}\n" for line in lines)
    (copy / "templates" / "notes.yaml").write_text(manifest)
    said: str = rendered(values, chart=copy)["Secret"]["stringData"]["notes"]
    return said


def test_pods_wait_until_there_is_a_key_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (waiting,) = pod()["initContainers"]
    (loop,) = [line for line in waiting["command"][2].splitlines() if line.startswith("until ")]
    question = loop.removeprefix("until ").removesuffix("; do")
    store = ["--store", f"sqlite:///{tmp_path / 'keys.db'}"]

    def found() -> bool:
        # The first half runs in this process, which is quick.
        command, _, search = question.partition(" | ")
        assert command == "taskshield keys list"
        capsys.readouterr()
        assert main(["keys", "list", *store]) == 0
        listed = capsys.readouterr().out
        return subprocess.run(["/bin/sh", "-c", search], input=listed, text=True).returncode == 0

    long = "x" * 60
    assert main(["keys", "create", "--name", long, "--tenant", long, *store]) == 0
    key = capsys.readouterr().err.partition("Made the key ")[2].partition(".")[0]
    assert found()
    assert main(["keys", "revoke", key, *store]) == 0
    assert not found()
