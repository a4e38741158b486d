"""What goes wrong on purpose, as clients of the gateway, the courier, the feedback service and the console see it."""

import http.client
import json
import os
import socket
import ssl
import struct
import threading
import time

import pytest

from courier import MESSAGE
from harness import TIMEOUT, TOPIC, eventually
from legacy import HalfClosingProvider, SERVER_NAME, Provider, enhanced, framed, simple
from magic import Rules, magic
from phone import Phone

ALERT = b'{"aps":{"alert":"%d"}}'


def alert(number):
    return ALERT % number


@pytest.fixture
def rules(emulator):
    return Rules(emulator)


@pytest.fixture
def phone(emulator):
    return Phone(emulator)


@pytest.fixture
def connect(emulator):
    """Opens gateway connections that end with the test."""
    identity, open_ones = emulator.push_certificate(), []

    def connect():
        open_ones.append(Provider(emulator, *identity))
        return open_ones[-1]

    yield connect
    for provider in open_ones:
        provider.close()


def notifications(emulator, **filters):
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    return emulator.api("GET", f"/api/v1/notifications?{query}")["notifications"]


def next_alerts(phone, count):
    """What comes next to a phone that is on."""
    messages = []
    while len(messages) < count:
        command, items = phone.device.receive()
        if command == MESSAGE:
            messages.append(items)
    return [json.loads(message[3])["aps"]["alert"] for message in messages]


def below_tls(stream):
    """What comes next on the socket of a TLS connection: Python's TLS layer does not tell a reset from an end."""
    with socket.socket(fileno=os.dup(stream.fileno())) as plain:
        plain.settimeout(TIMEOUT)
        return plain.recv(4096)


def packet(status, identifier):
    return struct.pack(">BBI", 8, status, identifier)


# Reasons and error packets


@pytest.mark.parametrize(
    "word, status",
    [("BadDeviceToken", 8), ("PayloadTooLarge", 7), ("TooManyRequests", 1), ("legacy=7", 7), ("legacy=42", 42),
     ("legacy=128", 128)])
def test_a_magic_token_gets_its_status(emulator, connect, phone, word, status):
    provider = connect()
    provider.send(
        enhanced(1, phone.token, alert(1)) + enhanced(2, magic(word), alert(2)) + enhanced(3, phone.token, alert(3)))
    assert provider.read_to_end() == packet(status, 2)
    assert phone.alerts() == ["1"]
    [rejected] = notifications(emulator, state="rejected")
    assert rejected["identifier"] == 2 and "magic token" in rejected["verdict"]["explanation"]
    assert f"!{word}" in rejected["verdict"]["explanation"]


@pytest.mark.parametrize("word", ["goaway", "goaway=Shutdown", "legacy=10", "Shutdown"])
def test_a_gateway_that_goes_names_the_last_it_took(connect, phone, word):
    provider = connect()
    provider.send(
        enhanced(7, phone.token, alert(1)) + framed(8, magic(word), alert(2)) + enhanced(9, phone.token, alert(3)))
    assert provider.read_to_end() == packet(10, 7)
    assert phone.alerts() == ["1"]


def test_command_0_gets_no_packet(connect):
    provider = connect()
    provider.send(simple(magic("BadDeviceToken"), alert(1)))
    assert provider.read_to_end() == b""


def test_a_rule_may_name_another_identifier(emulator, connect, rules, phone):
    rules.add({"legacy": {"status": 8, "identifier": 0xDEADBEEF}}, token=phone.hex)
    provider = connect()
    provider.send(enhanced(5, phone.token, alert(1)))
    assert provider.read_to_end() == packet(8, 0xDEADBEEF)
    [rejected] = notifications(emulator, state="rejected")
    assert "fault rule rule: expected no match, got a match, which injects {" in rejected["verdict"]["explanation"]


@pytest.mark.parametrize(
    "effect, told, taken",
    [({"goaway": {"lastStream": "zero"}}, packet(10, 0), 1), ({"goaway": {"lastStream": "highest"}}, packet(10, 2), 2),
     ({"goaway": {"keepsOpen": True}}, packet(10, 1), 1), ({"goaway": {}, "taken": True}, packet(10, 2), 2),
     ({"halfClose": True, "taken": True}, b"", 2), ({"halfClose": True}, b"", 1)], ids=str)
def test_the_second_push_ends_the_connection(emulator, connect, rules, phone, effect, told, taken):
    """Frames are taken up to the one that the fault has taken, and none behind it."""
    rules.add(effect, when={"nth": 2})
    provider = connect()
    provider.send(b"".join(enhanced(number, phone.token, alert(number)) for number in (1, 2, 3)))
    assert provider.read_to_end() == told
    assert [entry["identifier"] for entry in notifications(emulator) if entry["verdict"]["accepted"]] == [1, 2][:taken]
    # The newest of a token is stored.
    assert phone.alerts() == [str(taken)]
    assert rules.hits() == 1


@pytest.mark.parametrize("effect", [{"reset": True}, {"rstStream": 7}], ids=str)
def test_a_push_is_taken_and_then_its_connection_is_reset(emulator, connect, rules, phone, effect):
    rules.add(effect | {"taken": True}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    with pytest.raises(ConnectionResetError):
        below_tls(provider.socket)
    assert phone.alerts() == ["1"]
    [entry] = notifications(emulator)
    verdict = entry["verdict"]
    assert (verdict["accepted"], verdict["status"], verdict["legacyStatus"]) == (True, None, None)
    assert verdict["fault"] == {"name": "rule", "effect": effect | {"taken": True}}


def test_the_next_two_fail_then_all_is_well(connect, rules, phone):
    rules.preset("fail-twice")
    for number in range(2):
        provider = connect()
        provider.send(enhanced(number, phone.token, alert(number)))
        assert provider.read_to_end() == packet(1, number)
    provider = connect()
    provider.send(enhanced(3, phone.token, alert(3)))
    assert provider.flush() == packet(2, 0)
    assert phone.alerts() == ["3"]
    assert rules.hits("fail-twice") == 2


def test_a_rule_is_about_what_it_names(emulator, connect, rules, phone):
    other = connect()
    rules.add({"reason": "BadTopic"}, "elsewhere", connection="%s:%s" % other.socket.getsockname())
    rules.add({"reason": "BadTopic"}, "topic", topic="com.example.other")
    rules.add({"reason": "BadTopic"}, "interface", interface="provider")
    rules.add({"reason": "BadTopic"}, "priority", priority=5)
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    assert provider.flush() == packet(2, 0)
    other.send(enhanced(2, phone.token, alert(2)))
    assert other.read_to_end() == packet(6, 2)
    assert {rule["name"]: rule["hits"] for rule in emulator.api("GET", "/api/v1/faults")["faults"]} == {
        "elsewhere": 1, "topic": 0, "interface": 0, "priority": 0}


@pytest.mark.parametrize("end", ["switch", "delete", "reset"])
def test_switching_off_restores_at_once(emulator, connect, rules, phone, end):
    rules.add({"reason": "ServiceUnavailable"})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    assert provider.read_to_end() == packet(1, 1)
    if end == "switch":
        rules.switch(False)
    elif end == "delete":
        rules.delete()
    else:
        emulator.api("POST", "/api/v1/reset", {"what": ["faults"]})
    provider = connect()
    provider.send(enhanced(2, phone.token, alert(2)))
    assert provider.flush() == packet(2, 0)
    assert phone.alerts() == ["2"]


# Time


def test_a_delayed_push_holds_up_what_comes_after(emulator, connect, rules, phone):
    """Frames of the same read and of later ones wait, in order; another connection goes on."""
    phone.online()
    rules.add({"delayMs": 700}, when={"next": 1})
    first, second = connect(), connect()
    first.send(enhanced(1, phone.token, alert(1)) + enhanced(2, phone.token, alert(2)))
    first.send(enhanced(3, phone.token, alert(3)))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    second.send(enhanced(4, phone.token, alert(4)))
    assert next_alerts(phone, 4) == ["4", "1", "2", "3"]


def test_a_magic_delay_is_accepted_in_the_end(emulator, connect):
    provider = connect()
    provider.send(enhanced(1, magic("delay=200"), alert(1)) + enhanced(2, magic("BadTopic"), alert(2)))
    assert provider.read_to_end() == packet(6, 2)
    assert [entry["verdict"]["accepted"] for entry in notifications(emulator)] == [True, False]


def test_what_is_wrong_behind_a_delayed_push_is_told_after_it(connect, rules, phone):
    rules.add({"delayMs": 200}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)) + b"\xff")
    assert provider.read_to_end() == packet(128, 0)
    assert phone.alerts() == ["1"]


def test_the_error_packet_dribbles(connect, rules):
    rules.add({"reason": "BadDeviceToken", "dribble": {"bytes": 1, "everyMs": 50}})
    provider = connect()
    provider.send(enhanced(0x01020304, b"\1" * 32, alert(1)))
    # Each piece is a TLS record, and a read of the TLS layer answers one record at most.
    pieces = []
    while piece := provider.socket.recv(4096):
        pieces.append(piece)
    assert pieces == [b"\x08", b"\x08", b"\1", b"\2", b"\3", b"\4"]


def test_a_stalled_connection_goes_on_when_its_rule_is_switched_off(emulator, connect, rules, phone):
    rules.add({"stall": True}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)) + enhanced(2, phone.token, alert(2)))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    provider.send(enhanced(3, b"\1" * 32, alert(3)))
    provider.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        provider.socket.recv(6)
    assert notifications(emulator) == []
    provider.socket.settimeout(TIMEOUT)
    rules.switch(False)
    assert provider.read_to_end() == packet(8, 3)
    assert phone.alerts() == ["2"]


@pytest.mark.parametrize("reset", [False, True], ids=["in order", "by a reset"])
def test_a_stalled_connection_ends_when_its_peer_goes(emulator, connect, reset):
    provider = connect()
    provider.send(enhanced(1, magic("stall"), alert(1)))
    eventually(lambda: len(gateway_connections(emulator)) == 1, "somebody is connected")
    if reset:
        provider.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    provider.send(enhanced(2, magic("stall"), alert(2)))
    provider.close()
    eventually(lambda: gateway_connections(emulator) == [], "the connection is gone")


def gateway_connections(emulator):
    return [each for each in emulator.api("GET", "/api/v1/connections")["connections"] if each["listener"] == "gateway"]


def test_a_stalled_connection_does_not_hold_up_the_end(emulator, connect):
    provider = connect()
    provider.send(enhanced(1, magic("stall"), alert(1)))
    eventually(lambda: gateway_connections(emulator), "somebody is connected")
    began = time.monotonic()
    assert emulator.stop() == 0
    assert time.monotonic() - began < TIMEOUT / 2
    try:
        assert below_tls(provider.socket) == b""
    except ConnectionResetError:
        pass


def test_a_provider_that_has_ended_its_side_hears_a_delayed_error(emulator, rules, phone):
    rules.add({"delayMs": 200, "reason": "BadDeviceToken"}, when={"next": 1}, interface="gateway")
    with HalfClosingProvider(emulator, *emulator.push_certificate()) as provider:
        provider.send(enhanced(7, phone.token, alert(7)))
        provider.end_output()
        assert provider.read_to_end() == packet(8, 7)


# Test pushes


def send_test(emulator, token, **more):
    return emulator.api("POST", "/api/v1/push", {"token": token.hex(), "topic": TOPIC, "payload": {"aps": {}}} | more)


@pytest.mark.parametrize("protocol, interface", [("http2", "console"), ("legacy", "gateway")])
def test_a_test_push_meets_the_rules_of_its_interface(emulator, rules, phone, protocol, interface):
    other = {"console": "gateway", "gateway": "console"}[interface]
    rules.add({"reason": "TooManyRequests"}, "other", interface=other)
    rules.add({"reason": "ServiceUnavailable"}, "mine", when={"next": 1}, interface=interface, topic=TOPIC, token=phone.token.hex())
    verdict = send_test(emulator, phone.token, protocol=protocol)["verdict"]
    assert (verdict["accepted"], verdict["status"], verdict["reason"]) == (False, 503, "ServiceUnavailable")
    assert verdict["fault"] == {"name": "mine", "effect": {"reason": "ServiceUnavailable"}}
    assert "fault rule mine" in verdict["explanation"]
    sent = send_test(emulator, phone.token, protocol=protocol)
    assert sent["verdict"]["accepted"] and sent["verdict"]["fault"] is None
    assert rules.hits("mine") == 1 and rules.hits("other") == 0


@pytest.mark.parametrize("protocol", ["http2", "legacy"])
@pytest.mark.parametrize(
    "effect", [{"reset": True}, {"garbage": 5}, {"stall": True}, {"halfClose": True}, {"rstStream": 2}], ids=str)
def test_a_test_push_tells_what_would_have_broken(emulator, rules, phone, protocol, effect):
    rules.add(effect)
    sent = send_test(emulator, phone.token, protocol=protocol)
    assert (sent["verdict"]["accepted"], sent["verdict"]["status"], sent["verdict"]["reason"]) == (False, None, None)
    assert sent["verdict"]["fault"] == {"name": "rule", "effect": effect}
    assert phone.alerts() == []


def test_goaway_for_a_test_push_is_as_on_each_interface(emulator, rules, phone):
    rules.add({"goaway": {"reason": "Shutdown"}})
    assert send_test(emulator, phone.token)["verdict"]["reason"] is None
    assert send_test(emulator, phone.token, protocol="legacy")["verdict"]["legacyStatus"] == 10


@pytest.mark.parametrize("protocol", ["http2", "legacy"])
def test_a_test_push_may_be_late(emulator, rules, phone, protocol):
    rules.add({"delayMs": 300}, when={"next": 1})
    began = time.monotonic()
    assert send_test(emulator, phone.token, protocol=protocol)["verdict"]["accepted"]
    assert time.monotonic() - began >= 0.3
    assert send_test(emulator, magic("delay=10"), protocol=protocol)["verdict"]["accepted"]
    verdict = send_test(emulator, magic("legacy=7"), protocol=protocol)["verdict"]
    assert (verdict["reason"], verdict["fault"]["name"]) == ("PayloadTooLarge", "!legacy=7")


@pytest.mark.parametrize("protocol", ["http2", "legacy"])
@pytest.mark.parametrize(
    "effect", [{"reset": True, "taken": True}, {"goaway": {"lastStream": "highest"}}, {"streamLimit": 1}], ids=str)
def test_a_test_push_is_taken_where_a_fault_would_have_it_taken(emulator, rules, phone, protocol, effect):
    rules.add(effect, when={"next": 1})
    assert send_test(emulator, phone.token, protocol=protocol)["verdict"]["accepted"]
    [entry] = notifications(emulator, token=phone.hex)
    assert entry["state"] == "stored" and rules.hits() == 1


# Broken connections


@pytest.mark.parametrize("effect", [{"reset": True}, {"rstStream": 7}], ids=["reset", "rstStream"])
def test_a_reset_is_a_reset(emulator, connect, rules, phone, effect):
    rules.add(effect, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    with pytest.raises(ConnectionResetError):
        below_tls(provider.socket)
    assert phone.alerts() == []
    [entry] = notifications(emulator)
    verdict = entry["verdict"]
    assert (verdict["status"], verdict["reason"], verdict["legacyStatus"]) == (None, None, None)
    assert verdict["fault"] == {"name": "rule", "effect": effect}
    assert [step["event"] for step in entry["timeline"]] == ["received", "swallowed"]


def test_a_reset_may_come_late(connect, rules, phone):
    rules.add({"delayMs": 100, "reset": True}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)) + enhanced(2, phone.token, alert(2)))
    with pytest.raises(ConnectionResetError):
        below_tls(provider.socket)
    assert phone.alerts() == []


def test_half_a_close(connect, rules, phone):
    """Our side ends in order; the provider can go on writing for as long as it likes, and nothing of it is taken."""
    rules.add({"halfClose": True}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    assert provider.read_to_end() == b""
    for _ in range(50):
        provider.send(enhanced(2, phone.token, alert(2)))
        time.sleep(0.002)
    assert phone.alerts() == []


def raw_connection(emulator):
    """A connection whose bytes can be seen below TLS: the TLS object, and a reader of the socket."""
    context = ssl.create_default_context(cafile=emulator.ca)
    context.load_cert_chain(*emulator.push_certificate())
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=SERVER_NAME)
    plain = socket.create_connection(emulator.address("gateway"), TIMEOUT)
    while True:
        try:
            tls.do_handshake()
            plain.sendall(outgoing.read())
            return tls, incoming, outgoing, plain
        except ssl.SSLWantReadError:
            plain.sendall(outgoing.read())
            incoming.write(plain.recv(65536))


def garbage(emulator, token):
    tls, _, outgoing, plain = raw_connection(emulator)
    tls.write(enhanced(1, token, alert(1)))
    plain.sendall(outgoing.read())
    received = b""
    while piece := plain.recv(65536):
        received += piece
    plain.close()
    return received


def test_garbage_is_no_tls_and_follows_the_seed(stopped_emulator):
    runs = []
    for seed in (5, 5, 6):
        emulator = stopped_emulator.start("--ephemeral", "--token-seed", "x", "--seed", str(seed))
        token = bytes.fromhex(emulator.api("POST", f"/api/v1/devices/p/apps/{TOPIC}/install", {})["token"])
        Rules(emulator).add({"garbage": 300})
        runs.append(garbage(emulator, token))
        emulator.stop()
    assert [len(run) for run in runs] == [300] * 3
    assert runs[0] == runs[1] != runs[2]


def test_garbage_by_a_magic_token_breaks_the_tls_of_its_reader(connect):
    provider = connect()
    provider.send(enhanced(1, magic("garbage=64"), alert(1)))
    with pytest.raises(ssl.SSLError):
        provider.socket.recv(6)


# New connections


LISTENERS = ["gateway", "feedback", "provider", "courier"]


@pytest.mark.parametrize("listener", LISTENERS + ["console"])
def test_connections_are_refused(emulator, rules, listener):
    rules.add({"refuse": True}, interface=listener, when={"next": 1})
    # The reset may come before the system has told that the connection is up.
    with pytest.raises(ConnectionResetError):
        with socket.create_connection(emulator.address(listener), TIMEOUT) as plain:
            plain.recv(1)
    assert rules.hits() == 1
    for other in LISTENERS:
        tls_connection(emulator, other).close()


def tls_connection(emulator, listener):
    context = ssl.create_default_context(cafile=emulator.ca)
    context.load_cert_chain(*emulator.push_certificate())
    plain = socket.create_connection(emulator.address(listener), TIMEOUT)
    return context.wrap_socket(plain, server_hostname="localhost")


def test_refusing_everybody_leaves_the_console_open(emulator, rules):
    rules.preset("refuse")
    for listener in LISTENERS:
        with pytest.raises(OSError):
            tls_connection(emulator, listener)
    assert rules.hits("refuse") == 4
    rules.switch(False, "refuse")
    for listener in LISTENERS:
        tls_connection(emulator, listener).close()


# RFC 8446 6; some that OpenSSL never sends by itself.
@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("number", [40, 42, 44, 46, 48, 70, 112, 200])
def test_the_handshake_is_answered_by_an_alert(emulator, rules, listener, number):
    rules.add({"tlsAlert": number}, interface=listener)
    hello = client_hello()
    with socket.create_connection(emulator.address(listener), TIMEOUT) as plain:
        plain.sendall(hello)
        received = b""
        while piece := plain.recv(100):
            received += piece
    assert received == bytes.fromhex("15 0303 0002 02") + bytes([number])
    assert rules.hits() == 1
    rules.delete()
    tls_connection(emulator, listener).close()


def client_hello():
    outgoing = ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def test_a_client_is_told_the_alert_by_name(emulator, rules):
    rules.add({"tlsAlert": 44}, interface="provider")
    with pytest.raises(ssl.SSLError) as caught:
        tls_connection(emulator, "provider")
    assert "CERTIFICATE_REVOKED" in str(caught.value)


# Deliveries


def test_a_dropped_device_gets_its_message_when_it_is_back(emulator, connect, rules, phone):
    phone.online()
    rules.add({"courier": "drop"}, when={"next": 1}, topic=TOPIC)
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    with pytest.raises(ConnectionResetError):
        below_tls(phone.device.socket)
    phone.device.close()
    assert provider.flush() == packet(2, 0)
    [entry] = notifications(emulator, token=phone.hex)
    assert entry["state"] == "stored"
    assert phone.alerts() == ["1"]
    assert phone.alerts() == []


def test_a_dropped_device_loses_nothing_to_a_crash(stopped_emulator):
    emulator = stopped_emulator.start()
    phone = Phone(emulator)
    phone.online()
    Rules(emulator).add({"courier": "drop"}, token=phone.hex)
    host, port = emulator.address("gateway")
    with Provider(emulator, *emulator.push_certificate()) as provider:
        provider.send(enhanced(1, phone.token, alert(1)))
        assert provider.flush() == packet(2, 0)
    emulator.kill()
    emulator.start()
    assert phone.alerts() == ["1"]


def test_a_stalled_device_hears_nothing_until_the_rule_is_switched_off(emulator, connect, rules, phone):
    phone.online()
    rules.add({"courier": "stall"}, when={"next": 1})
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)) + enhanced(2, phone.token, alert(2)))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    phone.device.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        phone.device.receive()
    phone.device.socket.settimeout(TIMEOUT)
    rules.switch(False)
    assert next_alerts(phone, 2) == ["1", "2"]
    assert provider.flush() == packet(2, 0)


def test_a_stalled_device_that_connects_again_is_served(emulator, connect, rules, phone):
    phone.online()
    rules.add({"courier": "stall"}, when={"next": 1})
    connect().send(enhanced(1, phone.token, alert(1)))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    assert phone.alerts() == ["1"]


# Plain HTTP/1.1


def post(emulator, token, listener="console", **headers):
    """A push in plain HTTP/1.1; answers status, fields and body."""
    connection = http.client.HTTPConnection(*emulator.address(listener), timeout=TIMEOUT)
    try:
        connection.request("POST", f"/3/device/{token.hex()}", b'{"aps":{}}', {"apns-topic": TOPIC} | headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "word, status, reason",
    [("Unregistered", 410, "Unregistered"), ("TooManyRequests", 429, "TooManyRequests"),
     ("legacy=7", 413, "PayloadTooLarge"), ("goaway=Shutdown", 503, "Shutdown")])
def test_plain_requests_get_their_reason(emulator, word, status, reason):
    """Without any key or set-up, as the documentation has it."""
    answered, fields, body = post(emulator, magic(word))
    assert (answered, json.loads(body)["reason"]) == (status, reason)
    assert fields["apns-emulator-explanation"] == f"magic token: expected a token that was issued, got !{word}"


def test_a_plain_request_is_reset(emulator):
    with pytest.raises(ConnectionResetError):
        post(emulator, magic("reset"))


@pytest.mark.parametrize("effect", [{"reset": True}, {"halfClose": True}, {"garbage": 9}], ids=str)
def test_a_plain_request_may_fail_late(emulator, rules, effect):
    rules.add({"delayMs": 50} | effect)
    with pytest.raises((OSError, http.client.HTTPException)):
        post(emulator, b"\1" * 32)
    assert rules.hits() == 1


def test_a_plain_request_is_left_without_an_answer(emulator):
    with pytest.raises(http.client.RemoteDisconnected):
        post(emulator, magic("close"))


def test_a_plain_request_gets_garbage(emulator):
    with pytest.raises((http.client.BadStatusLine, http.client.LineTooLong)):
        post(emulator, magic("garbage=40"))


def test_a_plain_answer_dribbles(emulator, rules):
    rules.add({"reason": "BadTopic", "dribble": {"bytes": 10, "everyMs": 5}}, interface="console")
    with socket.create_connection(emulator.address("console"), TIMEOUT) as plain:
        body = b"{}"
        plain.sendall(
            b"POST /3/device/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
            % magic("reset").hex().replace("21", "20").encode())
        pieces = []
        while piece := plain.recv(65536):
            pieces.append(piece)
    assert b"".join(pieces).endswith(b'{"reason":"BadTopic"}')
    assert len(pieces) > 5


def test_a_stalled_plain_request_is_answered_when_the_rule_is_switched_off(emulator, rules):
    rules.add({"stall": True}, interface="console", when={"next": 1})
    answers = []
    token = magic("TooManyRequests")[:1].ljust(32, b"\1")
    thread = threading.Thread(target=lambda: answers.append(post(emulator, token)))
    thread.start()
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    assert answers == []
    rules.delete()
    thread.join(TIMEOUT)
    # No key is shown, and the checks say so.
    assert answers[0][0] == 403


# Telling


def test_log_events_and_hits_tell_of_each_injection(emulator, connect, rules, phone):
    stream = http.client.HTTPConnection(*emulator.address("console"), timeout=TIMEOUT)
    stream.request("GET", "/api/v1/events")
    response = stream.getresponse()
    rules.add({"reason": "TooManyRequests"}, "busy")
    provider = connect()
    provider.send(enhanced(1, phone.token, alert(1)))
    assert provider.read_to_end() == packet(1, 1)
    provider.close()
    seen, opened = {}, None
    while "fault" not in seen or not any(
        each["remoteAddress"] == opened for each in seen.get("closed", [])):
        line = response.readline()
        assert line
        if line.startswith(b"data:"):
            event = json.loads(line[5:])
            if event["event"] == "connection":
                seen.setdefault(event["change"], []).append(event)
                if event["listener"] == "gateway" and event["change"] == "opened":
                    opened = event["remoteAddress"]
            else:
                seen[event["event"]] = event
    stream.close()
    fault = seen["fault"]
    assert (fault["name"], fault["interface"], fault["topic"], fault["token"]) == ("busy", "gateway", TOPIC, phone.hex)
    assert fault["effect"] == {"reason": "TooManyRequests"} and fault["hits"] == 1
    assert fault["connection"] == opened
    closed = next(each for each in seen["closed"] if each["remoteAddress"] == opened)
    assert closed["bytesRead"] == len(enhanced(1, phone.token, alert(1))) and closed["bytesWritten"] == 6
    emulator.told(" fault name=busy interface=gateway stage=push")
    emulator.told("fault rule busy: expected no match, got a match, which injects ")


def test_the_gateway_explains_itself(emulator, connect, phone):
    bad = [enhanced(1, b"\1" * 32, alert(1)), enhanced(2, b"\1" * 20, alert(2)),
           enhanced(3, phone.token, b"x" * 2049), enhanced(4, phone.token, b"")]
    for frame in bad:
        provider = connect()
        provider.send(frame)
        assert len(provider.read_to_end()) == 6
    explained = [entry["verdict"]["explanation"].split("API): ")[1] for entry in notifications(emulator)]
    assert explained == [
        f"expected a token of {TOPIC} in sandbox, got one that was never issued",
        "expected a device token of 32 to 100 bytes, got 20 bytes",
        "expected a payload of at most 2048 bytes, got 2049 bytes",
        "expected a payload of 1 to 2048 bytes, got 0 bytes",
    ]


# The same again


def test_the_same_seed_gives_the_same_outcomes(stopped_emulator):
    def run(seed):
        emulator = stopped_emulator.start("--ephemeral", "--token-seed", "x", "--seed", str(seed))
        token = bytes.fromhex(emulator.api("POST", f"/api/v1/devices/p/apps/{TOPIC}/install", {})["token"])
        rules = Rules(emulator)
        rules.add({"reason": "ServiceUnavailable"}, "often", when={"probability": 0.3}, interface="console")
        rules.add({"reason": "InternalServerError"}, "seldom", when={"probability": 0.1})
        outcomes = [json.loads(post(emulator, token)[2])["reason"] for _ in range(60)]
        identifiers = [post(emulator, token)[1]["apns-id"] for _ in range(3)]
        emulator.stop()
        return outcomes, identifiers

    first, second, other = run(11), run(11), run(12)
    assert first == second
    assert first[0] != other[0]
    # Without a fault the push has no credentials.
    assert set(first[0]) == {"ServiceUnavailable", "InternalServerError", "MissingProviderToken"}
