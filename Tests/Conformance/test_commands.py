"""What commands say to people: the same thing in the same words, and advice that helps."""

import json
import os
import pathlib
import pty
import socket
import subprocess
import threading

import pytest

from harness import BINARY, TIMEOUT, TOPIC, Emulator, SimulatedDevice
from namespaces import own


@pytest.fixture
def installed(emulator):
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install", {})
    [row] = emulator.api("GET", "/api/v1/tokens")["tokens"]
    emulator.token = row["token"]
    return emulator


def send(emulator, *flags):
    return emulator.run("send", "--topic", TOPIC, "--token", emulator.token, *flags, check=False)


@pytest.mark.parametrize("count", [(), ("--count", "3")], ids=["one", "several"])
def test_a_wrong_certificate_is_told_in_one_way(installed, tmp_path_factory, count):
    stranger = Emulator(tmp_path_factory.mktemp("stranger"))
    certificate, key = stranger.push_certificate(TOPIC)
    told = {}
    for name, flags in [("provider", ()), ("gateway", ("--legacy", "2", "--wait", "5"))]:
        result = send(installed, "--cert", certificate, "--cert-key", key, *flags, *count)
        assert (result.returncode, result.stderr) == (1, ""), result.stderr
        told[name] = json.loads(result.stdout)
        assert told[name].pop("interface") == name
        told[name].pop("command", None)
    assert told["provider"] == told["gateway"]
    assert told["gateway"]["accepted"] is False and "refused the TLS connection" in told["gateway"]["explanation"]


def test_a_wrong_certificate_ends_a_replay_in_one_way(stopped_emulator, tmp_path_factory):
    stranger = Emulator(tmp_path_factory.mktemp("stranger"))
    certificate, key = stranger.push_certificate(TOPIC)
    emulator = stopped_emulator.start("--ephemeral", "--capture", stopped_emulator.path("traffic.jsonl"))
    emulator.run("send", "--topic", TOPIC, "--token", "ab" * 32, "--legacy", "1", check=False)
    emulator.stop()
    emulator.start("--ephemeral")
    for form, listener in [("legacy", "gateway"), ("http2", "provider")]:
        result = emulator.run(
            "replay", "traffic.jsonl", "--as", form, "--cert", certificate, "--cert-key", key, check=False)
        host, port = emulator.address(listener)
        assert (result.returncode, result.stdout) == (1, "")
        assert f"{host}:{port}: the service refused the TLS connection with the alert" in result.stderr


def test_a_gateway_that_never_speaks_is_told(installed, tmp_path):
    """It takes the connection and says nothing, not even TLS."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        ports = json.loads(pathlib.Path(installed.ports_file).read_text()) | {"gateway": {"host": "127.0.0.1", "port": port}}
        (tmp_path / "ports.json").write_text(json.dumps(ports))
        result = send(installed, "--legacy", "1", "--wait", "100ms", "--ports-file", tmp_path / "ports.json")
    assert result.returncode == 1
    assert result.stderr == f"apns-emulator: 127.0.0.1:{port}: no answer before the timeout\n"


def test_what_was_measured_is_said(installed):
    over_http2 = json.loads(send(installed, "--count", "20").stdout)
    assert over_http2["acceptedCount"] == 20 and over_http2["measured"] == "until the last answer"
    legacy = json.loads(send(installed, "--count", "20", "--legacy", "1", "--wait", "0.3").stdout)
    assert legacy["measured"] == "until the last byte was handed to the system"
    help = installed.run("send", "--help").stdout
    assert "until the last answer" in help and "success is silent" in help


@pytest.mark.parametrize("payload, warning", [
    ("hello", "not JSON"), ('{"aps":', "not JSON"), ("[1]", "no object"), ("{}", None),
    (json.dumps({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": 1}}}}}}}}}}), None),
])
def test_a_payload_that_is_no_json_is_sent_with_a_warning(installed, payload, warning):
    for flags in [(), ("--legacy", "1", "--wait", "0.3")]:
        result = send(installed, "--payload", payload, *flags)
        assert result.returncode == 0 and json.loads(result.stdout)["accepted"] is True
        assert (warning in result.stderr and len(result.stderr.splitlines()) == 1) if warning else result.stderr == ""


def test_a_misspelt_variable_is_told_once_and_the_command_goes_on(installed):
    result = subprocess.run(
        [BINARY, "tokens", "--bare"], cwd=installed.folder,
        env=installed.environment | {"APNS_EMULATOR_GATWAY_PORT": "secret-1"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    assert (result.returncode, result.stdout) == (0, installed.token + "\n")
    assert result.stderr == (
        "apns-emulator: the unknown variable APNS_EMULATOR_GATWAY_PORT is ignored; did you mean APNS_EMULATOR_GATEWAY_PORT?\n")
    # What exec tells its command is known.
    nested = installed.run("exec", "--", BINARY, "exec", "--", BINARY, "tokens", "--bare")
    assert nested.stderr == ""


class Tail:
    """`tail`, whose lines are read until one has a certain word."""

    def __init__(self, emulator, *flags, stdout=subprocess.PIPE, environment=None):
        self.process = subprocess.Popen(
            [BINARY, "tail", *flags], cwd=emulator.folder, env=emulator.environment | (environment or {}),
            stdin=subprocess.DEVNULL, stdout=stdout, text=True)

    def until(self, word, file=None):
        lines = []
        while not lines or word not in lines[-1]:
            line = (file or self.process.stdout).readline()
            assert line, f"{word} was not told: {lines}"
            lines.append(line.rstrip("\r\n"))
        return lines

    def __enter__(self):
        # A test that waits in vain shall fail.
        self.timer = threading.Timer(TIMEOUT, self.process.kill)
        self.timer.start()
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def listening(emulator, count):
    """Waits until so many watch the events."""
    from harness import eventually
    eventually(lambda: sum(c["listener"] == "console" for c in emulator.api("GET", "/api/v1/connections")["connections"])
               > count, "tail is connected")


def story(emulator):
    """Looks at the console often, and pushes twice, to two phones."""
    for number in (1, 2):
        emulator.api("POST", f"/api/v1/devices/phone-{number}/apps/{TOPIC}/install", {})
    for row in emulator.api("GET", "/api/v1/tokens")["tokens"]:
        emulator.run("send", "--topic", TOPIC, "--token", row["token"], "--payload", '{"aps":{"badge":%d}}' % int(row["udid"][-1]))
    emulator.run("send", "--topic", TOPIC, "--token", "ab" * 32, "--payload", '{"last":1}', check=False)


def test_tail_leaves_out_the_connections_of_the_console(emulator):
    with Tail(emulator) as tail:
        listening(emulator, 1)
        story(emulator)
        lines = tail.until('{"last":1}')
    assert any("connection" in line and "provider" in line for line in lines)
    assert not [line for line in lines if "connection" in line and "console" in line]
    assert not [line for line in lines if "\x1b" in line], "a pipe is no terminal"


def test_tail_tells_what_it_is_asked_for(emulator):
    with Tail(emulator, "--event", "notification", "--udid", "phone-2") as some, Tail(emulator, "--json") as all:
        listening(emulator, 2)
        story(emulator)
        everything = [json.loads(line) for line in all.until('"last"')]
        emulator.run("send", "--topic", TOPIC, "--token", emulator.api(
            "GET", "/api/v1/tokens?udid=phone-2")["tokens"][0]["token"], "--payload", '{"end":1}')
        lines = some.until('{"end":1}')
    assert [line.split()[1] for line in lines] == ["notification"] * 2 and '{"aps":{"badge":2}}' in lines[0]
    # Programs get all of it, as ever.
    assert any(event["event"] == "connection" and event["listener"] == "console" for event in everything)


@pytest.mark.parametrize("environment, colored", [
    ({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "xterm", "NO_COLOR": ""}, True),
    ({"TERM": "dumb"}, False)], ids=str)
def test_tail_is_coloured_on_a_terminal_that_wants_it(emulator, environment, colored):
    main, other = pty.openpty()
    with Tail(emulator, "--event", "notification", stdout=other, environment=environment) as tail:
        os.close(other)
        listening(emulator, 1)
        emulator.run("send", "--topic", TOPIC, "--token", "ab" * 32, "--payload", '{"last":1}', check=False)
        with os.fdopen(main, errors="replace") as terminal:
            line = tail.until('{"last":1}', terminal)[-1]
    assert ("\x1b[31mnotification" in line) == colored and ("\x1b" in line) == colored


@pytest.mark.parametrize("words", [("nonsense",), ("explain", "no JSON")])
def test_words_arrive_without_proc(words):
    """As in a container or a jail that has none."""
    before, hide = own("-m"), "mount -t tmpfs none /proc"
    if before is None or subprocess.run([*before, "sh", "-c", hide], capture_output=True).returncode != 0:
        pytest.skip("nothing may be mounted here in place of /proc")
    command = [BINARY, *words]
    without, usual = (
        subprocess.run(each, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
        for each in ([*before, "sh", "-c", hide + ' && exec "$@"', "sh", *command], command))
    assert (without.returncode, without.stdout, without.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    assert usual.returncode != 0


def test_a_device_shows_the_access_token_that_it_was_given(stopped_emulator):
    emulator = stopped_emulator.start("--ephemeral", "--activation", "token", "--access", "chosen-by-a-test")
    ports = json.loads(pathlib.Path(emulator.ports_file).read_text())
    assert ports.pop("access") == "chosen-by-a-test"
    pathlib.Path(emulator.path("bare.json")).write_text(json.dumps(ports))
    device = SimulatedDevice(emulator, "visitor", "--ports-file", "bare.json", "--access", "chosen-by-a-test")
    device.next("activated")
    device.stop()
