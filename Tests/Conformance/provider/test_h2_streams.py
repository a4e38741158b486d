"""Streams (RFC 9113 5): numbers, states, the limit and its two changes, cancelling, GOAWAY; frames of other kinds."""

import pytest
from hyperframe.frame import GoAwayFrame, PingFrame, PriorityFrame, RstStreamFrame, SettingsFrame

from wire import (
    CANCEL, FRAME_SIZE_ERROR, NO_ERROR, PAYLOAD, PREFACE, PROTOCOL_ERROR, REFUSED_STREAM, STREAM_CLOSED,
    assert_connection_error, assert_stream_error, raw_frame)

pytestmark = pytest.mark.usefixtures("unharmed")

DATA, HEADERS, PRIORITY, RST_STREAM, PUSH_PROMISE, PING, GOAWAY = 0, 1, 2, 3, 5, 6, 7
END_STREAM, END_HEADERS, HAS_PRIORITY = 1, 4, 0x20
VIOLATED = b"Maximum active streams violated for this endpoint."


def authenticated(lab):
    """A connection that may open a thousand streams."""
    connection = lab.connect()
    assert connection.answer(connection.request(lab.fields("zz"))).status == 400
    connection.barrier(99)
    return connection


# Numbers


def test_stream_numbers_may_leave_gaps(lab, unharmed):
    unharmed.accepted = 3
    with lab.connect() as connection:
        for stream in (1, 7, 2**31 - 1):
            assert connection.answer(connection.request(lab.fields(), stream=stream)).status == 200


def test_a_smaller_stream_number(lab, unharmed):
    unharmed.accepted = 1
    with authenticated(lab) as connection:
        assert connection.answer(connection.request(lab.fields(), stream=7)).status == 200
        connection.request(lab.fields(), stream=5)
        assert_connection_error(connection, PROTOCOL_ERROR)
        assert 5 not in connection.answers


@pytest.mark.parametrize("stream", [0, 2])
def test_a_stream_that_a_client_can_not_open(lab, stream):
    with lab.connect() as connection:
        connection.send(raw_frame(HEADERS, END_HEADERS, stream, connection.block(lab.fields())))
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_the_reserved_bit_is_ignored(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.send(
            raw_frame(HEADERS, END_HEADERS, 0x80000001, connection.block(lab.fields())),
            raw_frame(DATA, END_STREAM, 0x80000001, PAYLOAD))
        assert connection.answer(1).status == 200


# States


@pytest.mark.parametrize("frame", [
    raw_frame(DATA, END_STREAM, 9, b"x"), raw_frame(RST_STREAM, 0, 9, b"\0\0\0\x08")], ids=["DATA", "RST_STREAM"])
def test_an_idle_stream_takes_nothing(lab, frame):
    with lab.connect() as connection:
        connection.send(frame)
        assert_connection_error(connection, PROTOCOL_ERROR)


@pytest.mark.parametrize("frame", [
    raw_frame(DATA, 0, 0, b"x"), raw_frame(RST_STREAM, 0, 0, b"\0\0\0\x08"), raw_frame(PRIORITY, 0, 0, b"\0\0\0\0\1")],
    ids=["DATA", "RST_STREAM", "PRIORITY"])
def test_stream_0_takes_no_frames_of_streams(lab, frame):
    with lab.connect() as connection:
        connection.send(frame)
        assert_connection_error(connection, PROTOCOL_ERROR)


@pytest.mark.parametrize("frame", [raw_frame(PING, 0, 1, b"12345678"), raw_frame(GOAWAY, 0, 1, b"\0" * 8)])
def test_streams_take_no_frames_of_stream_0(lab, frame):
    with lab.connect() as connection:
        connection.send(frame)
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_data_behind_the_end(lab):
    """The client has said that there is no more, and the answer is still on its way."""
    with lab.connect(settings={4: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.send(connection.data(stream, b"more"))
        assert_connection_error(connection, STREAM_CLOSED)


def test_data_on_a_closed_stream(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.request(lab.fields())
        assert connection.answer(stream).status == 200
        connection.send(connection.data(stream, b"late"))
        assert_connection_error(connection, STREAM_CLOSED)


def test_a_second_request_on_a_closed_stream(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.request(lab.fields())
        assert connection.answer(stream).status == 200
        connection.send(connection.headers(stream, lab.fields(), end_stream=True))
        assert_connection_error(connection, STREAM_CLOSED)


@pytest.mark.parametrize("type", [DATA, HEADERS])
def test_frames_on_a_stream_that_the_client_has_reset(lab, unharmed, type):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(connection.headers(stream, lab.fields()), RstStreamFrame(stream, CANCEL))
        connection.send(
            connection.data(stream, b"late") if type == DATA
            else connection.headers(stream, lab.fields(), end_stream=True))
        assert_stream_error(connection, stream, STREAM_CLOSED)
        assert connection.answer(connection.request(lab.fields())).status == 200


# Limit


def test_two_streams_before_a_token(lab, unharmed):
    """Once the client has acknowledged that there may be one, the second ends the connection; the first is served."""
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.wait_for_settings()
        connection.barrier()
        connection.send(connection.headers(1, lab.fields()), connection.headers(3, lab.fields()))
        connection.send(connection.data(1, PAYLOAD))
        connection.read_to_end()
        assert connection.answers[1].status == 200
        assert connection.answers[3].reset == REFUSED_STREAM
        assert connection.goaway == (REFUSED_STREAM, 1, VIOLATED)


def test_requests_sent_before_the_limit_was_known(lab, unharmed):
    """A client that does not wait for SETTINGS can't know of the limit."""
    unharmed.accepted = 20
    with lab.connect(preface=False) as connection:
        sent = [PREFACE, SettingsFrame(0).serialize()]
        for _ in range(20):
            stream = connection.new_stream()
            sent += [connection.headers(stream, lab.fields()).serialize(), connection.data(stream, PAYLOAD).serialize()]
        connection.send_bytes(b"".join(sent))
        assert [connection.answer(stream).status for stream in range(1, 41, 2)] == [200] * 20


def test_a_thousand_streams_after_a_token(lab, unharmed):
    unharmed.accepted = 1000
    with authenticated(lab) as connection:
        streams = [connection.new_stream() for _ in range(1000)]
        fields = lab.fields()
        connection.send(*[connection.headers(stream, fields) for stream in streams])
        connection.barrier()
        for stream in streams:
            assert not connection.answers.get(stream) or not connection.answers[stream].isOver
        connection.send(*[connection.data(stream, PAYLOAD) for stream in streams])
        assert {connection.answer(stream).status for stream in streams} == {200}


def test_a_thousand_and_one_streams(lab):
    with authenticated(lab) as connection:
        streams = [connection.new_stream() for _ in range(1001)]
        fields = lab.fields()
        connection.send(*[connection.headers(stream, fields) for stream in streams])
        connection.send(*[connection.data(stream, b"") for stream in streams])
        connection.read_to_end()
        assert connection.goaway == (REFUSED_STREAM, streams[-2], VIOLATED)
        assert {connection.answers[stream].status for stream in streams[:-1]} == {400}


# Cancelling


def test_a_request_that_is_cancelled_half_way(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), connection.data(stream, b'{"aps":', end_stream=False),
            RstStreamFrame(stream, CANCEL))
        connection.barrier()
        assert stream not in connection.answers
        assert connection.answer(connection.request(lab.fields())).status == 200


def test_a_request_that_is_cancelled_when_it_is_whole(lab, unharmed):
    """It was accepted; only the answer is not wanted."""
    unharmed.accepted = 2
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), connection.data(stream, PAYLOAD), RstStreamFrame(stream, CANCEL))
        connection.barrier()
        assert connection.answer(connection.request(lab.fields())).status == 200


def test_a_body_that_is_cancelled_while_it_waits(lab):
    with lab.connect(settings={4: 0}) as connection:
        stream = connection.request(lab.fields("zz"))
        connection.barrier()
        connection.send(RstStreamFrame(stream, CANCEL))
        connection.give_window(1000)
        connection.barrier(2)
        assert connection.answers[stream].body == b""


# GOAWAY of the client


def test_a_client_that_says_goodbye_hears_the_rest(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), GoAwayFrame(0, 0, NO_ERROR), connection.data(stream, PAYLOAD))
        assert connection.answer(stream).status == 200
        connection.socket.close()


def test_goaway_of_four_bytes(lab):
    with lab.connect() as connection:
        connection.send(raw_frame(GOAWAY, 0, 0, b"\0\0\0\0"))
        assert_connection_error(connection, FRAME_SIZE_ERROR)


# GOAWAY of the server


def test_goaway_for_a_certificate_of_the_other_environment(lab):
    """Byte for byte as in `Documentation/provider-api.md#environment-mismatch`, and nothing is served behind it."""
    certificate = lab.emulator.push_certificate("com.example.production")
    with lab.connect(certificate=certificate) as connection:
        connection.request(lab.fields(authorization=None, apns_topic=None))
        connection.read_to_end()
        assert [frame.type for frame in connection.frames if not (frame.type == 4 and "ACK" in frame.flags)] == [4, 7]
        goaway = next(raw for raw in connection.raw if raw[3] == GOAWAY)
        assert goaway == bytes.fromhex(
            "00002e0700000000000000000000000000"
            "7b22726561736f6e223a224261644365727469666963617465456e7669726f6e6d656e74227d")


def test_requests_behind_a_goaway_are_not_served(lab, unharmed):
    """One stream too many ends the connection; a third request, already under way, is dropped without a word."""
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.wait_for_settings()
        connection.barrier()
        connection.send(
            connection.headers(1, lab.fields()), connection.headers(3, lab.fields()),
            connection.headers(5, lab.fields()), connection.data(5, PAYLOAD), connection.data(1, PAYLOAD))
        connection.read_to_end()
        assert connection.goaway[1] == 1
        assert connection.answers[1].status == 200 and 5 not in connection.answers


# Other frames


def test_ping_is_answered_with_the_same_bytes(lab):
    with lab.connect() as connection:
        connection.send(PingFrame(0, b"\0\xff\x80abcd\n"))
        echo = connection.wait(lambda frame: isinstance(frame, PingFrame))
        assert "ACK" in echo.flags and echo.opaque_data == b"\0\xff\x80abcd\n"


def test_an_acknowledgement_that_nobody_asked_for(lab):
    with lab.connect() as connection:
        connection.send(PingFrame(0, b"12345678", flags=["ACK"]), SettingsFrame(0, flags=["ACK"]))
        connection.barrier()


@pytest.mark.parametrize("frame", [
    raw_frame(PING, 0, 0, b"1234567"), raw_frame(RST_STREAM, 0, 1, b"\0\0\0"), raw_frame(PRIORITY, 0, 1, b"\0" * 4)],
    ids=["PING", "RST_STREAM", "PRIORITY"])
def test_frames_of_the_wrong_size(lab, frame):
    with lab.connect() as connection:
        connection.send(connection.headers(1, lab.fields()), frame)
        connection.barrier() if frame[3] == PRIORITY and survives(connection) else assert_connection_error(
            connection, FRAME_SIZE_ERROR)


def survives(connection):
    """RFC 9113 6.3 lets PRIORITY of a wrong size end the stream alone."""
    answer = connection.answer(1)
    return answer.reset == FRAME_SIZE_ERROR and connection.goaway is None


def test_priorities_are_ignored(lab, unharmed):
    """Trees of priorities as browsers once built them (`Documentation/provider-api.md#connection`), and RFC 9218's."""
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.send(*[PriorityFrame(stream, depends_on=0, stream_weight=200) for stream in (3, 5, 7, 9, 11)])
        connection.send(
            raw_frame(HEADERS, END_HEADERS | HAS_PRIORITY, 13, b"\x80\0\0\x0b\x0f" + connection.block(lab.fields())),
            raw_frame(0x10, 0, 0, b"\0\0\0\x0du=1"), connection.data(13, PAYLOAD))
        assert connection.answer(13).status == 200
        connection.send(PriorityFrame(13, depends_on=3, exclusive=True))
        connection.barrier()


def test_a_stream_that_depends_on_itself(lab):
    with lab.connect() as connection:
        connection.send(PriorityFrame(5, depends_on=5))
        try:
            connection.barrier()  # RFC 9113 has no such error any more,
        except AssertionError:
            assert connection.goaway[0] == PROTOCOL_ERROR  # RFC 7540 had.


def test_a_client_that_promises(lab):
    with lab.connect() as connection:
        connection.send(raw_frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\2" + connection.block(lab.fields())))
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_unknown_frames_are_ignored(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        for type in (0x0A, 0x0C, 0x42, 0xFF):
            connection.send(raw_frame(type, 0xFF, 0, b"anything"), raw_frame(type, 0xFF, 9, b""))
        assert connection.answer(connection.request(lab.fields(), stream=11)).status == 200
