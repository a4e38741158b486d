"""Flow control (RFC 9113 5.2, 6.9): windows of either side at nothing, at one byte, and beyond what is allowed."""

import sys
import time

import pytest
from hyperframe.frame import SettingsFrame, WindowUpdateFrame

from wire import (
    FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, PAYLOAD, PROTOCOL_ERROR, assert_connection_error, assert_stream_error,
    raw_frame)
from lab import memory

pytestmark = pytest.mark.usefixtures("unharmed")

WINDOW_UPDATE, INITIAL_WINDOW, LARGEST_WINDOW = 8, 4, 2**31 - 1
REASON = b'{"reason":"BadDeviceToken"}'


def test_an_answer_without_a_body_needs_no_window(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        assert connection.answer(connection.request(lab.fields())).status == 200


def test_a_body_waits_for_the_window_of_its_stream(lab):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.barrier()
        answer = connection.answers[stream]
        assert (answer.status, answer.body, answer.ended) == (400, b"", False)
        connection.give_window(100, stream)
        assert connection.answer(stream).body == REASON


def test_a_body_byte_by_byte(lab):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        for number in range(1, len(REASON) + 1):
            connection.give_window(1, stream)
            connection.barrier(number)
            assert connection.answers[stream].body == REASON[:number]
        assert connection.answer(stream).ended


def test_a_body_waits_for_a_window_that_settings_open(lab):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.barrier()
        assert connection.answers[stream].body == b""
        connection.send(SettingsFrame(0, {INITIAL_WINDOW: 5}))
        connection.barrier(2)
        assert connection.answers[stream].body == REASON[:5]
        connection.send(SettingsFrame(0, {INITIAL_WINDOW: 65535}))
        assert connection.answer(stream).body == REASON


def test_a_window_made_negative_by_settings(lab):
    with lab.connect(settings={INITIAL_WINDOW: 10}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.barrier()
        connection.send(SettingsFrame(0, {INITIAL_WINDOW: 0}))
        connection.give_window(10, stream)
        connection.barrier(2)
        assert connection.answers[stream].body == REASON[:10]
        connection.give_window(100, stream)
        assert connection.answer(stream).body == REASON


def test_a_thousand_bodies_that_wait(lab):
    """They cost no more than themselves, and come when there is a window."""
    with lab.connect(settings={INITIAL_WINDOW: 0}, certificate=lab.emulator.push_certificate()) as connection:
        connection.wait_for_settings()
        streams = [connection.request(lab.fields("zz")) for _ in range(1000)]
        connection.barrier()
        assert {connection.answers[stream].status for stream in streams} == {400}
        connection.send(SettingsFrame(0, {INITIAL_WINDOW: 1000}))
        for stream in streams:
            assert connection.answer(stream).body == REASON


@pytest.mark.parametrize("stream", [0, 1], ids=["connection", "stream"])
def test_a_window_that_grows_by_nothing(lab, stream):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        connection.request(lab.fields("zz"))
        connection.send(raw_frame(WINDOW_UPDATE, 0, stream, b"\0\0\0\0"))
        # RFC 9113 6.9 wants an error of the stream only; nghttp2 ends the connection for either.
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_the_connections_window_overflows(lab):
    with lab.connect() as connection:
        connection.give_window(LARGEST_WINDOW)
        assert_connection_error(connection, FLOW_CONTROL_ERROR)


def test_a_streams_window_overflows(lab):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.give_window(LARGEST_WINDOW - 10, stream)
        connection.give_window(LARGEST_WINDOW, stream)
        answer = connection.answer(stream)
        # The body may have been faster than the second frame.
        assert answer.reset in (None, FLOW_CONTROL_ERROR) and (answer.reset or answer.body == REASON)


def test_a_waiting_streams_window_overflows(lab):
    with lab.connect(settings={INITIAL_WINDOW: 0}) as connection:
        stream = connection.new_stream()
        connection.send(connection.headers(stream, lab.fields()))
        connection.give_window(LARGEST_WINDOW, stream)
        connection.give_window(1, stream)
        assert_stream_error(connection, stream, FLOW_CONTROL_ERROR)


def test_settings_make_a_streams_window_overflow(lab):
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(connection.headers(stream, lab.fields()))
        connection.give_window(LARGEST_WINDOW - 65535, stream)
        connection.send(SettingsFrame(0, {INITIAL_WINDOW: 65536}))
        # RFC 9113 6.9.2 wants an error of the connection; nghttp2 ends only the stream.
        assert_stream_error(connection, stream, FLOW_CONTROL_ERROR)


def test_window_update_of_three_bytes(lab):
    with lab.connect() as connection:
        connection.send(raw_frame(WINDOW_UPDATE, 0, 0, b"\0\0\1"))
        assert_connection_error(connection, FRAME_SIZE_ERROR)


def test_window_update_on_an_idle_stream(lab):
    with lab.connect() as connection:
        connection.send(WindowUpdateFrame(9, 1))
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_the_server_opens_its_windows_again(lab, unharmed):
    """More bytes on one connection than its window holds at the start."""
    unharmed.accepted = 40
    with lab.connect() as connection:
        for _ in range(40):
            assert connection.answer(connection.request(lab.fields(), b'{"a":"%s"}' % (b"x" * 4000))).status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a socket can't be told to acknowledge at once")
def test_fields_and_payload_in_segments_of_their_own(lab, unharmed):
    """A client that sends them apart and knows no TCP_NODELAY (hyper, below apns2) must not wait 40 ms for each."""
    unharmed.accepted = 100
    with lab.connect(no_delay=False) as connection:
        began = time.monotonic()
        for _ in range(100):
            stream = connection.new_stream()
            connection.send(connection.headers(stream, lab.fields()))
            connection.send(connection.data(stream, PAYLOAD))
            assert connection.answer(stream).status == 200
        assert time.monotonic() - began < 2


def test_a_body_as_large_as_a_window(lab):
    """It is read to its end and refused then."""
    with lab.connect() as connection:
        answer = connection.answer(connection.request(lab.fields(), b"x" * 65535))
        assert (answer.status, answer.body) == (413, b'{"reason":"PayloadTooLarge"}')


def test_a_body_larger_than_a_window_by_a_client_that_obeys(lab):
    with lab.connect() as connection:
        stream, left, window = connection.new_stream(), 300_000, 65535
        connection.send(connection.headers(stream, lab.fields()))
        while left:
            if not window:
                connection.next_frame()
                window = grown(connection, stream) - (300_000 - left)
                continue
            count = min(window, left, 16384)
            left, window = left - count, window - count
            connection.send(connection.data(stream, b"x" * count, end_stream=not left))
        assert connection.answer(stream).status == 413


def grown(connection, stream):
    """How many bytes the server has allowed by now: the smaller of the two windows."""
    def total(number):
        return 65535 + sum(
            frame.window_increment for frame in connection.frames
            if isinstance(frame, WindowUpdateFrame) and frame.stream_id == number)
    return min(total(0), total(stream))


def test_a_body_of_eight_megabytes(lab):
    """The server lets it in faster than this client can send it, keeps what it may look at, and counts the rest."""
    before = memory(lab)
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(connection.headers(stream, lab.fields()))
        piece = connection.data(stream, b"x" * 16384, end_stream=False).serialize() * 64
        for _ in range(8):
            connection.send(piece)
        connection.send(connection.data(stream, b"x"))
        assert connection.answer(stream).status == 413
    assert memory(lab) - before < 4 << 20
