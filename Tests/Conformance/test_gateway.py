"""The gateway over real sockets: what providers of the time relied on."""

import socket
import ssl

import pytest

from harness import TIMEOUT, TOPIC, eventually
from legacy import Provider, enhanced, framed, simple
from phone import Phone

UNKNOWN = b"\xab" * 32


def alert(number):
    return b'{"aps":{"alert":"%d"}}' % number


@pytest.fixture
def provider(emulator):
    identity = emulator.push_certificate()
    with Provider(emulator, *identity) as provider:
        yield provider


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000], ids=lambda size: f"{size} bytes a record")
def test_frames_may_be_cut_anywhere(emulator, provider, size):
    phone = Phone(emulator)
    frames = simple(phone.token, alert(1)) + enhanced(2, phone.token, alert(2)) + framed(3, phone.token, alert(3))
    frames += enhanced(4, UNKNOWN, alert(4)) + enhanced(5, phone.token, alert(5))
    for start in range(0, len(frames), size):
        try:
            provider.send(frames[start : start + size])
        except OSError:
            # The gateway has closed behind its answer, which is what the rest of the test is about.
            assert start > len(frames) // 2
            break
    assert provider.read_to_end() == bytes.fromhex("080800000004")
    assert phone.alerts() == ["3"]


def test_a_bad_command_0_ends_the_connection_without_a_packet(emulator, provider):
    phone = Phone(emulator)
    provider.send(simple(phone.token, alert(1)) + simple(UNKNOWN, alert(2)) + simple(phone.token, alert(3)))
    assert provider.read_to_end() == b""
    assert phone.alerts() == ["1"]


@pytest.mark.parametrize(
    "frame, packet",
    [
        ("020000002002001676227b7d2020202020202020202020202020202020200300040000002a", "08020000002a"),
        ("020000002a010020" + "ab" * 32 + "0300040000002a", "08040000002a"),
        ("020000004201001f" + "ab" * 31 + "0200167b22617073223a7b22616c657274223a224869227d7d0300040000002a", None),
        ("0100000000000000000001000001" + "00", None),
        ("02000000050300040000002a", "088000000000"),
        ("ff", "088000000000"),
    ],
    ids=["no token", "no payload", "31-byte token", "test of a certificate", "length too short", "unknown command"])
def test_deliberately_bad_frames_get_their_answer(provider, frame, packet):
    provider.send(bytes.fromhex(frame))
    answer = provider.read_to_end()
    assert len(answer) == 6 and answer[0] == 8
    if packet:
        assert answer.hex() == packet


def test_the_packet_survives_a_provider_that_goes_on_writing(emulator, provider):
    frame = enhanced(7, UNKNOWN, alert(7))
    provider.send(frame)
    more = enhanced(8, UNKNOWN, alert(8)) * 2000
    try:
        for _ in range(20):
            provider.send(more)
    except OSError:
        pass
    provider.socket.settimeout(TIMEOUT)
    assert provider.socket.recv(6) == bytes.fromhex("080800000007")


def test_success_is_silent(emulator, provider):
    phone = Phone(emulator)
    provider.send(enhanced(1, phone.token, alert(1)))
    provider.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        provider.socket.recv(1)


def test_an_orderly_end_of_the_emulator_names_the_last_accepted(emulator, provider):
    phone = Phone(emulator)
    provider.send(enhanced(41, phone.token, alert(1)) + enhanced(42, phone.token, alert(2)))
    # Both are in when another connection's later frame is.
    wait_until_kept(emulator, phone)
    emulator.stop()
    assert provider.read_to_end() == bytes.fromhex("080a0000002a")


def wait_until_kept(emulator, phone):
    path = f"/api/v1/notifications?token={phone.hex}"
    eventually(lambda: len(emulator.api("GET", path)["notifications"]) == 2, "both are remembered")


def connect(emulator, context, name="gateway.sandbox.push.apple.com"):
    plain = socket.create_connection(emulator.address("gateway"), TIMEOUT)
    return context.wrap_socket(plain, server_hostname=name)


def test_without_a_certificate_the_handshake_fails(emulator):
    with pytest.raises((ssl.SSLError, ConnectionError)):
        with connect(emulator, ssl.create_default_context(cafile=emulator.ca)) as stream:
            stream.sendall(b"\0")
            assert stream.recv(1) == b"", "the gateway answered"
            raise ConnectionError


def test_a_certificate_of_nobody_is_refused(emulator, tmp_path_factory):
    from harness import Emulator

    stranger = Emulator(tmp_path_factory.mktemp("stranger"))
    context = ssl.create_default_context(cafile=emulator.ca)
    context.load_cert_chain(*stranger.push_certificate())
    with pytest.raises((ssl.SSLError, ConnectionError)):
        with connect(emulator, context) as stream:
            stream.sendall(b"\0")
            stream.recv(1)


@pytest.mark.parametrize("name", ["gateway.push.apple.com", "gateway.sandbox.push.apple.com", "localhost", "127.0.0.1"])
def test_a_client_of_today_gets_tls_1_2_by_every_name(emulator, name):
    context = ssl.create_default_context(cafile=emulator.ca)
    context.load_cert_chain(*emulator.push_certificate())
    with connect(emulator, context, name) as stream:
        assert stream.version() == "TLSv1.2"


def test_a_sandbox_certificate_at_the_production_gateway_is_closed_in_silence(emulator):
    identity = emulator.push_certificate(TOPIC, "--environment", "sandbox")
    with Provider(emulator, *identity, server_name="gateway.push.apple.com") as provider:
        assert provider.read_to_end() == b""


def test_the_environments_keep_apart(emulator):
    phone = Phone(emulator)
    with Provider(emulator, *emulator.push_certificate(), server_name="gateway.push.apple.com") as provider:
        provider.send(enhanced(1, phone.token, alert(1)))
        assert provider.read_to_end() == bytes.fromhex("080800000001")
    assert phone.alerts() == []
