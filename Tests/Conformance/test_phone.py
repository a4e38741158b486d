"""What the simulated phone makes of a push, beside the notification itself."""

import json
import urllib.error

import pytest

from courier import MESSAGE, Device
from harness import TOPIC, SimulatedDevice, eventually

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


def push_as_an_old_program(emulator):
    token = emulator.run("tokens", "--udid", "phone-1", "--topic", TOPIC, "--bare").stdout.strip()
    emulator.run("send", "--legacy", "1", "--topic", TOPIC, "--token", token, "--payload", SILENT)


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_silent_push_of_an_old_program_wakes_the_app(emulator, start, is_kept):
    """Its payload says what it is, also where it was kept; what is shown of it stays as Apple takes it."""
    device = start()
    if is_kept:
        device.stop()
    push_as_an_old_program(emulator)
    if is_kept:
        emulator.kill()
        emulator.start()
        device = start()
    said = device.notification()
    assert "pushType" not in said and said["priority"] == 10
    assert device.next("callback")["rule"] == "silent-untyped"
    if not is_kept:
        [shown] = emulator.api("GET", "/api/v1/notifications")["notifications"]
        assert (shown["pushType"], shown["priority"]) == ("alert", 10)


@pytest.mark.parametrize("reader", ["device", "serve"])
def test_the_push_type_may_be_read_strictly(emulator, start, reader):
    """By one phone, or by all of an emulator."""
    if reader == "serve":
        emulator.stop()
        emulator.start("--strict-push-type")
    device = start(*(["--strict-push-type"] if reader == "device" else []))
    push_as_an_old_program(emulator)
    assert device.notification().get("pushType") == ("alert" if reader == "serve" else None)
    assert device.next("dropped")["rule"] == "silent-type"


def test_other_clients_are_told_neither_push_type_nor_collapse_id(emulator):
    device = Device(emulator, *emulator.device_certificate("phone-1"), TOPIC)
    device.connect().app_token()
    push(emulator, ALERT, "--collapse-id", "score")
    push(emulator, SILENT, "--push-type", "background", "--collapse-id", "score")
    [message] = device.stored_notifications()
    assert PUSH_TYPE not in message and COLLAPSE_ID not in message
    push(emulator, ALERT, "--collapse-id", "score")
    command, message = device.receive()
    assert command == MESSAGE and message[3].decode() == ALERT
    assert PUSH_TYPE not in message and COLLAPSE_ID not in message
    device.close()


PHONE = "/api/v1/devices/phone-1/phone"


def order(emulator, verb, **members):
    return emulator.api("POST", f"{PHONE}/{verb}", members)


def refusal(emulator, method, path, body=None):
    """Status and sentence of a request that is refused."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        emulator.api(method, path, body)
    return refused.value.code, json.loads(refused.value.read())["error"]["message"]


def wait(emulator, **match):
    return emulator.api("POST", "/api/v1/notifications/wait", {"match": match, "timeoutMs": 20000})["notifications"]


def test_a_push_is_waited_for_until_it_shows_and_tapped_through_the_console(emulator, start):
    device = start()
    push(emulator, ALERT)
    [shown] = wait(emulator, udid="phone-1", phone="presented")
    phone = emulator.api("GET", PHONE)
    [note] = phone["screen"]["lockScreen"]
    assert phone["online"] and (note["body"], note["notificationId"]) == ("Hello", shown["id"])
    assert [each["event"] for each in phone["log"]] == ["presented", "no-callback"]
    events = order(emulator, "tap", id=note["id"])["events"]
    assert [each["event"] for each in events] == ["opened", "callback"]
    assert {each["notificationId"] for each in events} == {shown["id"]}
    assert device.next("callback")["rule"] == "tap-response"
    phone = emulator.api("GET", PHONE)
    assert phone["screen"]["foreground"] == TOPIC and phone["screen"]["list"] == []
    timeline = emulator.api("GET", f"/api/v1/notifications/{shown['id']}")["timeline"]
    told = [(step["event"], step["rule"]) for step in timeline if "rule" in step]
    assert told == [("presented", "system-shows"), ("no-callback", "system-calls-nobody"), ("opened", "tap-opens"),
                    ("callback", "tap-response")]
    status, sentence = refusal(emulator, "POST", f"{PHONE}/tap", {"id": note["id"]})
    assert status == 400 and "no notification" in sentence


def test_an_ios_that_nobody_knows_yet_has_the_newest_rules(emulator, start):
    start("--ios", "27")
    order(emulator, "register", topic=TOPIC)
    phone = emulator.api("GET", PHONE)
    assert (phone["iosVersion"], phone["remark"]) == ("27", "the newest known rules apply, those of iOS 26.4")
    order(emulator, "settings", iosVersion="26.4")
    assert "remark" not in emulator.api("GET", PHONE)


def test_a_provisional_trial_ends_by_the_buttons_below_its_notification(emulator, start):
    device = start()
    order(emulator, "settings", apps={TOPIC: {"permission": {"status": "provisional"}}})
    push(emulator, '{"aps":{"alert":"Hello","badge":3}}')
    assert device.next("presented")["detail"] == "list" and device.next("no-badge")["rule"] == "provisional"
    assert wait(emulator, udid="phone-1", phone="presented")
    [group] = emulator.api("GET", PHONE)["screen"]["list"]
    assert group["notes"][0]["trial"] == ["deliver-immediately", "deliver-in-summary", "turn-off"]
    [told] = order(emulator, "trial", topic=TOPIC, choice="turn-off")["events"]
    assert (told["event"], told["detail"], told["rule"]) == ("permission", "denied, turn-off", "trial-ended")


def test_settings_wait_for_a_phone_that_is_offline_and_nothing_else_does(emulator, start):
    device = start()
    device.stop()
    eventually(lambda: not emulator.api("GET", PHONE)["online"], "the phone is offline")
    status, sentence = refusal(emulator, "POST", f"{PHONE}/open", {"topic": TOPIC})
    assert status == 409 and "offline" in sentence
    assert order(emulator, "settings", lowPower=True) == {"queued": True}
    assert order(emulator, "settings", apps={TOPIC: {"state": "force-quit"}}) == {"queued": True}
    assert emulator.api("GET", PHONE)["queued"] == {"lowPower": True, "apps": {TOPIC: {"state": "force-quit"}}}
    device = start()
    phone = eventually(lambda: (phone := emulator.api("GET", PHONE))["queued"] is None and phone, "the phone is told")
    assert phone["settings"]["lowPower"] and phone["apps"][TOPIC]["state"] == "force-quit"
    assert "while the phone was offline" in phone["log"][-1]["reason"]
    push(emulator, SILENT, "--push-type", "background", "--priority", "5")
    assert device.next("dropped")["rule"] == "silent-force-quit"


def test_the_phone_lives_on_the_emulators_clock(emulator, start):
    frozen = emulator.api("PUT", "/api/v1/clock", {"freeze": True})["now"]
    device = start()
    for _ in range(4):
        push(emulator, SILENT, "--push-type", "background", "--priority", "5")
    held = device.next("held")
    [pushed] = wait(emulator, udid="phone-1", phone="held")
    assert emulator.api("GET", PHONE)["log"][-1]["at"] == frozen
    later = emulator.api("PUT", "/api/v1/clock", {"advance": "20m"})["now"]
    released = device.next("callback")
    assert released["rule"] == "silent-released" and released["apnsId"] == held["apnsId"]
    log = eventually(lambda: [each for each in emulator.api("GET", PHONE)["log"] if each["rule"] == "silent-released"],
                     "the emulator hears of it")
    assert (log[-1]["at"], log[-1]["notificationId"]) == (later, pushed["id"])


def test_a_device_that_ends_has_told_what_happened_last(emulator, start):
    device = start("--count", "1")
    push(emulator, ALERT)
    assert device.wait() == 0
    [shown] = wait(emulator, udid="phone-1", phone="no-callback")
    eventually(lambda: not emulator.api("GET", PHONE)["online"], "the phone is offline")
    phone = emulator.api("GET", PHONE)
    assert [each["notificationId"] for each in phone["log"]] == [shown["id"]] * 2


def test_without_a_network_pushes_are_kept_and_the_phone_can_be_touched(emulator, start):
    device = start()
    order(emulator, "settings", network=False)
    push(emulator, ALERT)
    [kept] = wait(emulator, udid="phone-1", state="stored")
    assert order(emulator, "open", topic=TOPIC)["events"] and emulator.api("GET", PHONE)["screen"]["list"] == []
    order(emulator, "settings", network=True)
    assert device.notification()["fromStore"]
    [shown] = wait(emulator, udid="phone-1", phone="callback")
    assert shown["id"] == kept["id"]


def test_somebody_elses_client_has_no_phone(emulator):
    assert refusal(emulator, "GET", PHONE)[0] == 404
    device = Device(emulator, *emulator.device_certificate("phone-1"), TOPIC)
    device.connect().app_token()
    for method, path, body in [("GET", PHONE, None), ("POST", f"{PHONE}/settings", {}), ("POST", f"{PHONE}/close", {})]:
        status, sentence = refusal(emulator, method, path, body)
        assert status == 409 and "no phone" in sentence
    device.close()


@pytest.mark.parametrize("distance", ["40h", "-40h"])
def test_a_new_phone_comes_at_any_time_of_the_emulators(emulator, distance):
    """Phones live in the world's time, whatever the emulator's clock says."""
    emulator.api("PUT", "/api/v1/clock", {"advance": distance})
    device = SimulatedDevice(emulator, "phone-new")
    assert device.next("token")["topic"] == TOPIC
    device.stop()
