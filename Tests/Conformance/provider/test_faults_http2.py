"""What goes wrong on purpose, as HTTP/2 providers see it."""

import collections
import http.client
import json
import ssl
import time

import pytest

from harness import TIMEOUT, TOPIC, eventually
from identity import bearer
from magic import Rules, magic
from test_faults import below_tls
from test_providers import Run, aioapns, curl
from wire import CANCEL, PAYLOAD, REFUSED_STREAM


@pytest.fixture
def rules(lab):
    yield Rules(lab.emulator)
    lab.emulator.api("POST", "/api/v1/reset", {"what": ["faults", "notifications"]})


@pytest.fixture
def connection(lab):
    """A connection that has shown its token, so that it may open many streams."""
    with lab.connect() as connection:
        assert connection.answer(connection.request(lab.fields(apns_id=None))).status == 200
        connection.barrier()
        yield connection


def fields(lab, token=None, **changes):
    return lab.fields(token, **({"apns_id": None, "apns_expiration": None} | changes))


def reason(answer):
    return json.loads(answer.body)["reason"]


def whole_frame(buffer):
    return len(buffer) >= 9 + int.from_bytes(buffer[:3], "big")


# Reasons


@pytest.mark.parametrize(
    "word, status, told",
    [("BadDeviceToken", 400, "BadDeviceToken"), ("Unregistered", 410, "Unregistered"),
     ("TooManyRequests", 429, "TooManyRequests"), ("ServiceUnavailable", 503, "ServiceUnavailable"),
     ("legacy=7", 413, "PayloadTooLarge"), ("legacy=10", 503, "Shutdown"), ("legacy=99", 500, "InternalServerError")])
def test_a_magic_token_gets_its_reason(lab, connection, word, status, told):
    answer = connection.answer(connection.request(fields(lab, magic(word).hex())))
    assert (answer.status, reason(answer)) == (status, told)
    assert answer["apns-emulator-explanation"] == f"magic token: expected a token that was issued, got !{word}"
    assert ("timestamp" in json.loads(answer.body)) == (status == 410)
    assert answer["apns-id"]


def test_refusals_of_the_checks_explain_themselves_too(lab, connection):
    answer = connection.answer(connection.request(fields(lab, apns_topic="caf\u00e9")))
    assert answer.status == 400
    text = answer["apns-emulator-explanation"]
    assert "expected" in text and "got" in text and text.isascii() and text.isprintable()


def test_explanations_are_short(lab, connection):
    answer = connection.answer(connection.request(fields(lab, apns_topic="x" * 2000)))
    assert answer.status == 400 and 20 < len(answer["apns-emulator-explanation"]) <= 400


def test_explanations_can_be_left_out(make_lab):
    lab = make_lab("--no-explain")
    assert lab.push_now(magic("BadTopic").hex())["apns-emulator-explanation"] is None


def test_a_rule_is_about_broadcasts_too(lab, rules):
    rules.add({"reason": "TooManyRequests"}, topic=TOPIC, interface="provider")
    with lab.connect(listener="gateway") as manager:
        channel = lab.create_channel(manager, TOPIC, 1)
    with lab.connect() as connection:
        broadcast = [(name, value) for name, value in fields(lab, apns_expiration="0") if name != "apns-topic"]
        broadcast = [(name, f"/4/broadcasts/apps/{TOPIC}" if name == ":path" else value) for name, value in broadcast]
        broadcast = [(name, "liveactivity" if name == "apns-push-type" else value) for name, value in broadcast]
        answer = connection.answer(connection.request(broadcast + [("apns-channel-id", channel)]))
        assert (answer.status, reason(answer)) == (429, "TooManyRequests")
        assert answer["apns-request-id"]


def test_the_connection_may_be_named(lab, rules, connection):
    rules.add({"reason": "BadTopic"}, connection="%s:%s" % connection.socket.getsockname())
    assert connection.answer(connection.request(fields(lab))).status == 400
    assert lab.push_now(lab.token).status == 200


# Channel management


@pytest.fixture(params=["gateway", "feedback"])
def manager(lab, request):
    with lab.connect(listener=request.param) as connection:
        connection.listener = request.param
        yield connection


def manage(lab, manager, method="GET", channel=None, bundle=TOPIC, path="channels"):
    """The answer to a channel management request."""
    headers = [(name, f"/1/apps/{bundle}/{path}" if name == ":path" else value)
               for name, value in lab.channel_fields(method, TOPIC, channel)]
    body = b'{"message-storage-policy":1,"push-type":"LiveActivity"}' if method == "POST" else b""
    return manager.answer(manager.request(headers, body))


def channels(lab):
    return lab.emulator.api("GET", "/api/v1/channels")["channels"]


def test_a_rule_refuses_channel_management_and_nothing_is_done(lab, rules, manager):
    rules.add({"reason": "ServiceUnavailable"}, when={"next": 2}, topic=TOPIC, interface=manager.listener)
    before = channels(lab)
    answer = manage(lab, manager, "POST")
    assert (answer.status, reason(answer)) == (503, "ServiceUnavailable")
    assert answer["apns-request-id"] and answer["apns-id"] is None
    assert "fault rule" in answer["apns-emulator-explanation"]
    assert manage(lab, manager, path="all-channels").status == 503
    assert channels(lab) == before
    answer = manage(lab, manager, "POST")
    assert answer.status == 201
    lab.delete_channel(manager, TOPIC, answer["apns-channel-id"])


@pytest.mark.parametrize(
    "match", [{"interface": "provider"}, {"topic": "com.example.other"}, {"token": "ab" * 32}, {"priority": 10},
              {"connection": "127.0.0.1:1"}], ids=str)
def test_a_rule_about_something_else_leaves_channel_management_alone(lab, rules, manager, match):
    rules.add({"reason": "ServiceUnavailable"}, **match)
    assert manage(lab, manager, path="all-channels").status == 200
    assert rules.hits() == 0


def test_a_rule_may_name_the_connection_of_channel_management(lab, rules, manager):
    rules.add({"reason": "Forbidden"}, connection="%s:%s" % manager.socket.getsockname())
    assert manage(lab, manager, path="all-channels").status == 403


def test_a_late_channel_is_made_when_the_delay_is_over(lab, rules, manager):
    rules.add({"delayMs": 300}, when={"next": 1})
    count, began = len(channels(lab)), time.monotonic()
    stream = manager.request(lab.channel_fields("POST", TOPIC), b'{"message-storage-policy":1,"push-type":"LiveActivity"}')
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    assert len(channels(lab)) == count
    answer = manager.answer(stream)
    assert answer.status == 201 and time.monotonic() - began >= 0.3
    lab.delete_channel(manager, TOPIC, answer["apns-channel-id"])


@pytest.mark.parametrize("asBundle", [True, False], ids=["bundle id", "channel id"])
@pytest.mark.parametrize("word, status", [("TooManyRequests", 429), ("BadChannelId", 400), ("legacy=10", 503)])
def test_a_magic_word_stands_for_a_name_of_channel_management(lab, manager, word, status, asBundle):
    names = {"bundle": f"!{word}"} if asBundle else {"channel": f"!{word}"}
    answer = manage(lab, manager, **names)
    assert answer.status == status
    assert answer["apns-emulator-explanation"] == f"magic token: expected a token that was issued, got !{word}"


def test_what_only_looks_like_a_magic_word_is_a_bad_name(lab, manager):
    assert reason(manage(lab, manager, channel="!NoSuchWord")) == "BadChannelId"


def test_a_magic_channel_injects_a_fault_into_a_broadcast(lab, connection):
    broadcast = {":path": f"/4/broadcasts/apps/{TOPIC}", "apns-push-type": "liveactivity"}
    headers = [(name, broadcast.get(name, value)) for name, value in fields(lab, apns_expiration="0") if name != "apns-topic"]
    answer = connection.answer(connection.request(headers + [("apns-channel-id", "!TooManyRequests")]))
    assert (answer.status, reason(answer)) == (429, "TooManyRequests")


def test_a_stream_of_channel_management_is_reset(lab, manager):
    assert manage(lab, manager, channel="!rst=11").reset == 11
    assert manage(lab, manager, path="all-channels").status == 200


def test_goaway_on_channel_management(lab, manager):
    faulted = manager.request(lab.channel_fields("GET", TOPIC, "!goaway=Shutdown"), b"")
    manager.read_to_end()
    code, last, debug = manager.goaway
    assert (code, json.loads(debug)) == (0, {"reason": "Shutdown"}) and last < faulted


def test_channel_management_ends_with_a_reset(lab, manager):
    manager.request(lab.channel_fields("GET", TOPIC, "!reset"), b"")
    with pytest.raises(ConnectionResetError):
        while below_tls(manager.socket):
            pass


def test_garbage_and_half_a_close_on_channel_management(lab):
    with lab.connect(listener="gateway") as manager:
        manager.request(lab.channel_fields("GET", TOPIC, "!garbage=50"), b"")
        with pytest.raises(ssl.SSLError):
            manager.read_to_end()
    with lab.connect(listener="gateway") as manager:
        stream = manager.request(lab.channel_fields("GET", TOPIC, "!close"), b"")
        manager.read_to_end()
        assert not manager.was_reset and not (manager.answers.get(stream) and manager.answers[stream].status)


def test_stalled_channel_management_goes_on_when_its_rule_is_switched_off(lab, rules, manager):
    rules.add({"stall": True}, when={"next": 1})
    stream = manager.request(lab.channel_fields("GET", TOPIC, "AAAA"), b"")
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    manager.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        while True:
            manager.next_frame()
    manager.socket.settimeout(TIMEOUT)
    rules.switch(False)
    assert manager.answer(stream).status == 400


# Time


def test_a_delayed_answer_does_not_hold_up_others(lab, rules, connection):
    rules.add({"delayMs": 500, "jitterMs": 50}, when={"next": 1})
    slow = connection.request(fields(lab))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    fast = connection.request(fields(lab))
    assert connection.answer(fast).status == 200
    assert slow not in connection.answers or connection.answers[slow].status is None
    before = lab.notifications(token=lab.token)
    assert connection.answer(slow).status == 200
    # What is delayed is taken when the delay is over.
    assert len(lab.notifications(token=lab.token)) == len(before) + 1


def test_a_magic_delay_is_accepted_in_the_end(lab, connection):
    answer = connection.answer(connection.request(fields(lab, magic("delay=100").hex())))
    assert answer.status == 200 and answer["apns-id"]
    assert lab.notifications(token=magic("delay=100").hex())[0]["verdict"]["accepted"]


def test_a_delayed_push_whose_provider_goes_is_not_taken(lab, rules):
    rules.add({"delayMs": 60000})
    with lab.connect() as connection:
        connection.request(fields(lab, apns_id="99999999-2222-4333-8444-555555555555"))
        eventually(lambda: rules.hits() == 1, "the fault is injected")

    def entry():
        return [each for each in lab.notifications() if (each["apnsId"] or "").startswith("99999999")]

    eventually(entry, "it is remembered")
    assert "the connection ended before it was over" in entry()[0]["verdict"]["explanation"]


def test_a_delayed_push_that_is_cancelled_is_not_taken(lab, rules, connection):
    from hyperframe.frame import RstStreamFrame

    rules.add({"delayMs": 300}, when={"next": 1})
    stream = connection.request(fields(lab))
    connection.send(RstStreamFrame(stream, error_code=CANCEL))
    connection.barrier()
    eventually(lambda: lab.notifications(state="rejected"), "it is remembered")
    assert "the provider cancelled" in lab.notifications(state="rejected")[0]["verdict"]["explanation"]
    assert connection.answer(connection.request(fields(lab))).status == 200


def test_an_answer_dribbles(lab, rules, connection):
    """Every piece is a TLS record, which one read of the TLS layer answers at most."""
    rules.add({"reason": "BadTopic", "dribble": {"bytes": 7, "everyMs": 5}}, when={"next": 1})
    stream = connection.request(fields(lab))
    pieces = []
    while not connection.answers.get(stream) or not connection.answers[stream].ended:
        pieces.append(connection.socket.recv(65536))
        connection.buffer += pieces[-1]
        while whole_frame(connection.buffer):
            connection.next_frame()
    assert reason(connection.answers[stream]) == "BadTopic"
    assert len(pieces) > 10 and all(len(piece) == 7 for piece in pieces[:-1])
    # The next answer is whole again.
    connection.request(fields(lab))
    assert len(connection.socket.recv(65536)) > 20


def test_a_stalled_connection_goes_on_when_its_rule_is_switched_off(lab, rules, connection):
    rules.add({"stall": True}, when={"next": 1})
    streams = [connection.request(fields(lab)) for _ in range(3)]
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    count = lab.counters()["accepted"]
    connection.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        connection.next_frame()
    connection.socket.settimeout(TIMEOUT)
    assert lab.push_now(lab.token).status == 200
    assert lab.counters()["accepted"] == count + 1
    rules.switch(False)
    assert [connection.answer(stream).status for stream in streams] == [200] * 3


# Streams and connections


def test_a_stream_is_reset_and_the_connection_goes_on(lab, connection):
    answer = connection.answer(connection.request(fields(lab, magic("rst=11").hex())))
    assert answer.status is None and answer.reset == 11
    assert connection.answer(connection.request(fields(lab))).status == 200


def test_a_reset_is_a_reset(lab, rules, connection):
    rules.add({"reset": True}, when={"next": 1})
    before = lab.counters()["accepted"]
    connection.request(fields(lab))
    with pytest.raises(ConnectionResetError):
        below_tls(connection.socket)
    assert lab.counters()["accepted"] == before


@pytest.mark.parametrize("effect", [{"reset": True}, {"garbage": 9}, {"halfClose": True}, {"goaway": {}}], ids=str)
def test_a_connection_may_end_late(lab, rules, connection, effect):
    """Others of its pushes wait too, and end with it."""
    rules.add({"delayMs": 200} | effect, "first", when={"next": 1})
    rules.add({"delayMs": 400}, "others")
    before = len(lab.notifications())
    for _ in range(3):
        connection.request(fields(lab))
    try:
        connection.read_to_end()
    except ssl.SSLError:
        assert "garbage" in effect
    eventually(lambda: len(lab.notifications()) == before + 3, "all are remembered")
    rules.delete("others")
    assert lab.push_now(lab.token).status == 200


def test_a_stalled_connection_does_not_hold_up_the_end(make_lab):
    lab = make_lab()
    with lab.connect() as connection:
        connection.request(fields(lab, magic("stall").hex()))
        eventually(lambda: lab.emulator.api("GET", "/api/v1/connections")["connections"], "somebody is connected")
        began = time.monotonic()
        assert lab.emulator.stop() == 0
        assert time.monotonic() - began < TIMEOUT / 2


@pytest.mark.parametrize(
    "effect", [{"reset": True}, {"garbage": 9}, {"halfClose": True}, {"goaway": {}}, {"rstStream": 7}, {"delayMs": 60000}],
    ids=str)
def test_the_history_makes_no_reason_up_for_what_was_not_answered(lab, rules, effect):
    lab.emulator.api("POST", "/api/v1/reset", {"what": ["notifications"]})
    rules.add(effect)
    with lab.connect() as connection:
        stream = connection.request(fields(lab))
        eventually(lambda: rules.hits() == 1, "the fault is injected")
        if "rstStream" in effect:
            connection.answer(stream)
    eventually(lambda: lab.notifications(), "it is remembered")
    [entry] = lab.notifications()
    verdict = entry["verdict"]
    assert (verdict["accepted"], verdict["status"], verdict["reason"], verdict["legacyStatus"]) == (False, None, None, None)
    assert verdict["fault"] == {"name": "rule", "effect": effect}
    assert verdict["explanation"].startswith("fault rule rule: ")
    assert [step["event"] for step in entry["timeline"]] == ["received", "swallowed"]
    assert "rule" in entry["timeline"][1]["detail"] and entry["state"] == "rejected"
    assert lab.notifications(reason="InternalServerError") == lab.notifications(status="500") == []


def test_the_history_names_the_fault_behind_an_answer(lab, rules, connection):
    rules.add({"reason": "BadTopic"}, when={"next": 1})
    before = lab.notifications()
    connection.answer(connection.request(fields(lab)))
    [verdict] = [entry["verdict"] for entry in lab.notifications() if entry not in before]
    assert (verdict["status"], verdict["reason"]) == (400, "BadTopic")
    assert verdict["fault"] == {"name": "rule", "effect": {"reason": "BadTopic"}}
    connection.answer(connection.request(fields(lab, "ab" * 32)))
    assert [e["verdict"]["fault"] for e in lab.notifications(token="ab" * 32)] == [None]


def test_half_a_close(lab, rules, connection):
    rules.add({"halfClose": True}, when={"next": 1})
    connection.request(fields(lab))
    connection.read_to_end()
    assert not connection.was_reset and connection.goaway is None
    for _ in range(30):
        connection.request(fields(lab))
        time.sleep(0.002)


def test_an_answer_and_half_a_close(lab, rules, connection):
    rules.add({"reason": "InternalServerError", "halfClose": True}, when={"next": 1})
    stream = connection.request(fields(lab))
    connection.read_to_end()
    assert connection.answers[stream].status == 500 and not connection.was_reset


def test_a_stream_reset_comes_before_garbage(lab, rules, connection):
    """As on the gateway, where it is the connection that is reset; the table is in FaultPlan."""
    rules.add({"garbage": 9, "rstStream": 7}, when={"next": 1})
    faulted = connection.request(fields(lab))
    connection.wait(lambda frame: type(frame).__name__ == "RstStreamFrame" and frame.stream_id == faulted)
    assert connection.answer(connection.request(fields(lab))).status == 200


def test_garbage_breaks_the_tls_of_its_reader(lab, connection):
    connection.request(fields(lab, magic("garbage=50").hex()))
    with pytest.raises(ssl.SSLError):
        connection.read_to_end()


# Taken, and not answered


@pytest.mark.parametrize(
    "effect", [{"reset": True}, {"garbage": 9}, {"halfClose": True}, {"rstStream": 7}, {"goaway": {}},
               {"goaway": {"lastStream": "zero"}}], ids=str)
def test_a_push_is_taken_and_gets_no_answer(lab, rules, effect):
    lab.emulator.api("POST", "/api/v1/reset", {"what": ["notifications"]})
    rules.add(effect | {"taken": True}, when={"next": 1})
    with lab.connect() as connection:
        stream = connection.request(fields(lab))
        if "rstStream" in effect:
            assert connection.answer(stream).reset == REFUSED_STREAM
            assert connection.answer(connection.request(fields(lab))).status == 200
        else:
            try:
                connection.read_to_end()
            except ssl.SSLError:
                assert "garbage" in effect
            assert connection.answers.get(stream) is None or connection.answers[stream].status is None
        if "goaway" in effect:
            assert connection.goaway[1] == (0 if "lastStream" in effect["goaway"] else stream)
    verdict = lab.notifications()[0]["verdict"]
    assert (verdict["accepted"], verdict["status"], verdict["reason"]) == (True, None, None)
    assert verdict["fault"] == {"name": "rule", "effect": effect | {"taken": True}}
    assert lab.notifications(token=lab.token)[0]["state"] in ("stored", "replaced")


def test_a_channel_is_made_and_nobody_is_told(lab, rules, manager):
    rules.add({"rstStream": 8, "taken": True}, when={"next": 1}, interface=manager.listener)
    before = channels(lab)
    assert manage(lab, manager, "POST").reset == CANCEL
    [made] = [each for each in channels(lab) if each not in before]
    lab.delete_channel(manager, TOPIC, made["id"])


def plain_push(lab):
    """A push in plain HTTP/1.1: its status, and whether the connection ends."""
    connection = http.client.HTTPConnection(*lab.emulator.address("console"), timeout=TIMEOUT)
    try:
        connection.request(
            "POST", f"/3/device/{lab.token}", PAYLOAD,
            {"apns-topic": TOPIC, "apns-push-type": "alert", "authorization": bearer(lab.jwt)})
        response = connection.getresponse()
        response.read()
        return response.status, response.will_close
    finally:
        connection.close()


@pytest.mark.parametrize(
    "effect, answer, taken",
    [({"goaway": {}}, (503, True), False), ({"goaway": {"keepsOpen": True}}, (503, False), False),
     ({"goaway": {"lastStream": "highest"}}, (200, True), True),
     ({"goaway": {"lastStream": "highest", "keepsOpen": True}}, (200, False), True),
     ({"goaway": {}, "taken": True}, None, True), ({"reset": True, "taken": True}, None, True),
     ({"streamLimit": 1}, (200, False), True)], ids=str)
def test_a_plain_push_meets_the_same_rules(lab, rules, effect, answer, taken):
    rules.add(effect, when={"next": 1}, interface="console")
    before = lab.counters()["accepted"]
    if answer is None:
        with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
            plain_push(lab)
    else:
        assert plain_push(lab) == answer
    assert lab.counters()["accepted"] == before + taken


# Stream limits


def limits(connection):
    """The stream limits that the server has announced."""
    return [frame.settings[3] for frame in connection.frames if type(frame).__name__ == "SettingsFrame" and 3 in frame.settings]


@pytest.mark.parametrize("by_token", [False, True], ids=["by a rule", "by a magic token"])
def test_the_stream_limit_changes_amid_a_connection(lab, rules, connection, by_token):
    if not by_token:
        rules.add({"streamLimit": 1}, when={"next": 1})
    token = magic("streams=1").hex() if by_token else lab.token
    assert connection.answer(connection.request(fields(lab, token))).status == 200
    assert limits(connection)[-1] == 1
    # Pushes that are accepted don't raise it.
    assert connection.answer(connection.request(fields(lab))).status == 200
    connection.barrier()
    assert limits(connection)[-1] == 1
    first, second = connection.new_stream(), connection.new_stream()
    connection.send(connection.headers(first, fields(lab)), connection.headers(second, fields(lab)))
    assert connection.answer(second).reset == REFUSED_STREAM


def test_a_new_connection_begins_with_the_limit_of_a_rule(lab, rules):
    rules.add({"initialStreamLimit": 2}, when={"next": 1}, interface="provider")
    with lab.connect() as connection:
        connection.wait_for_settings()
        assert connection.answer(connection.request(fields(lab))).status == 200
        connection.barrier()
        assert limits(connection) == [2]
    with lab.connect() as connection:
        connection.wait_for_settings()
        assert limits(connection) == [1]


# GOAWAY


def test_goaway_names_the_last_stream_that_is_served(lab, connection):
    good = connection.request(fields(lab))
    assert connection.answer(good).status == 200
    faulted = connection.request(fields(lab, magic("goaway=Shutdown").hex()))
    connection.read_to_end()
    code, last, debug = connection.goaway
    assert (code, json.loads(debug)) == (0, {"reason": "Shutdown"})
    assert good <= last < faulted
    assert connection.answers.get(faulted) is None or not connection.answers[faulted].isOver
    assert not connection.was_reset


def test_goaway_without_a_reason_says_nothing_more(lab, connection):
    connection.request(fields(lab, magic("goaway").hex()))
    connection.read_to_end()
    assert connection.goaway[2] == b""


def test_goaway_behind_an_answer(lab, rules, connection):
    """As Apple does it: a refusal, and the end of the connection after it."""
    rules.add({"reason": "ExpiredProviderToken", "goaway": {"reason": "ExpiredProviderToken"}})
    stream = connection.request(fields(lab))
    connection.read_to_end()
    assert reason(connection.answers[stream]) == "ExpiredProviderToken"
    assert connection.goaway[1] >= stream


def goaway_frame(connection):
    return connection.wait(lambda frame: type(frame).__name__ == "GoAwayFrame")


def test_a_connection_that_goaway_leaves_open_refuses_every_later_stream(lab, rules, connection):
    rules.add({"goaway": {"reason": "Shutdown", "keepsOpen": True}}, when={"next": 1})
    before = lab.counters()["accepted"]
    faulted = connection.request(fields(lab))
    assert connection.answer(faulted).reset == REFUSED_STREAM
    code, last, debug = connection.goaway
    assert (code, last, json.loads(debug)) == (0, faulted - 2, {"reason": "Shutdown"})
    assert [type(frame).__name__ for frame in connection.frames[-2:]] == ["GoAwayFrame", "RstStreamFrame"]
    for _ in range(5):
        assert connection.answer(connection.request(fields(lab))).reset == REFUSED_STREAM
    connection.barrier()
    assert lab.counters()["accepted"] == before
    assert lab.push_now(lab.token).status == 200


@pytest.mark.parametrize("keeps_open", [False, True], ids=["and ends", "and stays open"])
def test_goaway_of_the_highest_stream_answers_all_up_to_it(lab, rules, connection, keeps_open):
    rules.add({"goaway": {"lastStream": "highest", "keepsOpen": keeps_open}}, when={"next": 1})
    faulted, later = connection.new_stream(), connection.new_stream()
    connection.send(connection.headers(faulted, fields(lab)), connection.headers(later, fields(lab)))
    connection.barrier()
    connection.send(connection.data(faulted, PAYLOAD))
    assert connection.answer(faulted).status == 200
    assert goaway_frame(connection).last_stream_id == later
    connection.send(connection.data(later, PAYLOAD))
    assert connection.answer(later).status == 200
    if keeps_open:
        assert connection.answer(connection.request(fields(lab))).reset == REFUSED_STREAM
    else:
        connection.read_to_end()


def test_goaway_of_stream_zero_takes_nothing(lab, rules, connection):
    lab.emulator.api("POST", "/api/v1/reset", {"what": ["notifications"]})
    rules.add({"delayMs": 60000}, "late", when={"next": 1})
    rules.add({"goaway": {"lastStream": "zero"}}, "zero", when={"next": 1})
    for _ in range(3):
        connection.request(fields(lab))
    connection.read_to_end()
    assert connection.goaway == (0, 0, b"") and not connection.was_reset
    assert [entry["verdict"]["accepted"] for entry in lab.notifications()] == [False, False]


def test_goaway_lets_delayed_answers_out(lab, rules, connection):
    rules.add({"delayMs": 300}, when={"next": 1})
    slow = connection.request(fields(lab))
    eventually(lambda: rules.hits() == 1, "the fault is injected")
    connection.request(fields(lab, magic("goaway=Shutdown").hex()))
    connection.read_to_end()
    assert connection.goaway[1] >= slow and connection.answers[slow].status == 200


def test_a_faulted_stream_below_one_that_was_served_is_refused_on_its_own(lab, connection):
    """GOAWAY can't say that an older stream is to be sent again once a newer one was served."""
    older, newer = connection.new_stream(), connection.new_stream()
    token = magic("goaway=Shutdown").hex()
    connection.send(connection.headers(older, fields(lab, token)))
    connection.send(connection.headers(newer, fields(lab)), connection.data(newer, PAYLOAD))
    assert connection.answer(newer).status == 200
    connection.send(connection.data(older, PAYLOAD))
    assert connection.answer(older).reset == REFUSED_STREAM
    connection.read_to_end()
    assert connection.goaway[1] == newer


@pytest.mark.parametrize("every", [37, 100])
def test_goaway_amid_a_burst_loses_and_doubles_nothing(lab, rules, every):
    """A provider that sends again exactly what it is told to."""
    rules.add({"goaway": {"reason": "Shutdown"}}, when={"every": every})
    targets = [lab.install(f"burst-{every}-{number}", TOPIC) for number in range(300)]
    waiting, outcomes, connections = list(targets), collections.Counter(), 0
    while waiting:
        connections += 1
        assert connections < 40
        with lab.connect() as connection:
            # An answer shows the token, and streams may open.
            connection.answer(connection.request(lab.fields("zz")))
            streams = {}
            try:
                for token in waiting:
                    stream = connection.new_stream()
                    connection.send(connection.headers(stream, fields(lab, token)), connection.data(stream, PAYLOAD))
                    streams[stream] = token
            except OSError:
                pass
            while connection.goaway is None and not all(
                connection.answers.get(stream) and connection.answers[stream].isOver for stream in streams):
                if connection.next_frame() is None:
                    break
            if connection.goaway:
                connection.read_to_end()
            again = waiting[len(streams):]
            for stream, token in streams.items():
                answer = connection.answers.get(stream)
                if answer and answer.status:
                    outcomes[(token, answer.status)] += 1
                else:
                    assert connection.goaway and stream > connection.goaway[1] or answer.reset == REFUSED_STREAM, stream
                    again.append(token)
            waiting = again
    assert connections > 2
    assert outcomes == {(token, 200): 1 for token in targets}
    for token in targets[::20]:
        states = [entry["state"] for entry in lab.notifications(token=token)]
        assert states.count("stored") == 1 and set(states) <= {"stored", "rejected"}


# Other people's clients


def test_aioapns_sees_two_failures_then_all_is_well(lab, rules):
    """The bar of issue threads everywhere: fail the first two with 503, then work."""
    rules.preset("fail-twice")
    tokens = [lab.install(f"aioapns-{number}", TOPIC) for number in range(20)]
    assert aioapns(Run(lab, tokens)) == {"200": 18, "ServiceUnavailable": 2}
    assert rules.hits("fail-twice") == 2


def test_aioapns_and_curl_mind_no_explanation(lab):
    words = ["BadDeviceToken", "Unregistered", "TooManyRequests", "InternalServerError"]
    run = Run(lab, [magic(word).hex() for word in words])
    assert aioapns(run) == {word: 1 for word in words}
    assert curl(run) == {"400": 1, "410": 1, "429": 1, "500": 1}


def test_aioapns_sends_again_what_a_goaway_tells_it_to(lab, rules):
    """What it makes of a GOAWAY is its own; nobody is told twice that a push was accepted."""
    rules.preset("goaway")
    tokens = [lab.install(f"goaway-{number}", TOPIC) for number in range(20)]
    before = lab.counters()["accepted"]
    counts = aioapns(Run(lab, tokens))
    assert sum(counts.values()) == 20
    assert lab.counters()["accepted"] - before >= counts["200"]
    for token in tokens:
        assert [entry["state"] for entry in lab.notifications(token=token)].count("stored") <= 1
