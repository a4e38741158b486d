"""A provider of the binary interface, byte by byte: frames as bytes, answers as bytes."""

import socket
import ssl
import struct

from harness import TIMEOUT

# As providers of the time were configured.
SERVER_NAME = "gateway.sandbox.push.apple.com"


def simple(token, payload):
    """Command 0."""
    return b"\0" + struct.pack(">H", len(token)) + token + struct.pack(">H", len(payload)) + payload


def enhanced(identifier, token, payload, expiry=0x7FFFFFFF):
    """Command 1."""
    return struct.pack(">BIIH", 1, identifier, expiry, len(token)) + token + struct.pack(">H", len(payload)) + payload


def framed(identifier, token, payload):
    """Command 2 without expiry and priority."""
    items = b"".join(
        struct.pack(">BH", number, len(value)) + value
        for number, value in ((1, token), (2, payload), (3, struct.pack(">I", identifier))))
    return struct.pack(">BI", 2, len(items)) + items


class Provider:
    """One TLS connection with a push certificate."""

    def __init__(self, emulator, certificate, key, listener="gateway", server_name=SERVER_NAME, timeout=TIMEOUT):
        context = ssl.create_default_context(cafile=emulator.ca)
        context.load_cert_chain(certificate, key)
        plain = socket.create_connection(emulator.address(listener), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = self.secured(context, plain, server_name)

    def secured(self, context, plain, server_name):
        return context.wrap_socket(plain, server_hostname=server_name)

    def send(self, frames):
        self.socket.sendall(frames)

    def read_to_end(self):
        """All bytes up to the orderly end of the stream; a reset or a missing close alert raises."""
        received = b""
        while chunk := self.socket.recv(4096):
            received += chunk
        return received

    def flush(self):
        """Sends a frame with an empty token: its error packet says that all before it was accepted."""
        self.send(bytes.fromhex("020000001803000400000007010000020000040004000000000500010a"))
        return self.read_to_end()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class HalfClosingProvider(Provider):
    """Ends its side of TLS and of TCP, and reads on. Python's TLS sockets can't, but the library below them can."""

    def secured(self, context, plain, server_name):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=server_name)
        self.socket = plain
        self._carry(self.tls.do_handshake)
        return plain

    def send(self, frames):
        self._carry(self.tls.write, frames)

    def end_output(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.socket.sendall(self.outgoing.read())
        self.socket.shutdown(socket.SHUT_WR)

    def read_to_end(self):
        received = b""
        try:
            while chunk := self._carry(self.tls.read, 4096):
                received += chunk
        except ssl.SSLZeroReturnError:
            pass
        return received

    def _carry(self, call, *arguments):
        """Makes a call of the TLS library, with the bytes that it needs and gives."""
        while True:
            try:
                return call(*arguments)
            except ssl.SSLWantReadError:
                self._flush()
                self.incoming.write(self.socket.recv(1 << 16)) or self.incoming.write_eof()
            finally:
                self._flush()

    def _flush(self):
        if self.outgoing.pending:
            self.socket.sendall(self.outgoing.read())
