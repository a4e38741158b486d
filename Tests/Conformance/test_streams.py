"""Devices that are streams of the console, read by another's client of server-sent events, and tokens of one's own."""

import contextlib
import json
import threading

import httpx
import pytest

from harness import TIMEOUT, TOPIC, Emulator, SimulatedDevice, eventually


def base(emulator):
    return "http://%s:%s" % emulator.address("console")


class Stream:
    """Reads a stream on a thread; `events` are pairs of name and data."""

    def __init__(self, emulator, path):
        self.events, self.ended = [], threading.Event()
        self.client = httpx.Client(timeout=TIMEOUT, trust_env=False)
        self.opened = contextlib.ExitStack()
        self.response = self.opened.enter_context(self.client.stream("GET", base(emulator) + path))
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        name, data = None, []
        with contextlib.suppress(httpx.HTTPError, httpx.StreamError):
            for line in self.response.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    data.append(line[6:])
                elif not line and name:
                    self.events.append((name, "\n".join(data)))
                    name, data = None, []
        self.ended.set()

    def wait(self, count, name="push"):
        eventually(lambda: len(self.of(name)) >= count, f"{count} of {name}")
        return self.of(name)

    def of(self, name):
        return [json.loads(data) for kind, data in self.events if kind == name]


@pytest.fixture
def stream():
    streams = []

    def stream(emulator, path):
        streams.append(Stream(emulator, path))
        return streams[-1]

    yield stream
    for each in streams:
        each.client.close()


def push(emulator, token, text, topic=TOPIC):
    emulator.run("send", "--topic", topic, "--token", token, "--payload", json.dumps({"aps": {"alert": text}}))


def test_a_stream_is_a_device(emulator, stream):
    reader = stream(emulator, f"/api/v1/devices/phone-1/stream?topic={TOPIC}")
    [registered] = reader.wait(1, "registered")
    token = registered["tokens"][0]["token"]
    emulator.push_certificate()
    push(emulator, token, "Hello")
    [said] = reader.wait(1)
    assert said["payload"] == {"aps": {"alert": "Hello"}} and said["token"] == token and not said["kept"]
    assert emulator.api("GET", "/api/v1/notifications/1")["state"] == "delivered"
    # An iPhone of the same name takes its place, and then the stream takes the iPhone's.
    device = SimulatedDevice(emulator, "phone-1")
    try:
        assert device.next("token")["token"] == token
        assert reader.ended.wait(TIMEOUT)
        assert reader.of("end")[0]["because"] == "the device connected again"
        again = stream(emulator, "/api/v1/devices/phone-1/stream")
        again.wait(1, "registered")
        push(emulator, token, "Again")
        assert again.wait(1)[0]["payload"]["aps"]["alert"] == "Again"
    finally:
        device.stop()


def test_what_is_not_acknowledged_survives_kill_9(emulator, stream):
    path = f"/api/v1/devices/phone-1/stream?topic={TOPIC}&ack=explicit"
    reader = stream(emulator, path)
    token = reader.wait(1, "registered")[0]["tokens"][0]["token"]
    emulator.push_certificate()
    push(emulator, token, "first")
    assert reader.wait(1)[0]["id"] == 1
    emulator.api("POST", "/api/v1/devices/phone-1/disconnect")
    assert reader.ended.wait(TIMEOUT)
    emulator.kill()
    again = Emulator(emulator.folder)
    again.start()
    try:
        reader = stream(again, path)
        [kept] = reader.wait(1)
        assert kept["kept"] and kept["payload"]["aps"]["alert"] == "first"
        assert again.api("POST", "/api/v1/devices/phone-1/stream/ack", {"ids": [kept["id"]]}) == {"acknowledged": 1}
        assert again.api("GET", "/api/v1/devices/phone-1")["keptMessages"] == []
    finally:
        again.stop()


def test_tokens_of_ones_own(stopped_emulator, stream):
    emulator = stopped_emulator
    emulator.start("--adopt-tokens")
    short, plain = b"token-1".hex(), "ab" * 32
    emulator.api("PUT", f"/api/v1/tokens/{short}", {"udid": "mac-1", "topic": TOPIC})
    emulator.push_certificate()
    push(emulator, short, "short")
    push(emulator, plain, "plain")
    push(emulator, b"token-2".hex(), "other")
    rows = emulator.api("GET", "/api/v1/tokens")["tokens"]
    assert [(row["udid"], row["token"]) for row in rows] == [
        ("mac-1", short), (plain, plain), (b"token-2".hex(), b"token-2".hex())]
    for udid, text in (("mac-1", "short"), (plain, "plain"), (b"token-2".hex(), "other")):
        reader = stream(emulator, f"/api/v1/devices/{udid}/stream")
        assert reader.wait(1)[0]["payload"]["aps"]["alert"] == text
    assert emulator.run("tokens", "--udid", "mac-1", "--bare").stdout.split() == [short]
    state = emulator.api("GET", "/api/v1/export")
    emulator.kill()
    again = Emulator(emulator.folder)
    again.start()
    try:
        assert [row["token"] for row in again.api("GET", "/api/v1/tokens")["tokens"]] == [row["token"] for row in rows]
        again.api("POST", "/api/v1/reset", {"what": ["devices"]})
        again.api("POST", "/api/v1/import", state)
        assert {row["token"] for row in again.api("GET", "/api/v1/tokens")["tokens"]} == {short, plain, b"token-2".hex()}
    finally:
        again.stop()
