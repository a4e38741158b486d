"""Sending, waiting, faults, the clock, a phone; with a provider that speaks plain HTTP to the console."""

import datetime
import json
import socket
import ssl
import threading
import urllib.error
import urllib.request

import jwt
import pytest

from apns_emulator import ConsoleError, NoPush

TOPIC = "com.example.app"


@pytest.fixture(scope="session")
def authorization(apns_emulator_session):
    key = apns_emulator_session.issue_key()
    issued = {"iss": key.team_id, "iat": int(datetime.datetime.now().timestamp())}
    return "bearer " + jwt.encode(issued, key.p8, algorithm="ES256", headers={"kid": key.key_id})


@pytest.fixture
def push(apns_emulator, authorization):
    """Sends a push, and answers the status."""
    return lambda token, alert="Hello", **fields: post(apns_emulator, authorization, token, alert, **fields)


def post(emulator, authorization, token, alert, **fields):
    headers = {"apns-topic": TOPIC, "authorization": authorization, "Content-Type": "application/json", **fields}
    body = json.dumps({"aps": {"alert": alert}}).encode()
    request = urllib.request.Request(f"http://{emulator.console}/3/device/{token}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_push_is_told_as_it_was_sent(apns_emulator, apns_device, wait_for_push, push):
    assert push(apns_device.token, "Grüße", **{"apns-collapse-id": "one", "apns-priority": "5"}) == 200
    told = wait_for_push(token=apns_device.token)
    assert told.accepted and told.reason is None and told.status == 200
    assert (told.topic, told.udid, told.interface, told.state) == (TOPIC, "phone-1", "console", "stored")
    assert (told.priority, told.collapse_id, told.push_type) == (5, "one", "alert")
    assert told.payload == {"aps": {"alert": "Grüße"}} == json.loads(told.raw_payload)
    assert abs(told.received_at - datetime.datetime.now(datetime.timezone.utc)) < datetime.timedelta(minutes=1)
    assert apns_emulator.notifications() == [told]
    assert apns_emulator.notifications(topic="com.example.other") == []


def test_who_waits_is_told_of_what_comes_later(apns_emulator, apns_device, push):
    thread = threading.Timer(0, push, (apns_device.token,))
    thread.start()
    assert apns_emulator.wait_for_push(topic=TOPIC, timeout=30).accepted
    thread.join()


def test_who_waits_in_vain_is_told_what_came_instead(apns_emulator, apns_device, push):
    push(apns_device.token, "Shipped")
    with pytest.raises(NoPush) as failure:
        apns_emulator.wait_for_push(topic="com.example.shop", timeout=0.05)
    text = str(failure.value)
    assert text.startswith("0 of 1 pushes came within 0.05 s (topic='com.example.shop')")
    assert f"{TOPIC} to phone-1: accepted, stored, " in text and "Shipped" in text
    assert f"topic is '{TOPIC}', not 'com.example.shop'" in text


def test_several_are_answered_in_their_order_and_what_is_missing_is_told(apns_emulator, apns_device, push):
    for number in range(3):
        push(apns_device.token, str(number))
    alerts = [each.payload["aps"]["alert"] for each in apns_emulator.wait_for_pushes(3, topic=TOPIC)]
    assert alerts == ["0", "1", "2"]
    with pytest.raises(NoPush, match="3 of 4 pushes came"):
        apns_emulator.wait_for_pushes(4, topic=TOPIC, timeout=0.05)


def test_a_filter_that_is_none_is_no_push_that_failed_to_come(apns_emulator):
    with pytest.raises(ConsoleError, match="colour"):
        apns_emulator.wait_for_push(colour="blue")


def test_more_pushes_than_one_page_has(apns_emulator, apns_device, monkeypatch):
    monkeypatch.setattr("apns_emulator.pushes.PAGE", 2)
    for _ in range(5):
        apns_emulator.send(apns_device.token, TOPIC, {"aps": {}})
    assert [each.id for each in apns_emulator.notifications()] == sorted({each.id for each in apns_emulator.notifications()})
    assert len(apns_emulator.notifications()) == 5


def test_a_fault_strikes_as_often_as_it_should(apns_emulator, apns_device, push):
    busy = apns_emulator.faults.add("busy", {"reason": "ServiceUnavailable"}, next=2, interface="console")
    assert [push(apns_device.token) for _ in range(3)] == [503, 503, 200]
    assert busy.hits == 2
    assert [each.fault for each in apns_emulator.notifications()] == ["busy", "busy", None]


def test_a_fault_may_be_for_a_block(apns_emulator, apns_device, push):
    with apns_emulator.faults.add_preset("throttled") as fault:
        assert push(apns_device.token) == 429
        assert [each.name for each in apns_emulator.faults] == [fault.name]
        fault.enable(False)
        assert push(apns_device.token) == 200
    assert len(apns_emulator.faults) == 0
    with pytest.raises(KeyError):
        apns_emulator.faults["throttled"]
    with pytest.raises(ConsoleError, match="NoSuchReason"):
        apns_emulator.faults.add("wrong", {"reason": "NoSuchReason"})


def test_time_can_be_moved(apns_emulator, apns_device, push):
    clock = apns_emulator.clock
    clock.freeze()
    before = clock.now
    clock.advance("61m")
    clock.advance(datetime.timedelta(seconds=-60))
    assert clock.is_frozen and clock.now - before == datetime.timedelta(hours=1)
    noon = datetime.datetime(2030, 1, 2, 12, tzinfo=datetime.timezone.utc)
    clock.set(noon)
    assert apns_emulator.send(apns_device.token, TOPIC, {"aps": {}}).received_at == noon
    clock.reset()
    assert not clock.is_frozen and clock.now < noon


def test_a_phone_gets_what_is_sent_and_what_was_kept(apns_emulator, apns_device, push):
    push(apns_device.token, "kept")
    with apns_device.connect() as phone:
        kept = phone.next_message()
        assert kept.from_store and kept.payload == {"aps": {"alert": "kept"}}
        push(phone.token, "live")
        assert phone.next_message().payload == {"aps": {"alert": "live"}}
        assert apns_emulator.wait_for_push(state="delivered", q="live").udid == "phone-1"
        with pytest.raises(NoPush, match="no notification came to phone-1"):
            phone.next_message(timeout=0.05)


def test_an_app_that_is_gone_is_told_with_410(apns_emulator, apns_device, push):
    old = apns_device.token
    with apns_device.connect():
        apns_device.remove(TOPIC)
        push(old)
        apns_emulator.wait_for_push(token=old, state="discarded")
        assert push(old) == 410
    assert apns_device.install(TOPIC) != old
    assert apns_device.reinstall(TOPIC) == apns_device.token


def test_a_certificate_is_for_its_topics(apns_emulator):
    certificate = apns_emulator.issue_certificate(TOPIC)
    assert certificate.topics == (TOPIC,) and certificate.pem_path.read_text().count("-----BEGIN") == 2
    assert certificate.p12_path.exists() and "PRIVATE" not in repr(certificate)
    context = apns_emulator.ssl_context(certificate)
    with socket.create_connection(apns_emulator.gateway) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            assert connection.version() == "TLSv1.2"


def test_nobody_without_a_certificate_gets_to_the_gateway(apns_emulator):
    context = apns_emulator.ssl_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection(apns_emulator.gateway) as plain, pytest.raises(OSError):
        context.wrap_socket(plain, server_hostname="localhost")


def test_a_key_has_its_file(apns_key):
    assert apns_key.path.read_text() == apns_key.p8 and apns_key.key_id in apns_key.path.name
    assert "PRIVATE" not in repr(apns_key)
