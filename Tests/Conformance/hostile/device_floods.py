"""Row 18: what devices may ask for that costs much, and channels that very many of them listen to."""

import base64
import contextlib
import json
import os
import re
import resource
import threading
import time

from courier import CONNECT, FILTER, Device, encode
from console_floods import stream
from device_acknowledgements import swallow
from harness import TOPIC
from rig import attackers
from wire import SANDBOX, listed

# Rows that a device may have (limits.md), as a count.
ROWS = 4096
# Frames in one write, as a count.
BURST = 3000
# What a device says of itself that has a phone, and its report of it.
SIMULATED_DEVICE, WITH_PHONE, PHONE_REPORT = 0xE0, b"\2", 0x72
REPORT_EVENTS, REPORT_DOCUMENT = 3, 4
# The longest item, in bytes.
ITEM = 65535
# Files that a process needs besides the streams, as a count.
OTHER_FILES = 1000
CHANNEL = base64.b64encode(bytes(16)).decode()
# The broadcast that ends a run, and what it is known by.
END = b"no more of them"
LAST = json.dumps({"aps": {"alert": END.decode()}}).encode()


def seeded_lab(run, state):
    path = os.path.join(run.folder, "state.json")
    with open(path, "w") as file:
        json.dump({"version": 1} | state, file)
    return run.quiet_lab("--seed-data", path)


def attack_filters(run):
    """A device with as many rows as it may have says again and again that it wants nothing."""
    apps = [{"topic": f"com.example.app{number}"} for number in range(64 if run.is_short else ROWS)]
    lab = seeded_lab(run, {"devices": [{"udid": "phone-0", "apps": apps}]})
    sent = [0]

    def say(_, end):
        device = Device(lab.emulator, *lab.emulator.device_certificate("phone-0"), TOPIC).connect()
        threading.Thread(target=swallow, args=(device,), daemon=True).start()
        while time.monotonic() < end:
            device.socket.sendall(encode(FILTER, []) * BURST)
            sent[0] += BURST
        device.close()

    with run.beside(lab):
        attackers(1, say, run.seconds)
    run.tell("filters", f"{sent[0]:,}")
    run.grew()


class Teller(Device):
    """A device with a phone."""

    def send(self, command, items):
        super().send(command, items + ([(SIMULATED_DEVICE, WITH_PHONE)] if command == CONNECT else []))


def attack_reports(run):
    """Three devices tell of their phones what is costly to read, and connect again when they are sent away."""
    lab = run.quiet_lab()
    values = (b"[" + b"[]," * (ITEM // 3 - 2) + b"[]]", b'{"a":[' + b"1," * (ITEM // 2 - 8) + b"1]}")
    report = encode(PHONE_REPORT, [(REPORT_EVENTS, values[0]), (REPORT_DOCUMENT, values[1])])
    sent = [0]

    def tell(number, end):
        while time.monotonic() < end:
            teller = Teller(lab.emulator, *lab.emulator.device_certificate(f"phone-{number}"), TOPIC).connect()
            with contextlib.suppress(OSError):
                while time.monotonic() < end:
                    teller.socket.sendall(report)
                    sent[0] += 1
            teller.close()

    with run.beside(lab):
        attackers(3, tell, run.seconds)
    run.tell("reports", f"{sent[0]:,}")
    run.grew()


def attack_broadcasts(run):
    """A provider broadcasts without end to a channel of very many, who leave it meanwhile."""
    count = 200 if run.is_short else min(20_000, most_files() - OTHER_FILES)
    udids = [f"stream-{number}" for number in range(count)]
    lab = seeded_lab(run, {
        "devices": [{"udid": udid} for udid in udids],
        "channels": [{"topic": TOPIC, "id": CHANNEL, "subscribers": [{"udid": udid} for udid in udids]}]})
    listeners = [stream(lab, number) for number in range(count)]
    deadline = time.monotonic() + 10 * run.timeout
    while lab.emulator.metric("apns_emulator_device_streams") < count and time.monotonic() < deadline:
        time.sleep(0.05)
    accepted = [0]

    def broadcast(_, end):
        with lab.connect() as connection:
            connection.socket.settimeout(10 * run.timeout)
            while time.monotonic() < end:
                body = json.dumps({"aps": {"number": accepted[0]}}).encode()
                assert connection.answer(connection.request(broadcast_fields(lab), body)).status == 200
                accepted[0] += 1

    def broadcast_last():
        """Behind it nothing comes to a stream, so that nobody has to wait whether something does."""
        with lab.connect() as connection:
            assert connection.answer(connection.request(broadcast_fields(lab), LAST)).status == 200

    def leave(_, end):
        """The first half, one after the other."""
        for number, plain in enumerate(listeners[:count // 2]):
            time.sleep(max(0, end - time.monotonic()) / (count // 2 - number))
            plain.close()

    with run.beside(lab):
        leaving = threading.Thread(target=leave, args=(0, time.monotonic() + run.seconds), daemon=True)
        leaving.start()
        attackers(1, broadcast, run.seconds)
        leaving.join(run.timeout)
    run.holds("broadcasts accepted", accepted[0] > 0, accepted[0], "some")
    broadcast_last()
    wrong = [told for told in (numbers(plain, run.timeout) for plain in listeners[-20:]) if told != list(range(accepted[0]))]
    run.holds(
        f"of 20 listeners of {count:,} that stayed, those that did not get each broadcast once, in order", not wrong,
        f"{len(wrong)}, as {wrong[0]}" if wrong else "0", "0")
    for plain in listeners:
        plain.close()


def most_files():
    """As many as the system lets this process have, and the emulator with it."""
    for most in (30_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            break
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def broadcast_fields(lab):
    return listed({
        ":method": "POST", ":scheme": "https", ":path": f"/4/broadcasts/apps/{TOPIC}", ":authority": SANDBOX,
        "authorization": f"bearer {lab.jwt}", "apns-channel-id": CHANNEL, "apns-push-type": "liveactivity",
        "apns-expiration": "0", "apns-priority": "10"})


def numbers(plain, timeout):
    """Of the broadcasts that have come to a stream before the last."""
    told = b""
    plain.settimeout(timeout)
    with contextlib.suppress(OSError):
        while END not in told and (chunk := plain.recv(65536)):
            told += chunk
    return [int(number) for number in re.findall(rb'"number": ?(\d+)', told)]
