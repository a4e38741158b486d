"""A Live Activity from its start to its end: on a phone of the emulator, with tokens and channels of its own.

`Documentation/device-behaviour.md#tokens-and-push-types`.
"""

import json
import re
import time

import pytest

from harness import TOPIC, SimulatedDevice, eventually
from test_broadcast import broadcast, create

ACTIVITIES = TOPIC + ".push-type.liveactivity"


@pytest.fixture
def emulator(lab):
    return lab.emulator


class ActivePhone(SimulatedDevice):
    """A phone whose app has Live Activities."""

    def __init__(self, emulator, udid):
        super().__init__(emulator, udid, "--activity-type", "Ride", "--timeout", "60")
        self.emulator, self.udid = emulator, udid

    def push(self, text, *flags, check=True):
        answer = self.emulator.run("push", self.udid, ACTIVITIES, text, *flags, check=check)
        return json.loads(answer.stdout) if answer.stdout else answer

    def contexts(self):
        """What of the topic there are tokens for, and whether each is on the phone."""
        rows = self.emulator.api("GET", f"/api/v1/tokens?udid={self.udid}&topic={ACTIVITIES}")["tokens"]
        return {row["context"]: row["installed"] for row in rows}

    def starts(self):
        """Its token for starting activities."""
        while True:
            event = self.next("token")
            if event.get("context") == "start:Ride":
                return event

    def started(self):
        """The token of an activity that a push starts."""
        self.push(payload("start"))
        while True:
            event = self.next("token")
            # The phone tells of it once more, in its own words.
            if event.get("context", "").startswith("activity:") and "token" in event:
                return event

    def activities(self):
        screen = self.emulator.api("GET", f"/api/v1/devices/{self.udid}/phone")["screen"]
        return {activity["id"]: (activity["state"], activity["token"]) for activity in screen["activities"]}


@pytest.fixture
def device(emulator, request):
    device = ActivePhone(emulator, re.sub("[^a-z.]+", "-", request.node.name))
    device.starts()
    yield device
    device.stop()


def payload(event, **more):
    aps = {"event": event, "timestamp": int(time.time()), "content-state": {"eta": 5}}
    if event == "start":
        aps |= {"attributes-type": "Ride", "attributes": {"n": 1}, "alert": {"title": "Ride", "body": "on"}}
        aps |= {} if "input-push-channel" in more else {"input-push-token": 1}
    return json.dumps({"aps": aps | more})


def test_each_activity_has_a_token_until_it_ends(device):
    first, second = device.started(), device.started()
    assert [first["context"], second["context"]] == ["activity:activity-1", "activity:activity-2"]
    assert device.contexts() == {"start:Ride": True, first["context"]: True, second["context"]: True}
    # The newest is meant where nobody says which.
    assert device.push(payload("update"))["token"] == second["token"]
    assert device.push(payload("end"), "--context", first["context"])["token"] == first["token"]
    device.next("tokenEnded")
    eventually(lambda: device.contexts()[first["context"]] is False, "the end of the token")
    expected = {"activity-1": ("ended", None), "activity-2": ("active", second["token"])}
    eventually(lambda: device.activities() == expected, "both as they are")
    refused = device.push(payload("update"), "--context", first["context"], check=False)
    assert "has no token" in refused.stderr and second["context"] in refused.stderr


def test_tokens_end_with_a_new_run_and_with_the_app(emulator, device):
    device.started()
    device.stop()
    again = ActivePhone(emulator, device.udid)
    try:
        assert again.next("tokenEnded")["context"] == "activity:activity-1"
        eventually(lambda: device.contexts() == {"start:Ride": True, "activity:activity-1": False}, "one is left")
        emulator.api("POST", f"/api/v1/devices/{device.udid}/apps/{TOPIC}/remove")
        eventually(lambda: not any(device.contexts().values()), "none is left")
    finally:
        again.stop()


@pytest.mark.parametrize("suffix", [".location-query", ".voip", ".push-type.widgets"])
def test_push_knows_how_each_type_is_sent(device, suffix):
    """A certificate where one will do, else a key; the type from the topic."""
    answer = device.emulator.run("push", device.udid, TOPIC + suffix, '{"aps":{}}')
    assert json.loads(answer.stdout)["accepted"]


def test_an_activity_hears_of_its_channel(lab, emulator, device):
    channel = create(lab, 0)
    device.push(payload("start", **{"input-push-channel": channel}))
    eventually(lambda: emulator.api("GET", "/api/v1/channels")["channels"][0]["listeners"] == 1, "it listens")
    assert "activity:activity-1" not in device.contexts()
    device.notification()
    for event, state in [("update", "active"), ("end", "ended")]:
        broadcast(lab, channel, payload(event, **{"content-state": {"eta": 1}}).encode())
        assert device.notification()["channel"] == channel
        assert device.next("activity")["detail"] == f"{state}, activity-1"
    eventually(lambda: emulator.api("GET", "/api/v1/channels")["channels"][0]["listeners"] == 0, "it has left")
