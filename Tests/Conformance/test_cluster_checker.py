"""Whatever dies, stops or is cut off among nodes and NATS: a device gets the newest accepted message, never an older one, never two,
nor one that was never answered behind a newer one, and all nodes know the same in the end. `CLUSTER_ROUNDS=200 CLUSTER_SEED=…` for more of it
by hand, with how long phones were offline; `CLUSTER_FAULTS=silence` for those with that in their names."""

import collections
import os
import random
import threading
import time

import httpx
import pytest

from cluster_faults import CUTS, KILLS, STOPS
from cluster_order import REFUSED, UNANSWERED, Fates, Listener, number_of, owners, pass_on_and_die, payload
from cluster_phones import Phones
from courier import Device
from harness import TIMEOUT, TOPIC, eventually
from legacy import Provider, framed
from modern import ModernProvider, issue_key
from nodes import NATS, Cluster

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")

ROUNDS = int(os.environ.get("CLUSTER_ROUNDS", "3"))
# More than a test of every day has time for.
IS_LONG = ROUNDS >= 20
# Between a provider's connections, in seconds.
PAUSE = 0 if IS_LONG else 0.05
# This one's first rounds are short.
SEED = int(os.environ.get("CLUSTER_SEED", "6"))
FAULTS = [fault for fault in KILLS + STOPS + CUTS if os.environ.get("CLUSTER_FAULTS", "") in fault.__name__]
# Few rounds have one of each kind after the other.
FEW = [fault for each in zip(CUTS, KILLS, STOPS + STOPS) for fault in each]
SHUTDOWN = b"\x08\x0a"
# Seconds that a provider waits for a node that may never answer, and a device.
PROVIDER_TIMEOUT, DEVICE_TIMEOUT = 8, 3


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
        self.accepted, self.fates = {}, Fates()
        self.stops = threading.Event()

    def run(self):
        while not self.stops.wait(PAUSE):
            try:
                self.connection(self.random.choice([node for node in self.cluster.nodes if node.is_alive]))
            except (OSError, IndexError, httpx.HTTPError):
                time.sleep(0.02)

    def next_push(self):
        return self.random.choice(self.tokens), self.numbers.next()

    def note(self, pushes, fate):
        """Pushes in the order of sending, and what became of them."""
        self.fates.note([number for _, number in pushes], fate)
        if fate == "accepted":
            self.accepted.update(pushes)


class LegacySender(Sender):
    """By the binary protocol."""

    def connection(self, node):
        with Provider(node, *self.pair, timeout=PROVIDER_TIMEOUT) as provider:
            # Now and then so many that what reads them has to come back for the rest.
            most = self.random.choice((40, 40, 40, 800 if IS_LONG else 40))
            pushes = [self.next_push() for _ in range(self.random.randint(1, most))]
            answer = self.answer(provider, pushes)
            if answer is None:
                self.note(pushes, "given up")
            elif answer[:2] == REFUSED:
                # The packet that refuses the next frame says that all of these were accepted.
                self.note(pushes, "accepted")
            elif answer[:2] == SHUTDOWN:
                # It names the last one that was.
                last = int.from_bytes(answer[2:], "big")
                self.note([push for push in pushes if push[1] <= last], "accepted")
                self.note([push for push in pushes if push[1] > last], "refused")
            else:
                self.note(pushes, "cut")

    @staticmethod
    def answer(provider, pushes):
        """What the service says to these: nothing if it ends the connection, None if the provider waits in vain."""
        try:
            provider.send(b"".join(framed(number, token, payload(number)) for token, number in pushes))
            return provider.flush()
        except TimeoutError:
            return None
        except OSError:
            return b""


class HTTPSender(Sender):
    """By HTTP/2, with a verdict for each."""

    def connection(self, node):
        with ModernProvider(node) as provider:
            provider.client.timeout = PROVIDER_TIMEOUT
            for _ in range(self.random.randint(1, 40)):
                if self.stops.is_set():
                    return
                token, number = self.next_push()
                fate = self.fate(provider, token, number)
                self.note([(token, number)], fate)
                if fate in UNANSWERED:
                    return

    @staticmethod
    def fate(provider, token, number):
        try:
            status, body = provider.push(token.hex(), {"number": number})
        except httpx.TimeoutException:
            return "given up"
        except httpx.HTTPError:
            return "cut"
        assert status in (200, 503), body
        return "accepted" if status == 200 else "refused"


class Books:
    """What each token is owed, and what its device has had. One device is asked at a time, so all this is in order."""

    def __init__(self, chance):
        self.chance = chance
        self.owed, self.seen, self.acknowledged, self.checked = {}, {}, {}, 0

    def visit(self, device, token, where):
        """The device comes and gets what is kept for it; False if it was not let in."""
        try:
            messages = device.connect().stored_notifications()
        except (OSError, EOFError):
            return False
        else:
            self.check(device, token, messages, where)
            return True
        finally:
            device.close()

    def check(self, device, token, messages, where):
        found = [number_of(message) for message in messages]
        where = f"{where}: {found}"
        assert len(found) <= 1, f"more than one message: {where}"
        if token in self.owed:
            assert found, f"accepted {self.owed[token]} but nothing came: {where}"
            assert found[0] >= self.owed[token], f"accepted {self.owed[token]} but an older one came: {where}"
            self.checked += 1
        if not found:
            return
        assert found[0] >= self.seen.get(token, 0), f"older than {self.seen[token]}, which the device had: {where}"
        assert found[0] > self.acknowledged.get(token, 0), f"acknowledged before: {where}"
        self.seen[token] = found[0]
        if self.chance.random() < 0.6:
            self.owed.pop(token, None)
            if acknowledges(device, messages[0]):
                self.acknowledged[token] = found[0]
        else:
            self.owed[token] = found[0]

    def heard(self, listener):
        """What a device had online, and acknowledged, is not owed to it any more."""
        if listener.newest >= self.owed.get(listener.token, 0):
            self.owed.pop(listener.token, None)

    def note(self, sender):
        """What was accepted for certain, unless the device has had it, or something newer, meanwhile."""
        for token, number in sender.accepted.items():
            if number > self.seen.get(token, 0):
                self.owed[token] = number


def acknowledges(device, message):
    """Whether the acknowledgement was heard for sure: a zone that moves ends its devices' connections at any moment."""
    try:
        device.acknowledge(message)
        return True
    except (OSError, EOFError):
        return False


class Visitor(threading.Thread):
    """Devices that come to any node while things go wrong: what they are told by a node whose time has run out, they must not be."""

    def __init__(self, cluster, devices, books, where, seed):
        super().__init__(daemon=True)
        self.cluster, self.devices, self.books, self.where = cluster, devices, books, where
        self.random = random.Random(seed)
        self.visits, self.violation = 0, None
        self.stops = threading.Event()

    def run(self):
        try:
            while not self.stops.is_set():
                token = self.random.choice(list(self.devices))
                device = self.devices[token]
                device.emulator = self.random.choice(self.cluster.nodes)
                place = f"{self.where}, {device.emulator.name} amid it"
                self.visits += self.books.visit(device, token, place)
                time.sleep(0.02)
        except AssertionError as violation:
            self.violation = violation


def known(node):
    """Tokens and kept messages of everybody, as one node knows them."""
    state = node.api("GET", "/api/v1/export")
    return {
        app["token"]: (device["udid"], (app.get("message") or {}).get("payloadBase64"))
        for device in state["devices"] for app in device.get("apps", [])}


def alike(states):
    return states if all(state == states[0] for state in states) else None


class Run:
    """The rounds."""

    def __init__(self, cluster, phones=None):
        self.phones = phones
        self.cluster, self.chance, self.numbers = cluster, random.Random(SEED), Numbers()
        self.counts, self.faults = collections.Counter(), collections.Counter()
        self.books = Books(self.chance)
        self.epochs = [0] * cluster.zones

    def start(self):
        first = self.cluster.nodes[0]
        self.pair = first.push_certificate()
        self.visitors, self.listeners = self.devices_with(range(3)), self.devices_with(range(3, 6))
        self.devices = self.visitors | self.listeners

    def devices_with(self, numbers):
        """By their tokens: one for each provider."""
        first, devices = self.cluster.nodes[0], {}
        for number in numbers:
            # These have their certificates already.
            device = Device(first, *first.device_certificate(f"phone-{number}"), TOPIC)
            device.timeout = DEVICE_TIMEOUT
            token = eventually(lambda device=device: registered(device), "the device has a token")
            devices[token] = device
        return devices

    def round(self, number):
        # Of its own, as what others draw depends on when they do.
        chance = random.Random(f"{SEED}/{number}")
        fault = FEW[number % len(FEW)] if not IS_LONG and FEW[0] in FAULTS else chance.choice(FAULTS)
        where = f"round {number} ({fault.__name__}), seed {SEED}"
        tokens, seed = list(self.devices), f"{SEED}/{number}"
        # Each provider has tokens of its own, so that the order of its pushes is known.
        kinds = (LegacySender, LegacySender, HTTPSender)
        senders = [
            kind(self.cluster, self.pair, tokens[part::3], self.numbers, f"{seed}/{part}")
            for part, kind in enumerate(kinds)]
        visitor = Visitor(self.cluster, self.visitors, self.books, where, f"{seed}/visitor")
        listeners = [
            Listener(self.cluster, token, device, self.books.seen, f"{seed}/{token.hex()}")
            for token, device in self.listeners.items()]
        everybody = (*listeners, *senders, visitor)
        for each in everybody:
            each.start()
        time.sleep(chance.random() * 0.7)
        fault(self.cluster, chance)
        self.faults[fault.__name__] += 1
        self.cluster.ways.heal()
        time.sleep(chance.random() * 0.7)
        for each in (visitor, *senders):
            each.stops.set()
        for each in (visitor, *senders, *listeners):
            each.stops.set()
            each.join(TIMEOUT)
            assert not each.is_alive(), f"{where}: {each} does not end"
        assert not visitor.violation, visitor.violation
        self.counts["visits"] += visitor.visits
        self.check_order(listeners, senders, where)
        for sender in senders:
            self.counts += sender.fates.counts
            self.books.note(sender)
        self.look(where)
        if self.phones:
            self.phones.note(fault.__name__)

    def check_order(self, listeners, senders, where):
        """Nothing older comes behind something newer. Only who has given up waiting, and then sends by another connection, has said
        nothing of an order."""
        fates = {number: fate for sender in senders for number, fate in sender.fates.of.items()}
        for listener in listeners:
            self.counts["heard"] += listener.heard
            self.books.heard(listener)
            for token, newer, older in listener.inversions:
                told = f"{older} ({fates.get(older)}) came behind {newer} ({fates.get(newer)}): {where}, token {token.hex()}"
                assert fates.get(older) == "given up", told
                self.counts["late"] += 1

    def until(self, condition, what):
        """A node that has lost a zone ends, which may be some time after the fault, and whoever runs it starts it again."""
        def holds():
            for node in self.cluster.nodes:
                if not node.is_alive:
                    self.counts["starts again"] += 1
                    node.start()
            try:
                return condition()
            except OSError:
                # Of a node that is just ending.
                return None
        return eventually(holds, what)

    def ready(self, where):
        self.until(lambda: not any(node.unreadiness() for node in self.cluster.nodes), f"all nodes are ready: {where}")

    def look(self, where):
        nodes = self.cluster.nodes
        self.ready(where)
        for token, device in self.devices.items():
            device.emulator = self.chance.choice(nodes)
            place = f"{where}, token {list(self.devices).index(token)}"
            self.until(lambda: self.books.visit(device, token, place), f"the device is let in: {where}")
        states = self.until(lambda: alike([known(node) for node in nodes]), f"all nodes know the same: {where}")
        assert {token.hex() for token in self.devices} <= set(states[0]), where
        assert len(states[0]) == len(self.devices) + (self.phones.count if self.phones else 0), where
        zones = self.until(lambda: alike([owners(node) for node in nodes]), f"all nodes know each zone's owner: {where}")
        epochs = [epoch for _, epoch in zones[0]]
        assert all(new >= old for new, old in zip(epochs, self.epochs)), f"an older epoch: {where}"
        self.epochs = epochs

    def report(self, end):
        kinds = {name: sum(self.faults[fault.__name__] for fault in faults)
                 for name, faults in (("kills", KILLS), ("stops", STOPS), ("cuts", CUTS))}
        return f"seed {SEED}, {sum(self.faults.values())} rounds: {dict(self.counts)}, {self.books.checked} checks, {kinds}, {end}, " \
            f"{self.counts['late']} unanswered came behind newer ones after their provider had given up; " \
            f"{dict(self.faults)}"


def registered(device):
    try:
        return device.connect().app_token()
    except (OSError, EOFError):
        return None
    finally:
        device.close()


@pytest.fixture
def run(tmp_path, issued):
    cluster = Cluster(tmp_path, issued).through_ways()
    # Long runs tell how long phones were offline, too.
    phones = Phones(cluster) if IS_LONG else None
    run = Run(cluster, phones)
    try:
        issue_key(cluster.nodes[0])
        cluster.start()
        run.start()
        if phones:
            phones.start()
        yield run
    finally:
        if phones:
            print(phones.report())
            phones.stop()
        cluster.stop()


def test_what_is_passed_on_behind_a_nodes_back_loses_to_what_is_newer(run):
    assert not pass_on_and_die(run)


def test_no_fault_loses_or_doubles_a_message(run):
    end = "violations 1"
    # Each node has zones, whichever it is that fails.
    run.cluster.settled()
    try:
        for number in range(ROUNDS):
            run.round(number)
        end = "violations 0"
        assert run.books.checked >= ROUNDS, f"only {run.books.checked} messages were known to be accepted"
    finally:
        print(run.report(end))
