"""`device --environment both`: one phone that is in both of Apple's environments, as an iPhone with two builds of an app is."""

import pytest

from harness import TOPIC, SimulatedDevice, eventually

ENVIRONMENTS = ["sandbox", "production"]


@pytest.fixture
def start(emulator):
    started = []

    def start(*flags):
        device = SimulatedDevice(emulator, "phone-9", "--environment", "both", "--timeout", "60", *flags)
        started.append(device)
        return device

    yield start
    for device in started:
        device.stop()


def lines(device, event, count=2):
    """Lines that tell of an event, by environment."""
    return {line["environment"]: line for line in (device.next(event) for _ in range(count))}


def push(emulator, token, environment, text, *flags):
    certificate, key = emulator.push_certificate(TOPIC)
    return emulator.run(
        "send", "--topic", TOPIC, "--token", token, "--cert", certificate, "--cert-key", key, "--environment",
        environment, "--payload", '{"aps":{"alert":"%s"}}' % text, *flags, check=False)


def test_pushes_to_either_host_reach_the_one_phone(emulator, start):
    device = start()
    device.next("activated")
    tokens = {name: line["token"] for name, line in lines(device, "token").items()}
    assert sorted(tokens) == sorted(ENVIRONMENTS) and tokens["sandbox"] != tokens["production"]
    for environment in ENVIRONMENTS:
        push(emulator, tokens[environment], environment, f"to {environment}")
        said = device.notification()
        assert (said["environment"], said["token"]) == (environment, tokens[environment])
        assert said["payload"]["aps"]["alert"] == f"to {environment}"
        shown = device.next("presented")
        assert shown["apnsId"] == said["apnsId"]

    # The emulator hears of it whichever connection the push came by: it is one phone.
    def steps():
        return [any("presented" == step["event"] for step in notification["timeline"])
                for notification in emulator.api("GET", "/api/v1/notifications")["notifications"]]
    eventually(lambda: steps() == [True, True], "the phone has told of both")
    rejected = push(emulator, tokens["sandbox"], "production", "no")
    assert "BadDeviceToken" in rejected.stdout
    phone = emulator.api("POST", "/api/v1/devices/phone-9/phone/settings", {"lowPower": True})
    assert phone["events"] is not None
    assert emulator.api("GET", "/api/v1/devices/phone-9")["online"]


def test_the_entitlement_says_which_token_is_the_apps(emulator, start):
    device = start()
    tokens = {name: line["token"] for name, line in lines(device, "token").items()}

    def own():
        app = emulator.api("GET", "/api/v1/devices/phone-9/phone")["apps"].get(TOPIC, {})
        return [each["token"] for each in app.get("deviceTokens", [])]
    eventually(lambda: own() == [tokens["sandbox"]], "a development build has a token of the sandbox")
    phone = "/api/v1/devices/phone-9/phone/settings"
    told = emulator.api("POST", phone, {"apps": {TOPIC: {"entitlement": "production"}}})["events"]
    assert [each["rule"] for each in told] == ["token-changed"]
    eventually(lambda: own() == [tokens["production"]], "one with the entitlement for production has one of production")


def test_what_came_while_it_was_offline_is_there_for_either_environment(emulator, start):
    device = start()
    tokens = {name: line["token"] for name, line in lines(device, "token").items()}
    device.stop()
    for environment in ENVIRONMENTS:
        push(emulator, tokens[environment], environment, environment, "--expiration", "+1h")
    again = start("--count", "2")
    kept = lines(again, "notification")
    assert {name: line["payload"]["aps"]["alert"] for name, line in kept.items()} == {n: n for n in ENVIRONMENTS}
    assert all(line["fromStore"] and line["token"] == tokens[name] for name, line in kept.items())
    assert again.wait() == 0
