"""Promises 1 and 2: whatever the moment of a kill -9, a device gets the newest accepted message, never an older one."""

import json
import os
import random
import threading
import time

from courier import ACK, MESSAGE, Device
from harness import TIMEOUT, TOPIC
from legacy import Provider, framed

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "15"))
SEED = int(os.environ.get("CRASH_SEED", "1"))
DEVICES = 6


class Sender(threading.Thread):
    """Pushes numbered messages to all tokens at random until the emulator dies."""

    def __init__(self, emulator, tokens, first_number, seed):
        super().__init__(daemon=True)
        self.emulator, self.identity, self.tokens = emulator, emulator.push_certificate(), tokens
        self.number, self.random = first_number, random.Random(seed)
        self.accepted, self.attempted = {}, {}
        self.began = threading.Event()

    def run(self):
        try:
            while True:
                self.connection()
        except OSError:
            pass

    def connection(self):
        with Provider(self.emulator, *self.identity) as provider:
            newest = {}
            for _ in range(self.random.randint(1, 6)):
                frames = b""
                for _ in range(self.random.randint(1, 120)):
                    token = self.random.choice(self.tokens)
                    self.number += 1
                    newest[token] = self.number
                    text = "x" * self.random.choice((0, 20, 200, 1500))
                    payload = json.dumps({"number": self.number, "text": text}).encode()
                    frames += framed(self.number & 0xFFFFFFFF, token, payload)
                self.attempted.update(newest)
                provider.send(frames)
                self.began.set()
            # The packet that refuses the next frame says that all of these were accepted.
            if provider.flush()[:2] == b"\x08\x02":
                self.accepted.update(newest)


def registered(emulator):
    """Starts the emulator; answers devices that are offline now, and their tokens."""
    emulator.push_certificate()
    devices = [Device(emulator, *emulator.device_certificate(f"phone-{n}"), TOPIC) for n in range(DEVICES)]
    emulator.start()
    tokens = [device.connect().app_token() for device in devices]
    for device in devices:
        device.close()
    return devices, tokens


def kill_while(sender, chance):
    """Lets it send, and kills the emulator at any moment of that: more often than not early."""
    sender.start()
    assert sender.began.wait(TIMEOUT)
    time.sleep(chance.random() ** 2 * 0.5)
    sender.emulator.kill()
    sender.join(TIMEOUT)
    assert not sender.is_alive()


def number(message):
    return json.loads(message[3])["number"]


def test_a_killed_emulator_has_kept_the_newest_accepted_message_of_each_token(stopped_emulator):
    emulator, chance = stopped_emulator, random.Random(SEED)
    devices, tokens = registered(emulator)

    # For each token: the newest number known to be accepted and not delivered, and the newest one given to the device.
    owed, seen, acknowledged, last = {}, {}, {}, 0
    checked = 0
    for round_number in range(ROUNDS):
        sender = Sender(emulator, tokens, last, SEED * 1000 + round_number)
        kill_while(sender, chance)
        last = sender.number
        owed.update(sender.accepted)

        emulator.start()
        for device, token in zip(devices, tokens):
            messages = device.connect().stored_notifications()
            numbers = [number(message) for message in messages]
            where = f"round {round_number}, seed {SEED}, token {tokens.index(token)}: {numbers}"
            assert len(messages) <= 1, f"more than one message: {where}"
            newest_owed = owed.get(token)
            if newest_owed is not None:
                assert messages, f"accepted {newest_owed} but nothing came: {where}"
                assert numbers[0] >= newest_owed, f"accepted {newest_owed} but an older one came: {where}"
                checked += 1
            if messages:
                assert numbers[0] >= seen.get(token, 0), f"older than {seen.get(token)}, which the device had: {where}"
                assert numbers[0] > acknowledged.get(token, 0), f"acknowledged before: {where}"
                newest_attempt = max(sender.attempted.get(token, 0), newest_owed or 0, seen.get(token, 0))
                assert numbers[0] <= newest_attempt, f"newer than anything sent: {where}"
                seen[token] = numbers[0]
                # What a device does not acknowledge is owed to it still.
                if chance.random() < 0.6:
                    device.acknowledge(messages[0])
                    owed.pop(token, None)
                    acknowledged[token] = numbers[0]
                else:
                    owed[token] = numbers[0]
            device.close()
    # Most kills come after something was known to be accepted; otherwise this test would show little.
    assert checked >= ROUNDS * DEVICES // 4, f"only {checked} messages were known to be accepted"
    print(f"{ROUNDS} rounds, {last} frames, {checked} messages known to be accepted before a kill")


class Listener(threading.Thread):
    """A device that is there while the emulator dies: takes what comes and acknowledges some of it."""

    def __init__(self, device, seed):
        super().__init__(daemon=True)
        self.device, self.random = device, random.Random(seed)
        # A device that reads slower than the provider sends leaves messages in the buffers of both systems.
        self.pause = self.random.choice((0, 0.001, 0.01))
        self.numbers = [number(message) for message in device.connect().stored_notifications()]

    def run(self):
        try:
            while True:
                command, items = self.device.receive()
                if command != MESSAGE:
                    continue
                self.numbers.append(number(items))
                time.sleep(self.pause)
                if self.random.random() < 0.5:
                    self.acknowledge(items)
        except (EOFError, OSError):
            self.device.close()

    def acknowledge(self, message):
        try:
            self.device.send(ACK, [(4, message[4]), (8, b"\0")])
        except OSError:
            # Nobody listens any more, but what has arrived is still to be read.
            pass


def test_devices_that_are_there_when_the_emulator_is_killed_miss_nothing_and_get_nothing_older(stopped_emulator):
    emulator, chance = stopped_emulator, random.Random(SEED)
    devices, tokens = registered(emulator)

    owed, seen, last, live = {}, {}, 0, 0
    for round_number in range(max(1, ROUNDS // 2)):
        there = [n for n in range(DEVICES) if chance.random() < 0.6]
        listeners = {n: Listener(devices[n], SEED * 1000 + n) for n in there}
        for listener in listeners.values():
            listener.start()
        sender = Sender(emulator, tokens, last, SEED * 1000 + round_number)
        kill_while(sender, chance)
        last = sender.number
        owed.update(sender.accepted)

        emulator.start()
        for n, (device, token) in enumerate(zip(devices, tokens)):
            got = []
            if n in listeners:
                listeners[n].pause = 0
                listeners[n].join(TIMEOUT)
                got = listeners[n].numbers
                live += len(got)
            where = f"round {round_number}, seed {SEED}, token {n}: got {got[-3:]} while it was there"
            assert got == sorted(got), f"out of order: {where}"
            assert not got or got[0] >= seen.get(token, 0), f"older than {seen.get(token)}: {where}"
            newest = max(got + [seen.get(token, 0)])
            kept = [number(message) for message in device.connect().stored_notifications()]
            where += f", then {kept}"
            assert len(kept) <= 1, f"more than one message: {where}"
            assert not kept or kept[0] >= newest, f"older than {newest}: {where}"
            newest = max(kept + [newest])
            assert newest >= owed.get(token, 0), f"accepted {owed.get(token)}, but it never came: {where}"
            seen[token] = newest
            device.close()
    assert live > ROUNDS, f"only {live} messages came while a device was there"
    print(f"{last} frames, {live} messages to devices that were there")
