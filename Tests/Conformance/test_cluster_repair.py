"""Something in a zone's log that no node has written: what can be nothing of ours is passed over and named, and at what can't be there
nodes end with its number, until it is set aside."""

import base64
import json
import socket

import pytest

from harness import PATIENCE, TOPIC, SimulatedDevice, eventually
from modern import ModernProvider, issue_key
from nodes import NATS, Cluster
from test_cluster_engine import start_in_vain
from test_cluster_secret import read, say

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


def message(port, stream, sequence):
    """What the engine has at a sequence."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        body = json.dumps({"seq": sequence}).encode()
        connection.sendall(b"CONNECT {}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.MSG.GET.%s answer %d\r\n%s\r\n" % (
            stream.encode(), len(body), body))
        for line in (heard := connection.makefile("rb")):
            if line.startswith(b"MSG answer"):
                return base64.b64decode(json.loads(heard.read(int(line.split()[-1])))["message"]["data"])
    raise AssertionError("the engine has ended")


def test_garbage_is_passed_over_and_a_stale_record_set_aside(tmp_path, issued):
    cluster = Cluster(tmp_path, issued, nodes=2, zones=1)
    cluster.secret = None
    first, second = cluster.nodes
    log = first.path("log")
    try:
        issue_key(first)
        cluster.engine.start()
        first.start("--log-file", log)
        device = SimulatedDevice(first, "phone-0")
        token = device.next("token")["token"]
        device.stop()
        port = cluster.engine.port
        say(port, "apns.log.0", b"garbage")
        say(port, "apns.snapshot.0", b"garbage")
        with ModernProvider(first) as provider:
            assert provider.push(token, {"aps": {"alert": "behind it"}}, topic=TOPIC)[0] == 200
        eventually(lambda: "of the stream APNS_Z0 in NATS is none of a node: it is passed over" in read(log), "the log names it")
        # Who comes later passes over it as well.
        second.start()
        cluster.ready()
        assert [row["token"] for row in second.api("GET", "/api/v1/tokens")["tokens"]] == [token]
        # A record of the log once more: nobody can have written that.
        say(port, "apns.log.0", message(port, "APNS_Z0", 1))
        assert {first.process.wait(PATIENCE), second.process.wait(PATIENCE)} == {4}
        flags = ("--node", "node-2", "--data", "other")
        said = last_words_of_4(start_in_vain(second.folder, cluster.certs, cluster.engine.url, *flags))
        number = said.rsplit(" ", 1)[1]
        assert f"zone 0: message {number} of the stream APNS_Z0: expected number " in said, said
        assert "another node has taken it over" not in read(log)
        assert said.endswith(f"apns-emulator cluster repair 0 {number}"), said
        told = first.run("cluster", "repair", "0", number, "--nats", cluster.engine.url).stdout
        assert told.startswith(f"message {number} of APNS_Z0 is set aside, "), told
        for node in cluster.nodes:
            node.start()
        cluster.ready()
        with ModernProvider(second) as provider:
            assert provider.push(token, {"aps": {"alert": "repaired"}}, topic=TOPIC)[0] == 200
    finally:
        cluster.stop()


def last_words_of_4(process):
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4, said
    return said.strip().splitlines()[-1].removeprefix("apns-emulator: ")
