"""`serve --fleet-events`: Fleet's contract, with curl as its server and as its simulated devices."""

import json
import subprocess

import pytest

from harness import TIMEOUT, eventually

TOKEN = b"tokenC02XYZ".hex()


@pytest.fixture
def fleet(stopped_emulator):
    stopped_emulator.start("--fleet-events")
    yield stopped_emulator


def curl(emulator, path, *flags):
    """Answers head and body."""
    url = "http://%s:%s%s" % (*emulator.address("console"), path)
    result = subprocess.run(
        ["curl", "-s", "-i", "--max-time", str(TIMEOUT), *flags, url], capture_output=True, text=True, check=True)
    head, _, body = result.stdout.replace("\r\n", "\n").partition("\n\n")
    return head, body


def test_a_push_waits_and_comes_first(fleet, tmp_path):
    head, body = curl(fleet, f"/3/device/{TOKEN}", "-d", '{"mdm":"older"}')
    assert head.startswith("HTTP/1.1 200") and "apns-id: " in head and body == ""
    payload = '{\n  "mdm": "magic"\n}'
    curl(fleet, f"/3/device/{TOKEN}", "--data-binary", payload)
    output = tmp_path / "events"
    url = "http://%s:%s/events?token=%s" % (*fleet.address("console"), TOKEN)
    with open(output, "wb") as file:
        device = subprocess.Popen(["curl", "-sN", url], stdout=file)
    try:
        eventually(lambda: output.read_text().endswith("\n\n"), "the waiting push")
        curl(fleet, f"/3/device/{TOKEN}", "-d", '{"mdm":"live"}')
        eventually(lambda: output.read_text().count("event: ping") == 2, "the live push")
        assert output.read_text() == (
            'event: ping\ndata: {\ndata:   "mdm": "magic"\ndata: }\n\nevent: ping\ndata: {"mdm":"live"}\n\n')
        stats = json.loads(curl(fleet, "/stats")[1])
        assert stats["node"] == stats["cluster"] == {
            "active_connections": 1, "total_pushes": 3, "delivered_live": 1, "delivered_on_connect": 1, "stored": 2,
            "coalesced": 1, "expired": 0}
    finally:
        device.terminate()
        device.wait(TIMEOUT)
    eventually(lambda: json.loads(curl(fleet, "/stats")[1])["node"]["active_connections"] == 0, "the device is offline")
    assert curl(fleet, "/healthz")[1] == "ok"


@pytest.mark.parametrize("path, flags, status, reason", [
    (f"/3/device/{TOKEN}", ["-d", "x", "-H", "apns-id: 1"], 400, "BadMessageId"),
    (f"/3/device/{TOKEN}", ["-d", "x", "-H", "apns-push-type: alert"], 400, "InvalidPushType"),
    (f"/3/device/{TOKEN}", ["-X", "POST"], 400, "PayloadEmpty"),
    (f"/3/device/{TOKEN}", ["-d", "x" * 4097], 413, "PayloadTooLarge"),
    ("/3/device/abc", ["-d", "x"], 400, "BadDeviceToken"),
    ("/events", [], 400, "MissingDeviceToken"),
    ("/events?token=zz", [], 400, "BadDeviceToken"),
])
def test_refusals(fleet, path, flags, status, reason):
    head, body = curl(fleet, path, *flags)
    assert head.startswith(f"HTTP/1.1 {status} ") and json.loads(body) == {"reason": reason}


def test_a_query_that_is_too_long_is_refused(fleet):
    head, _ = curl(fleet, "/events?token=" + "ab" * 20_000)
    assert head.startswith("HTTP/1.1 431")
    head, body = curl(fleet, "/events?token=" + "ab" * 5000)
    assert head.startswith("HTTP/1.1 400") and "BadDeviceToken" in body
