"""A store that a disk has changed: the emulator does not start with it, and says so."""

import json
import os

import pytest

from harness import TOPIC, eventually


@pytest.fixture
def filled(stopped_emulator):
    """A stopped emulator with a message that waits for its device; answers it and the message's text."""
    emulator = stopped_emulator.start()
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")
    [token] = emulator.api("GET", "/api/v1/tokens")["tokens"]
    payload = json.dumps({"aps": {"alert": "what was accepted"}})
    emulator.push_certificate()
    emulator.run("send", "--legacy", "1", "--topic", TOPIC, "--token", token["token"], "--payload", payload)
    eventually(lambda: emulator.metric("apns_emulator_notifications_stored_total") == 1, "it is stored")
    assert emulator.stop() == 0
    return emulator, b"what was accepted"


def store(emulator):
    return os.path.join(emulator.folder, ".apns-emulator", "store.db")


def test_a_flipped_byte_of_a_stored_notification_is_told_at_the_start(filled):
    emulator, text = filled
    with open(store(emulator), "r+b") as file:
        content = file.read()
        place = content.rindex(text)
        file.seek(place)
        file.write(bytes([content[place] ^ 1]))
    result = emulator.start_in_vain()
    assert result.returncode == 4, result.stderr
    assert "store.db is damaged" in result.stderr
    # Mended, it is as good as before.
    with open(store(emulator), "r+b") as file:
        file.seek(place)
        file.write(content[place:place + 1])
    emulator.start()
    assert emulator.stop() == 0


def test_a_store_cut_short_is_told_at_the_start(filled):
    emulator, _ = filled
    os.truncate(store(emulator), os.path.getsize(store(emulator)) - 8192)
    result = emulator.start_in_vain()
    assert result.returncode == 4, result.stderr
    assert "store.db is damaged" in result.stderr
