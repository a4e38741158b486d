"""Several nodes are one emulator: a provider at any, a device at any other, whoever owns the zone, and whoever dies."""

import base64
import json
import random
import shutil
import time

import pytest

from courier import Device
from harness import TIMEOUT, TOPIC, Emulator, SimulatedDevice, eventually
from legacy import Provider, framed
from nodes import NATS

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


def body(text):
    return json.dumps({"aps": {"alert": text}}).encode()


def push(node, token, text):
    result = node.run(
        "send", "--topic", TOPIC, "--token", token, "--payload", body(text).decode(), check=False)
    assert result.stdout, result.stderr
    return json.loads(result.stdout)


def zone(token):
    return int(token[:4], 16)


def test_a_push_at_any_node_reaches_a_device_at_any_node(cluster):
    cluster.nodes[0].push_certificate()
    devices = [SimulatedDevice(cluster.nodes[number % 3], f"phone-{number}") for number in range(6)]
    try:
        tokens = [device.next("token")["token"] for device in devices]
        assert len({zone(token) for token in tokens}) > 2, "one zone only would show nothing"
        for at, node in enumerate(cluster.nodes):
            for number, (device, token) in enumerate(zip(devices, tokens)):
                text = f"{number} from node {at + 1}"
                assert push(node, token, text)["status"] == 200
                assert device.notification()["payload"]["aps"]["alert"] == text
    finally:
        for device in devices:
            device.stop()


def test_all_nodes_know_all_tokens_and_what_is_kept(cluster):
    device = SimulatedDevice(cluster.nodes[1], "phone-0")
    token = device.next("token")["token"]
    device.stop()
    assert push(cluster.nodes[2], token, "kept")["status"] == 200
    for node in cluster.nodes:
        row = eventually(lambda node=node: node.api("GET", f"/api/v1/tokens/{token}"), "the node knows the token")
        assert row["udid"] == "phone-0"
    device = SimulatedDevice(cluster.nodes[0], "phone-0")
    try:
        assert device.notification()["payload"]["aps"]["alert"] == "kept"
    finally:
        device.stop()


def test_error_packets_come_in_order_across_nodes(cluster):
    pair = cluster.nodes[0].push_certificate()
    device = SimulatedDevice(cluster.nodes[0], "phone-1")
    token = bytes.fromhex(device.next("token")["token"])
    device.stop()
    for node in cluster.nodes:
        # In each zone a token that nobody has: its owner says so, wherever it is.
        unknown = bytes([0, random.randrange(cluster.zones)]) + bytes(29) + b"\1"
        with Provider(node, *pair) as provider:
            provider.send(framed(1, token, body("one")) + framed(2, unknown, body("two")) + framed(3, token, body("three")))
            assert provider.read_to_end() == bytes([8, 8, 0, 0, 0, 2])


def test_the_clock_faults_and_a_reset_are_for_all_nodes(cluster):
    first, second, third = cluster.nodes
    device = SimulatedDevice(third, "phone-3")
    token = device.next("token")["token"]
    device.stop()
    moved = second.api("PUT", "/api/v1/clock", {"freeze": True, "advance": "1h"})
    for node in cluster.nodes:
        eventually(
            lambda node=node: node.api("GET", "/api/v1/clock")["now"] == moved["now"], "all nodes have the clock")
    first.api("POST", "/api/v1/faults", {"name": "busy", "effect": {"reason": "TooManyRequests"}})
    for node in cluster.nodes:
        eventually(
            lambda node=node: push(node, token, "faulted")["status"] == 429, "the fault is injected at all nodes")
    third.api("POST", "/api/v1/reset", {})
    for node in cluster.nodes:
        eventually(lambda node=node: not node.api("GET", "/api/v1/tokens")["tokens"], "all nodes have forgotten")
        assert not node.api("GET", "/api/v1/clock")["frozen"]
        assert not node.api("GET", "/api/v1/faults")["faults"]
    # What comes after is there, also for a node that reads it all anew.
    device = SimulatedDevice(third, "phone-3")
    token = device.next("token")["token"]
    device.stop()
    second.stop()
    second.start()
    cluster.ready().settled()
    assert [row["token"] for row in second.api("GET", "/api/v1/tokens")["tokens"]] == [token]


def test_a_saved_state_of_one_node_goes_into_the_cluster_and_out_again(cluster, tmp_path, issued):
    alone = Emulator(tmp_path)
    shutil.copytree(issued, tmp_path / "certs")
    alone.start()
    try:
        devices = [SimulatedDevice(alone, f"phone-{number}") for number in range(6)]
        tokens = [device.next("token")["token"] for device in devices]
        for device in devices:
            device.stop()
        for number, token in enumerate(tokens):
            assert push(alone, token, f"kept {number}")["status"] == 200
        state = alone.api("GET", "/api/v1/export")
    finally:
        alone.stop()
    cluster.nodes[0].api("POST", "/api/v1/reset", {"what": ["devices"]})
    counts = cluster.nodes[1].api("POST", "/api/v1/import", state)["imported"]
    assert (counts["devices"], counts["messages"]) == (6, 6)

    def tokens_of(document):
        return {app["token"]: app.get("message", {}).get("payloadBase64") for device in document["devices"] for app in device["apps"]}
    assert None not in tokens_of(state).values()
    expected, deadline = tokens_of(state), time.monotonic() + TIMEOUT
    for node in cluster.nodes:
        while (found := tokens_of(node.api("GET", "/api/v1/export"))) != expected:
            assert time.monotonic() < deadline, f"{node.name}: {sorted(found.items() ^ expected.items())}"
            time.sleep(0.02)
    # The tokens that providers have in their books go on working, at any node.
    for number, token in enumerate(tokens):
        assert push(cluster.nodes[number % 3], token, f"newer {number}")["status"] == 200
        device = SimulatedDevice(cluster.nodes[(number + 1) % 3], f"phone-{number}")
        try:
            assert device.notification()["payload"]["aps"]["alert"] == f"newer {number}"
        finally:
            device.stop()


def test_a_capture_at_one_node_has_the_verdicts_of_all(cluster):
    """What came by a node is in its file, whoever decided, and no more is taken for accepted than was."""
    node = cluster.nodes[0]
    pair = node.push_certificate()
    device = SimulatedDevice(node, "phone-1")
    token = bytes.fromhex(device.next("token")["token"])
    device.stop()
    node.stop()
    path = node.path("capture.ndjson")
    node.start("--capture", path)
    cluster.ready().settled()
    unknown = [bytes([0, zone]) + bytes(29) + b"\1" for zone in range(cluster.zones)]
    for n, other in enumerate(unknown):
        with Provider(node, *pair) as provider:
            provider.send(framed(2 * n, token, body("good")) + framed(2 * n + 1, other, body("bad")))
            assert provider.read_to_end() == bytes([8, 8]) + (2 * n + 1).to_bytes(4)
    node.stop()
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    refused = [line["outcome"]["status"] for line in lines if "outcome" in line]
    accepted = b"".join(base64.b64decode(line.get("frame") or line.get("frames")) for line in lines
                        if "outcome" not in line and ("frame" in line or "frames" in line))
    assert refused == [8] * cluster.zones
    # In the order of sending on each connection, and nothing that was refused.
    assert accepted == b"".join(framed(2 * n, token, body("good")) for n in range(cluster.zones))
    node.start()
    cluster.ready().settled()


def test_a_killed_node_loses_nothing_that_was_accepted(cluster):
    pair = cluster.nodes[0].push_certificate()
    phones = [Device(cluster.nodes[0], *cluster.nodes[0].device_certificate(f"phone-{n}"), TOPIC) for n in range(6)]
    tokens = [phone.connect().app_token() for phone in phones]
    for phone in phones:
        phone.close()
    killed, *others = random.sample(cluster.nodes, 3)
    with Provider(others[0], *pair) as provider:
        provider.send(b"".join(framed(n, token, body(f"before {n}")) for n, token in enumerate(tokens)))
        assert provider.flush()[:2] == b"\x08\x02"
    killed.kill()
    # Zones of the killed node are taken over; until then their pushes are refused, not lost.
    def is_accepted(n, token):
        with Provider(others[1], *pair) as provider:
            provider.send(framed(n, token, body(f"after {n}")))
            return provider.flush()[:2] == b"\x08\x02"
    for n, token in enumerate(tokens):
        eventually(lambda n=n, token=token: is_accepted(n, token), "the push is accepted")
    for n, (phone, token) in enumerate(zip(phones, tokens)):
        phone.emulator = others[n % 2]
        messages = phone.connect().stored_notifications()
        assert [json.loads(message[3])["aps"]["alert"] for message in messages] == [f"after {n}"]
        phone.acknowledge(messages[0])
        phone.close()
    killed.start()
    cluster.ready().settled()
