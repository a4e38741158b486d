"""MDM: its certificate, its push type, and pushes that say nothing but their payload, by either protocol."""

import json
import subprocess

import pytest

from harness import TIMEOUT, SimulatedDevice
from legacy import Provider, framed

TOPIC = "com.apple.mgmt.External.0a1b2c3d-0000-4000-8000-000000000001"
PAYLOAD = '{"mdm":"magic"}'


@pytest.fixture
def mdm(emulator):
    return emulator


@pytest.fixture
def device(mdm):
    device = SimulatedDevice(mdm, "mac-1", topic=TOPIC)
    yield device
    device.stop()


def checks_in(mdm, device, number):
    """The device hears of it, no app is called, and nothing shows."""
    assert device.notification()["pushType"] == "mdm"
    handled = device.next("handed-over")
    assert handled["rule"] == "management"
    shown = mdm.api("GET", f"/api/v1/notifications/{number}")
    assert shown["pushType"] == "mdm" and shown["topic"] == TOPIC and shown["verdict"]["accepted"]
    screen = mdm.api("GET", "/api/v1/devices/mac-1/phone")["screen"]
    assert screen["lockScreen"] == screen["list"] == [] and screen["banner"] is None


def curl(mdm, token, *flags):
    certificate, key = mdm.push_certificate(TOPIC)
    host, port = mdm.address("provider")
    result = subprocess.run(
        ["curl", "-s", "--http2", "--cacert", mdm.ca, "--cert", certificate, "--key", key, "--max-time", str(TIMEOUT),
         "-w", "%{http_code}", "-d", PAYLOAD, *flags, f"https://localhost:{port}/3/device/{token}"],
        capture_output=True, text=True, check=True)
    return result.stdout


def test_the_certificate_is_one_of_mdm(mdm):
    certificate, _ = mdm.push_certificate(TOPIC)
    subject = subprocess.run(
        ["openssl", "x509", "-noout", "-subject", "-in", certificate], capture_output=True, text=True, check=True).stdout
    assert f"UID = {TOPIC}" in subject and f"CN = APSP:{TOPIC.removeprefix('com.apple.mgmt.External.')}" in subject


@pytest.mark.parametrize("flags", [[], ["-H", "apns-push-type: mdm"], ["-H", f"apns-topic: {TOPIC}"]])
def test_a_push_over_http_2(mdm, device, flags):
    token = device.next("token")["token"]
    assert curl(mdm, token, *flags) == "200"
    checks_in(mdm, device, 1)


def test_a_push_over_the_binary_protocol(mdm, device):
    token = bytes.fromhex(device.next("token")["token"])
    with Provider(mdm, *mdm.push_certificate(TOPIC)) as provider:
        provider.send(framed(1, token, PAYLOAD.encode()))
    checks_in(mdm, device, 1)


def test_a_stream_hears_of_it(mdm):
    url = "http://%s:%s/api/v1/devices/mac-2/stream?topic=%s" % (*mdm.address("console"), TOPIC)
    reader = subprocess.Popen(["curl", "-sN", url], stdout=subprocess.PIPE, text=True)
    try:
        lines = iter(reader.stdout.readline, "")
        events = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
        token = next(events)["tokens"][0]["token"]
        assert curl(mdm, token) == "200"
        said = next(events)
        assert said["pushType"] == "mdm" and said["payload"] == {"mdm": "magic"}
    finally:
        reader.terminate()
        reader.wait(TIMEOUT)
        reader.stdout.close()
