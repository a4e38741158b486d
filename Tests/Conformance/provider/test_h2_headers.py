"""Header blocks (RFC 9113 4.3, 6.10, 8): CONTINUATION, HPACK, pseudo-fields, sizes, trailers, content-length."""

import time

import pytest
from hpack.hpack import encode_integer
from hyperframe.frame import ContinuationFrame, PingFrame

from lab import memory
from wire import (
    COMPRESSION_ERROR, ENHANCE_YOUR_CALM, FRAME_SIZE_ERROR, INTERNAL_ERROR, PAYLOAD, PROTOCOL_ERROR,
    assert_connection_error, assert_stream_error, raw_frame)

pytestmark = pytest.mark.usefixtures("unharmed")

DATA, HEADERS, CONTINUATION = 0, 1, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 0x20


def in_pieces(connection, stream, block, count):
    """A header block as HEADERS and CONTINUATION."""
    size = -(-len(block) // count)
    pieces = [block[at : at + size] for at in range(0, len(block), size)]
    frames = [connection.headers(stream, None, end_headers=False, block=pieces[0])]
    for piece in pieces[1:]:
        frames.append(ContinuationFrame(stream, piece, flags=["END_HEADERS"] if piece is pieces[-1] else []))
    return frames


def literal(name, value):
    """A field as it is: hpack's Huffman code takes minutes for a megabyte."""
    return b"\0" + b"".join(bytes(encode_integer(len(text), 7)) + text for text in (name, value))


# CONTINUATION


@pytest.mark.parametrize("count", [2, 9])
def test_a_block_in_pieces(lab, unharmed, count):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        frames = in_pieces(connection, stream, connection.block(lab.fields()), count)
        assert len(frames) == count
        connection.send(*frames, connection.data(stream, PAYLOAD))
        assert connection.answer(stream).status == 200


def test_an_empty_continuation_ends_the_block(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields(), end_headers=False),
            ContinuationFrame(stream, b"", flags=["END_HEADERS"]), connection.data(stream, PAYLOAD))
        assert connection.answer(stream).status == 200


def test_continuation_flood(lab):
    """CVE-2024-28182: header blocks without an end."""
    with lab.connect() as connection:
        connection.send(connection.headers(1, lab.fields(), end_headers=False))
        try:
            for _ in range(100):
                connection.send(*[ContinuationFrame(1, b"") for _ in range(100)])
        except OSError:
            pass  # It has closed already.
        connection.read_to_end()
        assert not connection.answers.get(1) or connection.answers[1].status is None


@pytest.mark.parametrize("intruder", [
    PingFrame(0, b"12345678").serialize(), raw_frame(DATA, 1, 1, b"x"), raw_frame(HEADERS, 5, 3, b""),
    raw_frame(CONTINUATION, 4, 3, b""), raw_frame(0xFA, 0, 1, b"")],
    ids=["PING", "DATA", "other HEADERS", "other CONTINUATION", "unknown type"])
def test_something_else_inside_a_block(lab, intruder):
    with lab.connect() as connection:
        connection.send(connection.headers(1, lab.fields(), end_headers=False), intruder)
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_continuation_without_headers(lab):
    with lab.connect() as connection:
        connection.send(raw_frame(CONTINUATION, END_HEADERS, 1, b""))
        assert_connection_error(connection, PROTOCOL_ERROR)


# HPACK


@pytest.mark.parametrize("block", [
    b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x40\x7f\xff\xff\xff\xff\xff\xff\x7f", b"\x3f\xe2\x1f",
    b"\x40\x81\xff\x01a", b"\x40\x0aab", b"\xfe"],
    ids=["index 0", "an endless number", "an endless length", "a table of 4097 bytes", "bad Huffman code",
         "a name that is cut", "an index that nobody made"])
def test_a_block_that_is_no_hpack(lab, block):
    with lab.connect() as connection:
        connection.send(connection.headers(1, None, end_stream=True, block=block))
        assert_connection_error(connection, COMPRESSION_ERROR)


def test_a_header_table_of_no_size(lab, unharmed):
    """The client's encoder may use less than the server offers."""
    unharmed.accepted = 2
    with lab.connect() as connection:
        connection.encoder.header_table_size = 0
        for _ in range(2):
            assert connection.answer(connection.request(lab.fields())).status == 200


def test_hpack_bomb(lab):
    """A few bytes that stand for sixty megabytes of fields."""
    before, began = memory(lab), time.monotonic()
    with lab.connect() as connection:
        block = connection.block(lab.fields(**{"x-large": "a" * 3900}))
        connection.send(connection.headers(1, None, end_stream=True, block=block + b"\xbe" * 15000))
        answer = connection.answer(1)
        assert answer.status in (None, 431)
    assert memory(lab) - before < 4 << 20
    assert time.monotonic() - began < 5


# Size of the list


def test_a_list_as_large_as_announced(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        fields = lab.fields()
        room = 8000 - sum(len(name) + len(value) + 32 for name, value in fields) - len("x-rest") - 32
        stream = connection.request(fields + [("x-rest", "a" * room)])
        assert connection.answer(stream).status == 200


def test_a_list_larger_than_announced(lab):
    with lab.connect() as connection:
        fields = lab.fields()
        room = 8000 - sum(len(name) + len(value) + 32 for name, value in fields) - len("x-rest") - 32
        answer = connection.answer(connection.request(fields + [("x-rest", "a" * (room + 1))]))
        assert (answer.status, answer.body) == (431, b"")
        connection.barrier()


def test_a_list_of_thirty_thousand_bytes_and_then_a_good_one(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        block = connection.block(lab.fields(x_large="a" * 30_000))
        connection.send(*in_pieces(connection, 1, block, 3))
        assert connection.answer(1).status == 431
        assert connection.answer(connection.request(lab.fields(), stream=3)).status == 200


def test_a_list_of_a_megabyte(lab):
    with lab.connect() as connection:
        block = connection.block(lab.fields()) + literal(b"x-large", b"a" * 1_500_000)
        frames = in_pieces(connection, 1, block, 100)
        try:
            connection.send(*frames)
        except OSError:
            pass  # It has closed already.
        connection.read_to_end()
        assert connection.goaway is None or connection.goaway[0] in (
            PROTOCOL_ERROR, INTERNAL_ERROR, COMPRESSION_ERROR, ENHANCE_YOUR_CALM)


# Malformed requests (8.1.1): an error of the stream, and nothing is pushed


def without(fields, *names):
    return [field for field in fields if field[0] not in names]


MALFORMED = {
    "no :method": lambda fields: without(fields, ":method"),
    "no :scheme": lambda fields: without(fields, ":scheme"),
    "neither :authority nor host": lambda fields: without(fields, ":authority"),
    "no :path": lambda fields: without(fields, ":path"),
    ":path empty": lambda fields: [(":path", "")] + without(fields, ":path"),
    ":path *": lambda fields: [(":path", "*")] + without(fields, ":path"),
    ":path twice": lambda fields: [(":path", "/3/device/00")] + fields,
    ":method twice": lambda fields: [(":method", "POST")] + fields,
    ":status": lambda fields: [(":status", "200")] + fields,
    "an unknown pseudo-field": lambda fields: [(":token", "00")] + fields,
    "a pseudo-field behind others": lambda fields: without(fields, ":path") + [(":path", "/3/device/00")],
    "a name in capitals": lambda fields: fields + [("Apns-Priority", "10")],
    "a name with a blank": lambda fields: fields + [("apns priority", "10")],
    "an empty name": lambda fields: fields + [("", "10")],
    "a line feed in a value": lambda fields: fields + [("x-a", "a\nb: c")],
    "a zero byte in a value": lambda fields: fields + [("x-a", "a\0b")],
    "connection": lambda fields: fields + [("connection", "close")],
    "keep-alive": lambda fields: fields + [("keep-alive", "1")],
    "transfer-encoding": lambda fields: fields + [("transfer-encoding", "chunked")],
    "upgrade": lambda fields: fields + [("upgrade", "h2c")],
    "te gzip": lambda fields: fields + [("te", "gzip")],
    "content-length too small": lambda fields: fields + [("content-length", "5")],
    "content-length too large": lambda fields: fields + [("content-length", "500")],
    "content-length negative": lambda fields: fields + [("content-length", "-1")],
    "content-length in words": lambda fields: fields + [("content-length", "many")],
    "content-length twice": lambda fields: fields + [("content-length", str(len(PAYLOAD))), ("content-length", "1")],
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(lab, unharmed, change):
    unharmed.accepted = 1
    with lab.connect() as connection:
        assert_stream_error(connection, connection.request(change(lab.fields())), PROTOCOL_ERROR)
        assert connection.answer(connection.request(lab.fields())).status == 200


@pytest.mark.parametrize("change", [
    lambda fields: without(fields, ":authority") + [("host", "api.push.apple.com")],
    lambda fields: fields + [("host", "elsewhere.example")],
    lambda fields: fields + [("te", "trailers")],
    lambda fields: fields + [("content-length", str(len(PAYLOAD)))],
    lambda fields: fields + [("cookie", "a=b"), ("cookie", "c=d")],
    lambda fields: [(name, value.replace("https", "http")) for name, value in fields],
], ids=["host for :authority", "both, different", "te trailers", "content-length right",
        "cookies", "scheme http"])
def test_odd_and_good(lab, unharmed, change):
    unharmed.accepted = 1
    with lab.connect() as connection:
        assert connection.answer(connection.request(change(lab.fields()))).status == 200


# Trailers and padding


def test_trailers(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), connection.data(stream, PAYLOAD, end_stream=False),
            connection.headers(stream, [("x-checksum", "1"), ("apns-priority", "bad")], end_stream=True))
        assert connection.answer(stream).status == 200


def test_trailers_with_a_pseudo_field(lab):
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), connection.data(stream, PAYLOAD, end_stream=False),
            connection.headers(stream, [(":path", "/")], end_stream=True))
        assert_stream_error(connection, stream, PROTOCOL_ERROR)


def test_trailers_that_do_not_end_the_stream(lab):
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()), connection.data(stream, PAYLOAD, end_stream=False),
            connection.headers(stream, [("x-checksum", "1")]))
        assert_stream_error(connection, stream, PROTOCOL_ERROR)


def test_padding(lab, unharmed):
    unharmed.accepted = 1
    with lab.connect() as connection:
        stream = connection.new_stream()
        block = connection.block(lab.fields())
        connection.send(
            raw_frame(HEADERS, END_HEADERS | PADDED, stream, b"\x64" + block + b"\0" * 100),
            raw_frame(DATA, END_STREAM | PADDED, stream, b"\xff" + PAYLOAD + b"\0" * 255))
        assert connection.answer(stream).status == 200


def test_padding_is_no_payload(lab):
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(
            connection.headers(stream, lab.fields()),
            raw_frame(DATA, END_STREAM | PADDED, stream, b"\x0a" + b"\0" * 10))
        assert connection.answer(stream).body == b'{"reason":"PayloadEmpty"}'


@pytest.mark.parametrize("type", [DATA, HEADERS])
def test_padding_longer_than_the_frame(lab, type):
    with lab.connect() as connection:
        if type == DATA:
            connection.send(connection.headers(1, lab.fields()))
        connection.send(raw_frame(type, PADDED | END_HEADERS, 1, b"\x05\0\0\0\0"))
        assert_connection_error(connection, PROTOCOL_ERROR)


def test_an_empty_payload_in_many_frames(lab):
    with lab.connect() as connection:
        stream = connection.new_stream()
        connection.send(connection.headers(stream, lab.fields()))
        connection.send(*[connection.data(stream, b"", end_stream=False)] * 50, connection.data(stream, b""))
        assert connection.answer(stream).body == b'{"reason":"PayloadEmpty"}'


@pytest.mark.parametrize("type", [DATA, HEADERS])
def test_a_frame_larger_than_allowed(lab, type):
    with lab.connect() as connection:
        if type == DATA:
            connection.send(connection.headers(1, lab.fields()))
        connection.send(raw_frame(type, END_HEADERS, 1, b"\0" * 16385))
        assert_connection_error(connection, FRAME_SIZE_ERROR)
