"""`fleet`: many phones in one process, beside a provider."""

import json
import os
import signal
import subprocess
import threading

import pytest

from harness import BINARY, TIMEOUT, TOPIC, eventually
from legacy import Provider, enhanced

PHONES = 12


class Fleet:
    """`apns-emulator fleet --json`; every line is kept."""

    def __init__(self, emulator, *flags, phones=PHONES):
        self.emulator = emulator
        self.lines = []
        self.process = subprocess.Popen(
            [BINARY, "fleet", "--devices", str(phones), "--topic", TOPIC, "--json", "--tokens", "tokens.txt",
             "--seed", "1", *flags],
            cwd=emulator.folder, env=emulator.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def told(self, event):
        return next((line for line in self.lines if line["event"] == event), None)

    def tokens(self):
        """What it has written for a provider, once every phone has its tokens."""
        eventually(lambda: self.told("ready") or self.process.poll() is not None, "the fleet is ready")
        with open(self.emulator.path("tokens.txt")) as file:
            return [line.split() for line in file]

    def end(self):
        """Waits for its end; answers its status and its summary."""
        status = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        return status, self.told("summary")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()


@pytest.fixture
def start(emulator):
    started = []

    def start(*flags, **options):
        started.append(Fleet(emulator, *flags, **options))
        return started[-1]

    yield start
    for fleet in started:
        if fleet.process.poll() is None:
            fleet.process.kill()
        fleet.process.wait(TIMEOUT)
        fleet.reader.join(TIMEOUT)
        fleet.process.stdout.close()
        fleet.process.stderr.close()


def push(emulator, tokens, payload=b'{"aps":{"alert":"Hello"}}'):
    certificate, key = emulator.push_certificate()
    with Provider(emulator, certificate, key) as provider:
        for number, token in enumerate(tokens):
            provider.send(enhanced(number, bytes.fromhex(token), payload))
        assert provider.flush(), "the gateway took all of them"


def test_every_phone_gets_its_push_and_the_fleet_ends_by_itself(emulator, start):
    fleet = start("--count", str(PHONES))
    rows = fleet.tokens()
    assert [row[2] for row in rows] == [f"fleet-{number + 1}" for number in range(PHONES)]
    listed = {row["token"] for row in emulator.api("GET", "/api/v1/tokens")["tokens"]}
    assert {row[0] for row in rows} == listed and {row[1] for row in rows} == {TOPIC}
    push(emulator, [row[0] for row in rows])
    status, summary = fleet.end()
    assert status == 0, fleet.process.stderr.read()
    assert (summary["ready"], summary["reached"], summary["notifications"]) == (PHONES, PHONES, PHONES)
    assert summary["latency"]["count"] == PHONES
    assert 0 < summary["latency"]["p50"] <= summary["latency"]["p99"] <= summary["latency"]["max"]
    assert not os.path.exists(emulator.path("certs", "devices", "fleet-1.json"))


def test_a_killed_emulator_gets_its_phones_back_and_nothing_is_lost(emulator, start):
    fleet = start("--count", str(2 * PHONES))
    tokens = [row[0] for row in fleet.tokens()]
    push(emulator, tokens)
    eventually(lambda: emulator.metric("apns_emulator_devices_online") == PHONES, "all are there")
    ports = [f"--{name}-port={emulator.ports[name]['port']}" for name in ("courier", "console", "gateway")]
    emulator.kill()
    emulator.start(*ports)
    push(emulator, tokens)
    status, summary = fleet.end()
    assert status == 0, fleet.process.stderr.read()
    assert (summary["reached"], summary["connects"]) == (PHONES, 2 * PHONES)


def test_phones_go_and_come_back_and_lose_their_apps(emulator, start):
    fleet = start("--offline", "50", "--offline-for", "0.2s", "--period", "1s", "--uninstall", "25", "--rate", "1000")
    tokens = [row[0] for row in fleet.tokens()]
    eventually(lambda: sum(row["state"] == "gone" or not row["installed"] for row in rows(emulator)) == PHONES // 4,
               "a quarter has no app")
    eventually(lambda: emulator.metric("apns_emulator_devices_online") < PHONES, "some are offline")
    status, summary = fleet.stop()
    assert status == 0, fleet.process.stderr.read()
    # A phone that is offline hears of it when it is back.
    assert summary["removalsFailed"] == 0 and summary["appsRemoved"] <= PHONES // 4
    assert summary["endings"]["the network is gone"] > 0
    assert len(tokens) == PHONES


def test_the_tokens_of_apps_that_are_removed_at_once_are_told_too(start):
    fleet = start("--uninstall", "100", "--period", "1ms", "--rate", "1000")
    assert len(fleet.tokens()) == PHONES
    assert fleet.stop()[0] == 0


def rows(emulator):
    return emulator.api("GET", "/api/v1/tokens")["tokens"]


def test_kept_phones_have_the_same_tokens_the_next_time(emulator, start):
    first = start("--keep")
    tokens = first.tokens()
    assert first.stop()[0] == 0
    second = start("--keep")
    assert second.tokens() == tokens
    assert second.stop()[0] == 0
    activations = [line for line in emulator.log().splitlines() if "activat" in line]
    assert len(activations) <= PHONES


def test_too_few_open_files_are_said_before_anything_is_done(emulator):
    result = subprocess.run(
        ["sh", "-c", f'ulimit -n 100; exec "$0" fleet --devices 50 --topic {TOPIC}', BINARY], cwd=emulator.folder,
        env=emulator.environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 1
    assert "50 phones need 114 open files, but this process may have only 100" in result.stderr
    assert rows(emulator) == []
