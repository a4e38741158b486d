"""How a connection begins: preface, ALPN, SETTINGS (RFC 9113 3.4, 6.5; `Documentation/provider-api.md#connection`)."""

import pytest
from hyperframe.frame import PingFrame, SettingsFrame

from wire import (
    ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, PREFACE, PROTOCOL_ERROR, assert_connection_error,
    raw_frame)

pytestmark = pytest.mark.usefixtures("unharmed")

EMPTY_SETTINGS = SettingsFrame(0).serialize()
# What Apple announces, byte for byte.
ONE_STREAM = bytes.fromhex("00001e04000000000000010000100000030000000100040000ffff000500004000000600001f40")
THOUSAND_STREAMS = bytes.fromhex("00001e040000000000000100001000000300" "0003e800040000ffff000500004000000600001f40")
SETTINGS, ENABLE_PUSH, STREAMS, WINDOW, FRAME_SIZE = 4, 2, 3, 4, 5


def push(lab, connection):
    return connection.answer(connection.request(lab.fields())).status


def test_preface_byte_by_byte(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect(preface=False) as connection:
        for byte in PREFACE + EMPTY_SETTINGS:
            connection.send_bytes(bytes([byte]))
        assert push(lab, connection) == 200


@pytest.mark.parametrize("cut", [1, 14, 18, 23, 24, 33])
def test_preface_cut_in_two_without_alpn(lab, unharmed, cut):
    unharmed.accepted = 1
    with lab.connect(preface=False, alpn=None) as connection:
        whole = PREFACE + EMPTY_SETTINGS
        connection.send_bytes(whole[:cut])
        connection.send_bytes(whole[cut:])
        assert push(lab, connection) == 200


def test_request_right_behind_the_preface(lab, unharmed):
    """A client need not wait for the server's SETTINGS."""
    unharmed.accepted = 1
    with lab.connect(preface=False) as connection:
        stream = connection.new_stream()
        headers = connection.headers(stream, lab.fields()).serialize()
        connection.send_bytes(PREFACE + EMPTY_SETTINGS + headers + connection.data(stream, b"{}").serialize())
        assert connection.answer(stream).status == 200


def test_wrong_preface_after_alpn(lab):
    with lab.connect(preface=False) as connection:
        connection.send_bytes(PREFACE.replace(b"SM", b"MS") + EMPTY_SETTINGS)
        assert_connection_error(connection, PROTOCOL_ERROR)
        assert b"preface string missing or corrupt. Hex dump for received bytes: 505249202a" in connection.goaway[2]


def test_no_preface_after_alpn(lab):
    with lab.connect(preface=False) as connection:
        connection.send_bytes(EMPTY_SETTINGS)
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_another_protocol_without_alpn_is_told_in_text(lab):
    with lab.connect(preface=False, alpn=None) as connection:
        connection.send_bytes(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        text = connection.text_to_end()
        assert text.startswith(b"HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: 160301")


@pytest.mark.parametrize("alpn", [None, ("http/1.1",), ("apns-security-v3",)])
def test_http_1_is_told_in_its_language(lab, alpn):
    with lab.connect(preface=False, alpn=alpn) as connection:
        connection.send_bytes(b"POST /3/device/00 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
        text = connection.text_to_end()
        head, _, body = text.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 505 ")
        assert b"content-length: %d" % len(body) in head.lower()
        assert b"console" in body


def test_h2_is_chosen_among_others(lab):
    with lab.connect(alpn=("spdy/3", "http/1.1", "h2")) as connection:
        assert connection.socket.selected_alpn_protocol() == "h2"


def test_first_frame_is_not_settings(lab):
    with lab.connect(preface=False) as connection:
        connection.send_bytes(PREFACE + PingFrame(0, b"12345678").serialize())
        assert_connection_error(connection, PROTOCOL_ERROR)


# SETTINGS of the server


def test_one_stream_until_a_valid_token_then_a_thousand(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.wait_for_settings()
        assert connection.raw[0] == ONE_STREAM
        refused = connection.request(lab.fields(authorization="bearer a.b.c"))
        assert connection.answer(refused).status == 403
        connection.barrier()
        assert ONE_STREAM in connection.raw and THOUSAND_STREAMS not in connection.raw
        taken = connection.request(lab.fields())
        assert connection.answer(taken).status == 200
        connection.barrier(2)
        # Apple's comes before the answer.
        answer = next(at for at, frame in enumerate(connection.frames) if frame.stream_id == taken)
        assert connection.raw.index(THOUSAND_STREAMS) < answer


def test_a_valid_token_counts_although_the_push_is_refused(lab):
    with lab.connect() as connection:
        assert connection.answer(connection.request(lab.fields("zz"))).status == 400
        connection.barrier()
        assert THOUSAND_STREAMS in connection.raw


def test_a_valid_token_counts_although_the_broadcast_is_refused(lab):
    with lab.connect() as connection:
        fields = lab.fields(**{":path": "/4/broadcasts/apps/com.example.app"})
        assert connection.answer(connection.request(fields)).status == 400
        connection.barrier()
        assert THOUSAND_STREAMS in connection.raw


def test_a_thousand_streams_at_once_with_a_certificate(lab):
    certificate = lab.emulator.push_certificate()
    with lab.connect(certificate=certificate) as connection:
        connection.wait_for_settings()
        assert connection.raw[0] == THOUSAND_STREAMS


@pytest.mark.parametrize("listener", ["gateway", "feedback"])
def test_channel_management_begins_like_the_rest(lab, listener):
    with lab.connect(listener=listener) as connection:
        connection.wait_for_settings()
        assert connection.raw[0] == THOUSAND_STREAMS


# SETTINGS of the client


@pytest.mark.parametrize(
    "payload, stream, flags, code", [
        (b"\0" * 5, 0, 0, FRAME_SIZE_ERROR),
        (b"", 1, 0, PROTOCOL_ERROR),
        (b"\0\3\0\0\0\1", 0, 1, FRAME_SIZE_ERROR),
        (b"\0\2\0\0\0\2", 0, 0, PROTOCOL_ERROR),
        (b"\0\4\x80\0\0\0", 0, 0, FLOW_CONTROL_ERROR),
        (b"\0\5\0\0\x3f\xff", 0, 0, PROTOCOL_ERROR),
        (b"\0\5\1\0\0\0", 0, 0, PROTOCOL_ERROR),
    ], ids=["of 5 bytes", "on a stream", "acknowledgement with a body", "ENABLE_PUSH 2", "window of 2^31",
            "frames of 16383", "frames of 2^24"])
def test_bad_settings(lab, payload, stream, flags, code):
    with lab.connect() as connection:
        connection.send(raw_frame(SETTINGS, flags, stream, payload))
        assert_connection_error(connection, code)


def test_unknown_settings_and_one_setting_twice(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        connection.send(raw_frame(SETTINGS, 0, 0, b"\xfa\xfa\1\2\3\4" + b"\0\3\0\0\0\1" + b"\0\3\0\0\0\x64"))
        connection.wait(lambda frame: isinstance(frame, SettingsFrame) and "ACK" in frame.flags)
        assert push(lab, connection) == 200


def test_settings_with_more_entries_than_anybody_has(lab):
    with lab.connect() as connection:
        connection.send(raw_frame(SETTINGS, 0, 0, b"\0\3\0\0\0\1" * 2000))
        assert_connection_error(connection, ENHANCE_YOUR_CALM, PROTOCOL_ERROR)
