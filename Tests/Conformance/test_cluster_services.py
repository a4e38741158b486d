"""What a provider has besides pushes is one service at all nodes: channels and broadcasts, feedback, and 410 with its time."""

import json
import time

import pytest

from harness import TOPIC, SimulatedDevice, eventually
from listener import Listener
from modern import ModernProvider
from nodes import NATS
from test_php_provider import php

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")

LATER = 4_000_000_000
ACTIVITIES = TOPIC + ".push-type.liveactivity"


def update(goals):
    return b'{"aps":{"event":"update","timestamp":1700000000,"content-state":{"goals":%d}}}' % goals


@pytest.fixture
def providers(cluster):
    """One at each node."""
    providers = [ModernProvider(node) for node in cluster.nodes]
    yield providers
    for provider in providers:
        provider.client.close()


@pytest.fixture
def listeners(cluster):
    """A device at the second node and one at the third."""
    cluster.nodes[0].api("POST", "/api/v1/reset", {"what": ["devices", "channels"]})
    listeners = [Listener(cluster.nodes[number], f"phone-{number + 3}") for number in (1, 2)]
    yield listeners
    for listener in listeners:
        listener.close()


def test_a_broadcast_at_one_node_reaches_activities_on_phones_at_the_others(cluster, providers):
    phones = [
        SimulatedDevice(cluster.nodes[number], f"phone-{number}", "--activity-type", "Ride") for number in (1, 2)]
    try:
        # A token for starting activities is the phone's last word before it is there.
        for phone in phones:
            while phone.next("token").get("context") != "start:Ride":
                pass
        # Of four channels hardly all are of one node.
        for goals in range(4):
            channel = providers[0].create_channel(0)
            start = {"event": "start", "timestamp": int(time.time()), "content-state": {"goals": 0},
                     "attributes-type": "Ride", "attributes": {}, "alert": {"title": "Ride", "body": "on"}}
            for number, phone in zip((1, 2), phones):
                text = json.dumps({"aps": start | {"input-push-channel": channel}})
                cluster.nodes[0].run("push", f"phone-{number}", ACTIVITIES, text)
                phone.notification()
            eventually(lambda: listening(cluster, channel) == 2, "both listen")
            assert providers[0].broadcast(channel, update(goals)) == (200, "")
            for phone in phones:
                told = phone.notification()
                assert (told["channel"], told["payload"]["aps"]["content-state"]) == (channel, {"goals": goals})
    finally:
        for phone in phones:
            phone.stop()


def listening(cluster, channel):
    """How many listen; each node knows of those that it serves."""
    rows = [row for node in cluster.nodes for row in node.api("GET", "/api/v1/channels")["channels"]]
    return sum(row["listeners"] for row in rows if row["id"] == channel)


def test_who_was_offline_gets_at_another_node_what_the_channel_stores(cluster, providers, listeners):
    offline, present = listeners
    channels = [(providers[number % 3].create_channel(1), providers[number % 3].create_channel(0)) for number in range(3)]
    for stored, unstored in channels:
        for listener in listeners:
            assert listener.change(join=[stored, unstored]) == 0
    offline.close()
    # Until its node has heard of that, broadcasts go to the connection that was.
    eventually(lambda: not cluster.nodes[1].api("GET", "/api/v1/devices/phone-4")["online"], "the device is offline")
    for number, (stored, unstored) in enumerate(channels):
        for goals in (10 + number, 20 + number):
            assert providers[number].broadcast(stored, update(goals), LATER) == (200, "")
            assert present.next_message()[3] == update(goals)
        assert providers[number].broadcast(unstored, update(30 + number)) == (200, "")
        assert present.next_message()[3] == update(30 + number)
    offline.emulator = cluster.nodes[0]
    offline.come_back()
    assert {offline.next_message()[3] for _ in channels} == {update(20 + number) for number in range(3)}
    assert offline.messages() == [] and present.messages() == []


def test_a_channel_is_there_at_all_nodes_until_it_is_deleted_at_any(cluster, providers, listeners):
    first, second, third = providers
    made = [first.create_channel(1) for _ in range(4)]
    # Each node reads all logs: a list is a moment behind, what a leader decides is not.
    for provider in (second, third):
        eventually(lambda: sorted(provider.channels()) == sorted(made), "each node lists the channels")
    assert listeners[0].change(join=made) == 0
    for channel in made:
        second.delete_channel(channel)
        status, body = third.broadcast(channel, update(1), LATER)
        assert (status, json.loads(body)) == (400, {"reason": "ChannelNotRegistered"})
    eventually(lambda: first.channels() == [], "no channel is listed where it was not deleted")
    assert listeners[0].messages() == []


@pytest.fixture
def bundle(cluster):
    """Certificate and key in one file, as PHP wants them."""
    path = cluster.nodes[0].path("ck.pem")
    with open(path, "w") as output:
        for part in cluster.nodes[0].push_certificate():
            with open(part) as file:
                output.write(file.read())
    return path


def feedback(node, bundle):
    return [line.split() for line in php(node, "read_feedback.php", "feedback", bundle)]


@pytest.fixture
def gone(cluster, bundle):
    """Tokens of an app that was removed from phones at the second node, which a push at the first has found out."""
    first, second, _ = cluster.nodes
    phones = [SimulatedDevice(second, f"phone-{number}") for number in range(4)]
    try:
        tokens = [phone.next("token")["token"] for phone in phones]
        for number, token in enumerate(tokens):
            second.api("POST", f"/api/v1/devices/phone-{number}/apps/{TOPIC}/remove", {})
            php(first, "simple_push.php", "gateway", bundle, token, "to an app that is gone")
        for token in tokens:
            for node in cluster.nodes:
                path = f"/api/v1/tokens/{token}"
                eventually(lambda: node.api("GET", path)["state"] == "gone", "all nodes know that the token is gone")
    finally:
        for phone in phones:
            phone.stop()
    yield tokens
    first.api("POST", "/api/v1/reset", {"what": ["devices"]})


def test_feedback_is_told_once_by_any_node(cluster, bundle, gone):
    first, second, third = cluster.nodes
    assert sorted(token for _, _, token in feedback(third, bundle)) == sorted(gone)
    assert [feedback(node, bundle) for node in (first, second, third)] == [[], [], []]


def test_410_has_the_same_time_at_all_nodes(cluster, providers, bundle, gone):
    times = {token: int(seconds) for seconds, _, token in feedback(cluster.nodes[0], bundle)}
    for token in gone:
        [answer] = {json.dumps(provider.push(token, {"aps": {"alert": "gone"}})) for provider in providers}
        status, body = json.loads(answer)
        assert (status, body["reason"]) == (410, "Unregistered")
        # In milliseconds, where the feedback service has seconds.
        assert body["timestamp"] // 1000 == times[token]
        assert abs(body["timestamp"] / 1000 - time.time()) < 60


def test_channels_and_feedback_come_back_with_a_saved_state(cluster, providers, bundle, listeners, gone):
    first, second, third = cluster.nodes
    stored, unstored = providers[0].create_channel(1), providers[0].create_channel(0)
    for listener in listeners:
        assert listener.change(join=[stored, unstored]) == 0
    listeners[0].close()
    assert providers[1].broadcast(stored, update(1), LATER) == (200, "")
    assert listeners[1].next_message()[3] == update(1)
    # How far a device got is known to all nodes once its connection has ended.
    listeners[1].close()
    state = eventually(lambda: exported(third, "phone-5"), "it is known what the device has seen")
    second.api("POST", "/api/v1/reset", {})
    assert providers[2].channels() == []
    counts = first.api("POST", "/api/v1/import", state)["imported"]
    assert (counts["channels"], counts["subscriptions"]) == (2, 4)
    assert sorted(providers[1].channels()) == sorted([stored, unstored])
    # Who had not seen the stored one gets it, at another node than before; who had does not.
    for listener, node in zip(listeners, (third, second)):
        listener.emulator = node
        listener.come_back()
    assert listeners[0].next_message()[3] == update(1)
    assert providers[2].broadcast(unstored, update(2)) == (200, "")
    assert [listener.next_message()[3] for listener in listeners] == [update(2), update(2)]
    assert sorted(token for _, _, token in feedback(second, bundle)) == sorted(gone)


def exported(node, udid):
    """All that the node knows; nothing as long as it does not know that the device has seen what is stored."""
    state = node.api("GET", "/api/v1/export")
    [channel] = [channel for channel in state["channels"] if "message" in channel]
    [seen] = [each.get("seenUntil") for each in channel["subscribers"] if each["udid"] == udid]
    return state if seen == channel["message"]["receivedAt"] else None
