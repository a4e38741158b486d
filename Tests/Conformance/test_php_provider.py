"""PHP scripts of the kind that tutorials showed."""

import os
import subprocess

import pytest

from harness import TIMEOUT
from legacy import Provider, simple
from phone import Phone

CLIENTS = os.path.join(os.path.dirname(__file__), "clients")


@pytest.fixture
def bundle(emulator):
    """Certificate and key in one file, as `openssl pkcs12 -nodes` left them."""
    path = emulator.path("ck.pem")
    with open(path, "w") as output:
        for part in emulator.push_certificate():
            with open(part) as file:
                output.write(file.read())
    return path


def php(emulator, script, listener, bundle, *arguments):
    host, port = emulator.address(listener)
    result = subprocess.run(
        ["php", "-n", os.path.join(CLIENTS, script), host, str(port), bundle, emulator.ca, *arguments],
        capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr
    return result.stdout.splitlines()


def test_command_0_reaches_a_device_that_is_there(emulator, bundle):
    phone = Phone(emulator)
    phone.online()
    lines = php(emulator, "simple_push.php", "gateway", bundle, phone.hex, "Bonjour à tous")
    assert lines == ["Connected to APNS", "Message successfully delivered"]
    assert phone.next_alert() == "Bonjour à tous"


def test_command_0_is_kept_for_a_device_that_is_offline(emulator, bundle):
    phone = Phone(emulator)
    php(emulator, "simple_push.php", "gateway", bundle, phone.hex, "later")
    assert phone.alerts() == ["later"]
    assert phone.alerts() == []


def test_command_1_to_a_list_of_good_tokens_is_silent(emulator, bundle):
    phones = [Phone(emulator, f"phone-{n}") for n in range(3)]
    lines = php(emulator, "enhanced_push.php", "gateway", bundle, "all", *(phone.hex for phone in phones))
    assert lines == ["no error"]
    assert [phone.alerts() for phone in phones] == [["all"]] * 3


def test_command_1_names_the_first_bad_token(emulator, bundle):
    phones = [Phone(emulator, f"phone-{n}") for n in range(2)]
    tokens = [phones[0].hex, "ab" * 32, phones[1].hex]
    lines = php(emulator, "enhanced_push.php", "gateway", bundle, "some", *tokens)
    assert lines == ["error command=8 status=8 identifier=1"]
    assert [phone.alerts() for phone in phones] == [["some"], []]


def test_feedback_is_read_once(emulator, bundle):
    phone = Phone(emulator)
    emulator.api("POST", "/api/v1/devices/phone-1/apps/com.example.app/remove", {})
    assert php(emulator, "read_feedback.php", "feedback", bundle) == []
    php(emulator, "simple_push.php", "gateway", bundle, phone.hex, "to an app that is gone")
    assert phone.alerts() == []
    [line] = php(emulator, "read_feedback.php", "feedback", bundle)
    assert line.split()[1:] == ["32", phone.hex]
    assert php(emulator, "read_feedback.php", "feedback", bundle) == []


def test_what_php_sends_is_what_we_would_send(emulator, bundle):
    """The script and our own provider are the same to the emulator."""
    phone = Phone(emulator)
    with Provider(emulator, *emulator.push_certificate()) as provider:
        provider.send(simple(phone.token, b'{"aps":{"alert":"ours"}}'))
        assert provider.flush()[:2] == b"\x08\x02"
    assert phone.alerts() == ["ours"]
    php(emulator, "simple_push.php", "gateway", bundle, phone.hex, "theirs")
    assert phone.alerts() == ["theirs"]
