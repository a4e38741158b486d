"""Row 17: what is said to the console at length."""

import contextlib
import http.client
import json
import time

from console_floods import connect
from rig import MEBIBYTE, TIMEOUT, attackers

# Values of JSON of two bytes each, as many as the largest body has room for.
ZEROS = b"0," * (8 * MEBIBYTE - 20)
# Two bodies of the largest size at a time: each is copied once to a place of twice its size, as it grows.
BODY_ROOM = 96 * MEBIBYTE
# Reading the largest document that is taken: its values, and what is made of them.
DOCUMENT_ROOM = 256 * MEBIBYTE


def ask(lab, path, body, timeout):
    """Status and document of the answer; the body may be refused before it has been sent."""
    host, port = lab.emulator.address("console")
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.putrequest("POST", path)
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders()
        try:
            connection.send(body)
        except OSError:
            pass  # It has heard enough.
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def state(**lists):
    return json.dumps({"version": 1, **lists}).encode()


def attack_import(run):
    """Certificates and rows without end, in documents that are taken and such as are too large."""
    lab = run.quiet_lab()
    certificates, rows = (5, 1000) if run.is_short else (100, 50_000)
    apps = [{"topic": f"com.example.app{n}", "certificate": "both"} for n in range(certificates)]
    devices = [{"udid": f"phone-{n}", "apps": [{"topic": "com.example.many"}]} for n in range(rows)]
    with run.beside(lab):
        began = time.monotonic()
        answers = [ask(lab, "/api/v1/import", state(apps=apps, devices=devices), 600)]
        run.tell(f"{certificates} certificates and {rows} rows", f"{time.monotonic() - began:.1f} s")
        more = [{"topic": f"com.example.more{n}", "certificate": "both"} for n in range(101)]
        answers.append(ask(lab, "/api/v1/import", state(apps=more), 600))
    run.holds("a document of as much as is taken", answers[0][0] == 200, answers[0][0], "200")
    run.holds("101 certificates", answers[1][0] == 413 and "got 101" in answers[1][1], answers[1][0], "413, and the number")
    run.grew(DOCUMENT_ROOM, "a document of 16 MiB as it is read")


def attack_values(run):
    """16 MiB of the smallest values there are, where they are taken and where not."""
    lab = run.quiet_lab()
    statuses = set()
    with run.beside(lab):
        attackers(2, send_values, run.seconds, lab, statuses)
    # One document is read at a time; who comes meanwhile is told to come again.
    run.holds("answers", 413 in statuses and statuses <= {413, 503}, sorted(statuses), "413, or 503 for a second import")
    run.grew(BODY_ROOM, "two bodies of 16 MiB as they come")


PATHS = ("/api/v1/import", "/api/v1/push", "/api/v1/reset", "/api/v1/faults", "/api/v1/notifications/wait", "/3/device/ab")


def send_values(number, end, lab, statuses):
    body = b'{"version":[' + ZEROS + b"0]}"
    turn = number
    while time.monotonic() < end or not statuses and time.monotonic() < end + TIMEOUT:
        # Who goes on writing where nothing more is read may lose the answer.
        with contextlib.suppress(OSError):
            statuses.add(ask(lab, PATHS[turn % len(PATHS)], body, 60)[0])
        turn += 1
        if turn % len(PATHS) == 1:
            statuses.add(send_chunked(lab))


def send_chunked(lab):
    """A body whose length is not said; what is too much is known when it comes."""
    with connect(lab) as plain:
        host, port = lab.emulator.address("console")
        plain.sendall(
            f"POST /api/v1/reset HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"8000\r\n" + b"0," * 0x4000 + b"\r\n"
        try:
            for _ in range(512):
                plain.sendall(chunk)
        except OSError:
            pass
        return int(plain.recv(64).split()[1])
