"""Whatever dies, stops or is cut off among nodes and engine: a device gets the newest accepted message, never an older one, never two,
and all nodes know the same in the end. `CLUSTER_ROUNDS=200 CLUSTER_SEED=…` for more of it by hand."""

import json
import os
import random
import signal
import threading
import time

import pytest

from courier import Device
from harness import PATIENCE, TOPIC, eventually
from legacy import Provider, framed
from nodes import NATS, Cluster

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")

ROUNDS = int(os.environ.get("CLUSTER_ROUNDS", "4"))
SEED = int(os.environ.get("CLUSTER_SEED", "1"))
DEVICES = 12
REFUSED = b"\x08\x02"


class Numbers:
    """Each push has a number of its own, which rises for each token in the order of sending."""

    def __init__(self):
        self.last, self.lock = 0, threading.Lock()

    def next(self):
        with self.lock:
            self.last += 1
            return self.last


class Sender(threading.Thread):
    """A provider that pushes to its own tokens, over connections to any node, until it is told to stop."""

    def __init__(self, cluster, pair, tokens, numbers, seed):
        super().__init__(daemon=True)
        self.cluster, self.pair, self.tokens, self.numbers = cluster, pair, tokens, numbers
        self.random = random.Random(seed)
        self.accepted, self.attempted = {}, {}
        self.stops = threading.Event()

    def run(self):
        while not self.stops.is_set():
            try:
                self.connection(self.random.choice([node for node in self.cluster.nodes if node.is_alive]))
            except (OSError, IndexError):
                time.sleep(0.02)

    def connection(self, node):
        with Provider(node, *self.pair) as provider:
            # A node that stands still must not hold the provider for ever.
            provider.socket.settimeout(8)
            newest, frames = {}, b""
            for _ in range(self.random.randint(1, 40)):
                token, number = self.random.choice(self.tokens), self.numbers.next()
                newest[token] = number
                self.attempted[token] = number
                frames += framed(number, token, json.dumps({"number": number}).encode())
            provider.send(frames)
            # The packet that refuses the next frame says that all of these were accepted.
            if provider.flush()[:2] == REFUSED:
                self.accepted.update(newest)


def kill_a_node(cluster, chance):
    cluster.nodes[chance.randrange(3)].kill()


def stop_a_node_for_a_while(cluster, chance):
    node = cluster.nodes[chance.randrange(3)]
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(chance.choice((0.5, 2, 4.5)))
    node.process.send_signal(signal.SIGCONT)


def drain_a_node(cluster, chance):
    cluster.nodes[chance.randrange(3)].stop()


def kill_the_engine(cluster, chance):
    cluster.engine.kill()
    time.sleep(chance.choice((0, 0.3, 2)))
    cluster.engine.start()


def stop_the_engine_for_a_while(cluster, chance):
    cluster.engine.pause()
    time.sleep(chance.choice((0.3, 1.5, 3.5)))
    cluster.engine.go_on()


FAULTS = [kill_a_node, stop_a_node_for_a_while, kill_the_engine, drain_a_node, stop_the_engine_for_a_while]


def number(message):
    return json.loads(message[3])["number"]


def known(node):
    """Tokens and kept messages of everybody, as one node knows them."""
    state = node.api("GET", "/api/v1/export")
    return {
        app["token"]: (device["udid"], (app.get("message") or {}).get("payloadBase64"))
        for device in state["devices"] for app in device.get("apps", [])}


def heal(cluster):
    for node in cluster.nodes:
        # A node that has lost a zone ends, and whoever runs it starts it again.
        if not node.is_alive:
            node.start()
    cluster.ready()


def test_no_fault_loses_or_doubles_a_message(tmp_path, issued):
    chance, numbers, counts = random.Random(SEED), Numbers(), {}
    cluster = Cluster(tmp_path, issued)
    try:
        cluster.start()
        first = cluster.nodes[0]
        pair = first.push_certificate()
        devices = [Device(first, *first.device_certificate(f"phone-{n % 6}"), TOPIC) for n in range(6)]
        tokens = [device.connect().app_token() for device in devices]
        for device in devices:
            device.close()
        owed, seen, acknowledged, checked = {}, {}, {}, 0
        for round_number in range(ROUNDS):
            # Two providers, each with tokens of its own, so that the order of its pushes is known.
            senders = [
                Sender(cluster, pair, tokens[part::2], numbers, f"{SEED}/{round_number}/{part}") for part in (0, 1)]
            for sender in senders:
                sender.start()
            time.sleep(chance.random() * 0.7)
            fault = FAULTS[round_number % len(FAULTS)] if ROUNDS < 20 else chance.choice(FAULTS)
            fault(cluster, chance)
            counts[fault.__name__] = counts.get(fault.__name__, 0) + 1
            time.sleep(chance.random() * 0.7)
            for sender in senders:
                sender.stops.set()
            for sender in senders:
                sender.join(PATIENCE)
                assert not sender.is_alive()
                owed.update(sender.accepted)
            heal(cluster)
            for device, token in zip(devices, tokens):
                device.emulator = chance.choice(cluster.nodes)
                attempted = max(sender.attempted.get(token, 0) for sender in senders)
                messages = eventually(lambda device=device: kept(device), "the device is let in")[0]
                found = [number(message) for message in messages]
                where = f"round {round_number} ({fault.__name__}), seed {SEED}, token {tokens.index(token)}: {found}"
                assert len(found) <= 1, f"more than one message: {where}"
                if token in owed:
                    assert found, f"accepted {owed[token]} but nothing came: {where}"
                    assert found[0] >= owed[token], f"accepted {owed[token]} but an older one came: {where}"
                    checked += 1
                if found:
                    assert found[0] >= seen.get(token, 0), f"older than {seen.get(token)}, which the device had: {where}"
                    assert found[0] > acknowledged.get(token, 0), f"acknowledged before: {where}"
                    assert found[0] <= max(attempted, owed.get(token, 0), seen.get(token, 0)), f"never sent: {where}"
                    seen[token] = found[0]
                    if chance.random() < 0.6:
                        owed.pop(token, None)
                        if acknowledges(device, messages[0]):
                            acknowledged[token] = found[0]
                    else:
                        owed[token] = found[0]
                device.close()
            states = eventually(lambda: alike([known(node) for node in cluster.nodes]), "all nodes know the same")
            assert set(states[0]) == {token.hex() for token in tokens}
        assert checked >= ROUNDS, f"only {checked} messages were known to be accepted"
        print(f"{ROUNDS} rounds, {numbers.last} pushes, {checked} checks, violations 0; {counts}")
    finally:
        cluster.stop()


def kept(device):
    """The kept messages in a list, or nothing if the device has to come again."""
    try:
        return [device.connect().kept_messages()]
    except (OSError, EOFError):
        device.close()
        return None


def acknowledges(device, message):
    """Whether the acknowledgement was heard for sure: a zone that moves ends its devices' connections at any moment."""
    try:
        device.acknowledge(message)
        return True
    except (OSError, EOFError):
        return False


def alike(states):
    return states if all(state == states[0] for state in states) else None
