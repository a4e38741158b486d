"""The emulator goes in the middle of a burst: nothing is lost that a provider is not told to send again."""

import json
import shutil
import signal
import threading

import pytest

from courier import ACK, MESSAGE, Device
from harness import TIMEOUT, TOPIC, Emulator
from lab import GOING_PHONE, Lab
from wire import PAYLOAD, Connection

COUNT = 2000


@pytest.fixture
def lasting_lab(tmp_path, provider_folder):
    """An emulator that keeps what it accepts on disk, and that the test ends and starts again."""
    shutil.copytree(provider_folder, tmp_path / "certs")
    lab = Lab(Emulator(tmp_path))
    lab.emulator.start("--log-level", "warning")
    lab.token = lab.install("probe-phone", TOPIC)
    yield lab
    lab.emulator.stop()


def tokens(lab, count):
    return [lab.install(f"phone-{number}", TOPIC) for number in range(count)]


def burst(lab, targets, end_after):
    """Pushes to all, and SIGTERM amid them. Answers the connection at its end, and which stream had which token."""
    connection = Connection(lab.emulator)
    assert connection.answer(connection.request(lab.fields("zz"))).status == 400
    connection.barrier()
    streams = {}
    for number, token in enumerate(targets):
        stream = connection.new_stream()
        fields = lab.fields(token, apns_id=None, apns_expiration=None)
        try:
            connection.send(connection.headers(stream, fields), connection.data(stream, PAYLOAD))
        except OSError:
            break  # It has gone: what was not sent is the provider's own to send again.
        streams[stream] = token
        if number == end_after:
            lab.emulator.process.send_signal(signal.SIGTERM)
    connection.read_to_end().socket.close()
    return connection, streams


def has_200(connection, stream):
    return stream in connection.answers and connection.answers[stream].status == 200


@pytest.mark.parametrize("end_after", [0, 50, 299])
def test_offline_tokens(lasting_lab, end_after):
    lab = lasting_lab
    targets = tokens(lab, 300)
    connection, streams = burst(lab, targets, end_after)
    assert lab.emulator.process.wait(TIMEOUT) == 0
    code, last, debug = connection.goaway
    assert (code, json.loads(debug)) == (0, {"reason": "Shutdown"})
    accepted = {token for stream, token in streams.items() if has_200(connection, stream)}
    for stream in streams:
        answer = connection.answers.get(stream)
        if stream <= last:
            assert answer and answer.status == 200, f"stream {stream} of {last} was promised and not answered"
        else:
            assert answer is None or answer.status is None, f"stream {stream} above {last} was answered"
    lab.emulator.start("--log-level", "warning")
    devices = [lab.emulator.api("GET", f"/api/v1/devices/phone-{number}") for number in range(len(targets))]
    assert {message["token"] for device in devices for message in device["keptMessages"]} == accepted


def test_an_online_device(lasting_lab):
    """What had a 200 is either with the device or kept for it; what is above the last stream was never seen."""
    lab = lasting_lab
    device = Device(lab.emulator, *lab.emulator.device_certificate(GOING_PHONE), TOPIC).connect()
    token = device.app_token().hex()
    assert device.stored_notifications() == []
    received = set()
    def read():
        try:
            while True:
                command, items = device.receive()
                if command == MESSAGE:
                    received.add(json.loads(items[3])["n"])
                    device.send(ACK, [(4, items[4]), (8, b"\0")])
        except (EOFError, OSError):
            pass

    reader = threading.Thread(target=read)
    reader.start()
    connection = Connection(lab.emulator)
    assert connection.answer(connection.request(lab.fields("zz"))).status == 400
    connection.barrier()
    streams = {}
    for number in range(COUNT):
        stream = connection.new_stream()
        fields = lab.fields(token, apns_id=None, apns_expiration=None)
        try:
            connection.send(connection.headers(stream, fields), connection.data(stream, b'{"aps":{},"n":%d}' % number))
        except OSError:
            break
        streams[stream] = number
        if number % 500 == 499:
            connection.answer(stream)
        if number == 1200:
            lab.emulator.process.send_signal(signal.SIGTERM)
    connection.read_to_end().socket.close()
    assert lab.emulator.process.wait(TIMEOUT) == 0
    reader.join(TIMEOUT)
    last = connection.goaway[1]
    accepted = {number for stream, number in streams.items() if has_200(connection, stream)}
    assert accepted == {number for stream, number in streams.items() if stream <= last}
    missing = accepted - received
    assert received <= accepted
    lab.emulator.start("--log-level", "warning")
    kept = [json.loads(message[3])["n"] for message in device.connect().stored_notifications()]
    device.close()
    # Of those that had not arrived the newest is kept.
    assert kept == ([max(missing)] if missing else [])
