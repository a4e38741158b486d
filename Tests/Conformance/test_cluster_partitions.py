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


def owner(cluster, token):
    """The node that decides about a token."""
    zone = cluster.nodes[0].api("GET", "/api/v1/cluster")["zones"][int.from_bytes(token[:2], "big")]
    return next(node for node in cluster.nodes if node.name == zone["owner"])


def push(node, pair, token, text):
    """What the gateway says of it: accepted, or not."""
    with Provider(node, *pair) as provider:
        provider.send(framed(1, token, json.dumps({"text": text}).encode()))
        return provider.flush()[:2]


def test_a_push_that_was_given_up_does_not_arrive_behind_a_newer_one(cluster):
    first = cluster.nodes[0]
    pair = first.push_certificate()
    device = Device(first, *first.device_certificate("phone-1"), TOPIC)
    token = device.connect().app_token()
    device.close()
    there = owner(cluster, token)
    edge, other = [node for node in cluster.nodes if node is not there]
    # So that there is a link.
    assert push(edge, pair, token, "oldest") == ACCEPTED
    cluster.ways.between[edge.name, there.name].silence()
    # Of shutting down no packet tells where nothing was accepted.
    assert push(edge, pair, token, "given up") == b""
    assert push(other, pair, token, "newer") == ACCEPTED
    cluster.ways.heal()
    # On the same link, so behind what was held.
    assert push(edge, pair, bytes([0, token[1]]) + bytes(29) + b"\1", "to nobody") == b"\x08\x08"
    [message] = eventually(lambda: device.connect().kept_messages(), "the device has what is kept")
    assert json.loads(message[3]) == {"text": "newer"}
    device.close()
