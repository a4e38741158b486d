"""A phone that is erased, or restored onto a new one: the same whether it is connected or comes back later."""

import pytest

from harness import TOPIC, SimulatedDevice, eventually

VOIP = TOPIC + ".voip"


def rows(emulator):
    return emulator.api("GET", "/api/v1/tokens?udid=phone-1")["tokens"]


def installed(emulator):
    return {row["topic"]: row["token"] for row in rows(emulator) if row["installed"]}


@pytest.fixture
def start(emulator):
    started = []

    def start():
        started.append(SimulatedDevice(emulator, "phone-1", "--topic", VOIP, "--timeout", "60"))
        return started[-1]

    yield start
    for device in started:
        device.stop()


def tokens(device):
    """The tokens of both topics, as the phone tells them."""
    return {line["topic"]: line["token"] for line in (device.next("token"), device.next("token"))}


@pytest.mark.parametrize("is_there", [True, False], ids=["connected", "offline"])
def test_an_erased_phone_has_no_apps(emulator, start, is_there):
    device = start()
    before = tokens(device)
    assert installed(emulator) == before and len(before) == 2
    if not is_there:
        device.stop()
    emulator.api("POST", "/api/v1/devices/phone-1/erase")
    assert installed(emulator) == {}
    if is_there:
        device.next("erased")
        device.next("connected")
    else:
        device = start()
        assert {device.next("app")["topic"], device.next("app")["topic"]} == {TOPIC, VOIP}
    device.stop()
    assert installed(emulator) == {}


@pytest.mark.parametrize("is_there", [True, False], ids=["connected", "offline"])
def test_a_restored_phone_has_its_apps_with_other_tokens(emulator, start, is_there):
    device = start()
    before = tokens(device)
    if not is_there:
        device.stop()
    emulator.api("POST", "/api/v1/devices/phone-1/restore")
    if not is_there:
        device = start()
    after = tokens(device)
    assert after.keys() == before.keys() and not set(after.values()) & set(before.values())
    assert installed(emulator) == after


def test_a_removed_app_takes_the_tokens_of_all_its_push_types_with_it(emulator, start):
    device = start()
    before = tokens(device)
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/remove")
    assert installed(emulator) == {}
    assert {device.next("app")["topic"], device.next("app")["topic"]} == {TOPIC, VOIP}
    for token in before.values():
        emulator.run("send", "--topic", TOPIC, "--token", token, check=False)
    eventually(lambda: all(row["state"] == "gone" for row in rows(emulator) if row["topic"] == TOPIC), "it is gone")
