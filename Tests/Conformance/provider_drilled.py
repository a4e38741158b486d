"""A provider that does everything right, or, with --fault, one thing wrong. It sends one push to each device token of a file and reports
those that it could not send; the variables that `apns-emulator exec` and `drill` set tell it where, with what and to whom."""

import argparse
import collections
import json
import os
import socket
import ssl
import struct
import sys
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import jwt

FAULTS = {
    "http2": ["ignores-goaway", "drops-above-goaway", "connection-per-push", "token-per-push", "retries-410", "retries-503",
              "one-stream"],
    "binary": ["connection-per-push", "drops-behind-error", "resends-from-the-start", "ignores-error-packet"]}
PAYLOAD = b'{"aps":{"alert":"Hello"}}'
# Seconds without a word after which a connection counts as dead.
ANSWER_TIMEOUT = 10
# How often a connection may fail in a row, and a push may be sent.
TRIES = 6
# Seconds. Apple takes provider tokens for an hour, and new ones no more often than every 20 minutes.
TOKEN_LIFETIME = 45 * 60
LATER = time.time() + 86400


def setting(name):
    return os.environ["APNS_EMULATOR_" + name]


class Batch:
    """What is to be sent, and what could not be."""

    def __init__(self):
        with open(setting("TOKEN_FILE")) as file:
            self.tokens = [line.split()[0] for line in file if line.strip()]
        report = os.environ.get("APNS_EMULATOR_REPORT")
        self.file = open(report, "w") if report else sys.stdout

    def report(self, token, outcome):
        print(token, outcome, file=self.file, flush=True)


def connect(listener, protocols=(), certificate=False):
    context = ssl.create_default_context(cafile=setting("CA"))
    if certificate:
        context.load_cert_chain(setting("CERT"), setting("CERT_KEY"))
    if protocols:
        context.set_alpn_protocols(protocols)
    host, _, port = setting(listener).rpartition(":")
    plain = socket.create_connection((host.strip("[]"), int(port)), ANSWER_TIMEOUT)
    return context.wrap_socket(plain, server_hostname=host.strip("[]"))


def pause(failures):
    """Before the next connection: longer after each that failed."""
    time.sleep(0.2 * 2 ** failures)


class HTTP2Connection:
    def __init__(self):
        self.socket = connect("PROVIDER", ["h2"])
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        # Device tokens by the stream that is open for them, and what was answered so far.
        self.open, self.answers = {}, collections.defaultdict(lambda: [None, b""])
        self.is_draining, self.has_settings, self.above, self.buffer = False, False, [], b""
        self.heard = time.monotonic()
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def has_room(self, most):
        limit = min(most, self.h2.remote_settings.max_concurrent_streams)
        return self.has_settings and not self.is_draining and self.h2.open_outbound_streams < limit and (
            self.h2.outbound_flow_control_window >= len(PAYLOAD))

    def push(self, device, provider_token):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [
            (":method", "POST"), (":scheme", "https"), (":path", f"/3/device/{device}"), (":authority", setting("PROVIDER")),
            ("authorization", f"bearer {provider_token}"), ("apns-topic", setting("TOPIC")), ("apns-push-type", "alert"),
            ("apns-priority", "10"), ("apns-expiration", str(int(LATER)))])
        self.h2.send_data(stream, PAYLOAD, end_stream=True)
        self.open[stream] = device

    def receive(self, seconds):
        """What happened; nothing if nothing came in this time. Throws if the connection has ended."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            return []
        if not data:
            raise ConnectionError("closed")
        self.heard = time.monotonic()
        events = self.h2.receive_data(self.without_goaway(data))
        self.flush()
        return events

    def without_goaway(self, data):
        """Whole frames but GOAWAY, behind which h2 takes no answers any more."""
        self.buffer += data
        others = b""
        while len(self.buffer) >= 9 and len(self.buffer) >= 9 + (size := int.from_bytes(self.buffer[:3], "big")):
            frame, self.buffer = self.buffer[:9 + size], self.buffer[9 + size:]
            if frame[3] == 7:
                last = int.from_bytes(frame[9:13], "big") & 0x7FFFFFFF
                self.above += [stream for stream in self.open if stream > last]
                self.is_draining = True
            else:
                others += frame
        return others

    def close(self):
        try:
            self.h2.close_connection()
            self.flush()
        except (OSError, h2.exceptions.ProtocolError):
            pass
        self.socket.close()


class HTTP2Provider:
    def __init__(self, batch, fault):
        self.batch, self.fault = batch, fault
        # Device tokens: to be sent, and to be sent at a time.
        self.waiting, self.later = collections.deque(batch.tokens), []
        self.tries, self.answered = collections.Counter(), 0
        # The provider token that each was last sent with.
        self.shown = {}
        self.key, self.provider_token, self.signed_at = open(setting("KEY")).read(), None, -TOKEN_LIFETIME

    def run(self):
        failures = 0
        while self.waiting or self.later:
            before = self.answered
            try:
                self.use(HTTP2Connection())
            except (OSError, h2.exceptions.ProtocolError) as error:
                print(f"connection lost: {error!r}", file=sys.stderr)
            failures = 0 if self.answered > before else failures + 1
            if failures == TRIES:
                return [self.batch.report(device, "no-connection") for device in self.waiting]
            if failures:
                pause(failures)

    def use(self, connection):
        """Sends until all is answered or the connection can't be used any more. What is unanswered then waits for the next."""
        try:
            while self.waiting or self.later or connection.open:
                self.wake()
                # Who tries again at once what was busy has, at its worst, nothing else to do.
                most = 1 if self.fault in ("one-stream", "retries-503") else 1000
                while self.waiting and connection.has_room(most):
                    self.push(connection, self.waiting.popleft())
                connection.flush()
                if connection.is_draining and not connection.open:
                    break
                for event in connection.receive(0.1 if self.later else ANSWER_TIMEOUT):
                    self.take(event, connection)
                self.take_goaway(connection)
                if connection.open and time.monotonic() > connection.heard + ANSWER_TIMEOUT:
                    raise TimeoutError("no answer")
        finally:
            self.waiting.extendleft(reversed(connection.open.values()))
            connection.close()

    def wake(self):
        now = time.monotonic()
        self.waiting.extend(device for due, device in self.later if due <= now)
        self.later = [entry for entry in self.later if entry[0] > now]

    def push(self, connection, device):
        self.tries[device] += 1
        if self.tries[device] > TRIES and not (self.fault or "").startswith("retries"):
            return self.batch.report(device, "gave-up")
        if self.fault == "token-per-push" or time.monotonic() > self.signed_at + TOKEN_LIFETIME:
            self.sign()
        self.shown[device] = self.provider_token
        connection.push(device, self.provider_token)
        connection.is_draining |= self.fault == "connection-per-push"

    def sign(self):
        self.signed_at = time.monotonic()
        self.provider_token = jwt.encode(
            {"iss": setting("TEAM"), "iat": int(time.time())}, self.key, "ES256", {"kid": setting("KEY_ID")})

    def take(self, event, connection):
        if isinstance(event, h2.events.RemoteSettingsChanged):
            connection.has_settings = True
        elif isinstance(event, h2.events.ResponseReceived):
            connection.answers[event.stream_id][0] = dict(event.headers)[":status"]
        elif isinstance(event, h2.events.DataReceived):
            connection.answers[event.stream_id][1] += event.data
            connection.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamReset) and event.stream_id in connection.open:
            # Refused, or nobody knows what became of it: it is sent again.
            device = connection.open.pop(event.stream_id)
            if self.fault == "ignores-goaway":
                self.later.append((time.monotonic() + 0.4, device))
            else:
                self.waiting.append(device)
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in connection.open:
            status, body = connection.answers.pop(event.stream_id)
            self.answered += 1
            self.settle(connection.open.pop(event.stream_id), status, body.decode(), connection)

    def take_goaway(self, connection):
        """Nothing new goes to a connection that said GOAWAY. What is above its last stream was not looked at, and is sent elsewhere."""
        above, connection.above = connection.above, []
        if self.fault == "ignores-goaway":
            connection.is_draining = False
            return
        devices = [connection.open.pop(stream) for stream in above if stream in connection.open]
        if self.fault != "drops-above-goaway":
            self.waiting.extendleft(reversed(devices))

    def settle(self, device, status, body, connection):
        tries = self.tries[device]
        if status == "200":
            return
        if "Shutdown" in body:
            connection.is_draining = True
            self.waiting.append(device)
        elif "ExpiredProviderToken" in body:
            # One new token is enough for all that were sent with the old one.
            if self.shown[device] == self.provider_token:
                self.sign()
            self.waiting.append(device)
        elif "TooManyProviderTokenUpdates" in body and self.fault != "token-per-push":
            self.later.append((time.monotonic() + 1, device))
        elif (self.fault == "retries-410" and status == "410" or self.fault == "retries-503" and status == "503") and tries < 20:
            self.waiting.appendleft(device)
        else:
            self.batch.report(device, json.loads(body)["reason"])


class BinaryProvider:
    """Each batch ends with a frame without a token: the error that it provokes says that all before it were read. Nothing else does."""

    MISSING_TOKEN, SHUTDOWN = 2, 10

    def __init__(self, batch, fault):
        self.batch, self.fault = batch, fault
        self.refused = set()

    def run(self):
        gone = self.read_feedback()
        for token in self.batch.tokens:
            if token in gone:
                self.batch.report(token, "gone")
        self.tokens = [token for token in self.batch.tokens if token not in gone]
        first = failures = 0
        while first < len(self.tokens):
            try:
                next_one = self.send_from(first)
                failures = 0 if next_one > first else failures + 1
                first = next_one
            except OSError as error:
                print(f"connection lost: {error!r}", file=sys.stderr)
                failures += 1
            if failures == TRIES:
                return [self.batch.report(token, "no-connection") for token in self.tokens[first:]]
            if failures:
                pause(failures)

    def read_feedback(self):
        """Tokens whose apps are gone."""
        try:
            with connect("FEEDBACK", certificate=True) as service:
                data = b"".join(iter(lambda: service.recv(65536), b""))
        except OSError:
            return set()
        # The time, the length, and the token.
        return {data[start + 6:start + 38].hex() for start in range(0, len(data), 38)}

    def send_from(self, first):
        """Sends what comes from there on; answers what comes after all that needs no more care."""
        end = first + 1 if self.fault == "connection-per-push" else len(self.tokens)
        with connect("GATEWAY", certificate=True) as gateway:
            sent, packet = first, b""
            try:
                while sent < end and not (packet := self.peek(gateway)):
                    if sent not in self.refused:
                        gateway.sendall(frame(self.tokens[sent], sent + 1))
                    sent += 1
                if self.fault == "ignores-error-packet":
                    return sent
                if not packet and self.fault != "connection-per-push":
                    gateway.sendall(frame("", end + 1))
                if self.fault == "connection-per-push":
                    time.sleep(0.05)
                    return self.settle(packet or self.peek(gateway), first, sent, end)
            except OSError:
                # The gateway has closed: what it said before that is there to be read.
                pass
            return self.settle(packet or self.packet(gateway), first, sent, end)

    def peek(self, gateway):
        """The error packet, if it is there already."""
        if self.fault == "ignores-error-packet":
            return b""
        gateway.settimeout(0)
        try:
            packet = gateway.recv(6)
        except (ssl.SSLWantReadError, BlockingIOError):
            return b""
        finally:
            gateway.settimeout(ANSWER_TIMEOUT)
        return self.packet(gateway, packet)

    def packet(self, gateway, packet=b""):
        while len(packet) < 6:
            if not (more := gateway.recv(6 - len(packet))):
                raise ConnectionError("closed without a packet")
            packet += more
        return packet

    def settle(self, packet, first, sent, end):
        if not packet:
            return end
        _, status, identifier = struct.unpack(">BBI", packet)
        if status == self.MISSING_TOKEN:
            return end
        if identifier > end or identifier == 0 and status != self.SHUTDOWN:
            raise ConnectionError(f"status {status} for {identifier}, which is none of ours")
        if status != self.SHUTDOWN:
            self.refused.add(identifier - 1)
            self.batch.report(self.tokens[identifier - 1], f"status-{status}")
        if self.fault == "drops-behind-error":
            return sent
        if self.fault == "resends-from-the-start":
            return 0
        # What came behind it was dropped.
        return max(first, identifier)


def frame(token, identifier):
    """Command 2: items, each with a number, a length and a content."""
    items = [bytes.fromhex(token), PAYLOAD, struct.pack(">I", identifier), struct.pack(">I", int(LATER)), b"\x0a"]
    content = b"".join(struct.pack(">BH", number, len(item)) + item for number, item in enumerate(items, 1))
    return struct.pack(">BI", 2, len(content)) + content


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--protocol", choices=FAULTS, default="http2")
    parser.add_argument("--fault", choices=sorted({fault for faults in FAULTS.values() for fault in faults}))
    task = parser.parse_args()
    if task.fault and task.fault not in FAULTS[task.protocol]:
        parser.error(f"{task.fault} is no fault of {task.protocol}")
    {"http2": HTTP2Provider, "binary": BinaryProvider}[task.protocol](Batch(), task.fault).run()


if __name__ == "__main__":
    main()
