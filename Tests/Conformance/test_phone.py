"""What the simulated phone makes of a push, beside the notification itself."""

import json

import pytest

from courier import MESSAGE, Device
from harness import TOPIC, SimulatedDevice

ALERT = '{"aps":{"alert":"Hello"}}'
SILENT = '{"aps":{"content-available":1}}'
PUSH_TYPE, COLLAPSE_ID = 28, 0xE3


def push(emulator, payload, *flags):
    emulator.run("push", "phone-1", TOPIC, payload, *flags)


@pytest.fixture
def start(emulator):
    started = []

    def start(*flags):
        device = SimulatedDevice(emulator, "phone-1", "--timeout", "60", *flags)
        started.append(device)
        device.next("token")
        return device

    yield start
    for device in started:
        device.stop()


def test_a_push_says_where_it_shows_and_who_is_called(emulator, start):
    device = start()
    push(emulator, ALERT)
    said = device.notification()
    shown, nobody = device.next("presented"), device.next("no-callback")
    assert shown["apnsId"] == said["apnsId"] and shown["topic"] == TOPIC
    assert (shown["detail"], shown["rule"], shown["evidence"]) == ("lock screen, list", "system-shows", "A")
    assert nobody["rule"] == "system-calls-nobody" and nobody["reason"]


def test_the_version_and_the_apps_state_decide(emulator, start):
    device = start("--app-state", "foreground", "--ios", "9")
    push(emulator, ALERT)
    assert device.next("not-presented")["rule"] == "foreground-hidden"
    assert device.next("callback")["detail"] == "application:didReceiveRemoteNotification:fetchCompletionHandler:"


@pytest.mark.parametrize("is_kept", [False, True])
def test_push_type_and_collapse_id_reach_the_phone(emulator, start, is_kept):
    device = start()
    push(emulator, ALERT, "--collapse-id", "score")
    assert device.next("presented")["detail"] == "lock screen, list"
    if is_kept:
        device.stop()
        push(emulator, SILENT, "--push-type", "background", "--priority", "5", "--collapse-id", "other")
        emulator.kill()
        emulator.start()
        device = start()
    else:
        push(emulator, SILENT, "--push-type", "background", "--priority", "5", "--collapse-id", "other")
    said = device.notification()
    assert said["fromStore"] == is_kept
    assert (said["pushType"], said["collapseId"]) == ("background", "other")
    assert device.next("callback")["rule"] == "silent-fetch"


def test_a_later_push_with_the_same_collapse_id_takes_the_place_of_the_earlier(emulator, start):
    device = start()
    for text in ("1", "2"):
        push(emulator, json.dumps({"aps": {"alert": text}}), "--collapse-id", "score")
    assert [device.next("presented")["rule"] for _ in range(2)] == ["system-shows", "collapse"]


def test_a_silent_push_of_an_old_program_wakes_nobody(emulator, start):
    device = start()
    token = emulator.run("tokens", "--udid", "phone-1", "--topic", TOPIC, "--bare").stdout.strip()
    emulator.run("send", "--legacy", "1", "--topic", TOPIC, "--token", token, "--payload", SILENT)
    assert "pushType" not in device.notification()
    assert device.next("dropped")["rule"] == "silent-type"


def test_other_clients_are_told_neither_push_type_nor_collapse_id(emulator):
    device = Device(emulator, *emulator.device_certificate("phone-1"), TOPIC)
    device.connect().app_token()
    push(emulator, ALERT, "--collapse-id", "score")
    push(emulator, SILENT, "--push-type", "background", "--collapse-id", "score")
    [message] = device.kept_messages()
    assert PUSH_TYPE not in message and COLLAPSE_ID not in message
    push(emulator, ALERT, "--collapse-id", "score")
    command, message = device.receive()
    assert command == MESSAGE and message[3].decode() == ALERT
    assert PUSH_TYPE not in message and COLLAPSE_ID not in message
    device.close()
