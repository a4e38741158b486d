"""`serve --forward`: programs of the binary protocol in front, HTTP/2 behind."""

import json
import shutil
import ssl
import struct
import time
from random import Random

import pytest

from harness import TIMEOUT, TOPIC, Emulator, eventually
from legacy import HalfClosingProvider, Provider, enhanced, framed, simple
from magic import Rules, magic
from phone import Phone, in_background
from test_faults import below_tls
from test_php_provider import php
from upstream import Upstream

UNKNOWN = "ab" * 32


def payload(text):
    return json.dumps({"aps": {"alert": text}}).encode()


class Bridge:
    """The emulator in front, and what tests ask of it."""

    def __init__(self, emulator):
        self.emulator = emulator

    def start(self, port, key, *flags):
        self.emulator.start("--forward", f"127.0.0.1:{port}", "--key", key, *flags)
        return self

    def provider(self):
        return Provider(self.emulator, *self.emulator.push_certificate())

    def notifications(self):
        """Oldest first."""
        found = self.emulator.api("GET", "/api/v1/notifications?limit=1000")["notifications"]
        return sorted(found, key=lambda notification: notification["id"])

    def ended(self, count):
        """So many notifications whose fate is known."""
        def known():
            found = self.notifications()
            return found if len(found) >= count and all(n["state"] not in ("stored", "sent") for n in found) else None
        return eventually(known, f"{count} notifications have an answer")

    def bytes_read(self):
        """From the one provider that is connected."""
        connections = self.emulator.api("GET", "/api/v1/connections")["connections"]
        [provider] = [connection for connection in connections if connection["listener"] == "gateway"]
        return provider["bytesRead"]


@pytest.fixture
def behind(tmp_path, issued):
    """The emulator that plays Apple, not started."""
    folder = tmp_path / "behind"
    shutil.copytree(issued, folder / "certs")
    emulator = Emulator(folder)
    yield emulator
    emulator.stop()


@pytest.fixture
def key(behind):
    return behind.run("certs", "key", "--team", "TEAM123456").stdout.splitlines()[0]


@pytest.fixture
def key_path(behind, key):
    return behind.path(key)


@pytest.fixture
def bridge(stopped_emulator):
    return Bridge(stopped_emulator)


@pytest.fixture
def bundle(bridge):
    path = bridge.emulator.path("ck.pem")
    with open(path, "w") as output:
        for part in bridge.emulator.push_certificate():
            with open(part) as file:
                output.write(file.read())
    return path


# Two emulators


@pytest.fixture
def pair(behind, bridge, key_path):
    """Both running."""
    behind.start()
    return behind, bridge.start(behind.ports["provider"]["port"], key_path)


def test_a_php_script_of_2009_reaches_a_device_behind_the_bridge(pair, bundle):
    behind, bridge = pair
    phone = Phone(behind)
    phone.online()
    lines = php(bridge.emulator, "simple_push.php", "gateway", bundle, phone.hex, "Bonjour à tous")
    assert lines == ["Connected to APNS", "Message successfully delivered"]
    assert phone.next_alert() == "Bonjour à tous"
    [here] = bridge.ended(1)
    assert here["state"] == "delivered" and here["verdict"]["accepted"]
    assert here["verdict"]["explanation"].endswith(": 200")
    assert [step["event"] for step in here["timeline"]] == ["received", "sent", "acknowledged"]
    [there] = behind.api("GET", "/api/v1/notifications")["notifications"]
    assert there["apnsId"] == here["apnsId"]
    assert (there["topic"], there["pushType"], there["priority"]) == (TOPIC, "alert", 10)


@pytest.mark.parametrize("flags, after", [(["--forward-window", "1"], []), ([], ["after"])], ids=["strict", "default"])
def test_a_bad_token_comes_back_as_status_8_with_its_identifier(behind, bridge, key_path, flags, after):
    """What follows it is resent by the provider, who will not know that it has arrived by then."""
    behind.start()
    bridge.start(behind.ports["provider"]["port"], key_path, *flags)
    phones = [Phone(behind, f"phone-{n}") for n in range(3)]
    frames = [
        enhanced(11, phones[0].token, payload("one")), framed(12, phones[1].token, payload("two")),
        enhanced(13, bytes.fromhex(UNKNOWN), payload("bad")), enhanced(14, phones[2].token, payload("after")),
    ]
    with bridge.provider() as provider:
        provider.send(b"".join(frames))
        assert provider.read_to_end() == bytes.fromhex("0808") + struct.pack(">I", 13)
    assert [n["verdict"]["reason"] for n in bridge.ended(3)][:3] == [None, None, "BadDeviceToken"]
    assert [phone.alerts() for phone in phones] == [["one"], ["two"], after]
    with bridge.provider() as provider:
        provider.send(frames[3])
        bridge.ended(4)
    assert phones[2].alerts() == ([] if after else ["after"])


def test_a_bad_command_0_closes_without_a_packet(pair):
    behind, bridge = pair
    with bridge.provider() as provider:
        provider.send(simple(bytes.fromhex(UNKNOWN), payload("bad")))
        assert provider.read_to_end() == b""


def test_the_gateways_own_checks_come_in_order(pair):
    behind, bridge = pair
    phone = Phone(behind)
    with bridge.provider() as provider:
        provider.send(enhanced(1, phone.token, payload("first")))
        provider.send(enhanced(2, b"short", payload("second")))
        assert provider.read_to_end() == bytes.fromhex("080500000002")
    [refused] = [n for n in bridge.notifications() if n["state"] == "rejected"]
    assert "status 5 (Apple: Binary Provider API): expected a device token of 32 to 100 bytes, got 5 bytes" in refused["verdict"]["explanation"]
    assert phone.alerts() == ["first"]
    with bridge.provider() as provider:
        provider.send(framed(3, phone.token, payload("third")) + b"\x07garbage")
        assert provider.read_to_end() == bytes.fromhex("088000000000")
    assert phone.alerts() == ["third"]


def test_a_token_that_is_gone_becomes_feedback_and_survives_kill_9(pair, bundle, key_path):
    behind, bridge = pair
    phone = Phone(behind)
    behind.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/remove", {})
    php(behind, "simple_push.php", "gateway", bundle, phone.hex, "tells that it is gone")
    assert phone.alerts() == []
    gone_at = behind.api("GET", "/api/v1/feedback")["feedback"][0]["timestamp"]
    with bridge.provider() as provider:
        provider.send(enhanced(1, phone.token, payload("to nobody")))
        [notification] = bridge.ended(1)
        assert notification["state"] == "discarded"
        assert notification["verdict"]["explanation"].endswith("410 Unregistered")
    entry = {"timestamp": gone_at[:-1].split(".")[0], "token": phone.hex, "topic": TOPIC}
    [listed] = bridge.emulator.api("GET", "/api/v1/feedback")["feedback"]
    assert (listed["token"], listed["udid"]) == (phone.hex, None)
    assert listed["timestamp"].startswith(entry["timestamp"])
    bridge.emulator.kill()
    bridge.start(behind.ports["provider"]["port"], key_path)
    [line] = php(bridge.emulator, "read_feedback.php", "feedback", bundle)
    seconds, length, token = line.split()
    assert (length, token) == ("32", phone.hex)
    assert time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(seconds))) == entry["timestamp"]
    assert php(bridge.emulator, "read_feedback.php", "feedback", bundle) == []


def test_what_was_sent_before_an_orderly_close_still_goes_out(pair):
    behind, bridge = pair
    phones = [Phone(behind, f"phone-{n}") for n in range(6)]
    with bridge.provider() as provider:
        provider.send(b"".join(simple(phone.token, payload("bye")) for phone in phones * 20))
        provider.socket.unwrap()
    assert {n["state"] for n in bridge.ended(120)} == {"delivered"}
    assert [phone.alerts() for phone in phones] == [["bye"]] * 6


@pytest.mark.parametrize("window", ["1", "100"])
def test_nothing_is_lost_when_the_other_side_is_killed_in_mid_burst(behind, bridge, key_path, window):
    behind.start()
    port = behind.ports["provider"]["port"]
    bridge.start(port, key_path, "--forward-window", window)
    phones = [Phone(behind, f"phone-{n}") for n in range(6)]
    with bridge.provider() as provider:
        provider.send(b"".join(enhanced(n, phones[n % 6].token, payload(f"n{n}")) for n in range(600)))
        eventually(lambda: len(behind.api("GET", "/api/v1/notifications?limit=200")["notifications"]) > 50, "it runs")
        behind.kill()
        behind.start("--provider-port", str(port))
        bridge.ended(600)
        provider.send(enhanced(999, bytes.fromhex(UNKNOWN), payload("end")))
        assert provider.read_to_end() == bytes.fromhex("0808") + struct.pack(">I", 999)
    assert {n["state"] for n in bridge.notifications()[:600]} == {"delivered"}
    # The last for each token is the newest, and all came in order.
    assert [phone.alerts() for phone in phones] == [[f"n{594 + n}"] for n in range(6)]


# A server that answers as it is told


@pytest.fixture
def upstream(bridge):
    with Upstream(bridge.emulator.path("certs", "server.pem"), bridge.emulator.path("certs", "server.key")) as server:
        yield server


def tokens(count):
    return [struct.pack(">I", n) * 8 for n in range(1, count + 1)]


def burst(count):
    return b"".join(enhanced(n, token, payload(f"n{n}")) for n, token in enumerate(tokens(count), 1))


@pytest.mark.parametrize("protocol", ["http2", "legacy"])
def test_what_a_person_tries_stays_here(bridge, upstream, key_path, protocol):
    emulator = bridge.start(upstream.port, key_path).emulator
    token = emulator.api("POST", f"/api/v1/devices/phone/apps/{TOPIC}/install")["token"]
    tried = emulator.api("POST", "/api/v1/push", {"token": token, "topic": TOPIC, "payload": {"aps": {}}, "protocol": protocol})
    assert tried["state"] == "stored" and tried["verdict"]["accepted"]
    emulator.stop()
    assert upstream.taken == []


@pytest.mark.parametrize("answer", [
    (503, "ServiceUnavailable"), (500, "InternalServerError"), (429, "TooManyRequests"),
    (429, "TooManyProviderTokenUpdates"), "refuse", "goaway", "goaway-unseen"])
@pytest.mark.parametrize("window", ["1", "100"])
def test_what_is_turned_away_for_now_is_sent_again_and_nothing_twice(bridge, upstream, key_path, answer, window):
    upstream.script = {number: answer for number in (3, 4, 9)}
    bridge.start(upstream.port, key_path, "--forward-window", window)
    with bridge.provider() as provider:
        provider.send(burst(40))
        assert {n["state"] for n in bridge.ended(40)} == {"delivered"}
    assert sorted(upstream.taken) == sorted(token.hex() for token in tokens(40))
    if window == "1":
        assert upstream.taken == [token.hex() for token in tokens(40)]


def test_an_unknown_outcome_is_sent_again_with_the_same_id(bridge, upstream, key_path):
    upstream.script = {2: "cut", 4: "take-and-cut"}
    bridge.start(upstream.port, key_path, "--forward-window", "1")
    with bridge.provider() as provider:
        provider.send(burst(5))
        assert {n["state"] for n in bridge.ended(5)} == {"delivered"}
    # Request 4 was taken, and nobody could know.
    assert upstream.taken == [token.hex() for token in (lambda t: [t[0], t[1], t[2], t[2], t[3], t[4]])(tokens(5))]
    assert len(set(upstream.ids)) == 5


def test_a_request_that_kills_every_connection_counts_as_failed(bridge, upstream, key_path):
    upstream.otherwise = "cut"
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(enhanced(7, tokens(1)[0], payload("poison")))
        assert provider.read_to_end() == bytes.fromhex("080100000007")


@pytest.mark.parametrize("answer, status", [
    ((400, "BadDeviceToken"), 8), ((413, "PayloadTooLarge"), 7), ((400, "MissingTopic"), 3), ((403, "Forbidden"), 1),
    ((403, "ExpiredProviderToken"), 1), ((400, "NobodyKnowsThis"), 255), ((404, None), 255), ((400, "Shutdown"), 255)])
def test_each_reason_has_its_status(bridge, upstream, key_path, answer, status):
    upstream.script = {2: answer}
    bridge.start(upstream.port, key_path, "--forward-window", "1")
    with bridge.provider() as provider:
        provider.send(burst(3))
        assert provider.read_to_end() == struct.pack(">BBI", 8, status, 2)
    assert len(upstream.taken) == 1


@pytest.mark.parametrize("effect, packet", [
    ({"reason": "PayloadTooLarge"}, "080700000003"), ({"legacy": {"status": 99}}, "086300000003"),
    ({"legacy": {"status": 8, "identifier": 77}}, "08080000004d"), ({"goaway": {}}, "080a00000002")], ids=str)
@pytest.mark.parametrize("window", ["1", "100"])
def test_a_fault_is_injected_into_one_push_before_it_is_forwarded(bridge, upstream, key_path, effect, packet, window):
    bridge.start(upstream.port, key_path, "--forward-window", window)
    rules = Rules(bridge.emulator)
    rules.add(effect, token=tokens(4)[2].hex(), interface="gateway", topic=TOPIC)
    with bridge.provider() as provider:
        provider.send(burst(5))
        assert provider.read_to_end() == bytes.fromhex(packet)
    assert sorted(upstream.taken) == [token.hex() for token in tokens(2)]
    assert rules.hits() == 1
    faulted = bridge.ended(3)[2]["verdict"]
    assert faulted["fault"] == {"name": "rule", "effect": effect} and not faulted["accepted"]


def test_a_delayed_push_and_those_behind_it_are_forwarded_when_the_delay_is_over(bridge, upstream, key_path):
    bridge.start(upstream.port, key_path)
    rules = Rules(bridge.emulator)
    rules.add({"delayMs": 400}, when={"next": 1}, token=tokens(2)[1].hex())
    with bridge.provider() as provider:
        began = time.monotonic()
        provider.send(burst(3))
        eventually(lambda: rules.hits() == 1 and upstream.taken, "the first has gone")
        assert upstream.taken == [tokens(1)[0].hex()]
        assert {n["state"] for n in bridge.ended(3)} == {"delivered"}
        assert time.monotonic() - began >= 0.4
    assert sorted(upstream.taken) == [token.hex() for token in tokens(3)]


def test_a_delayed_push_goes_out_though_its_provider_has_gone(bridge, upstream, key_path):
    bridge.start(upstream.port, key_path)
    Rules(bridge.emulator).add({"delayMs": 300}, when={"next": 1})
    with bridge.provider() as provider:
        provider.send(burst(2))
        eventually(lambda: Rules(bridge.emulator).hits() == 1, "the fault is injected")
    assert {n["state"] for n in bridge.ended(2)} == {"delivered"}


@pytest.mark.parametrize("effect", [{"reset": True}, {"garbage": 9}, {"halfClose": True}], ids=str)
def test_a_fault_breaks_the_providers_connection_and_what_was_before_goes_out(bridge, upstream, key_path, effect):
    bridge.start(upstream.port, key_path)
    Rules(bridge.emulator).add(effect, token=tokens(2)[1].hex())
    with bridge.provider() as provider:
        provider.send(burst(3))
        if "halfClose" in effect:
            assert provider.read_to_end() == b""
        else:
            with pytest.raises(ConnectionResetError if "reset" in effect else ssl.SSLError):
                below_tls(provider.socket) if "reset" in effect else provider.read_to_end()
    first, faulted = bridge.ended(2)
    assert first["state"] == "delivered" and upstream.taken == [tokens(1)[0].hex()]
    assert faulted["verdict"]["status"] is None and faulted["verdict"]["fault"]["effect"] == effect


def test_a_refusal_and_half_a_close(bridge, upstream, key_path):
    """As on the gateway itself: the packet, then our side ends, and the provider may go on writing."""
    bridge.start(upstream.port, key_path)
    Rules(bridge.emulator).add({"reason": "BadDeviceToken", "halfClose": True}, token=tokens(2)[1].hex())
    with bridge.provider() as provider:
        provider.send(burst(2))
        assert provider.read_to_end() == bytes.fromhex("080800000002")
        for _ in range(30):
            provider.send(burst(1))
            time.sleep(0.002)
    assert upstream.taken == [tokens(1)[0].hex()]


def test_a_stalled_provider_goes_on_when_its_rule_is_switched_off(bridge, upstream, key_path):
    bridge.start(upstream.port, key_path)
    rules = Rules(bridge.emulator)
    rules.add({"stall": True}, token=tokens(2)[1].hex())
    with bridge.provider() as provider:
        provider.send(burst(3))
        eventually(lambda: rules.hits() == 1 and upstream.taken, "the first has gone")
        time.sleep(0.1)
        assert upstream.taken == [tokens(1)[0].hex()]
        rules.switch(False)
        assert {n["state"] for n in bridge.ended(3)} == {"delivered"}


def test_magic_tokens_do_not_leave_the_bridge(bridge, upstream, key_path):
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(enhanced(1, magic("delay=10"), payload("late")) + enhanced(2, magic("legacy=7"), payload("large")))
        assert provider.read_to_end() == bytes.fromhex("080700000002")
    assert upstream.taken == []
    assert [n["verdict"]["accepted"] for n in bridge.notifications()] == [True, False]


def test_a_capture_has_the_other_services_verdict(bridge, upstream, key_path, tmp_path):
    upstream.script = {2: (400, "BadDeviceToken")}
    capture = tmp_path / "capture.jsonl"
    bridge.start(upstream.port, key_path, "--capture", str(capture))
    with bridge.provider() as provider:
        provider.send(burst(2))
        assert provider.read_to_end() == bytes.fromhex("080800000002")
    bridge.emulator.stop()
    lines = [json.loads(line) for line in capture.read_text().splitlines()]
    assert [line.get("outcome") for line in lines if "frame" in line] == [
        None, {"status": 8, "reason": "BadDeviceToken", "identifier": 2}]


def test_a_provider_that_has_ended_its_side_hears_a_late_error(bridge, upstream, key_path):
    upstream.script = {1: "late"}
    bridge.start(upstream.port, key_path)
    with HalfClosingProvider(bridge.emulator, *bridge.emulator.push_certificate()) as provider:
        provider.send(enhanced(1, tokens(1)[0], payload("late")) + enhanced(2, b"short", payload("bad")))
        provider.end_output()
        eventually(lambda: upstream.requests, "the first is under way")
        upstream.release()
        assert provider.read_to_end() == bytes.fromhex("080500000002")
    with HalfClosingProvider(bridge.emulator, *bridge.emulator.push_certificate()) as provider:
        provider.send(enhanced(3, tokens(3)[2], payload("good")))
        provider.end_output()
        assert provider.read_to_end() == b""


def test_the_error_waits_for_those_before_it(bridge, upstream, key_path):
    """Answers come in the wrong order, the packet does not."""
    upstream.script = {2: (400, "BadDeviceToken"), 1: "late"}
    bridge.start(upstream.port, key_path, "--forward-window", "3")
    with bridge.provider() as provider:
        provider.send(burst(10))
        provider.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            provider.socket.recv(6)
        upstream.release()
        provider.socket.settimeout(TIMEOUT)
        assert provider.read_to_end() == bytes.fromhex("080800000002")
    assert len(upstream.paths) == 3


@pytest.mark.parametrize("late", [(), (5, 9, 31), range(4, 41)], ids=["accepted", "mixed", "under way"])
def test_what_is_resent_after_an_error_arrives_once(bridge, upstream, key_path, late):
    """Forty are under way when the third turns out bad: the provider sends all after it again, as it was told to."""
    frames = [enhanced(n, token, payload(f"n{n}")) for n, token in enumerate(tokens(40), 1)]
    upstream.script = {number: "late" for number in late} | {3: (400, "BadDeviceToken"), 20: (400, "BadDeviceToken")}
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(b"".join(frames))
        assert provider.read_to_end() == bytes.fromhex("080800000003")
    eventually(lambda: len(upstream.paths) == 40, "all have arrived")
    with bridge.provider() as provider:
        provider.send(b"".join(frames[3:]))
        eventually(lambda: len(upstream.paths) > 40, "the one that was not taken is tried again")
        upstream.release()
        found = bridge.ended(40 + 37)
    assert sorted(upstream.taken) == [token.hex() for n, token in enumerate(tokens(40), 1) if n != 3]
    assert {n["state"] for n in found[40:]} == {"delivered"}
    # An equal push later is another push.
    with bridge.provider() as provider:
        provider.send(frames[9])
        eventually(lambda: upstream.taken[-1] == tokens(10)[9].hex(), "it goes out again")


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("window", ["1", "7", "100"])
def test_providers_that_follow_the_rules_get_every_push_through_once(bridge, upstream, key_path, seed, window):
    """Three at a time, with bad tokens among the good ones, while the other side turns away, delays and leaves."""
    random = Random(seed)
    good, bad = tokens(240), {struct.pack(">I", 1000 + n) * 8 for n in range(9)}

    def answer(token):
        if bytes.fromhex(token) in bad:
            return (400, "BadDeviceToken")
        refusals = [(503, "ServiceUnavailable"), (429, "TooManyRequests")]
        hindrances = ["refuse", "late", "goaway", "goaway-unseen", *refusals]
        return random.choice(hindrances) if random.random() < 0.08 else 200

    def push_all(wanted):
        """As libraries do: on an error, drop the one that is named and send what follows it again."""
        while wanted:
            with bridge.provider() as provider:
                provider.send(b"".join(enhanced(n, token, payload(token.hex())) for n, token in enumerate(wanted)))
                provider.send(enhanced(len(wanted), b"", b""))
                command, status, identifier = struct.unpack(">BBI", provider.read_to_end())
            if status == 2:
                return
            assert (command, status) == (8, 8) and wanted[identifier] in bad
            wanted = wanted[identifier + 1:]

    upstream.otherwise = answer
    bridge.start(upstream.port, key_path, "--forward-window", window, "--seed", str(seed))
    shares = []
    for n in range(3):
        share = good[n * 80:(n + 1) * 80]
        for token in sorted(bad)[n * 3:(n + 1) * 3]:
            share.insert(random.randrange(len(share)), token)
        shares.append(share)
    threads = [in_background(push_all, share) for share in shares]

    def all_are_done():
        upstream.release()
        return not any(thread.is_alive() for thread in threads)

    eventually(all_are_done, "every push is answered", timeout=2 * TIMEOUT)
    assert upstream.broken == [], "or what was under way there would come twice"
    assert sorted(upstream.taken) == sorted(token.hex() for token in good)
    assert bridge.emulator.api("POST", "/api/v1/advice/complete", {})["findings"] == [], "nor is any accused"


def test_a_full_queue_holds_the_provider_back_and_loses_nothing(bridge, upstream, key_path):
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path, "--forward-queue", "10")
    frames = [enhanced(n, token, payload("x" * 1900)) for n, token in enumerate(tokens(3000), 1)]
    with bridge.provider() as provider:
        sending = in_background(provider.send, b"".join(frames))
        eventually(lambda: len(upstream.paths) == 10, "the queue is full")
        upstream.release()
        eventually(lambda: len(upstream.paths) == 20, "the queue is full again")
        assert bridge.emulator.metric("apns_emulator_forward_queue") == 10
        assert bridge.bytes_read() < 500_000, "of six million bytes"
        upstream.otherwise = 200
        upstream.release()
        eventually(lambda: len(upstream.taken) == 3000, "all have gone out")
        sending.join()
    assert sorted(upstream.taken) == [token.hex() for token in tokens(3000)]


def test_a_device_that_gets_too_many_does_not_hold_the_others_for_ever(bridge, upstream, key_path):
    upstream.script = {number: (429, "TooManyRequests") for number in (1, 4, 5, 6, 7)}
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(burst(3))
        assert provider.read_to_end() == bytes.fromhex("080100000001")
    assert sorted(upstream.taken) == [token.hex() for token in tokens(3)[1:]]


def test_an_idle_connection_that_is_ended_is_no_trouble(behind, bridge, key_path):
    behind.start("--idle-timeout", "1")
    bridge.start(behind.ports["provider"]["port"], key_path)
    phone = Phone(behind)

    def connections():
        found = behind.api("GET", "/api/v1/connections")["connections"]
        return len([connection for connection in found if connection["listener"] == "provider"])

    for text in ("first", "second"):
        eventually(lambda: connections() == 0, "it was idle for too long")
        with bridge.provider() as provider:
            provider.send(enhanced(1, phone.token, payload(text)))
            eventually(lambda: phone.alerts() == [text], "it is there")
    assert bridge.emulator.stop() == 0
    assert " warning " not in bridge.emulator.log() and " error " not in bridge.emulator.log()


def test_a_refused_key_is_told_once_in_the_log(bridge, upstream, key_path):
    upstream.otherwise = (403, "InvalidProviderToken")
    bridge.start(upstream.port, key_path)
    for _ in range(2):
        with bridge.provider() as provider:
            provider.send(burst(1))
            assert provider.read_to_end() == bytes.fromhex("080100000001")
    assert bridge.emulator.stop() == 0
    assert bridge.emulator.log().count("the other service refuses this bridge") == 1


def test_header_fields_follow_the_frame(bridge, upstream, key_path):
    bridge.start(upstream.port, key_path)
    token = tokens(1)[0]
    now = int(time.time())
    with bridge.provider() as provider:
        provider.send(simple(token, payload("plain")))
        provider.send(enhanced(1, token, b'{"aps":{"content-available":1}}', now + 60))
        items = b"".join(
            struct.pack(">BH", number, len(value)) + value
            for number, value in ((1, token), (2, b'{"aps":{"badge":3}}'), (4, struct.pack(">I", 0)), (5, b"\5")))
        provider.send(struct.pack(">BI", 2, len(items)) + items)
        bridge.ended(3)
    first, second, third = upstream.requests
    for request in upstream.requests:
        assert request[":path"] == f"/3/device/{token.hex()}" and request["apns-topic"] == TOPIC
        assert request["authorization"].startswith("bearer ")
        assert len(request["apns-id"]) == 36 and request["apns-id"] == request["apns-id"].lower()
    assert "apns-expiration" not in first
    assert (first["apns-push-type"], first["apns-priority"]) == ("alert", "10")
    assert (second["apns-push-type"], second["apns-priority"], second["apns-expiration"]) == (
        "background", "5", str(now + 60))
    assert (third["apns-push-type"], third["apns-priority"], third["apns-expiration"]) == ("alert", "5", "0")
    assert len({request["authorization"] for request in upstream.requests}) == 1
    assert upstream.connections == 1


def test_an_ending_emulator_tells_how_far_it_got(bridge, upstream, key_path):
    upstream.script = {3: "late"}
    bridge.start(upstream.port, key_path, "--forward-window", "1")
    with bridge.provider() as provider:
        provider.send(burst(5))
        eventually(lambda: len(upstream.paths) == 3, "the third is under way")
        assert bridge.emulator.stop() == 0
        assert provider.read_to_end() == bytes.fromhex("080a00000002")


def test_what_an_ending_emulator_could_not_send_is_in_the_log(bridge, upstream, key_path):
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path)
    with HalfClosingProvider(bridge.emulator, *bridge.emulator.push_certificate()) as provider:
        provider.send(burst(5))
        provider.end_output()
    eventually(lambda: len(upstream.paths) == 5, "they are under way")
    assert bridge.emulator.stop() == 0
    assert "notifications are stored for the next start count=5" in bridge.emulator.log()


# The start


def test_a_host_name_is_looked_up(pair, behind, key_path):
    _, bridge = pair
    bridge.emulator.stop()
    bridge.emulator.start("--forward", f"localhost:{behind.ports['provider']['port']}", "--key", key_path)
    phone = Phone(behind)
    with bridge.provider() as provider:
        provider.send(enhanced(1, phone.token, payload("by name")))
        bridge.ended(1)
    assert phone.alerts() == ["by name"]
    assert "can't forward" not in bridge.emulator.log()


def test_a_name_that_nobody_knows_is_told(bridge, key_path):
    bridge.emulator.start("--forward", "no-such-host.invalid:443", "--key", key_path)
    bridge.emulator.told("can't resolve no-such-host.invalid:443")


def test_a_target_that_is_not_there_is_told_and_tried_again(bridge, key_path):
    with Upstream(bridge.emulator.path("certs", "server.pem"), bridge.emulator.path("certs", "server.key")) as server:
        port = server.port
    bridge.start(port, key_path)
    assert "Connection refused" in bridge.emulator.told("can't forward for now")
    with bridge.provider() as provider:
        provider.send(burst(2))
        with Upstream(
            bridge.emulator.path("certs", "server.pem"), bridge.emulator.path("certs", "server.key"), port
        ) as server:
            assert {n["state"] for n in bridge.ended(2)} == {"delivered"}
            assert len(server.taken) == 2


def test_a_certificate_of_another_ca_is_refused_with_the_ca_that_is_expected(bridge, tmp_path, key_path):
    other = tmp_path / "other"
    other.mkdir()
    stranger = Emulator(other).start()
    try:
        bridge.start(stranger.ports["provider"]["port"], key_path)
        log = bridge.emulator.told("can't forward for now")
        assert "its certificate was not accepted" in log and "certs/ca.pem" in log and "--forward-ca" in log
    finally:
        stranger.stop()


@pytest.mark.parametrize("flags, status, sentence", [
    (["--forward", "127.0.0.1:1"], 2, "--forward needs --key"),
    (["--forward", "127.0.0.1"], 2, "a host and a port"),
    (["--forward", "127.0.0.1:1", "--key", "no.p8"], 1, "--key-id is missing"),
    (["--forward", "127.0.0.1:1", "--key", "no.p8", "--key-id", "K"], 1, "--team is missing"),
    (["--forward", "127.0.0.1:1", "--key", "no.p8", "--key-id", "K", "--team", "T"], 1, "no.p8"),
    (["--forward", "127.0.0.1:1", "--key", "certs/ca.pem", "--key-id", "K", "--team", "T"], 1, "not a P-256 key"),
])
def test_bad_flags_are_told_at_once(stopped_emulator, flags, status, sentence):
    result = stopped_emulator.start_in_vain("--ephemeral", *flags)
    assert result.returncode == status and sentence in result.stderr, result.stderr


def test_a_ca_file_that_is_none_is_told_at_once(stopped_emulator, key_path):
    result = stopped_emulator.start_in_vain(
        "--ephemeral", "--forward", "127.0.0.1:1", "--key", key_path, "--forward-ca", "none.pem")
    assert result.returncode == 1 and "none.pem" in result.stderr
