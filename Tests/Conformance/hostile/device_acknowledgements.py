"""Rows 2 and 5: devices that acknowledge what they never got, or hardly anything."""

import contextlib
import json
import struct
import threading
import time

from courier import ACK, MESSAGE, Device, encode
from harness import TOPIC
from legacy import Provider, framed
from rig import attackers

# More than the messages that a device may leave unacknowledged.
FULL_WINDOW = 9000
# A device that acknowledges so many messages that it never got is not confused but hostile.
UNKNOWN_LIMIT = 1_000_000
# What a provider's connection may wait for its devices in all, in seconds: less than the 10 s after which most libraries
# take a connection for dead.
DEVICE_WAIT = 5


def register(lab, number):
    """A device that is online, with the topic enabled; its token."""
    udid = f"phone-{number}"
    device = Device(lab.emulator, *lab.emulator.device_certificate(udid), TOPIC).connect()
    token = device.app_token()
    assert device.stored_notifications() == []
    return device, token


def payload(number):
    return json.dumps({"aps": {}, "number": number}).encode()


def attack_unknown(run):
    lab = run.quiet_lab()
    device, token = register(lab, 0)
    device.socket.settimeout(run.timeout)
    with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
        provider.send(b"".join(framed(n, token, payload(n)) for n in range(FULL_WINDOW)))
        with contextlib.suppress(OSError):
            provider.socket.settimeout(run.timeout)
            provider.flush()
    acknowledged = [0]

    def acknowledge(_, end):
        reader = threading.Thread(target=swallow, args=(device,), daemon=True)
        reader.start()
        number = 0
        while time.monotonic() < end and acknowledged[0] < UNKNOWN_LIMIT:
            ids = range(number, number + 500)
            device.socket.sendall(
                b"".join(encode(ACK, [(4, struct.pack(">I", 0xF0000000 + n)), (8, b"\0")]) for n in ids))
            number += 500
            acknowledged[0] = number

    with run.beside(lab):
        attackers(1, acknowledge, run.seconds)
    device.close()
    run.holds(
        "unknown acknowledgements taken", acknowledged[0] < UNKNOWN_LIMIT, acknowledged[0],
        f"less than {UNKNOWN_LIMIT}, then the connection ends")


def swallow(device):
    with contextlib.suppress(OSError):
        while device.socket.recv(65536):
            pass


def attack_slow(run):
    """A provider pushes to one device that acknowledges twice a second, and to another that is well."""
    lab = run.quiet_lab()
    slow, slow_token = register(lab, 0)
    well, well_token = register(lab, 1)
    sent, waits, over = {}, [], threading.Event()
    frames = [0]

    def acknowledge_slowly():
        with contextlib.suppress(OSError, EOFError):
            while not over.is_set():
                command, items = slow.receive()
                if command == MESSAGE:
                    slow.send(ACK, [(4, items[4]), (8, b"\0")])
                    over.wait(0.5)

    def receive():
        with contextlib.suppress(OSError, EOFError):
            while True:
                command, items = well.receive()
                if command == MESSAGE:
                    waits.append(time.monotonic() - sent.pop(json.loads(items[3])["number"]))
                    well.send(ACK, [(4, items[4]), (8, b"\0")])

    def send(_, end):
        number, pad = 0, b'{"aps":{"alert":"%s"}}' % (b"x" * 900)
        with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
            provider.socket.settimeout(run.timeout)
            while time.monotonic() < end:
                number += 1
                sent[number] = time.monotonic()
                burst = b"".join(framed(number, slow_token, pad) for _ in range(200))
                provider.send(burst + framed(number, well_token, payload(number)))
                frames[0] += 201
            provider.flush()

    for part in (acknowledge_slowly, receive):
        threading.Thread(target=part, daemon=True).start()
    with run.beside(lab):
        attackers(1, send, run.seconds)
        end = time.monotonic() + run.timeout
        while sent and time.monotonic() < end:
            time.sleep(0.01)
    now = time.monotonic()
    left = list(sent.values())
    over.set()
    run.holds(
        "pushes to the other device of that provider that never arrived", not left and waits,
        f"{len(left)} of {len(waits) + len(left)}", "0")
    worst = max(waits + [now - at for at in left], default=run.timeout)
    run.at_most(
        "worst wait of the other device", worst, DEVICE_WAIT, "s", "half of what libraries take for a dead connection")
    run.at_least("frames of that provider", frames[0] / run.seconds, 5000, "a second", "waits once for a device, then no more")
    slow.close()
    well.close()


def attack_slow_clock_back(run):
    """The same, while the emulator's clock is frozen and set back: timeout is not on that clock."""
    lab = run.quiet_lab()
    slow, slow_token = register(lab, 0)
    well, well_token = register(lab, 1)
    lab.emulator.api("PUT", "/api/v1/clock", {"freeze": True})
    arrived = threading.Event()

    def receive():
        with contextlib.suppress(OSError, EOFError):
            while well.receive()[0] != MESSAGE:
                pass
            arrived.set()

    threading.Thread(target=receive, daemon=True).start()
    with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
        provider.socket.settimeout(run.timeout)
        with contextlib.suppress(OSError):
            pad = b'{"aps":{"alert":"%s"}}' % (b"x" * 900)
            for _ in range(FULL_WINDOW * 2 // 100):
                provider.send(b"".join(framed(1, slow_token, pad) for _ in range(100)))
            provider.send(framed(2, well_token, payload(2)))
        run.holds(
            "a push behind those to a device that never reads, clock frozen", arrived.wait(run.timeout),
            "arrived" if arrived.is_set() else "never", "arrived")
    slow.close()
    well.close()
