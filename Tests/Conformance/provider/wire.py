"""An HTTP/2 client that sends what it is told, right or wrong: TLS, frames by hyperframe, header blocks by hpack."""

import socket
import ssl
import struct

import hpack
from hyperframe.frame import (
    DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame)

from harness import TIMEOUT, TOPIC

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SANDBOX, PRODUCTION = "api.sandbox.push.apple.com", "api.push.apple.com"
PAYLOAD = b'{"aps":{"alert":"Hi"}}'

# RFC 9113 7
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = 0, 1, 2, 3
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = 5, 6, 7, 8, 9
ENHANCE_YOUR_CALM = 11


def connect(plain, target, fields=""):
    """Asks a proxy for the target; answers the head of what it says. What follows that in a tunnel is left unread."""
    plain.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{fields}\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        byte = plain.recv(1)
        assert byte, f"the proxy ended after {answer}"
        answer += byte
    return answer.decode()


class Answer:
    """What came back on one stream."""

    def __init__(self):
        self.fields, self.body, self.ended, self.reset = [], b"", False, None

    @property
    def status(self):
        return int(self.fields[0][1]) if self.fields else None

    @property
    def isOver(self):
        return self.ended or self.reset is not None

    def __getitem__(self, name):
        return dict(self.fields).get(name)


def raw_frame(type, flags, stream, payload, length=None):
    """A frame without any check: type, flags and length may be anything."""
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + struct.pack(">BBI", type, flags, stream) + payload


class Connection:
    """One connection. Everything that arrives is kept in `frames`, in order, with its bytes in `raw`."""

    def __init__(
        self, emulator, listener="provider", name=SANDBOX, alpn=("h2",), certificate=None, preface=True,
        settings=None, receive_buffer=None, no_delay=True, through=None
    ):
        """`through`: what the proxy is asked for first, if that is the listener."""
        context = ssl.create_default_context(cafile=emulator.ca)
        if alpn:
            context.set_alpn_protocols(list(alpn))
        if certificate:
            context.load_cert_chain(*certificate)
        plain = socket.socket()
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(TIMEOUT)
        plain.connect(emulator.address(listener))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, no_delay)
        if through:
            assert connect(plain, through).startswith("HTTP/1.1 200 ")
        self.socket = context.wrap_socket(plain, server_hostname=name)
        self.host = name
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.decoder.max_header_list_size = 1 << 20
        self.buffer, self.frames, self.raw, self.answers = b"", [], [], {}
        self.is_closed, self.was_reset = False, False
        self.next_stream = 1
        if preface:
            self.send_bytes(PREFACE + SettingsFrame(0, settings or {}).serialize())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    # Sending

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send(self, *frames):
        self.send_bytes(b"".join(frame if isinstance(frame, bytes) else frame.serialize() for frame in frames))

    def block(self, fields):
        """The fields as a header block. Names and values are taken as they are."""
        return self.encoder.encode(fields)

    def new_stream(self):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        return stream

    def headers(self, stream, fields, end_stream=False, end_headers=True, block=None):
        frame = HeadersFrame(stream, self.block(fields) if block is None else block)
        frame.flags |= {"END_STREAM"} if end_stream else set()
        frame.flags |= {"END_HEADERS"} if end_headers else set()
        return frame

    def data(self, stream, body, end_stream=True):
        return DataFrame(stream, body, flags=["END_STREAM"] if end_stream else [])

    def request(self, fields, body=PAYLOAD, stream=None):
        """Sends a whole request; answers its stream."""
        stream = stream or self.new_stream()
        frames = [self.headers(stream, fields, end_stream=not body)]
        if body:
            pieces = [body[at : at + 16384] for at in range(0, len(body), 16384)]
            frames += [self.data(stream, piece, piece is pieces[-1]) for piece in pieces]
        self.send(*frames)
        return stream

    # Receiving

    def next_frame(self):
        """The next frame, or None at the end of the connection. SETTINGS of the server are acknowledged."""
        header = self._take(9)
        if header is None:
            return None
        frame, length = Frame.parse_frame_header(memoryview(header))
        body = self._take(length)
        if body is None:
            return None
        frame.parse_body(memoryview(body))
        self.frames.append(frame)
        self.raw.append(header + body)
        self._note(frame)
        return frame

    def _take(self, count):
        while len(self.buffer) < count:
            try:
                chunk = self.socket.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                self.was_reset, chunk = True, b""
            except ssl.SSLEOFError:
                chunk = b""
            if not chunk:
                self.is_closed = True
                return None
            self.buffer += chunk
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _note(self, frame):
        answer = self.answers.setdefault(frame.stream_id, Answer())
        if isinstance(frame, HeadersFrame):
            assert not answer.fields, f"two answers on stream {frame.stream_id}"
            answer.fields = [(name, value) for name, value in self.decoder.decode(frame.data)]
        elif isinstance(frame, DataFrame):
            answer.body += frame.data
        elif isinstance(frame, RstStreamFrame):
            answer.reset = frame.error_code
        elif isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
            self.acknowledge_settings()
        answer.ended = answer.ended or "END_STREAM" in frame.flags

    def acknowledge_settings(self):
        try:
            self.send(SettingsFrame(0, flags=["ACK"]))
        except OSError:
            pass  # It may have closed; what it sent before that is still read.

    def wait(self, condition):
        """The first frame, already here or yet to come, that meets the condition; None if the connection ends first."""
        for frame in self.frames:
            if condition(frame):
                return frame
        while (frame := self.next_frame()) is not None:
            if condition(frame):
                return frame
        return None

    def answer(self, stream):
        """What comes back on a stream, to its end."""
        while not self.answers.setdefault(stream, Answer()).isOver and self.next_frame() is not None:
            pass
        return self.answers[stream]

    def wait_for_settings(self):
        """The server's SETTINGS; they are acknowledged then."""
        return self.wait(lambda frame: isinstance(frame, SettingsFrame) and "ACK" not in frame.flags)

    def barrier(self, number=1):
        """Waits until the server has worked through everything that was sent so far."""
        mark = struct.pack(">Q", 0xBA551E4000000000 + number)
        self.send(PingFrame(0, mark))
        found = self.wait(
            lambda frame: isinstance(frame, PingFrame) and "ACK" in frame.flags and frame.opaque_data == mark)
        assert found, f"the connection ended: {self.goaway}"

    def read_to_end(self):
        """Everything until the server closes."""
        while self.next_frame() is not None:
            pass
        return self

    def text_to_end(self):
        """Bytes until the server closes, for answers that are no frames."""
        received = self.buffer
        while chunk := self.socket.recv(65536):
            received += chunk
        return received

    @property
    def goaway(self):
        """The last GOAWAY that came, as (code, last stream, debug data)."""
        for frame in reversed(self.frames):
            if isinstance(frame, GoAwayFrame):
                return frame.error_code, frame.last_stream_id, frame.additional_data
        return None

    def give_window(self, count, stream=0):
        self.send(WindowUpdateFrame(stream, count))


def push_fields(token, authorization=None, host=SANDBOX, **changes):
    """The fields of an ordinary push. A change to None leaves a field out; a list repeats it; `_` stands for `-`."""
    fields = {
        ":method": "POST", ":scheme": "https", ":path": f"/3/device/{token}", ":authority": host,
        "authorization": authorization, "apns-topic": TOPIC, "apns-push-type": "alert"}
    return listed(fields | {name.replace("_", "-"): value for name, value in changes.items()})


def listed(fields):
    """A dictionary of fields as a list; None leaves out, a list repeats."""
    pairs = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        pairs += [(name, text) for text in values if text is not None]
    return pairs


def assert_connection_error(connection, *codes):
    """The server ends the connection and says why."""
    connection.read_to_end()
    assert connection.goaway, "the connection ended without GOAWAY"
    assert connection.goaway[0] in codes, f"GOAWAY {connection.goaway}"


def assert_stream_error(connection, stream, *codes):
    """The server ends the stream, says why, and goes on with the connection."""
    answer = connection.answer(stream)
    was = f"{answer.status} {answer.body} reset {answer.reset} {connection.goaway}"
    assert answer.status is None and answer.reset in codes, was
    connection.barrier()
