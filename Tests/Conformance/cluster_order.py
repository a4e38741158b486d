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

# The packet that refuses a frame says that all before it were accepted.
REFUSED = b"\x08\x02"
# For how long an owner is stopped at most, in seconds: the others take its zones over three seconds after its last word
# (`ZoneLease.timeToLive`), which may be some time ago.
STANDSTILL = 2
# How often a machine may be too slow for that.
TRIES = 5
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


def owners(node):
    """Of each zone, as a node knows it: who, and how often it has changed hands."""
    return [(zone["owner"], zone["epoch"]) for zone in node.api("GET", "/api/v1/cluster")["zones"]]


def zone_of(token):
    """A token begins with it."""
    return int.from_bytes(token[:2], "big")


def places(cluster, devices):
    """Two nodes that have nothing of the owner of two tokens, and these."""
    zones = owners(cluster.nodes[0])
    owned = collections.defaultdict(list)
    for token in devices:
        owned[zones[zone_of(token)][0]].append(token)
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


class Scene:
    """A node passes pushes on to an owner that is stopped, and is killed; its provider sends a newer one by the third node, and the
    owner goes on."""

    def __init__(self, run):
        self.run, self.pair, self.numbers = run, run.pair, run.numbers
        self.edge, self.other, self.owner, self.token, self.another = places(run.cluster.settled(), run.devices)
        self.listener = Listener(Alone(self.other), self.token, run.devices[self.token], {}, 1)
        self.reigns = self.look()

    def look(self):
        """Who owns the zones of both tokens, and how often they have changed hands, as the third node knows."""
        zones = owners(self.other)
        return [zones[zone_of(token)] for token in (self.token, self.another)]

    def send(self, provider, token, count=1):
        """Does not wait for an answer. Answers the last number."""
        sent = [self.numbers.next() for _ in range(count)]
        provider.send(b"".join(framed(number, token, payload(number)) for number in sent))
        return sent[-1]

    def play(self):
        """Answers whether the owner still was one when it was woken, so that it has found what had come by both."""
        self.listener.start()
        # Both have their links to the owner.
        for node in (self.edge, self.other):
            with Provider(node, *self.pair) as provider:
                number = self.send(provider, self.token)
                provider.flush()
        eventually(lambda: self.listener.seen.get(self.token) == number, "the device hears what is sent")
        # Beforehand, as the owner can't be stopped for long.
        with Provider(self.other, *self.pair) as before, Provider(self.edge, *self.pair) as older, \
                Provider(self.other, *self.pair) as newest:
            self.owner.process.send_signal(signal.SIGSTOP)
            try:
                number = self.pass_on(before, older, newest, time.monotonic())
            finally:
                self.owner.process.send_signal(signal.SIGCONT)
            if is_whole := accepts(newest) and number is not None:
                eventually(lambda: self.listener.seen[self.token] == number, "the device has the newest")
        return self.cleared() and is_whole

    def pass_on(self, before, older, newest, stopped):
        """While the owner is stopped. Answers the newest one's number; nothing if there was no time for all of it."""
        # The owner will look at the other's link first. More than it takes in without looking, so that it can't see the end.
        self.send(before, self.another)
        self.send(older, self.token, 500)
        # All are on their way to the owner.
        if not comes(lambda: passed_on(self.edge) >= 500, stopped + STANDSTILL):
            return None
        self.edge.kill()
        number = self.send(newest, self.token)
        # It sleeps for so long that it notices.
        time.sleep(max(0, stopped + 0.5 - time.monotonic()))
        return number if comes(lambda: passed_on(self.other) >= 2, stopped + STANDSTILL) else None

    def cleared(self):
        """All nodes are there again, as is what came late. Answers whether the owner has lost nothing."""
        is_owner = self.look() == self.reigns
        if not self.edge.is_alive:
            self.edge.start()
        # The owner may end, if it was not woken in time.
        self.run.ready("the scene is over")
        self.listener.stops.set()
        self.listener.join()
        return is_owner


def comes(condition, deadline):
    """Whether it holds in time."""
    while not condition():
        if time.monotonic() >= deadline:
            return False
    return True


def accepts(provider):
    """Whether all that was sent by it is accepted."""
    try:
        return provider.flush()[:2] == REFUSED
    except OSError:
        return False


def pass_on_and_die(run):
    """Plays the scene until the machine was fast enough for it. Answers what devices heard out of order."""
    inversions = []
    for _ in range(TRIES):
        scene = Scene(run)
        is_whole = scene.play()
        inversions += scene.listener.inversions
        if is_whole:
            return inversions
    raise AssertionError(f"in {TRIES} tries the owner was not woken in time")
