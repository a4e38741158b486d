"""The order in which devices that stay online are given messages, and what had become of the pushes that came out of order."""

import collections
import json
import random
import select
import signal
import threading
import time

from courier import ACK, FILTER, MESSAGE
from harness import eventually
from legacy import Provider, framed

# What a provider knows nothing more of: the service has ended its connection, or it has waited for too long.
UNANSWERED = ("cut", "given up")


def payload(number):
    return json.dumps({"number": number}).encode()


def number_of(message):
    return json.loads(message[3])["number"]


class Fates:
    """What senders know of each push by its number: accepted, refused, cut (by the service, unanswered) or given up (by the
    provider itself, unanswered)."""

    def __init__(self):
        self.of, self.counts = {}, collections.Counter()

    def note(self, numbers, fate):
        self.of.update(dict.fromkeys(numbers, fate))
        self.counts[fate] += len(numbers)


# A device had the newer one, and then the older one.
Inversion = collections.namedtuple("Inversion", "token newer older")


class Listener(threading.Thread):
    """A device that stays online, at any node: what it is given never goes back."""

    def __init__(self, cluster, token, device, seen, seed):
        super().__init__(daemon=True)
        self.cluster, self.token, self.device, self.seen = cluster, token, device, seen
        self.random = random.Random(seed)
        self.heard, self.newest, self.inversions = 0, 0, []
        self.stops = threading.Event()

    def run(self):
        while not self.stops.is_set():
            try:
                self.device.emulator = self.random.choice([node for node in self.cluster.nodes if node.is_alive])
                self.listen(self.device.connect())
            except (OSError, EOFError, IndexError):
                # Each attempt costs both sides a handshake.
                time.sleep(0.1)
            finally:
                self.device.close()

    def listen(self, device):
        device.send(FILTER, [(1, device.base_token), (2, device.topic)])
        while not self.stops.is_set():
            if not device.socket.pending() and not select.select([device.socket], [], [], 0.1)[0]:
                continue
            command, items = device.receive()
            if command == MESSAGE:
                self.take(items)
                device.send(ACK, [(4, items[4]), (8, b"\0")])

    def take(self, message):
        number, newest = number_of(message), self.seen.get(self.token, 0)
        self.heard, self.newest = self.heard + 1, max(number, self.newest)
        if number < newest:
            self.inversions.append(Inversion(self.token, newest, number))
        self.seen[self.token] = max(number, newest)


def places(cluster, devices):
    """Two nodes that have nothing of the owner of two tokens, and these."""
    zones = cluster.nodes[0].api("GET", "/api/v1/cluster")["zones"]
    # A token begins with its zone.
    owned = collections.defaultdict(list)
    for token in devices:
        owned[zones[int.from_bytes(token[:2], "big")]["owner"]].append(token)
    name, tokens = max(owned.items(), key=lambda each: len(each[1]))
    [owner] = [node for node in cluster.nodes if node.name == name]
    others = [node for node in cluster.nodes if node is not owner]
    return *others, owner, tokens[0], tokens[1]


class Alone:
    """Of a cluster, one node."""

    def __init__(self, node):
        self.nodes = [node]


def passed_on(node):
    """Pushes that wait for another node's answer. All metrics are written for that, so it is not asked all the time."""
    time.sleep(0.05)
    return node.metric("apns_emulator_relay_waiting")


def pass_on_and_die(cluster, pair, devices, numbers):
    """A node passes pushes on to an owner that is stopped, and is killed; its provider sends a newer one by the third node, and the
    owner goes on. Answers the listener that has heard it all."""
    edge, other, owner, token, another = places(cluster.settled(), devices)
    listener = Listener(Alone(other), token, devices[token], {}, 1)
    listener.start()

    def push(node, token, count=1):
        """By a connection of its own, which is not waited for."""
        provider = Provider(node, *pair)
        sent = [numbers.next() for _ in range(count)]
        provider.send(b"".join(framed(number, token, payload(number)) for number in sent))
        return provider, sent[-1]

    # Both have their links to the owner.
    for node in (edge, other):
        provider, number = push(node, token)
        provider.flush()
        provider.close()
    eventually(lambda: listener.seen.get(token) == number, "the device hears what is sent")
    owner.process.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    # The owner will look at the other's link first. More than it takes in without looking, so that it can't see the end.
    providers = [push(other, another), push(edge, token, 500)]
    eventually(lambda: passed_on(edge) >= 500, "all are on their way to the owner")
    edge.kill()
    newest, number = push(other, token)
    # It sleeps for so long that it notices.
    time.sleep(max(0, stopped + 0.5 - time.monotonic()))
    eventually(lambda: passed_on(other) >= 2, "the newer one is, too")
    owner.process.send_signal(signal.SIGCONT)
    newest.flush()
    eventually(lambda: listener.seen[token] == number, "the device has the newest")
    for provider in [newest, *(provider for provider, _ in providers)]:
        provider.close()
    edge.start()
    cluster.ready()
    listener.stops.set()
    listener.join()
    return listener
