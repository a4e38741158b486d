"""A cluster as `make cluster` starts it: what people see of it and do to it, by console, command and page.
DASHBOARD_SHOTS=FOLDER keeps screenshots."""

import json
import os
import re
import shutil
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from browser import ONE_PROCESS, Browser
from clusters import NAMES, ROOT, Cluster
from harness import TIMEOUT, TOPIC, SimulatedDevice, eventually
from test_docs import differences, send


@pytest.fixture(scope="module")
def running(tmp_path_factory, issued):
    if not shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin"):
        pytest.skip("nats-server is missing")
    folder = tmp_path_factory.mktemp("cluster")
    shutil.copytree(issued, folder / "certs")
    cluster = Cluster(folder)
    yield cluster
    if cluster.process.poll() is None:
        cluster.stop()


@pytest.fixture
def cluster(running):
    return running.whole()


def refusal(node, path, body):
    with pytest.raises(urllib.error.HTTPError) as caught:
        node.api("POST", path, body)
    return caught.value.code


def test_a_push_finds_a_phone_at_another_node(cluster):
    device = SimulatedDevice(cluster.nodes[1], "phone-1")
    device.next("token")
    cluster.nodes[0].run("push", "phone-1", TOPIC, '{"aps":{"alert":"Hello"}}')
    assert device.notification()["payload"] == {"aps": {"alert": "Hello"}}
    device.stop()


def test_each_example_is_answered_as_described(cluster):
    first = cluster.nodes[0]
    description = first.api("GET", "/api/v1/openapi.json")
    paths, schemas = description["paths"], description["components"]["schemas"]
    # A node that is drained answers the same, and ends too: the command has that.
    for path, method, status in (("", "get", 200), ("/zones/{zone}", "post", 200), ("/nodes/{node}/kill", "post", 202)):
        operation = paths[f"/api/v1/cluster{path}"][method]
        answered, body = send(first, f"/api/v1/cluster{path}", method, operation)
        assert answered == status, body
        schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
        assert differences(json.loads(body), schema, schemas, path) == []
    eventually(lambda: len(first.cluster["nodes"]) == 2, "the node is gone")


def test_any_console_tells_of_what_came_by_others(cluster):
    """Pushes by two nodes, asked of the third: who waited, who looks, by id, and who forgets."""
    first, second, third = cluster.nodes
    device = SimulatedDevice(first, "phone-2")
    token = device.next("token")["token"]
    match = {"topic": TOPIC, "q": "by node"}
    host, port = third.address("console")
    events = urllib.request.urlopen(f"http://{host}:{port}/api/v1/events", timeout=TIMEOUT)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(
            third.api, "POST", "/api/v1/notifications/wait", {"match": match, "count": 2, "timeoutMs": 1000 * TIMEOUT})
        for node in (first, second):
            node.run("send", "--topic", TOPIC, "--token", token, "--payload", json.dumps({"aps": {"alert": f"by {node.name}"}}))
        found = waiting.result()
    assert [(each["node"], each["payload"]["aps"]["alert"]) for each in found["notifications"]] == [
        ("node-1", "by node-1"), ("node-2", "by node-2")] and found["missing"] == []
    with events:
        told = (json.loads(line[6:])["notification"] for line in events if line.startswith(b'data: {"event":"notification"'))
        # Each node's events come in their order, and those of different nodes as they come.
        assert {next(told)["id"], next(told)["id"]} == {each["id"] for each in found["notifications"]}
    for node in cluster.nodes:
        listed = node.api("GET", f"/api/v1/notifications?order=newest&limit=2&token={token}")
        assert [each["node"] for each in listed["notifications"]] == ["node-2", "node-1"], node.name
        for each in listed["notifications"]:
            assert node.api("GET", f"/api/v1/notifications/{each['id']}")["payload"] == each["payload"]
    later = {"match": match, "since": found["next"], "timeoutMs": 0}
    with pytest.raises(urllib.error.HTTPError) as caught:
        first.api("POST", "/api/v1/notifications/wait", later)
    missed = json.load(caught.value)
    assert caught.value.code == 408 and missed["notifications"] == [] and missed["missing"] == []
    assert third.api("DELETE", f"/api/v1/notifications?token={token}")["deleted"] == 2
    assert first.api("GET", f"/api/v1/notifications?token={token}")["notifications"] == []
    device.stop()


def test_commands_look_move_and_drain(cluster):
    first, second, third = cluster.nodes
    status = first.run("cluster", "status")
    assert [line.split()[0] for line in status.stdout.splitlines()[3:6]] == NAMES and "ready" in status.stdout
    assert json.loads(second.run("cluster", "status", "--json").stdout)["name"] == "node-2"
    # Each of these is the business of another node than the one that is asked.
    zone = cluster.zone_of("node-2")
    assert "is moving to node-3" in first.run("cluster", "move", str(zone), "node-3").stdout
    eventually(lambda: all(cluster.owner(zone, by) == "node-3" for by in range(3)), "the zone has moved")
    wrong = first.run("cluster", "move", "3", "node-9", check=False)
    assert wrong.returncode == 1 and "node-1, node-2, node-3" in wrong.stderr
    cluster.whole()
    assert "hands its zones over" in first.run("cluster", "drain", "node-3").stdout
    eventually(lambda: len(first.cluster["nodes"]) == 2, "the node is gone")
    assert third.cluster["ready"] is False


def test_wrong_orders_are_refused(cluster):
    first = cluster.nodes[0]
    assert refusal(first, "/api/v1/cluster/zones/64", {"node": "node-1"}) == 404
    assert refusal(first, "/api/v1/cluster/zones/3", {"node": "node-9"}) == 409
    assert refusal(first, "/api/v1/cluster/nodes/node-9/kill", {}) == 404


def test_metrics_of_zones_and_relay_are_named(cluster):
    with urllib.request.urlopen("http://%s:%s/metrics" % cluster.nodes[0].address("console"), timeout=TIMEOUT) as answer:
        text = answer.read().decode()
    values = dict(re.findall(r"^apns_emulator_(\w+) (\S+)$", text, re.M))
    assert values["cluster_ready"] == "1" and values["cluster_nodes"] == "3"
    for name in ("owned", "epoch", "sequence", "waiting_bytes"):
        assert len(re.findall(rf'^apns_emulator_zone_{name}{{zone="\d+"}} \d+$', text, re.M)) == 64
    with open(os.path.join(ROOT, "Documentation", "metrics.md")) as file:
        named = {word for line in file if line.startswith("| `") for word in line.split("|")[1].split("`")[1::2]}
    assert {line.split()[2].removeprefix("apns_emulator_") for line in text.splitlines() if "# HELP" in line} <= named


def shot(page, name):
    if folder := os.environ.get("DASHBOARD_SHOTS"):
        os.makedirs(folder, exist_ok=True)
        page.screenshot(os.path.join(folder, f"{name}.png"))


def test_the_page_shows_moves_and_kills(cluster):
    page = Browser(*ONE_PROCESS)
    try:
        page.resize(1280, 980)
        page.prefer("light")
        page.open("http://%s:%s/#cluster" % cluster.nodes[0].address("console"))
        page.until("document.querySelectorAll('.zone').length === 64")
        assert page.script("[...document.querySelectorAll('.nodes strong')].map(each => each.textContent)") == NAMES
        page.until("document.querySelector('nav a[href=\"#cluster\"]')")
        page.shows("Ready")
        zone = cluster.zone_of("node-2")
        page.script(f"document.querySelectorAll('.zone')[{zone}].click()")
        page.click("Move to node-3", "button")
        page.shows(f"node-3 now leads zone {zone}, led by node-2 before", timeout=10)
        shot(page, "cluster")
        page.script("document.querySelector('[aria-label=\"Kill node-3\"]').click()")
        page.click("Kill", "dialog button.danger")
        page.shows("node-3 left the cluster", timeout=10)
        page.until("document.querySelectorAll('.nowhere').length === 0")
        shot(page, "cluster-taken-over")
        page.shows("node-3 joined the cluster", timeout=30)
        page.resize(390, 844, is_mobile=True)
        page.prefer("dark")
        assert page.script("document.documentElement.scrollWidth") <= 390
        shot(page, "cluster-phone")
        assert page.complaints == []
    finally:
        page.close()


def test_the_script_says_what_it_does_and_leaves_nothing(running):
    """Last: it ends the cluster."""
    running.whole()
    assert "Dashboard: http://127.0.0.1:" in running.told and "cluster status" in running.told
    assert running.stop() == 0
    assert "node-3 has ended with 137, and starts again in 5 s" in running.told
    assert not any(os.path.exists(node.ports_file) for node in running.nodes)
