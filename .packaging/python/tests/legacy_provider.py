"""A provider of the binary protocol that believes its writes: behind a rejected push all is lost."""

import json
import socket
import struct

TOPIC = "com.example.app"
UNKNOWN = "ab" * 32


def frame(identifier, token):
    """A push of command 2: token, payload, identifier, expiration, priority."""
    values = [bytes.fromhex(token), json.dumps({"aps": {"alert": str(identifier)}}).encode(), struct.pack("!I", identifier),
              struct.pack("!I", 2000000000), bytes([10])]
    items = b"".join(struct.pack("!BH", number, len(value)) + value for number, value in enumerate(values, 1))
    return struct.pack("!BI", 2, len(items)) + items


def send(emulator, tokens):
    """Sends all at once, and answers the error packet, after which it does nothing."""
    context = emulator.ssl_context(emulator.issue_certificate(TOPIC))
    with socket.create_connection(emulator.gateway) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(b"".join(frame(number, token) for number, token in enumerate(tokens, 1)))
            packet = connection.recv(6)
            assert connection.recv(6) == b""
            return packet


def lose(emulator, device, count):
    """The first token is no device's; so many good ones follow, which are discarded."""
    assert send(emulator, [UNKNOWN] + [device.token] * count) == struct.pack("!BBI", 8, 8, 1)
