"""Who may be a node beside the others: a namesake, one with another CA or seeds, one of another cluster, one whose cluster is
gone. Nobody who is there is ended by who comes."""

import os
import shutil
import signal
import subprocess

import pytest

from cluster_phones import free_port
from harness import TIMEOUT, Emulator, SimulatedDevice
from nodes import NATS, Cluster
from test_cluster_nats import last_words, start_in_vain

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, issued):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), issued, nodes=2, zones=4)
    try:
        yield cluster.start().settled()
    finally:
        cluster.stop()


def newcomer(folder, cluster, *flags, certs=None):
    """Somebody who starts in a folder of his own, and does not become a node; his last words."""
    folder.mkdir(exist_ok=True)
    url = f"nats://127.0.0.1:{cluster.nats.port}"
    return last_words(start_in_vain(folder, certs or cluster.certs, url, "--cluster-secret", cluster.secret, *flags))


def unharmed(cluster):
    assert all(node.is_alive for node in cluster.nodes)
    cluster.ready()


def test_a_living_namesake_is_refused(cluster, tmp_path):
    node = cluster.nodes[0]
    said = newcomer(tmp_path, cluster, "--node", node.name)
    place = node.api("GET", "/api/v1/cluster")["nodes"][0]["address"]
    assert said == f"--nats: a node with the name node-1 is running at {place}: give this one another --node, or a cluster of its own (--cluster)"
    unharmed(cluster)
    # Its own dead predecessor is nobody, whose last word is some moments old.
    node.kill()
    node.start()
    cluster.ready().settled()


def test_a_node_listens_where_it_was_told(cluster):
    node, port = cluster.nodes[0], free_port()
    node.kill()
    node.start("--node-port", str(port))
    assert node.ports["nodes"]["port"] == port
    cluster.ready().settled()
    address = next(each["address"] for each in node.api("GET", "/api/v1/cluster")["nodes"] if each["name"] == node.name)
    assert address == f"127.0.0.1:{port}"


def test_a_namesake_that_hangs_is_replaced_and_goes_when_it_wakes(cluster, tmp_path):
    node = cluster.nodes[1]
    hung = node.process
    hung.send_signal(signal.SIGSTOP)
    try:
        node.start()
        cluster.ready()
    finally:
        hung.send_signal(signal.SIGCONT)
    assert hung.wait(TIMEOUT) == 4
    assert node.is_alive
    cluster.ready().settled()


def test_another_ca_and_other_seeds_are_refused(cluster, tmp_path):
    stranger = Emulator(tmp_path)
    stranger.device_certificate("phone-0")
    said = newcomer(tmp_path / "a", cluster, "--node", "other", certs=stranger.path("certs"))
    assert said.startswith("--nats: the certs folders differ: ca.pem of node-") and "other" in said and "--cluster" in said, said
    fingerprints = [fingerprint(path) for path in (os.path.join(cluster.certs, "ca.pem"), stranger.path("certs", "ca.pem"))]
    assert all(fingerprint[:23] in said for fingerprint in fingerprints), said
    # The same authority, but another for devices.
    for name in ("ca.pem", "ca.key"):
        shutil.copy(os.path.join(cluster.certs, name), stranger.path("certs", name))
    for name in ("server.pem", "server.key", "server-ec.pem", "server-ec.key"):
        shutil.copy(os.path.join(cluster.certs, name), stranger.path("certs", name))
    said = newcomer(tmp_path / "a", cluster, "--node", "other", certs=stranger.path("certs"))
    assert "device-ca.pem of node-" in said, said
    said = newcomer(tmp_path / "a", cluster, "--node", "other", "--token-seed", "s3cr3t")
    assert "--token-seed" in said and "node-" in said and "other" in said and "s3cr3t" not in said, said
    unharmed(cluster)


def fingerprint(path):
    """As OpenSSL has it."""
    told = subprocess.run(
        ["openssl", "x509", "-in", path, "-noout", "-fingerprint", "-sha256"], capture_output=True, text=True, check=True)
    return told.stdout.strip().split("=", 1)[1]


def test_two_clusters_share_a_nats_server_and_nothing_else(cluster, tmp_path):
    other = Emulator(tmp_path)
    device = SimulatedDevice(cluster.nodes[0], "phone-0")
    token = device.next("token")["token"]
    device.stop()
    try:
        # A namesake, with another CA, other zones and without a secret.
        other.start("--nats", cluster.nats.url, "--cluster", "blue", "--node", "node-1", "--zones", "2")
        assert other.api("GET", "/api/v1/tokens")["tokens"] == []
        seen = other.api("GET", "/api/v1/cluster")
        assert [node["name"] for node in seen["nodes"]] == ["node-1"] and seen["cluster"] == "blue"
        assert other.run("cluster", "status").stdout.startswith("node-1 of blue sees 2 zones")
        other.api("POST", "/api/v1/reset", {})
        unharmed(cluster)
        known = [row["token"] for row in cluster.nodes[1].api("GET", "/api/v1/tokens")["tokens"]]
        assert token in known
        # A second node of it finds the first.
        said = last_words(start_in_vain(tmp_path, other.path("certs"), cluster.nats.url, "--cluster", "blue", "--node", "node-1", "--ports-file", "other.json"))
        assert "a node with the name node-1 is running at" in said, said
    finally:
        other.stop()


def test_a_node_misses_its_cluster_when_the_nats_server_was_wiped(tmp_path, issued):
    cluster = Cluster(tmp_path, issued, nodes=1, zones=2)
    node, nats = cluster.nodes[0], cluster.nats
    try:
        cluster.start()
        node.stop()
        nats.kill()
        kept = str(tmp_path / "kept")
        shutil.move(os.path.join(nats.folder, "jetstream"), kept)
        nats.start()
        url = f"nats://127.0.0.1:{nats.port}"
        flags = ("--cluster-secret", cluster.secret, "--node", node.name)
        said = last_words(start_in_vain(node.folder, cluster.certs, url, *flags))
        assert ".apns-emulator/cluster.json is of a cluster made at " in said and "has it lost its data?" in said, said
        assert "Restore the server's data" in said and "--data" in said
        # It has made nothing that would be in the way of what is put back.
        nats.kill()
        shutil.rmtree(os.path.join(nats.folder, "jetstream"), ignore_errors=True)
        shutil.move(kept, os.path.join(nats.folder, "jetstream"))
        nats.start()
        node.start()
        cluster.ready()
        node.stop()
        # Another data folder takes what there is; the old one does not take the new cluster either.
        nats.kill()
        shutil.rmtree(os.path.join(nats.folder, "jetstream"))
        nats.start()
        node.start("--data", "another")
        node.stop()
        said = last_words(start_in_vain(node.folder, cluster.certs, url, *flags))
        assert "has another, made at " in said, said
    finally:
        cluster.stop()
