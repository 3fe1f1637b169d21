"""The examples in docker/ agree with the program: its settings, port, paths and times."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.__main__ import make_server
from app.api.body_limit import most_body_bytes
from app.api.errors import ErrorAnswer
from app.attention.png import SECONDS as PNG_SECONDS
from app.main import Running, create_app
from app.settings import ENVIRONMENT_PREFIX, Settings
from tests.api.scripted_service import ScriptedService

ROOT = Path(__file__).parent.parent.parent
NGINX, HAPROXY, COMPOSE, KUBERNETES = (
    ROOT / "docker" / name for name in ("nginx.conf", "haproxy.cfg", "compose.yaml", "kubernetes.yaml")
)
BALANCERS = (NGINX, HAPROXY)
SETTINGS = Settings()
# Drawing may wait for its turn as long as it may take.
LONGEST_ANSWER = SETTINGS.deadline_seconds + 2 * PNG_SECONDS


@pytest.fixture(scope="module")
def paths() -> set[str]:
    service = ScriptedService()
    return set(create_app(SETTINGS, lambda _: Running(service, 4, service.stop)).openapi()["paths"])


def without_comments(file: Path) -> str:
    return re.sub(r"(^|\s)#.*", "", file.read_text(encoding="utf-8"))


def seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9]+)(ms|s|m)", text).groups()  # type: ignore[union-attr]
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


def value(file: Path, pattern: str) -> str:
    """The group of ``pattern``, which must be there once."""
    (found,) = re.findall(pattern, without_comments(file))
    return str(found)


def manifests() -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all(KUBERNETES.read_text(encoding="utf-8"))}


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = manifests()["Deployment"]["spec"]["template"]["spec"]
    return spec


def compose_service() -> dict[str, Any]:
    service: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["vitrail"]
    return service


def environments() -> Iterator[tuple[dict[str, str], float]]:
    """Of compose and Kubernetes: the variables, and the seconds from the signal to the end by force."""
    compose, kubernetes = compose_service(), pod()
    yield compose["environment"], seconds(compose["stop_grace_period"])
    variables = {one["name"]: one["value"] for one in kubernetes["containers"][0]["env"]}
    yield variables, kubernetes["terminationGracePeriodSeconds"]


def settings_of(environment: dict[str, str]) -> Settings:
    return Settings.model_validate(
        {name.removeprefix(ENVIRONMENT_PREFIX).lower(): v for name, v in environment.items()}
    )


@pytest.mark.parametrize(
    "command", [("nginx", "-t", "-q", "-c", str(NGINX)), ("haproxy", "-c", "-q", "-f", str(HAPROXY))]
)
def test_balancers_take_their_configuration(command: tuple[str, ...]) -> None:
    program = shutil.which(command[0], path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if "Permission denied" in done.stderr:
        pytest.skip("nginx opens its log, which only root may")
    assert done.returncode == 0, done.stderr


def test_balancers_wait_longer_than_an_answer_may_take() -> None:
    assert seconds(value(NGINX, r"proxy_read_timeout (\w+);")) > LONGEST_ANSWER
    assert seconds(value(HAPROXY, r"timeout server (\w+)")) > LONGEST_ANSWER
    assert seconds(value(HAPROXY, r"timeout client (\w+)")) > LONGEST_ANSWER


def test_balancers_try_elsewhere_for_503_and_never_for_429() -> None:
    tried = value(NGINX, r"proxy_next_upstream ([^;]*);").split()
    assert {"error", "timeout", "http_503", "non_idempotent"} <= set(tried)
    assert "http_429" not in tried
    retried = value(HAPROXY, r"retry-on (.*)").split()
    assert {"conn-failure", "empty-response", "503"} <= set(retried)
    assert "429" not in retried
    assert "max_fails=0" in without_comments(NGINX)


def test_balancers_close_idle_connections_first() -> None:
    service = ScriptedService()
    app = create_app(SETTINGS, lambda _: Running(service, 4, service.stop))
    kept = make_server(SETTINGS, app).config.timeout_keep_alive
    assert seconds(value(NGINX, r"keepalive_timeout (\w+);")) < kept


def test_balancers_hand_the_body_on_that_vitrail_takes() -> None:
    megabytes = int(value(NGINX, r"client_max_body_size (\d+)m;"))
    assert megabytes * 2**20 > most_body_bytes(SETTINGS.max_characters)
    assert int(value(HAPROXY, r"tune\.bufsize (\d+)")) > 2 * SETTINGS.max_characters


def test_streams_are_not_gathered(paths: set[str]) -> None:
    path = value(NGINX, r"location = (\S+) \{[^}]*proxy_buffering off;")
    assert path in paths


@pytest.mark.parametrize("file", BALANCERS, ids=lambda file: file.name)
def test_error_of_a_balancer_has_the_one_shape(file: Path) -> None:
    error = ErrorAnswer.model_validate_json(value(file, r"'(\{\"error\".*\})'"))
    assert error.error.code == "not_ready"


def test_ports_and_paths_are_the_servers(paths: set[str]) -> None:
    assert value(HAPROXY, r"server-template \w+ \d+ vitrail:(\d+)") == str(SETTINGS.port)
    checked = value(HAPROXY, r"http-check send meth GET uri (\S+)")
    container = pod()["containers"][0]
    assert [port["containerPort"] for port in container["ports"]] == [SETTINGS.port]
    probes = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert {checked, *probes.values()} <= paths
    assert (checked, probes["readiness"], probes["liveness"]) == ("/health/ready", "/health/ready", "/health/live")


def test_time_to_stop_is_enough() -> None:
    service = ScriptedService()
    for environment, until_killed in environments():
        settings = settings_of(environment)
        app = create_app(settings, lambda _: Running(service, 4, service.stop))
        writing = make_server(settings, app).config.timeout_graceful_shutdown
        assert writing is not None
        assert until_killed > settings.linger_seconds + settings.drain_seconds + writing + 1


def test_lingering_is_longer_than_being_noticed_takes() -> None:
    inter, fall = re.findall(r"check inter (\w+) .*fall (\d+)", without_comments(HAPROXY))[0]
    noticed = seconds(inter) * int(fall)
    readiness = pod()["containers"][0]["readinessProbe"]
    compose, kubernetes = (settings_of(environment) for environment, _ in environments())
    assert compose.linger_seconds > noticed
    assert kubernetes.linger_seconds > readiness["periodSeconds"] * readiness["failureThreshold"]


def test_containers_have_few_rights() -> None:
    user = re.findall(r"^USER (\d+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    spec, compose = pod(), compose_service()
    rights = spec["containers"][0]["securityContext"]
    assert [str(spec["securityContext"]["runAsUser"])] == user
    assert rights["readOnlyRootFilesystem"] is compose["read_only"] is True
    assert rights["capabilities"]["drop"] == compose["cap_drop"] == ["ALL"]
    assert rights["allowPrivilegeEscalation"] is False


def test_kubernetes_finds_the_replicas() -> None:
    found = manifests()
    assert set(found) == {"Deployment", "Service", "PodDisruptionBudget"}
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["PodDisruptionBudget"]["spec"]["minAvailable"] < found["Deployment"]["spec"]["replicas"]
