"""A device that joins channels, byte by byte (`Documentation/device-protocol.md#channels`)."""

import base64
import struct

from courier import FILTER, KEEP_ALIVE, KEEP_ALIVE_ANSWER, MESSAGE, Device
from harness import TOPIC

CHANNELS = 0x1D


def field(number, value):
    """A Protocol Buffers field: a number or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


class Listener(Device):
    """A device that can join channels."""

    def __init__(self, emulator, udid):
        super().__init__(emulator, *emulator.device_certificate(udid), TOPIC)
        self.early = []
        self.connect()
        self.token = self.app_token()
        assert self.stored_notifications() == []

    def come_back(self):
        """Connects again, and says nothing of channels."""
        self.close()
        self.connect()
        self.send(FILTER, [(1, self.base_token), (2, self.topic)])

    def change(self, join=(), leave=(), index=1, seen=0):
        """Joins and leaves; answers the status."""
        def channel(id):
            return field(1, base64.b64decode(id)) + (field(2, seen) if seen else b"")
        entry = field(1, TOPIC.encode()) + b"".join(
            [field(2, channel(id)) for id in join] + [field(3, channel(id)) for id in leave])
        self.send(CHANNELS, [(1, struct.pack(">I", index)), (2, field(1, 1) + field(2, entry)), (3, self.base_token)])
        while True:
            command, items = self.receive()
            if command == CHANNELS:
                assert items[1] == struct.pack(">I", index) and items[3] == self.base_token
                return items[4][0]
            if command == MESSAGE:
                self.early.append(items)

    def messages(self):
        """All that has come by now."""
        self.send(KEEP_ALIVE, [])
        found, self.early = self.early, []
        while True:
            command, items = self.receive()
            if command == KEEP_ALIVE_ANSWER:
                return found
            if command == MESSAGE:
                found.append(items)

    def next_message(self):
        while not self.early:
            command, items = self.receive()
            if command == MESSAGE:
                return items
        return self.early.pop(0)
