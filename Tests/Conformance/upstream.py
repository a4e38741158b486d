"""An HTTP/2 provider API that answers what a test tells it to, on PyPI's `h2`."""

import json
import select
import socket
import ssl
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
from hyperframe.frame import GoAwayFrame

from harness import TIMEOUT


def text(field):
    """Versions of h2 differ in whether fields are bytes."""
    return field.decode() if isinstance(field, bytes) else field


class Upstream:
    """Counts requests from 1 over all connections. `script` says how some are answered, `otherwise` how the others are
    (it may be a function of the token):

    a status, or (status, reason); "late": 200 once `release` is called; "refuse": RST_STREAM REFUSED_STREAM;
    "goaway": answered, then GOAWAY; "goaway-unseen": GOAWAY that leaves this request out;
    "cut": the connection is closed without an answer; "take-and-cut": the same, but the request counts as taken.
    """

    def __init__(self, certificate, key, port=0):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2"])
        self.script, self.otherwise = {}, 200
        # Statuses below 200 that go out before each answer.
        self.interim = ()
        self.requests, self.taken, self.accepted, self.connections = [], [], [], 0
        # Why connections ended that neither side has closed.
        self.broken = []
        self.lock, self.late = threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        self.open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Nobody is there any more."""
        if self.listener.fileno() < 0:
            return
        # Wakes the thread that waits in accept, which closing alone does not.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.open:
            connection.close()

    @property
    def paths(self):
        return [request[":path"] for request in self.requests]

    @property
    def ids(self):
        return [request["apns-id"] for request in self.requests]

    def release(self):
        """Answers all that are late."""
        with self.lock:
            late, self.late = self.late, []
        for connection, stream, path in late:
            connection.answer(stream, path, 200, None)

    def _accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            plain.settimeout(TIMEOUT)
            connection = _Connection(self, plain)
            self.open.append(connection)
            threading.Thread(target=connection.serve, daemon=True).start()


class _Connection:
    def __init__(self, server, plain):
        self.server, self.plain, self.socket = server, plain, None
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        # Writing by the test's thread and by the connection's own.
        self.lock = threading.RLock()
        self.is_over = False
        self.last = 1 << 31
        # Requests by stream.
        self.requests = {}

    def close(self):
        self.is_over = True
        try:
            (self.socket or self.plain).shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve(self):
        try:
            self.socket = self.server.context.wrap_socket(self.plain, server_side=True)
            self.server.connections += 1
            with self.lock:
                self.h2.initiate_connection()
                self.write()
            while not self.is_over and (data := self.receive()):
                with self.lock:
                    for event in self.h2.receive_data(data):
                        self.take(event)
                    self.write()
        except OSError as error:
            if not self.is_over:
                self.server.broken.append(error)
        finally:
            self.is_over = True
            (self.socket or self.plain).close()

    def receive(self):
        """Waits for bytes outside of TLS: OpenSSL forbids that one thread reads while another writes on the same connection."""
        if not self.socket.pending() and not select.select([self.socket], [], [], TIMEOUT)[0]:
            raise TimeoutError("nothing came")
        with self.lock:
            return self.socket.recv(65536)

    def write(self):
        if not self.is_over:
            self.socket.sendall(self.h2.data_to_send())

    def take(self, event):
        if self.is_over:
            return
        if isinstance(event, h2.events.RequestReceived):
            fields = {text(name): text(value) for name, value in event.headers}
            if event.stream_id > self.last:
                return
            self.requests[event.stream_id] = fields
            with self.server.lock:
                self.server.requests.append(fields)
                number = len(self.server.requests)
            self.act(number, event.stream_id, fields[":path"])
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def act(self, number, stream, path):
        action = self.server.script.get(number, self.server.otherwise)
        action = action(path.rsplit("/", 1)[1]) if callable(action) else action
        match action:
            case "late":
                with self.server.lock:
                    self.server.late.append((self, stream, path))
            case "refuse":
                self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            case "goaway":
                self.answer(stream, path, 200, None)
                self.leave(stream)
            case "goaway-unseen":
                self.leave(max(0, stream - 2))
            case "cut":
                self.close()
            case "take-and-cut":
                self.server.taken.append(path.rsplit("/", 1)[1])
                self.close()
            case (status, reason):
                self.answer(stream, path, status, reason)
            case status:
                self.answer(stream, path, status, None)

    def leave(self, last):
        """GOAWAY; what came up to the last stream is still answered. `h2` would answer nothing after one of its own."""
        self.last = last
        self.write()
        self.socket.sendall(GoAwayFrame(last_stream_id=last).serialize())

    def answer(self, stream, path, status, reason):
        with self.lock:
            if self.is_over:
                return
            if status == 200:
                self.server.taken.append(path.rsplit("/", 1)[1])
                self.server.accepted.append(self.requests[stream])
            for interim in self.server.interim:
                self.h2.send_headers(stream, [(":status", str(interim))])
            body = json.dumps({"reason": reason}).encode() if reason else b""
            self.h2.send_headers(stream, [(":status", str(status))], end_stream=not body)
            if body:
                self.h2.send_data(stream, body, end_stream=True)
            self.write()
