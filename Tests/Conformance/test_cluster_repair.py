"""Something in a zone's log that no node has written: what can be nothing of ours is passed over and named, and at what can't be there
nodes end with its number, until it is set aside."""

import base64
import json
import socket

import pytest

from harness import TIMEOUT, TOPIC, SimulatedDevice, eventually
from modern import ModernProvider, issue_key
from nodes import NATS, Cluster
from test_cluster_nats import start_in_vain
from test_cluster_secret import read, say

# The kind of record that has changes (Sources/Zones/ZoneRecord.swift).
CHANGES = 3
pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


def asked(port, request, **fields):
    """What the NATS server answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        body = json.dumps(fields).encode()
        connection.sendall(b"CONNECT {}\r\nSUB answer 1\r\nPUB $JS.API.%s answer %d\r\n%s\r\n" % (
            request.encode(), len(body), body))
        for line in (heard := connection.makefile("rb")):
            if line.startswith(b"MSG answer"):
                return json.loads(heard.read(int(line.split()[-1])))
    raise AssertionError("the NATS server has ended")


def message(port, stream, sequence):
    """What the NATS server has at a sequence."""
    return base64.b64decode(asked(port, f"STREAM.MSG.GET.{stream}", seq=sequence)["message"]["data"])


def fill(port, subject, count):
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall(b"CONNECT {}\r\n" + count * f"PUB {subject} 1\r\n-\r\n".encode() + b"PING\r\n")
        assert any(line == b"PONG\r\n" for line in connection.makefile("rb"))


def next_record(port, stream, contents):
    """Changes in the name of whoever has written the stream's last record."""
    last = message(port, stream, asked(port, f"STREAM.INFO.{stream}")["state"]["last_seq"])
    number = int.from_bytes(last[10:18], "big") + 1
    node = 19 + last[18]
    end = node + 1 + last[node]
    return bytes((last[0], CHANGES)) + last[2:10] + number.to_bytes(8, "big") + last[18:end] + contents


def test_garbage_is_passed_over_and_a_stale_record_set_aside(tmp_path, issued):
    cluster = Cluster(tmp_path, issued, nodes=2, zones=1)
    secret, cluster.secret = cluster.secret, None
    first, second = cluster.nodes
    log = first.path("log")
    try:
        issue_key(first)
        cluster.nats.start()
        first.start("--log-file", log)
        device = SimulatedDevice(first, "phone-0")
        token = device.next("token")["token"]
        device.stop()
        port = cluster.nats.port
        say(port, "apns.log.0", b"garbage")
        say(port, "apns.snapshot.0", b"garbage")
        with ModernProvider(first) as provider:
            assert provider.push(token, {"aps": {"alert": "behind it"}}, topic=TOPIC)[0] == 200
        eventually(lambda: "of the stream APNS_Z0 in NATS is not from a node: it is ignored" in read(log), "the log names it")
        # Who comes later passes over it as well.
        second.start()
        cluster.ready()
        assert [row["token"] for row in second.api("GET", "/api/v1/tokens")["tokens"]] == [token]
        # A record of the log once more: nobody can have written that.
        say(port, "apns.log.0", message(port, "APNS_Z0", 1))
        assert {first.process.wait(TIMEOUT), second.process.wait(TIMEOUT)} == {4}
        number = number_said(cluster, second, "expected number ")
        assert "another node has become its leader" not in read(log)
        repair = ("cluster", "repair", "0", number, "--nats", cluster.nats.url)
        # What the nodes would not believe is not written.
        said = first.run(*repair, "--cluster-secret", secret, check=False)
        assert said.returncode == 1 and "the cluster was made without --cluster-secret" in said.stderr, said.stderr
        told = first.run(*repair).stdout
        assert told.startswith(f"message {number} of APNS_Z0 is set aside, "), told
        for node in cluster.nodes:
            node.start()
        cluster.ready()
        with ModernProvider(second) as provider:
            assert provider.push(token, {"aps": {"alert": "repaired"}}, topic=TOPIC)[0] == 200
        said = first.run(*repair, check=False)
        assert said.returncode == 1 and " is running: stop all nodes" in said.stderr, said.stderr
        # One that can be there by its numbers, but can't be read.
        for node in cluster.nodes:
            node.kill()
        say(port, "apns.log.0", next_record(port, "APNS_Z0", b"\xff"))
        unreadable = number_said(cluster, second, "expected a kind of change ")
        # However much somebody else has said, there is room for what an operator says.
        fill(port, "apns.repairs", 1001)
        for each in (number, unreadable):
            first.run("cluster", "repair", "0", each, "--nats", cluster.nats.url)
        first.start()
        eventually(lambda: not first.unreadiness(), "the first node is ready")
        first.kill()
        # An operator may take it back.
        asked(port, "STREAM.PURGE.APNS_REPAIRS", keep=1)
        assert number_said(cluster, second, "expected number ") == number
    finally:
        cluster.stop()


def number_said(cluster, node, problem):
    """The message of the log at which nodes end, as they say it."""
    flags = ("--node", "node-3", "--data", "other")
    said = last_words_of_4(start_in_vain(node.folder, cluster.certs, cluster.nats.url, *flags))
    number = said.rsplit(" ", 1)[1]
    assert f"zone 0: message {number} of the stream APNS_Z0: {problem}" in said, said
    assert said.endswith(f"apns-emulator cluster repair 0 {number}"), said
    return number


def last_words_of_4(process):
    _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 4, said
    return said.strip().splitlines()[-1].removeprefix("apns-emulator: ")
