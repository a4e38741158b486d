"""The main path with the product's own commands, as a person would walk it."""

import json
import os
import subprocess

import pytest

from harness import TIMEOUT, TOPIC, SimulatedDevice, eventually
from legacy import Provider, enhanced

CLIENTS = os.path.join(os.path.dirname(__file__), "clients")
UDID = "00008030-001A35E11E88003A"


@pytest.fixture
def device(emulator):
    """Starts simulated devices and ends them with the test."""
    started = []

    def start(*flags):
        started.append(SimulatedDevice(emulator, UDID, *flags))
        return started[-1]

    yield start
    for device in started:
        device.stop()


def send(emulator, identity, token, command, text, check=True):
    certificate, key = identity
    return emulator.run(
        "send", "--topic", TOPIC, "--token", token, "--payload", json.dumps({"aps": {"alert": text}}),
        "--cert", certificate,
        "--cert-key", key, "--legacy", str(command), check=check)


def enabled_token(emulator, phone):
    """The phone's token once the emulator knows that the phone wants its topic: from then on pushes go out at once."""
    token = phone.next("token")["token"]
    eventually(
        lambda: emulator.api("GET", f"/api/v1/devices/{UDID}")["topics"][0]["enabled"], "the topic is enabled")
    return token


def alert(notification):
    return notification["payload"]["aps"]["alert"]


def test_serve_says_ready(emulator):
    emulator.told("\nready\n")


def test_three_ways_to_push_reach_a_device_that_ends_after_three(emulator, device):
    identity = emulator.push_certificate()
    phone = device("--count", "3")
    assert phone.next("activated")["udid"] == UDID
    assert len(phone.next("connected")["baseToken"]) == 64
    token = enabled_token(emulator, phone)

    bundle = emulator.path("ck.pem")
    with open(bundle, "w") as output:
        for part in identity:
            with open(part) as file:
                output.write(file.read())
    host, port = emulator.address("gateway")
    subprocess.run(
        ["php", "-n", os.path.join(CLIENTS, "simple_push.php"), host, str(port), bundle, emulator.ca, token, "php"],
        check=True, capture_output=True, timeout=TIMEOUT)
    first = phone.notification()
    assert (alert(first), first["token"], first["topic"]) == ("php", token, TOPIC)
    assert first["fromStore"] is False and first["priority"] == 10
    for command in (1, 2):
        outcome = send(emulator, identity, token, command, f"command {command}")
        json.loads(outcome.stdout)
        assert alert(phone.notification()) == f"command {command}"
    assert phone.wait() == 0


def test_only_the_last_of_three_reaches_a_device_that_was_stopped(emulator, device):
    identity = emulator.push_certificate()
    phone = device()
    token = phone.next("token")["token"]
    phone.stop()
    with Provider(emulator, *identity) as provider:
        frames = [enhanced(n, bytes.fromhex(token), b'{"aps":{"alert":"%d"}}' % n) for n in (1, 2, 3)]
        provider.send(b"".join(frames))
        assert provider.flush()[:2] == b"\x08\x02"
    phone = device()
    # The courier sends the stored notification when it reads the filter, which may be before it has answered the request for the token.
    came = phone.each("token", "notification")
    assert came["token"]["token"] == token
    assert (alert(came["notification"]), came["notification"]["fromStore"]) == ("3", True)
    assert phone.quiet(1)
    phone.stop()
    phone = device()
    assert phone.first("token", "notification")["event"] == "token"
    assert phone.quiet(1)


def test_four_frames_in_one_write_the_third_to_an_unknown_token(emulator, device):
    identity = emulator.push_certificate()
    phone = device()
    token = bytes.fromhex(enabled_token(emulator, phone))
    with Provider(emulator, *identity) as provider:
        tokens = (token, token, b"\xab" * 32, token)
        provider.send(b"".join(enhanced(n, t, b'{"aps":{"alert":"%d"}}' % n) for n, t in enumerate(tokens, 1)))
        assert provider.read_to_end() == bytes.fromhex("080800000003")
    assert [alert(phone.notification()) for _ in range(2)] == ["1", "2"]
    assert phone.quiet(1)


def test_a_removed_app_appears_in_feedback_once(emulator, device):
    certificate, key = identity = emulator.push_certificate()
    phone = device()
    token = enabled_token(emulator, phone)
    read = lambda: emulator.run("feedback", "--cert", certificate, "--cert-key", key).stdout.splitlines()
    emulator.api("POST", f"/api/v1/devices/{UDID}/apps/{TOPIC}/remove", {})
    assert read() == []
    send(emulator, identity, token, 1, "to nobody")
    [line] = read()
    assert token in line and json.loads(line)
    assert read() == []
    assert phone.quiet(0.5)


def test_a_rejected_push_is_told(emulator, device):
    identity = emulator.push_certificate()
    outcome = send(emulator, identity, "cd" * 32, 1, "nobody", check=False)
    assert outcome.returncode == 1
    json.loads(outcome.stdout)
