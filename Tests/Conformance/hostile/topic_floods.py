"""Row 16: a device that asks for the tokens of apps without end, each of which it has invented."""

import hashlib
import os
import time

from courier import TOKEN_REQUEST, TOKEN_RESPONSE, Device, encode
from harness import TOPIC
from rig import MEBIBYTE, attackers

# What the rows that one device may have take, and what a few connections do, in bytes.
ROOM = 16 * MEBIBYTE
# Topics that it may bring (limits.md), and a few of the healthy peers.
TOPICS = 1024 + 16
# Requests in one write, as a count.
BURST = 500


def attack(run):
    lab = run.quiet_lab()
    asked = [0]

    def ask(_, end):
        device = Device(lab.emulator, *lab.emulator.device_certificate("phone-0"), TOPIC).connect()
        while time.monotonic() < end and not run.has_won():
            device.socket.sendall(
                b"".join(encode(TOKEN_REQUEST, [(1, device.base_token), (2, os.urandom(20))]) for _ in range(BURST)))
            for _ in range(BURST):
                token_answer(device)
            asked[0] += BURST
        device.close()

    with run.beside(lab):
        attackers(1, ask, run.seconds)
    run.tell("names that the device has invented", f"{asked[0]:,}")
    run.grew(ROOM, "the rows that one device may have")
    topics = lab.emulator.api("GET", "/api/v1/info")["counters"]["topics"]
    run.holds("topics that are left", topics <= TOPICS, f"{topics:,}", f"at most {TOPICS:,}")
    run.holds("another device's token for an app that nobody has named", *gets_token(lab), "it gets one")


def gets_token(lab):
    """Whether a device that has asked for nothing yet gets a token, and what it is told."""
    other = Device(lab.emulator, *lab.emulator.device_certificate("phone-1"), TOPIC).connect()
    other.send(TOKEN_REQUEST, [(1, other.base_token), (2, hashlib.sha1(b"com.example.late").digest())])
    items = token_answer(other)
    other.close()
    return items[1] == b"\0", "a token" if items[1] == b"\0" else f"status {items[1].hex()}"


def token_answer(device):
    """The items of the next one."""
    while True:
        command, items = device.receive()
        if command == TOKEN_RESPONSE:
            return items
