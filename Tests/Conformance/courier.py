"""A device that does no more than it must: for tests that need to see every frame, or many devices."""

import hashlib
import os
import socket
import ssl
import struct
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from harness import TIMEOUT

CONNECT, CONNECTED, FILTER, MESSAGE, ACK = 7, 8, 9, 10, 11
KEEP_ALIVE, KEEP_ALIVE_ANSWER, NO_STORAGE, TOKEN_REQUEST, TOKEN_RESPONSE = 12, 13, 14, 17, 18
FROM_STORAGE, LAST_FROM_STORAGE = 1, 3


def encode(command, items):
    body = b"".join(struct.pack(">BH", number, len(value)) + value for number, value in items)
    return struct.pack(">BI", command, len(body)) + body


class Device:
    def __init__(self, emulator, certificate, key, topic):
        with open(certificate, "rb") as file:
            self.certificate = x509.load_pem_x509_certificate(file.read())
        with open(key, "rb") as file:
            # Whether its primes are primes is looked at in test_credentials.py.
            self.key = serialization.load_pem_private_key(file.read(), None, unsafe_skip_rsa_key_validation=True)
        self.emulator = emulator
        self.topic = hashlib.sha1(topic.encode()).digest()
        self.base_token = None
        self.socket = None
        self.timeout = TIMEOUT

    def connect(self):
        context = ssl.create_default_context(cafile=self.emulator.ca)
        context.set_alpn_protocols(["apns-security-v3"])
        plain = socket.create_connection(self.emulator.address("courier"), self.timeout)
        self.socket = context.wrap_socket(plain, server_hostname="courier.sandbox.push.apple.com")
        nonce = b"\0" + struct.pack(">Q", time.time_ns() // 1_000_000) + os.urandom(8)
        signature = b"\1\1" + self.key.sign(nonce, padding.PKCS1v15(), hashes.SHA1())
        items = [(2, b"\1"), (5, struct.pack(">I", 0x41))]
        items += [(12, self.certificate.public_bytes(serialization.Encoding.DER)), (13, nonce), (14, signature)]
        if self.base_token:
            items.insert(0, (1, self.base_token))
        self.send(CONNECT, items)
        command, answer = self.receive()
        assert command == CONNECTED and answer[1] == b"\0", "the device was refused"
        self.base_token = answer.get(3, self.base_token)
        return self

    def send(self, command, items):
        self.socket.sendall(encode(command, items))

    def _exactly(self, count):
        received = b""
        while len(received) < count:
            chunk = self.socket.recv(count - len(received))
            if not chunk:
                raise EOFError
            received += chunk
        return received

    def receive(self):
        """The next frame: its command, and its items by number (none that we need repeats)."""
        command, count = struct.unpack(">BI", self._exactly(5))
        body, items, at = self._exactly(count), {}, 0
        while at < count:
            number, length = struct.unpack_from(">BH", body, at)
            items[number] = body[at + 3 : at + 3 + length]
            at += 3 + length
        return command, items

    def app_token(self):
        self.send(TOKEN_REQUEST, [(1, self.base_token), (2, self.topic)])
        while True:
            command, items = self.receive()
            if command == TOKEN_RESPONSE:
                assert items[1] == b"\0"
                return items[2]

    def stored_notifications(self):
        """Enables the topic; answers the messages that were kept for it, all of them."""
        self.send(FILTER, [(1, self.base_token), (2, self.topic)])
        messages = []
        while True:
            command, items = self.receive()
            if command == NO_STORAGE:
                return messages
            if command == MESSAGE:
                messages.append(items)
                if items[7][0] == LAST_FROM_STORAGE:
                    return messages

    def acknowledge(self, message):
        """Acknowledges, and waits until the emulator has seen it."""
        self.send(ACK, [(4, message[4]), (8, b"\0")])
        self.send(KEEP_ALIVE, [])
        while self.receive()[0] != KEEP_ALIVE_ANSWER:
            pass

    def close(self):
        if self.socket:
            self.socket.close()
            self.socket = None
