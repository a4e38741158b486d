"""The examples of Documentation/cluster, and that of one node: what Kubernetes and Compose say, and whether their parts fit together."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request

import kubernetes_validate
import pytest
import yaml

from harness import BINARY, TIMEOUT, eventually

FOLDER = pathlib.Path(__file__).parents[2] / "Documentation" / "cluster"
CONTAINERFILE = FOLDER.parents[1] / ".packaging" / "image" / "Containerfile"
SERVER = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")
PASSWORD = "only-for-tests"


def documents():
    return list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))


def kubernetes(kind, name):
    [found] = [each for each in documents() if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


def pod(name):
    return kubernetes("StatefulSet", name)["spec"]["template"]["spec"]


def variables(name):
    """Of the only container, as they are in it."""
    [container] = pod(name)["containers"]
    values = {}
    for each in container["env"]:
        if "valueFrom" in each:
            reference = each["valueFrom"]["secretKeyRef"]
            value = kubernetes("Secret", reference["name"])["stringData"][reference["key"]]
        else:
            value = re.sub(r"\$\((\w+)\)", lambda match: values[match[1]], each["value"])
        values[each["name"]] = value
    return values


def compose():
    """As `docker compose` reads it, with nothing set in its environment."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (FOLDER / "compose.yaml").read_text())
    assert "$" not in text
    return yaml.safe_load(text)


def settings(environment):
    """What the emulator makes of the variables, with those of the image: each setting with its source."""
    image = dict(re.findall(r'^ENV (\w+)="(.*)"$', CONTAINERFILE.read_text(), re.M))
    done = subprocess.run(
        [BINARY, "config"], env=image | environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    rows = [re.split(r" {2,}", line) for line in done.stdout.splitlines()]
    return {name: (value, source) for name, value, source in rows}


def is_read(environment):
    """Every variable that looks like a setting is one."""
    found = settings(environment)
    told = {source.removeprefix("environment ") for _, source in found.values()}
    assert {name for name in environment if name.startswith("APNS_EMULATOR_")} <= told
    return found


@pytest.mark.parametrize("document", documents(), ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_kubernetes_takes_each_document(document):
    kubernetes_validate.validate(document, "1.37", strict=True)


@pytest.mark.parametrize("name", ["apns-emulator", "apns-engine"])
def test_the_parts_for_kubernetes_fit_together(name):
    labels = {"app": name}
    spec = kubernetes("StatefulSet", name)["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"] == labels
    headless = kubernetes("Service", spec["serviceName"])["spec"]
    assert headless["clusterIP"] == "None" and headless["selector"] == labels
    [container] = pod(name)["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    for service in [each["spec"] for each in documents() if each["kind"] == "Service"]:
        if service["selector"] == labels:
            assert {each["name"]: each["port"] for each in service["ports"]}.items() <= ports.items()
    probes = [container[each] for each in container if each.endswith("Probe")]
    assert probes and all(each["httpGet"]["port"] in ports for each in probes)
    volumes = pod(name)["volumes"] + [each["metadata"] for each in spec.get("volumeClaimTemplates", [])]
    assert {each["name"] for each in volumes} == {each["name"] for each in container["volumeMounts"]}
    for volume in volumes:
        if claim := volume.get("persistentVolumeClaim"):
            kubernetes("PersistentVolumeClaim", claim["claimName"])
        if secret := volume.get("secret"):
            # Read by a group alone, as of another owner's file (Documentation/cluster.md, "Who can do what").
            assert secret["defaultMode"] == 0o440
            keys = kubernetes("Secret", secret["secretName"])["stringData"]
            assert all(len(keys[each["key"]]) >= 16 for each in secret["items"])
        if configuration := volume.get("configMap"):
            kubernetes("ConfigMap", configuration["name"])


def test_a_node_in_kubernetes_reads_its_settings():
    environment = variables("apns-emulator")
    found = is_read(environment)
    assert environment["APNS_EMULATOR_NATS"] == f"nats://apns:{PASSWORD}@apns-engine:4222"
    assert found["nats"][0] == "(set)"
    [secret] = [each for each in pod("apns-emulator")["volumes"] if each["name"] == "cluster"]
    assert found["cluster-secret"][0] == "/run/cluster/" + secret["secret"]["items"][0]["path"]
    [container] = pod("apns-emulator")["containers"]
    ports = {each["name"]: str(each["containerPort"]) for each in container["ports"]}
    assert {name: found[f"{name}-port"][0] for name in ports} == ports
    # Its ports file, its certificates and its temporary files are where it may write.
    mounts = {each["mountPath"] for each in container["volumeMounts"]}
    for path in ["/tmp/x", found["ports-file"][0], found["certs"][0]]:
        assert any(path.startswith(mount + "/") for mount in mounts), path
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    # Otherwise the service of the same name would give settings that nobody meant.
    assert pod("apns-emulator")["enableServiceLinks"] is False


def test_a_node_in_compose_reads_its_settings():
    services = compose()["services"]
    nodes = {name: each for name, each in services.items() if name not in ("nats", "secret")}
    assert len(nodes) == 3
    published = []
    for name, node in nodes.items():
        found = is_read(node["environment"])
        assert node["environment"]["APNS_EMULATOR_NATS"] == f"nats://apns:{PASSWORD}@nats:4222"
        assert node["hostname"] == name and set(node["depends_on"]) == {"nats", "secret"}
        folders = {volume.split(":")[1] for volume in node["volumes"]}
        assert os.path.dirname(node["environment"]["APNS_EMULATOR_CLUSTER_SECRET"]) in folders
        assert all(volume.split(":")[0] in compose()["volumes"] for volume in node["volumes"])
        ours = {int(found[f"{each}-port"][0]) for each in ("gateway", "feedback", "provider", "courier", "console")}
        inside = set()
        for host, outer, inner in (each.rsplit(":", 2) for each in node["ports"]):
            assert host == "127.0.0.1"
            (first, last), (start, end) = ((each + "-" + each).split("-")[:2] for each in (outer, inner))
            assert int(last) - int(first) == int(end) - int(start)
            published += range(int(first), int(last) + 1)
            inside |= set(range(int(start), int(end) + 1))
        assert inside == ours
        assert any(f"{each.split(':')[0]}/" in found["ports-file"][0] for each in node["tmpfs"])
    assert len(set(published)) == len(published)


def test_the_only_node_in_compose_reads_its_settings():
    """Of installing.md, where a server beside it finds the emulator by its name."""
    [block] = re.findall(r"^```yaml\n(.*?)^```", (FOLDER.parent / "installing.md").read_text(), re.M | re.S)
    document = yaml.safe_load(block)
    node, server = document["services"]["apns-emulator"], document["services"]["your-server"]
    found = is_read(node["environment"])
    assert found["allow-host"][0] == "apns-emulator" and list(server["depends_on"]) == ["apns-emulator"]
    assert server["environment"]["APNS_URL"] == f"https://apns-emulator:{found['provider-port'][0]}"
    assert node["ports"] == [f"127.0.0.1:{found['console-port'][0]}:{found['console-port'][0]}"]
    [volume] = node["volumes"]
    name, folder = volume.split(":")
    assert list(document["volumes"]) == [name] and all(found[each][0].startswith(folder) for each in ("certs", "data"))


@pytest.mark.skipif(SERVER is None, reason="nats-server is not installed")
def test_the_nats_server_takes_its_configuration(tmp_path):
    text = kubernetes("ConfigMap", "apns-engine")["data"]["nats.conf"]
    assert "store_dir: /data\n" in text
    file = tmp_path / "nats.conf"
    file.write_text(text.replace("/data", str(tmp_path)))
    done = subprocess.run(
        [SERVER, "-t", "--config", file], env=variables("apns-engine"), capture_output=True, text=True,
        timeout=TIMEOUT)
    assert done.returncode == 0 and "is valid" in done.stdout + done.stderr, done.stderr
    # And that of Compose.
    [mounted] = compose()["services"]["nats"]["configs"]
    assert compose()["services"]["nats"]["command"] == ["--config", mounted["target"]]
    file.write_text(compose()["configs"][mounted["source"]]["content"].replace("/data", str(tmp_path)))
    done = subprocess.run([SERVER, "-t", "--config", file], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SERVER is None or not shutil.which("wget"), reason="nats-server or wget is not installed")
@pytest.mark.parametrize("which", ["compose", "kubernetes"])
def test_what_looks_after_the_nats_server_finds_it_healthy(tmp_path, which):
    """And not without a NATS server. The server is run by the example's own configuration, on ports that are free."""
    if which == "compose":
        text = compose()["configs"][compose()["services"]["nats"]["configs"][0]["source"]]["content"]
        command = compose()["services"]["nats"]["healthcheck"]["test"]
        assert command[0] == "CMD" and all(
            each["depends_on"]["nats"] == {"condition": "service_healthy"}
            for name, each in compose()["services"].items() if name not in ("nats", "secret"))
        paths = [command[-1].removeprefix("http://127.0.0.1:8222")]
    else:
        text = kubernetes("ConfigMap", "apns-engine")["data"]["nats.conf"]
        [container] = pod("apns-engine")["containers"]
        paths = [container[each]["httpGet"]["path"] for each in container if each.endswith("Probe")]
        assert len(paths) == 3
    assert text.count("8222") == 1
    file = tmp_path / "nats.conf"
    file.write_text(re.sub(r"http(_port)?: \S+", "http: 127.0.0.1:-1", text.replace("/data", str(tmp_path / "data"))).replace(
        "port: 4222", "port: -1\nhost: 127.0.0.1", 1))
    server = subprocess.Popen(
        [SERVER, "--config", file, "--ports_file_dir", tmp_path], env=variables("apns-engine"), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = tmp_path / f"nats-server_{server.pid}.ports"
        eventually(lambda: told.exists() and told.read_text().endswith("}"), "nats-server listens")
        monitor = json.loads(told.read_text())["monitoring"][0]
        for path in paths:
            if which == "compose":
                assert subprocess.run([*command[1:-1], monitor + path], timeout=TIMEOUT).returncode == 0
            else:
                with urllib.request.urlopen(monitor + path, timeout=TIMEOUT) as answer:
                    assert (answer.status, json.load(answer)) == (200, {"status": "ok"})
    finally:
        server.terminate()
        server.wait(TIMEOUT)
    if which == "compose":
        assert subprocess.run([*command[1:-1], monitor + paths[0]], timeout=TIMEOUT).returncode != 0


def test_compose_makes_a_secret_once(tmp_path):
    [script] = compose()["services"]["secret"]["command"]
    # Whose it is, is root's to say.
    script = script.replace("/run/cluster", str(tmp_path)).replace("chown 65532", "true")
    secrets = []
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", script], check=True, timeout=TIMEOUT)
        secrets.append((tmp_path / "secret").read_text())
    assert secrets[0] == secrets[1] and len(secrets[0].strip()) >= 32
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
