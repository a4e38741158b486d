"""What a node says of a cluster that is not well: at once, the cause first, and in time for who asks before each push."""

import json
import re
import socket
import threading

import pytest

from harness import TIMEOUT, TOPIC, SimulatedDevice, eventually
from modern import ModernProvider, issue_key
from nodes import NATS, Cluster

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, issued):
    """Two nodes on a NATS server with little room."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "nats.conf").write_text("jetstream { max_file_store: 1MB }\n")
    cluster = Cluster(folder, issued, nodes=2, zones=4)
    cluster.nats.flags = ("-c", str(folder / "nats.conf"))
    try:
        issue_key(cluster.nodes[0])
        cluster.nats.start()
        for node in cluster.nodes:
            node.start("--log-file", node.path("log"))
        yield cluster.ready().settled()
    finally:
        cluster.stop()

# What nodes say of a NATS server that stands still: after a second, and once they have given the connection up.
STANDS_STILL = ("the NATS server has not responded for a second", "the NATS server is unreachable")


class Filler:
    """Somebody else on the NATS server, who takes what room there is."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self.connection.sendall(b'CONNECT {"verbose":false}\r\nSUB answers 1\r\n')
        self.heard = self.connection.makefile("rb")
        self.ask("$JS.API.STREAM.CREATE.FILLER", json.dumps({"name": "FILLER", "subjects": ["filler"]}).encode())

    def ask(self, subject, body):
        self.connection.sendall(b"PUB %s answers %d\r\n%s\r\n" % (subject.encode(), len(body), body))
        for line in self.heard:
            if line.startswith(b"MSG answers"):
                return json.loads(self.heard.read(int(line.split()[-1]) + 2))
            if line.startswith(b"PING"):
                self.connection.sendall(b"PONG\r\n")
        raise AssertionError("the NATS server has ended")

    def fill(self):
        for size in (65536, 4096, 256, 1):
            while "error" not in self.ask("filler", bytes(size)):
                pass

    def leave(self):
        assert self.ask("$JS.API.STREAM.DELETE.FILLER", b"")["success"]
        self.connection.close()


def log(node):
    with open(node.path("log")) as file:
        return file.read()


def status(node):
    """What `cluster status` ends with, and its lines below the table."""
    told = node.run("cluster", "status", check=False)
    return told.returncode, told.stdout.strip().split("\n\n")[-1].splitlines()


def test_a_full_nats_server_is_no_place_to_push_to_until_there_is_room(cluster):
    node = cluster.nodes[0]
    devices = [SimulatedDevice(node, f"phone-{number}") for number in range(6)]
    tokens = [device.next("token")["token"] for device in devices]
    for device in devices:
        device.stop()
    filler = Filler(cluster.nats.port)
    filler.fill()
    for each in cluster.nodes:
        eventually(lambda each=each: "the NATS server stores nothing more" in each.unreadiness(), f"{each.name} is not ready")
    # Also while pushes wait for what can't be kept: of the node's own zones and of the other's.
    fates = []

    def push(token):
        with ModernProvider(node) as provider:
            fates.append(provider.push(token, {"aps": {"alert": "full"}})[0])
    pushes = [threading.Thread(target=push, args=(token,)) for token in tokens]
    for each in pushes:
        each.start()
    for each in cluster.nodes:
        assert each.metric("apns_emulator_cluster_ready") == 0
        code, lines = status(each)
        assert code == 1 and len(lines) == 1 and lines[0].startswith("not ready: the NATS server stores nothing more: JetStream refuses: "), lines
        assert "Free space" in lines[0]
        eventually(lambda each=each: "error nothing is stored" in log(each), "the log says so")
        assert log(each).count("error nothing is stored") == 1
    filler.leave()
    cluster.ready()
    for each in pushes:
        each.join(TIMEOUT)
    assert len(fates) == len(tokens) and set(fates) <= {200, 503}, fates
    with ModernProvider(node) as provider:
        for token in tokens:
            assert provider.push(token, {"aps": {"alert": "room"}}, topic=TOPIC)[0] == 200
    for each in cluster.nodes:
        eventually(lambda each=each: "the NATS server is usable again" in log(each), "the log says so")
        assert log(each).count("error nothing is stored") == 1 and status(each) == (0, ["ready"])


def test_a_nats_server_that_stands_still_is_one_cause(cluster):
    cluster.settled()
    cluster.nats.pause()
    try:
        for node in cluster.nodes:
            eventually(lambda node=node: any(words in node.unreadiness() for words in STANDS_STILL), f"{node.name} knows")
        for node in cluster.nodes:
            code, lines = status(node)
            assert code == 1 and len(lines) == 1 and lines[0].startswith("not ready: the NATS server "), lines
    finally:
        cluster.nats.go_on()
    cluster.ready()


def test_a_node_that_was_killed_is_missed_before_it_is_replaced(cluster):
    cluster.settled()
    alive, killed = cluster.nodes
    killed.kill()
    reasons = set()

    def is_whole_again():
        if reason := alive.unreadiness():
            reasons.add(reason)
        zones = alive.api("GET", "/api/v1/cluster")["zones"]
        return all(zone["owner"] == alive.name for zone in zones)
    eventually(is_whole_again, "the other has all zones")
    assert f"{alive.name}: no message has come from {killed.name} for a second, with 2 zones" in reasons, reasons
    # Later, when it takes the zones over, one after the other.
    later = rf"{alive.name}: (no message has come from {killed.name} for a second, with \d zones|\d of 4 zones have no leader at the moment)"
    assert all(re.fullmatch(later, reason) for reason in reasons), reasons
    cluster.ready()
    killed.start("--log-file", killed.path("log"))
    cluster.ready().settled()
