"""The sender against Apple's push service in a process of its own; nothing of the sender is replaced."""

import asyncio
import datetime
import types

import pytest
from aioapns import APNs
from sender import Sender, TokenStore

TOPIC = "com.example.app"
HELLO = {"aps": {"alert": "Hello"}}


@pytest.fixture
def store():
    return TokenStore()


@pytest.fixture
def send_all(apns_emulator, apns_key, store):
    """Sends to everybody in the store, and answers the statuses in order."""

    async def run(**options):
        client = APNs(
            key=apns_key.p8, key_id=apns_key.key_id, team_id=apns_key.team_id, topic=TOPIC,
            ssl_context=apns_emulator.ssl_context())
        client.pool.protocol_class.APNS_SERVER, client.pool.protocol_class.APNS_PORT = apns_emulator.provider
        pauses = {"busy_pause": 0.01, "flood_pause": 0.01}
        results = await Sender(client, store, **pauses | options).send_all(HELLO)
        client.pool.close()
        return [result.status for result in results.values()]

    return lambda **options: asyncio.run(run(**options))


@pytest.mark.parametrize(
    ("reason", "status"),
    [("ServiceUnavailable", 503), ("TooManyRequests", 429), ("InternalServerError", 500), ("Shutdown", 503)])
def test_who_is_busy_is_asked_again(apns_emulator, apns_device, store, send_all, reason, status):
    store.register(apns_device.token)
    apns_emulator.faults.add("busy", {"reason": reason}, next=2)
    assert send_all() == ["200"]
    pushes = apns_emulator.notifications()
    assert [push.status for push in pushes] == [status, status, 200]
    assert len({push.apns_id for push in pushes}) == 1


def test_a_server_that_shuts_down_is_not_waited_for(apns_emulator, apns_device, store, send_all):
    store.register(apns_device.token)
    apns_emulator.faults.add("shutdown", {"reason": "Shutdown"}, next=1)
    an_hour = 3600
    assert send_all(busy_pause=an_hour, flood_pause=an_hour) == ["200"]


@pytest.mark.parametrize("status", ["500", "503"])
def test_a_service_that_is_busy_has_a_quarter_of_an_hour(status):
    answer = types.SimpleNamespace(status=status, description="InternalServerError")
    assert Sender(None, None).pause_after(answer) == 15 * 60


def test_after_some_attempts_it_gives_up(apns_emulator, apns_device, store, send_all):
    store.register(apns_device.token)
    apns_emulator.faults.add("outage", {"reason": "ServiceUnavailable"})
    assert send_all(attempts=3) == ["503"]
    assert len(apns_emulator.notifications()) == 3 and store.registered


def test_what_would_be_refused_again_is_sent_once(apns_emulator, apns_device, store, send_all):
    store.register(apns_device.token)
    apns_emulator.faults.add("updates", {"reason": "TooManyProviderTokenUpdates"})
    assert send_all() == ["429"]
    assert len(apns_emulator.notifications()) == 1


def test_many_are_sent_at_once(apns_emulator, store, send_all):
    for number in range(200):
        store.register(apns_emulator.device(f"phone-{number}", TOPIC).token)
    assert send_all(width=50) == ["200"] * 200
    assert {push.token for push in apns_emulator.notifications()} == set(store.registered)


@pytest.fixture
def gone_token(apns_emulator, apns_device):
    """The phone has told the service, on a push, that the app is no longer there."""
    with apns_device.connect() as phone:
        token = phone.token
        phone.remove(TOPIC)
        apns_emulator.send(token, TOPIC, HELLO)
        apns_emulator.wait_for_push(token=token, state="discarded")
    return token


def test_a_token_of_an_app_that_is_gone_is_forgotten(apns_emulator, gone_token, store, send_all):
    other = apns_emulator.device("phone-2", TOPIC).token
    store.register(gone_token, at=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc))
    store.register(other)
    assert send_all() == ["410", "200"]
    assert list(store.registered) == [other]


def test_a_token_that_was_registered_since_is_kept(apns_emulator, gone_token, store, send_all):
    store.register(gone_token, at=apns_emulator.clock.now + datetime.timedelta(seconds=1))
    assert send_all() == ["410"]
    assert list(store.registered) == [gone_token]
