"""What nodes say to each other arrives late, or never: exact cases of what `test_cluster_checker.py` tries by chance."""

import json

import pytest

from courier import Device
from harness import TOPIC, eventually
from legacy import Provider, framed
from nodes import NATS, Cluster

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")
ACCEPTED = b"\x08\x02"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, issued):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), issued).through_ways()
    try:
        yield cluster.start().settled()
    finally:
        cluster.stop()


def zones(cluster):
    return cluster.nodes[0].api("GET", "/api/v1/cluster")["zones"]


def owner(cluster, token):
    """The node that decides about a token."""
    zone = zones(cluster)[int.from_bytes(token[:2], "big")]
    return next(node for node in cluster.nodes if node.name == zone["owner"])


def zone_of(cluster, node):
    return next(zone["zone"] for zone in zones(cluster) if zone["owner"] == node.name)


def frame(identifier, token, text):
    return framed(identifier, token, json.dumps({"text": text}).encode())


def push(node, pair, token, text):
    """What the gateway says of it: accepted, or not."""
    with Provider(node, *pair) as provider:
        provider.send(frame(1, token, text))
        return provider.flush()[:2]


def nobodys(zone):
    return bytes([0, zone]) + bytes(29) + b"\1"


def a_device_with_a_link(cluster, udid):
    """The device, its token, the node that decides about that, and two others: the first has pushed to it."""
    first = cluster.nodes[0]
    pair = first.push_certificate()
    device = Device(first, *first.device_certificate(udid), TOPIC)
    token = device.connect().app_token()
    device.close()
    there = owner(cluster, token)
    edge, other = [node for node in cluster.nodes if node is not there]
    assert push(edge, pair, token, "oldest") == ACCEPTED
    return pair, device, token, there, edge, other


def kept(device):
    [message] = eventually(lambda: device.connect().stored_notifications(), "the device has what is kept")
    device.close()
    return json.loads(message[3])


def test_a_push_that_was_given_up_does_not_arrive_behind_a_newer_one(cluster):
    pair, device, token, there, edge, other = a_device_with_a_link(cluster, "phone-1")
    cluster.ways.between[edge.name, there.name].silence()
    # Of shutting down no packet tells where nothing was accepted.
    assert push(edge, pair, token, "given up") == b""
    assert push(other, pair, token, "newer") == ACCEPTED
    cluster.ways.heal()
    # On the same link, so behind what was held.
    assert push(edge, pair, nobodys(token[1]), "to nobody") == b"\x08\x08"
    assert kept(device) == {"text": "newer"}


def test_an_error_packet_waits_for_what_is_under_way_behind(cluster):
    """Its provider takes that for thrown away, and may send something newer by another node: it must not come behind that."""
    pair, device, token, there, edge, other = a_device_with_a_link(cluster, "phone-2")
    cluster.ways.between[edge.name, there.name].silence()
    with Provider(edge, *pair) as provider:
        provider.send(frame(1, nobodys(zone_of(cluster, other)), "to nobody") + frame(2, token, "thrown away"))
        assert provider.read_to_end() == b"\x08\x08\0\0\0\1"
    assert push(other, pair, token, "newer") == ACCEPTED
    cluster.ways.heal()
    assert push(edge, pair, nobodys(token[1]), "to nobody") == b"\x08\x08"
    assert kept(device) == {"text": "newer"}
