"""Rows 4, 7 (answers), 8, 11 and 15: what can be asked of the console."""

import contextlib
import json
import os
import selectors
import socket
import threading
import time
import urllib.request

from harness import TOPIC
from legacy import Provider, framed
from rig import attackers

# Building an answer must not hold up others, however long it is: as long as a turn's other work takes.
LONG_ANSWER_WAIT = 0.1


def fill_history(lab, count, text=""):
    """So many notifications in the history."""
    body = json.dumps({"aps": {"alert": text}}).encode()
    token = bytes.fromhex(lab.token)
    with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
        provider.send(b"".join(framed(n, token, body) for n in range(count)))
        assert provider.flush()[:2] == b"\x08\x02"


def connect(lab, receive_buffer=None):
    plain = socket.socket()
    if receive_buffer:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    plain.settimeout(30)
    plain.connect(lab.emulator.address("console"))
    return plain


def request(lab, method, path, body=None):
    body = b"" if body is None else json.dumps(body).encode()
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    host, port = lab.emulator.address("console")
    return f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{kind}\r\n".encode() + body


def attack_pipelining(run):
    """Requests without end, and never an answer read."""
    lab = run.quiet_lab()
    requests = request(lab, "GET", "/api/v1/openapi.json") * 500
    with run.beside(lab):
        attackers(1, pipeline, run.seconds, run, lab, requests)
    run.grew()


def pipeline(_, end, run, lab, requests):
    with connect(lab, receive_buffer=4096) as plain:
        plain.settimeout(1)
        while time.monotonic() < end and not run.has_won():
            try:
                plain.sendall(requests)
            except TimeoutError:
                pass  # It reads no more, as it should.


def attack_unread_answers(run):
    count, memory = (30, 16) if run.is_short else (200, 128)
    lab = run.small_lab(memory)
    fill_history(lab, 1000, "x" * 1900)
    connections = []
    with run.beside(lab):
        for _ in range(count):
            if run.has_won():
                break
            connections.append(connect(lab, receive_buffer=4096))
            connections[-1].sendall(request(lab, "GET", "/api/v1/notifications?limit=1000"))
        time.sleep(min(run.seconds, 2))
    for plain in connections:
        plain.close()
    run.grew_within(memory)


def attack_long_answers(run):
    lab = run.quiet_lab()
    fill_history(lab, 10_000, "x" * 200)
    counts = []
    with run.beside(lab, LONG_ANSWER_WAIT, "what a turn's other work takes"):
        attackers(1, ask_much, run.seconds, lab, counts)
    run.holds("answers of 10,000 notifications", counts and min(counts) == 10_000, f"{len(counts)} whole", "whole")


def ask_much(_, end, lab, counts):
    host, port = lab.emulator.address("console")
    while time.monotonic() < end:
        with urllib.request.urlopen(f"http://{host}:{port}/api/v1/notifications?limit=10000") as answer:
            counts.append(answer.read().count(b'"receivedAt"'))


def waiting(lab, count):
    """So many open waits, each for something that never comes."""
    connections = []
    for number in range(count):
        with contextlib.suppress(OSError):
            connections.append(connect(lab))
            match = {"topic": TOPIC, "q": f"never {number}"}
            connections[-1].sendall(
                request(lab, "POST", "/api/v1/notifications/wait", {"match": match, "timeoutMs": 60_000}))
    return connections


def attack_waits(run):
    """What pushes cost beside many waits that none of them ends."""
    pushes, waits = (20, 100) if run.is_short else (500, 900)
    lab = run.quiet_lab()
    before = timed_pushes(lab, pushes)
    connections = waiting(lab, waits)
    beside = timed_pushes(lab, pushes)
    run.at_most(
        f"{pushes} pushes beside {waits} waits", beside * 1e3, 2 * before * 1e3 + 50, "ms",
        f"twice what they take without, {before * 1e3:.0f} ms")
    for plain in connections:
        plain.close()


def timed_pushes(lab, count):
    """Seconds until so many pushes of some length, one behind the other's answer, were accepted."""
    with lab.connect() as connection:
        fields = lab.fields(apns_id=None)
        assert connection.answer(connection.request(fields)).status == 200
        body = json.dumps({"aps": {"alert": "x" * 3000}}).encode()
        began = time.monotonic()
        for _ in range(count):
            assert connection.answer(connection.request(fields, body)).status == 200
        return time.monotonic() - began


def attack_polls(run):
    """Every place that the console has is taken by somebody who waits."""
    lab = run.quiet_lab()
    connections = waiting(lab, 1100)
    answers = {}
    for path in ("/livez", "/readyz", "/api/v1/info"):
        host, port = lab.emulator.address("console")
        try:
            with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=run.timeout) as answer:
                answers[path] = answer.status
        except OSError as error:
            answers[path] = str(getattr(error, "code", None) or type(error).__name__)
    for path, status in answers.items():
        run.holds(f"{path} beside 1,100 long polls", status == 200, status, "200")
    for plain in connections:
        plain.close()


def stream(lab, number, receive_buffer=None):
    """A connection that has asked to be a device."""
    plain = connect(lab, receive_buffer)
    plain.sendall(request(lab, "GET", f"/api/v1/devices/stream-{number}/stream?topic={TOPIC}"))
    return plain


def attack_vanishing_streams(run):
    """Devices that come and go at once, without reading what they are told."""
    lab = run.quiet_lab()
    count = 500 if run.is_short else 5000
    with run.beside(lab):
        for number in range(count):
            stream(lab, number % 1000).close()
        deadline = time.monotonic() + run.timeout
        while lab.emulator.metric("apns_emulator_device_streams") > 0 and time.monotonic() < deadline:
            time.sleep(0.05)
    left = lab.emulator.metric("apns_emulator_device_streams")
    run.holds("streams that are left", left == 0, left, "0")
    run.grew()


def attack_unread_streams(run):
    """Devices that never read, and a provider that goes on pushing to them."""
    with streams(run, receive_buffer=4096) as (lab, _, tokens):
        push_without_end(run, lab, tokens)


def attack_read_streams(run):
    """Devices that do read, and a provider that goes on pushing to them: nobody does wrong, but there is no end of it."""
    with streams(run) as (lab, connections, tokens):
        with reading(connections):
            push_without_end(run, lab, tokens)


@contextlib.contextmanager
def streams(run, receive_buffer=None):
    """Many devices at once, of an emulator with little memory, as their connections and tokens."""
    count, memory = (20, 16) if run.is_short else (200, 64)
    lab = run.small_lab(memory)
    connections = [stream(lab, number, receive_buffer) for number in range(count)]
    while len(tokens := stream_tokens(lab)) < count:
        time.sleep(0.05)
    yield lab, connections, tokens
    for plain in connections:
        plain.close()
    run.grew_within(memory)


@contextlib.contextmanager
def reading(connections):
    """All that comes on these is thrown away."""
    over = threading.Event()

    def read():
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        with selectors.DefaultSelector() as selector:
            for plain in connections:
                selector.register(plain, selectors.EVENT_READ)
            while not over.is_set():
                for key, _ in selector.select(0.1):
                    key.fileobj.recv(1 << 20)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
    finally:
        over.set()
        reader.join()


def push_without_end(run, lab, tokens):
    body = json.dumps({"aps": {"alert": "x" * 1900}}).encode()
    with run.beside(lab):
        with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
            end = time.monotonic() + run.seconds
            while time.monotonic() < end and not run.has_won():
                provider.send(b"".join(framed(0, token, body) for token in tokens))


def stream_tokens(lab):
    rows = lab.emulator.api("GET", f"/api/v1/tokens?topic={TOPIC}")["tokens"]
    return [bytes.fromhex(row["token"]) for row in rows if row["udid"].startswith("stream-")]
