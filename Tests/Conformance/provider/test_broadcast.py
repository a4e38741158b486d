"""A broadcast reaches the devices that listen to its channel, and no others.

`Documentation/provider-api.md#channels-and-broadcast`, `Documentation/device-protocol.md#channels`.
"""

import base64
import json
import shutil
import threading
import time

import pytest

from courier import ACK
from harness import TOPIC, Emulator
from identity import bearer
from lab import Lab
from listener import CHANNELS, Listener, field
from wire import listed

TEXT = b'{"aps":{"event":"update","timestamp":1700000000,"content-state":{"goals":%d}}}'


def broadcast_fields(lab, channel, expiration):
    return listed({
        ":method": "POST", ":scheme": "https", ":path": f"/4/broadcasts/apps/{TOPIC}", ":authority": "localhost",
        "authorization": bearer(lab.jwt), "apns-channel-id": channel, "apns-push-type": "liveactivity",
        "apns-expiration": str(expiration), "apns-priority": "10"})


def all_channels(lab, connection):
    fields = [
        (name, f"/1/apps/{TOPIC}/all-channels" if name == ":path" else value)
        for name, value in lab.channel_fields("GET", TOPIC)]
    return json.loads(connection.answer(connection.request(fields, b"")).body)["channels"]


def broadcast(lab, channel, body, expiration=0):
    with lab.connect() as connection:
        answer = connection.answer(connection.request(broadcast_fields(lab, channel, expiration), body))
        assert answer.status == 200, answer.body


def create(lab, policy):
    with lab.connect(listener="gateway") as connection:
        return lab.create_channel(connection, TOPIC, policy)


@pytest.fixture
def listeners(lab):
    devices = [Listener(lab.emulator, f"phone-{number}") for number in range(3)]
    yield devices
    for device in devices:
        device.close()


def test_two_of_three_devices_listen(lab, listeners):
    channel = create(lab, 0)
    assert [device.change(join=[channel]) for device in listeners[:2]] == [0, 0]
    broadcast(lab, channel, TEXT % 1)
    for device in listeners[:2]:
        message = device.next_message()
        assert message[3] == TEXT % 1 and message[1] == device.token and message[2] == device.topic
        assert field(1, base64.b64decode(channel)) in message[CHANNELS]
        device.send(ACK, [(4, message[4]), (8, b"\0")])
    assert [len(device.messages()) for device in listeners] == [0, 0, 0]


def test_who_leaves_hears_no_more(lab, listeners):
    channel = create(lab, 0)
    for device in listeners[:2]:
        device.change(join=[channel])
    assert listeners[0].change(leave=[channel], index=2) == 0
    broadcast(lab, channel, TEXT % 2)
    assert listeners[1].next_message()[3] == TEXT % 2
    assert listeners[0].messages() == []


def test_another_channel_is_not_heard(lab, listeners):
    first, second = create(lab, 0), create(lab, 0)
    listeners[0].change(join=[first])
    listeners[1].change(join=[second])
    broadcast(lab, second, TEXT % 3)
    assert listeners[1].next_message()[3] == TEXT % 3
    assert listeners[0].messages() == []


def test_who_comes_late_gets_the_newest_of_a_channel_that_stores(lab, listeners):
    stored, unstored = create(lab, 1), create(lab, 0)
    for goals in (4, 5):
        broadcast(lab, stored, TEXT % goals, expiration=4_000_000_000)
    broadcast(lab, unstored, TEXT % 6)
    listeners[2].change(join=[stored, unstored])
    assert listeners[2].next_message()[3] == TEXT % 5
    assert listeners[2].messages() == []


def test_a_channel_that_does_not_exist_can_not_be_joined(lab, listeners):
    assert listeners[0].change(join=[base64.b64encode(b"no such channel!").decode()]) != 0


@pytest.fixture
def durable_lab(tmp_path, provider_folder):
    """An emulator with a data folder."""
    shutil.copytree(provider_folder, tmp_path / "certs")
    lab = Lab(Emulator(tmp_path))
    lab.emulator.start()
    yield lab
    lab.emulator.stop()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_channels_subscriptions_and_what_is_stored_outlive_the_process(durable_lab, end):
    lab = durable_lab
    stored, unstored, deleted = create(lab, 1), create(lab, 0), create(lab, 1)
    with lab.connect(listener="gateway") as connection:
        lab.delete_channel(connection, TOPIC, deleted)
    away, silent = [Listener(lab.emulator, udid) for udid in ("phone-0", "phone-1")]
    for device in (away, silent):
        assert device.change(join=[stored, unstored]) == 0
    away.close()
    broadcast(lab, stored, TEXT % 7, expiration=4_000_000_000)
    assert silent.next_message()[3] == TEXT % 7
    getattr(lab.emulator, end)()
    silent.close()

    lab.emulator.start()
    with lab.connect(listener="gateway") as connection:
        assert sorted(all_channels(lab, connection)) == sorted([stored, unstored])
        for channel, policy in ((stored, 1), (unstored, 0)):
            answer = connection.answer(connection.request(lab.channel_fields("GET", TOPIC, channel), b""))
            assert json.loads(answer.body) == {"message-storage-policy": policy, "push-type": "LiveActivity"}
    away.come_back()
    assert away.next_message()[3] == TEXT % 7
    assert away.messages() == []
    silent.come_back()
    broadcast(lab, unstored, TEXT % 8)
    for device in (away, silent):
        # Nobody wrote down before the kill that this device was given the first one: it may come again, in front.
        texts = [device.next_message()[3]]
        if texts == [TEXT % 7] and device is silent and end == "kill":
            texts = [device.next_message()[3]]
        assert texts == [TEXT % 8]
        device.close()


class Maker(threading.Thread):
    """Makes channels and broadcasts to them until the emulator dies; remembers what it was promised."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab = lab
        self.channels, self.newest = set(), {}
        self.began = threading.Event()

    def run(self):
        try:
            with self.lab.connect(listener="gateway") as management, self.lab.connect() as provider:
                for number in range(1_000_000):
                    self.make(management, provider, number)
        except (OSError, EOFError, AssertionError):
            pass

    def make(self, management, provider, number):
        answer = management.answer(management.request(
            self.lab.channel_fields("POST", TOPIC), b'{"message-storage-policy":1,"push-type":"LiveActivity"}'))
        if answer.status != 201:
            raise EOFError
        channel = answer["apns-channel-id"]
        self.channels.add(channel)
        answer = provider.answer(provider.request(broadcast_fields(self.lab, channel, 4_000_000_000), TEXT % number))
        if answer.status != 200:
            raise EOFError
        self.newest[channel] = number
        self.began.set()


def test_a_killed_emulator_has_every_channel_and_broadcast_that_it_promised(durable_lab):
    lab = durable_lab
    device = Listener(lab.emulator, "phone-0")
    for pause in (0.0, 0.05, 0.2):
        maker = Maker(lab)
        maker.start()
        assert maker.began.wait(30)
        time.sleep(pause)
        lab.emulator.kill()
        maker.join(30)
        lab.emulator.start()
        with lab.connect(listener="gateway") as connection:
            assert maker.channels <= set(all_channels(lab, connection))
        device.come_back()
        for channel, number in maker.newest.items():
            device.change(join=[channel])
            assert device.next_message()[3] == TEXT % number
            device.change(leave=[channel])
    device.close()
