"""export, import and --seed-data, as commands."""

import json
import os

import pytest

from harness import TIMEOUT, TOPIC, Emulator, SimulatedDevice

SEED = {
    "version": 1,
    "apps": [{"topic": TOPIC, "certificate": "both"}, {"topic": "com.example.seeded", "certificate": "production"}],
    "keys": [{"keyId": "SEEDED1234", "teamId": "TEAM123456"}],
    "devices": [{"udid": "phone-1", "apps": [
        {"topic": TOPIC, "token": "5a" * 32, "message": {"payload": {"aps": {"alert": "from the seed"}}}}]}],
    "channels": [{"topic": TOPIC, "id": "AQID", "storesNewest": True, "message": {"payload": {"aps": {"event": "update"}}},
                  "subscribers": [{"udid": "phone-3", "seenUntil": "2026-01-02T03:04:05Z"}]}],
}


def write(emulator, name, document):
    path = emulator.path(name)
    with open(path, "w") as file:
        json.dump(document, file)
    return path


def export(emulator):
    return emulator.run("export").stdout


def test_a_seeded_phone_gets_its_message(stopped_emulator):
    emulator = stopped_emulator
    emulator.start("--seed-data", write(emulator, "seed.json", SEED))
    assert sorted(os.listdir(emulator.path("certs", "push"))) == sorted(
        topic + end for topic in (TOPIC, "com.example.seeded") for end in (".key", ".p12", ".pem"))
    assert os.stat(emulator.path("certs", "keys", "AuthKey_SEEDED1234.p8")).st_mode & 0o777 == 0o600
    phone = SimulatedDevice(emulator, "phone-1", "--count", "1", "--timeout", str(TIMEOUT))
    assert phone.next("token")["token"] == "5a" * 32
    assert phone.notification()["payload"] == {"aps": {"alert": "from the seed"}}
    assert phone.wait() == 0
    # The issued key works at once, and for the token of the document.
    emulator.run("send", "--topic", TOPIC, "--token", "5a" * 32, "--key",
                 emulator.path("certs", "keys", "AuthKey_SEEDED1234.p8"), "--payload", '{"aps":{"alert":"again"}}')
    phone.stop()


def test_what_one_exports_another_imports(stopped_emulator, tmp_path_factory, issued):
    first = stopped_emulator.start("--seed-data", write(stopped_emulator, "seed.json", SEED))
    first.api("POST", f"/api/v1/devices/phone-2/apps/{TOPIC}/install")
    first.api("POST", f"/api/v1/devices/phone-2/apps/{TOPIC}/reinstall")
    path = first.path("state.json")
    first.run("export", path)
    with open(path) as file:
        document = file.read()
    assert document == export(first)
    # No key leaves the certs folder.
    assert "PRIVATE" not in document and len(json.loads(document)["devices"]) == 3
    [channel] = json.loads(document)["channels"]
    assert channel["message"]["payload"] == {"aps": {"event": "update"}}
    assert channel["subscribers"] == [{"udid": "phone-3", "seenUntil": "2026-01-02T03:04:05.000Z"}]
    second = Emulator(tmp_path_factory.mktemp("second")).start()
    try:
        assert second.run("import", path).stdout.startswith("apps: 2, keys: 1, devices: 3, tokens: 3, messages: 1")
        second.run("import", path)
        assert without_clock(export(second)) == without_clock(document)
        # In the store before it was answered.
        second.kill()
        assert without_clock(export(second.start())) == without_clock(document)
    finally:
        second.stop()


def without_clock(document):
    """Everything but the clock's offset, which is a reading of two clocks."""
    return {name: value for name, value in json.loads(document).items() if name != "clock"}


@pytest.mark.parametrize("document, sentence", [
    ({"version": 1, "devices": [{"udid": "a", "apps": [{"topic": "t", "state": "lost"}]}]},
     'seed.json: devices[0].apps[0].state: expected one of installed, removed, gone, got "lost"'),
    ({"version": 7}, 'seed.json: version: expected 1, got 7'),
])
def test_a_wrong_seed_stops_the_start(stopped_emulator, document, sentence):
    path = write(stopped_emulator, "seed.json", document)
    result = stopped_emulator.start_in_vain("--seed-data", path)
    assert result.returncode == 1 and sentence in result.stderr and "ready" not in result.stdout


def test_what_is_too_much_at_once_goes_in_parts_or_as_seed_data(emulator, tmp_path_factory):
    keys = [{"keyId": f"KEY{n:07}", "teamId": "TEAM123456"} for n in range(101)]
    path = write(emulator, "many.json", {"version": 1, "keys": keys, "devices": [{"udid": "phone"}]})
    assert emulator.run("import", path).stdout.startswith("apps: 0, keys: 101, devices: 1,")
    assert len(emulator.api("GET", "/api/v1/keys")["keys"]) == 101
    second = Emulator(tmp_path_factory.mktemp("second")).start("--seed-data", path)
    try:
        assert len(second.api("GET", "/api/v1/keys")["keys"]) == 101
    finally:
        second.stop()


def test_import_says_what_is_wrong(emulator):
    path = write(emulator, "bad.json", {"version": 1, "apps": [{"topic": "a b"}]})
    result = emulator.run("import", path, check=False)
    assert result.returncode == 1 and 'apps[0].topic: expected a bundle id' in result.stderr
    assert emulator.run("import", check=False).returncode == 2
