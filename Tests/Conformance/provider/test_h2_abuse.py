"""Floods: each ends or is served, costs no more memory than a limit, and nobody else notices."""

import socket
import ssl
import time

import pytest
from hyperframe.frame import PingFrame, RstStreamFrame, SettingsFrame

from lab import memory
from wire import CANCEL, ENHANCE_YOUR_CALM, INTERNAL_ERROR, PAYLOAD, PREFACE, raw_frame

pytestmark = pytest.mark.usefixtures("unharmed")

# What one connection may cost at most: its output limit, twice, and what the allocator keeps.
ROOM = 8 << 20
SMALL = 4096


def ends(connection, piece, megabytes):
    """Sends the same bytes again and again, and never reads; answers whether the server ended the connection."""
    try:
        for _ in range((megabytes << 20) // len(piece)):
            connection.send_bytes(piece)
    except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
        return True
    return False


@pytest.mark.parametrize("frame", [
    PingFrame(0, b"12345678").serialize(), SettingsFrame(0, {3: 100}).serialize(), SettingsFrame(0).serialize()],
    ids=["PING", "SETTINGS", "empty SETTINGS"])
def test_flood_by_a_client_that_does_not_read(lab, unharmed, frame):
    """Every frame asks for an answer (CVE-2019-9512, CVE-2019-9515). The connection is dropped."""
    unharmed.accepted = 1
    before = memory(lab)
    with lab.connect(receive_buffer=SMALL) as connection:
        assert ends(connection, frame * 1000, megabytes=64)
        assert memory(lab) - before < ROOM
        assert lab.push_now(lab.token).status == 200


def test_ping_flood_by_a_client_that_reads(lab):
    """That is only expensive for the client: all are answered."""
    with lab.connect() as connection:
        for number in range(20):
            connection.send(PingFrame(0, b"12345678").serialize() * 500)
            connection.barrier(number)
        echoes = [
            frame for frame in connection.frames if isinstance(frame, PingFrame) and frame.opaque_data == b"12345678"]
        assert len(echoes) == 10_000


def test_answers_that_nobody_reads(lab, unharmed):
    """Requests are read as long as their answers go away."""
    unharmed.accepted = 1
    with lab.connect(receive_buffer=SMALL) as connection:
        fields = lab.fields("zz")
        connection.answer(connection.request(fields))
        block = connection.block(fields)
        before = memory(lab)
        connection.socket.settimeout(1)
        try:
            for _ in range(300):
                frames = []
                for _ in range(100):
                    stream = connection.new_stream()
                    frames += [connection.headers(stream, None, block=block), connection.data(stream, PAYLOAD)]
                connection.send(*frames)
        except OSError:
            pass  # It reads no more until we do, or has ended it.
        assert memory(lab) - before < ROOM
        assert lab.push_now(lab.token).status == 200


def test_rapid_reset(lab):
    """CVE-2023-44487: requests that are cancelled in the same breath."""
    with lab.connect() as connection:
        fields = lab.fields("zz")
        connection.answer(connection.request(fields))
        block = connection.block(fields)
        before = len(lab.notifications())
        frames = []
        for _ in range(5000):
            stream = connection.new_stream()
            frames += [connection.headers(stream, None, block=block), RstStreamFrame(stream, CANCEL)]
        try:
            connection.send(*frames)
        except OSError:
            pass  # It has closed already.
        connection.read_to_end()
        assert connection.goaway is None or connection.goaway[0] in (ENHANCE_YOUR_CALM, INTERNAL_ERROR)
        assert len(lab.notifications()) == before


def test_resets_that_the_client_provokes(lab):
    """CVE-2025-8671: frames that make the server reset streams, so that the client's own counter stays at nothing."""
    with lab.connect() as connection:
        fields = lab.fields("zz")
        connection.answer(connection.request(fields))
        block = connection.block(fields)
        began, frames = time.monotonic(), []
        for _ in range(5000):
            stream = connection.new_stream()
            frames += [connection.headers(stream, None, block=block), raw_frame(8, 0, stream, b"\0\0\0\0")]
        try:
            connection.send(*frames)
        except OSError:
            pass  # It has closed already.
        connection.read_to_end()
        assert connection.goaway and time.monotonic() - began < 5


def test_empty_frames(lab):
    """CVE-2019-9518: DATA without bytes and without an end."""
    with lab.connect() as connection:
        connection.send(connection.headers(1, lab.fields()))
        assert_fast(lambda: connection.send(raw_frame(0, 0, 1, b"") * 100_000), connection)


def test_tiny_frames(lab, unharmed):
    """A payload byte by byte."""
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.send(connection.headers(1, lab.fields()))
        body = b'{"a":"%s"}' % (b"x" * 4000)
        connection.send(*[connection.data(1, body[at : at + 1], at == len(body) - 1) for at in range(len(body))])
        assert connection.answer(1).status == 200


def test_priority_flood(lab):
    """CVE-2019-9513: priorities are not kept."""
    before = memory(lab)
    with lab.connect() as connection:
        frames = b"".join(raw_frame(2, 0, stream, b"\0\0\0\0\1") for stream in range(1, 40_001, 2))
        assert_fast(lambda: connection.send(frames * 5), connection)
    assert memory(lab) - before < ROOM


def test_window_update_flood(lab):
    with lab.connect(settings={4: 0}) as connection:
        connection.send(connection.headers(1, lab.fields()))
        assert_fast(lambda: connection.send(raw_frame(8, 0, 1, b"\0\0\0\1") * 100_000), connection)


def test_settings_that_change_a_thousand_windows(lab):
    """Each of them touches every stream."""
    with lab.connect(certificate=lab.emulator.push_certificate()) as connection:
        connection.wait_for_settings()
        connection.send(*[connection.headers(connection.new_stream(), lab.fields()) for _ in range(1000)])
        windows = b"".join(SettingsFrame(0, {4: size}).serialize() for size in (1, 65535))
        assert_fast(lambda: connection.send(windows * 400), connection)


def assert_fast(send, connection):
    """The server works through it in no time, whether it bears it or ends it."""
    began = time.monotonic()
    try:
        send()
        connection.barrier(7)
    except (OSError, AssertionError):
        connection.read_to_end()
    assert time.monotonic() - began < 10


def test_a_hundred_connections_that_say_nothing(lab, unharmed):
    unharmed.accepted = 1
    connections = [lab.connect(preface=number % 2 == 0, alpn=("h2",) if number % 3 else None) for number in range(100)]
    assert lab.push_now(lab.token).status == 200
    for connection in connections:
        connection.socket.close()


@pytest.mark.parametrize("sent", [b"", PREFACE[:5], PREFACE, PREFACE + SettingsFrame(0).serialize() + b"\0\0\4\3"])
def test_a_client_that_goes_without_a_word(lab, unharmed, sent):
    """Also with a reset instead of an end."""
    unharmed.accepted = 1
    for linger in (False, True):
        connection = lab.connect(preface=False)
        connection.send_bytes(sent)
        if linger:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.socket.close()
    assert lab.push_now(lab.token).status == 200
