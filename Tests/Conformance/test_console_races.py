"""Wait, reset and the clock while a second client does something else."""

import collections
import datetime
import json
import socket
import threading
import urllib.error

from harness import TIMEOUT, TOPIC, eventually
from phone import in_background

WAIT = "/api/v1/notifications/wait"


def install(emulator, udid="phone"):
    return emulator.api("POST", f"/api/v1/devices/{udid}/apps/{TOPIC}/install")["token"]


def push(emulator, token, text, **more):
    return emulator.api(
        "POST", "/api/v1/push", {"token": token, "topic": TOPIC, "payload": {"aps": {"alert": text}}, **more})


class Waiting:
    """A client that waits in the background; `answer` is status and document."""

    def __init__(self, emulator, **body):
        self.emulator, self.body, self.answer = emulator, body, None
        self.thread = in_background(self.run)

    def run(self):
        try:
            self.answer = 200, self.emulator.api("POST", WAIT, self.body)
        except urllib.error.HTTPError as error:
            self.answer = error.code, json.loads(error.read())

    def result(self):
        self.thread.join(TIMEOUT)
        assert self.answer, "the wait was never answered"
        return self.answer

    def texts(self):
        status, document = self.result()
        assert status == 200, document
        return [each["payload"]["aps"]["alert"] for each in document["notifications"]]


def until_waiting(emulator, count):
    """Until so many connections of the console have begun a request that is not answered: those that wait."""
    def waiting():
        connections = emulator.api("GET", "/api/v1/connections")["connections"]
        mine = [each for each in connections if each["listener"] == "console"]
        return len([each for each in mine if each["bytesRead"] and not each["bytesWritten"]])

    # One of them is the one that asks.
    eventually(lambda: waiting() > count, f"{count} wait")


def test_everybody_who_waits_for_it_gets_it_and_nobody_else(emulator):
    token = install(emulator)
    waiting = [Waiting(emulator, match={"q": f"message {number % 4}"}, timeoutMs=20000) for number in range(12)]
    until_waiting(emulator, 12)
    pushers = [in_background(push, emulator, token, f"message {number}") for number in range(4)]
    for pusher in pushers:
        pusher.join(TIMEOUT)
    assert [each.texts() for each in waiting] == [[f"message {number % 4}"] for number in range(12)]


def test_pushes_of_many_count_for_one_wait(emulator):
    token = install(emulator)
    waiting = Waiting(emulator, count=40, timeoutMs=20000)
    until_waiting(emulator, 1)
    pushers = [in_background(lambda: [push(emulator, token, "x") for _ in range(10)]) for _ in range(4)]
    status, document = waiting.result()
    assert status == 200 and [each["id"] for each in document["notifications"]] == list(range(1, 41))
    assert document["next"] == 40
    for pusher in pushers:
        pusher.join(TIMEOUT)


def test_a_reset_between_two_pushes_forgets_the_first_for_who_waits_for_two(emulator):
    """What was forgotten is not answered: the wait goes on with what comes after."""
    token = install(emulator)
    waiting = Waiting(emulator, count=2, timeoutMs=20000)
    until_waiting(emulator, 1)
    push(emulator, token, "before")
    emulator.api("POST", "/api/v1/reset", {"what": ["notifications"]})
    push(emulator, token, "after")
    push(emulator, token, "last")
    status, document = waiting.result()
    texts = [each["payload"]["aps"]["alert"] for each in document["notifications"]]
    assert status == 200 and "before" not in texts and texts[0] == "after", texts


def test_resets_amid_pushes_leave_nothing_half_done(emulator):
    """Pushes, installs and resets at once: no answer but 2xx, 404 or a rejection, and then all is as new."""
    failures, stop, rounds = [], threading.Event(), collections.Counter()

    def keep(work):
        while not stop.is_set():
            try:
                work()
                rounds[work] += 1
            except urllib.error.HTTPError as error:
                if error.code not in (404, 409):
                    failures.append((error.code, error.read()))
            except Exception as error:
                failures.append(error)

    def use():
        push(emulator, install(emulator), "x")

    works = [
        use, lambda: emulator.api("POST", "/api/v1/reset", {}),
        lambda: emulator.api("POST", "/api/v1/devices/phone/erase"), lambda: emulator.api("GET", "/api/v1/export")]
    workers = [in_background(keep, work) for work in [use, *works]]
    try:
        eventually(lambda: failures or all(rounds[work] >= 50 for work in works), "each has done it often")
    finally:
        stop.set()
    for worker in workers:
        worker.join(TIMEOUT)
        assert not worker.is_alive()
    assert failures == []
    emulator.api("POST", "/api/v1/reset", {})
    assert emulator.api("GET", "/api/v1/notifications")["notifications"] == []
    assert emulator.api("GET", "/api/v1/devices")["devices"] == []
    token = install(emulator)
    assert push(emulator, token, "as new")["state"] == "stored"
    assert len(emulator.api("GET", "/api/v1/devices/phone")["keptMessages"]) == 1


def test_the_clock_does_not_move_a_timeout(emulator):
    """The clock of the emulator drives expiries; how long a client waits is real time."""
    waiting = Waiting(emulator, timeoutMs=20000)
    until_waiting(emulator, 1)
    emulator.api("PUT", "/api/v1/clock", {"advance": "1d"})
    token = install(emulator)
    push(emulator, token, "tomorrow")
    assert waiting.texts() == ["tomorrow"]


def test_who_waits_for_an_expiry_hears_of_it_when_another_moves_the_clock(emulator):
    token = install(emulator)
    now = emulator.api("GET", "/api/v1/info")["now"]
    # Kept for an hour.
    hour = int(datetime.datetime.fromisoformat(now.replace("Z", "+00:00")).timestamp()) + 3600
    push(emulator, token, "short-lived", expiration=hour)
    waiting = Waiting(emulator, match={"state": "expired"}, timeoutMs=20000)
    until_waiting(emulator, 1)
    emulator.api("PUT", "/api/v1/clock", {"advance": "59m"})
    assert emulator.api("GET", "/api/v1/notifications")["notifications"][0]["state"] == "stored"
    emulator.api("PUT", "/api/v1/clock", {"advance": "2m"})
    assert waiting.texts() == ["short-lived"]
    assert emulator.api("GET", "/api/v1/devices/phone")["keptMessages"] == []


def test_two_who_move_the_clock_both_have_moved_it(emulator):
    emulator.api("PUT", "/api/v1/clock", {"freeze": True})
    before = emulator.api("GET", "/api/v1/clock")["now"]
    movers = [in_background(lambda: [emulator.api("PUT", "/api/v1/clock", {"advance": "1s"}) for _ in range(30)])
              for _ in range(2)]
    for mover in movers:
        mover.join(TIMEOUT)
    after = emulator.api("GET", "/api/v1/clock")["now"]
    moments = [datetime.datetime.fromisoformat(each.replace("Z", "+00:00")) for each in (before, after)]
    assert (moments[1] - moments[0]).total_seconds() == 60


def test_a_client_that_leaves_while_it_waits_is_forgotten(emulator):
    """Its place is free again, and the emulator does not answer into the void."""
    body = b'{"timeoutMs": 60000}'
    sockets = []
    for _ in range(50):
        connection = socket.create_connection(emulator.address("console"), TIMEOUT)
        connection.sendall(
            b"POST " + WAIT.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sockets.append(connection)
    until_waiting(emulator, 50)
    for connection in sockets:
        connection.close()
    token = install(emulator)
    eventually(lambda: len(emulator.api("GET", "/api/v1/connections")["connections"]) <= 3, "they are gone")
    push(emulator, token, "nobody waits")
    assert emulator.api("GET", "/livez") == {"status": "live"}
