"""What `--cluster-secret` is for: somebody on the NATS server says what no node has said."""

import os
import socket

import pytest

from harness import TIMEOUT, eventually
from nodes import NATS, Cluster, secret_file
from test_cluster_nats import nats, refusal  # noqa: F401 (a fixture)

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")
WITHOUT = "without --cluster-secret, every client that may write to the NATS server may change everything"


def say(port, subject, body):
    """As any client of the NATS server may; it has been said when this answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall(b"CONNECT {}\r\nPUB %s %d\r\n%s\r\nPING\r\n" % (subject.encode(), len(body), body))
        heard = b""
        while b"PONG" not in heard:
            heard += connection.recv(4096)


@pytest.fixture
def cluster(tmp_path, issued):
    cluster = Cluster(tmp_path, issued, nodes=2, zones=4)
    yield cluster
    cluster.stop()


def test_who_does_not_know_the_secret_ends_no_node_and_writes_nothing(cluster):
    log = cluster.nodes[0].path("log")
    cluster.nats.start()
    cluster.nodes[0].start("--log-file", log)
    cluster.nodes[1].start()
    cluster.ready().settled()
    clock = cluster.nodes[0].api("GET", "/api/v1/clock")["frozen"]
    for _ in range(3):
        say(cluster.nats.port, "apns.nodes", b'{"name":"node-1","ordinal":100000,"draining":false}')
        say(cluster.nats.port, "apns.cluster", b'{"kind":"order","method":"PUT","path":"/api/v1/clock","body":"{\\"frozen\\":true}"}')
        for zone in range(cluster.zones):
            say(cluster.nats.port, f"apns.log.{zone}", b"not of a node")
    # Each is told of once, though all zones have been written to.
    told = ["apns.nodes", "APNS_CLUSTER", *(f"APNS_Z{zone}" for zone in range(cluster.zones))]
    eventually(lambda: all(f" {place} in NATS" in read(log) for place in told), "the log tells of all")
    assert read(log).count("a client without the cluster's secret") == len(told)
    cluster.ready()
    for node in cluster.nodes:
        assert node.is_alive and node.api("GET", "/api/v1/clock")["frozen"] == clock
    # An order of a node is one.
    cluster.nodes[0].api("POST", "/api/v1/reset", {})
    cluster.nodes[1].kill()
    cluster.nodes[1].start()
    cluster.ready().settled()


def test_a_node_answers_at_nothing_but_an_inbox(cluster):
    cluster.nats.start()
    node = cluster.nodes[0]
    node.start()
    subject, question = "apns.call." + node.name.encode().hex(), b'{"nonce":"1"}'
    # One node on one connection: what it answers comes in the order of the questions.
    replies = ("elsewhere", "apns.log.0", "_INBOX.1")
    with socket.create_connection(("127.0.0.1", cluster.nats.port), timeout=TIMEOUT) as connection:
        asked = "".join(f"PUB {subject} {reply} {len(question)}\r\n{question.decode()}\r\n" for reply in replies)
        connection.sendall(f"CONNECT {{}}\r\nSUB elsewhere 1\r\nSUB _INBOX.1 2\r\n{asked}".encode())
        answers = (line.split()[1] for line in connection.makefile("rb") if line.startswith(b"MSG "))
        assert next(answers) == b"_INBOX.1"
    assert node.is_alive


def test_a_node_with_another_secret_or_none_is_of_another_cluster(tmp_path, issued, cluster):
    cluster.nats.start()
    node = cluster.nodes[0]
    node.start()
    others = tmp_path / "others"
    others.mkdir()
    said = refusal(others, issued, cluster.nats.url)
    assert said == "--nats: the cluster was made with --cluster-secret: this node needs the same file as the others", said
    said = refusal(others, issued, cluster.nats.url, "--cluster-secret", secret_file(others))
    assert said.startswith("--nats: the cluster was made with another secret than that of --cluster-secret"), said
    # Its nodes would not believe what is set aside without it.
    told = node.run("cluster", "repair", "0", "1", "--nats", cluster.nats.url, check=False)
    assert told.returncode == 1 and "was made with --cluster-secret: give the file" in told.stderr, told


def test_a_cluster_without_a_secret_says_so_once_and_has_no_nodes_with_one(tmp_path, issued, cluster):
    cluster.secret = None
    log = cluster.nodes[0].path("log")
    cluster.nats.start()
    cluster.nodes[0].start("--log-file", log)
    assert read(log).count(WITHOUT) == 1
    others = tmp_path / "others"
    others.mkdir()
    said = refusal(others, issued, cluster.nats.url, "--cluster-secret", secret_file(others))
    assert said.startswith("--nats: the cluster was made without --cluster-secret: start this node without it too"), said


@pytest.mark.parametrize(("mode", "text", "sentence"), [
    (0o644, "0123456789abcdef", "expected a file that only its owner may read (mode 600), got mode 644"),
    (0o600, "short", "expected a secret of at least 16 bytes, got 5: openssl rand -hex 32 makes one"),
])
def test_a_file_that_is_no_secret_is_refused(tmp_path, issued, mode, text, sentence):
    path = tmp_path / "secret"
    path.write_text(text)
    os.chmod(path, mode)
    said = refusal(tmp_path, issued, "nats://127.0.0.1:1", "--cluster-secret", str(path))
    assert said.startswith("--cluster-secret: ") and said.endswith(sentence) and "0123" not in said, said


def read(path):
    with open(path) as file:
        return file.read()
