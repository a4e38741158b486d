"""A program whose host names are constants and that heeds no proxy: Apple's names lead here by a hosts file that it alone sees,
in a mount namespace, and the provider port is HTTPS' own."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest

from harness import TIMEOUT, TOPIC, Emulator, SimulatedDevice
from lab import KEY, TEAM
from libraries import libraries
from programs import client

NAMES = [f"api.{environment}push.apple.com" for environment in ("", "sandbox.", "development.")]
# Puts the file given first in the place of the system's, for the rest of the words and what they start.
WITH_HOSTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
              'mount --bind "$1" /etc/hosts && shift && exec "$@"', "sh"]


def unpermitted(folder, address):
    """Why it can't be done here; nothing if it can."""
    if not shutil.which("unshare"):
        return "this system has no mount namespaces (unshare)"
    probe = folder / "probe"
    probe.write_text(f"{address} localhost\n")
    tried = subprocess.run([*WITH_HOSTS, str(probe), "true"], capture_output=True, text=True, timeout=TIMEOUT)
    if tried.returncode != 0:
        return f"a mount namespace is not permitted: {tried.stderr.strip()}"
    try:
        with socket.socket() as listener:
            listener.bind((address, 443))
    except OSError as error:
        return f"port 443 is not permitted: {error}"
    return None


@pytest.fixture
def address():
    """A loopback address of this run's own, whose port 443 nobody else has."""
    number = os.getpid()
    return f"127.{64 + (number >> 16) % 64}.{(number >> 8) % 256}.{number % 254 + 1}"


def test_django_push_notifications_reaches_a_phone(tmp_path, tmp_path_factory, issued, address):
    if reason := unpermitted(tmp_path, address):
        pytest.skip(reason)
    shutil.copytree(issued, tmp_path / "certs")
    emulator = Emulator(tmp_path)
    emulator.run("certs", "key", "--team", TEAM, "--key-id", KEY)
    emulator.start("--bind", address, "--provider-port", "443")
    phone = SimulatedDevice(emulator, "phone-1")
    try:
        token, unknown = phone.next("token")["token"], "ab" * 32
        hosts = tmp_path / "hosts"
        hosts.write_text("".join(f"{address} {name}\n" for name in NAMES))
        task = {"key": emulator.path("certs", "keys", f"AuthKey_{KEY}.p8"), "keyId": KEY, "team": TEAM,
                "topic": TOPIC, "tokens": [token, unknown]}
        environment = emulator.environment | {
            "SSL_CERT_FILE": emulator.ca, "PYTHONPATH": libraries("django", tmp_path_factory)}
        result = subprocess.run(
            [*WITH_HOSTS, str(hosts), sys.executable, client("django_push.py")], env=environment,
            input=json.dumps(task), capture_output=True, text=True, timeout=4 * TIMEOUT)
        assert result.returncode == 0, result.stderr[-2000:]
        said = json.loads(result.stdout)
        assert said["results"][0] == {"results": ["Success"]}
        # It heeds what it is told: the token that nobody has is pushed to no more.
        assert "BadDeviceToken" in said["results"][1]
        assert said["active"] == {token: True, unknown: False}
        alerts = [phone.notification()["payload"]["aps"]["alert"] for _ in range(2)]
        assert alerts == ["Hello from Django", "Hello to all"]
        with open("/etc/hosts") as file:
            assert NAMES[0] not in file.read(), "nobody else is led astray"
    finally:
        phone.stop()
        emulator.stop()
