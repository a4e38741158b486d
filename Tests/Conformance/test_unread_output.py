"""Whoever starts the emulator need not read what it prints: nothing waits for a full pipe or a stopped terminal."""

import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import termios
import threading
import urllib.request

import pytest

from harness import BINARY, TIMEOUT, eventually

# More lines than a pipe (64 KiB) and the lines that may wait in the emulator (1 MiB) hold, as a count.
TOO_MANY = 7000
BURST = 200
REQUEST = b"POST /3/device/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}" % (b"ab" * 32)


def refused(emulator, count):
    """Sends pushes that are refused, each of which is a line of the log."""
    with socket.create_connection(emulator.address("console"), TIMEOUT) as connection:
        answers = connection.makefile("rb")
        while count > 0:
            connection.sendall(REQUEST * min(BURST, count))
            for _ in range(min(BURST, count)):
                assert answers.readline().startswith(b"HTTP/1.1 403")
                length = 0
                while (line := answers.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                answers.read(length)
            count -= BURST


class LateReader:
    """Reads what there is, whenever it is asked to."""

    def __init__(self, descriptor):
        os.set_blocking(descriptor, False)
        self.descriptor, self.text = descriptor, b""

    def read(self):
        try:
            self.text += os.read(self.descriptor, 1 << 20)
        except BlockingIOError:
            pass
        return self.text


def is_alive(emulator):
    host, port = emulator.address("console")
    with urllib.request.urlopen(f"http://{host}:{port}/livez", timeout=TIMEOUT) as response:
        return response.status == 200


def full_pipe():
    """A pipe that takes nothing more: reader and writer."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"\n" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


@pytest.fixture
def unread():
    reader, writer = full_pipe()
    yield writer
    os.close(reader)
    os.close(writer)


def test_an_unread_stderr_does_not_stop_it_and_what_was_dropped_is_counted_and_told(stopped_emulator):
    reader, writer = os.pipe()
    emulator = stopped_emulator.start("--ephemeral", stderr=writer)
    os.close(writer)
    refused(emulator, TOO_MANY)
    assert is_alive(emulator)
    dropped = emulator.metric('apns_emulator_log_lines_dropped_total{because="unread"}')
    assert dropped > 0

    # Once it is read again the log goes on where it stopped, and tells of the gap.
    late = LateReader(reader)

    def told():
        late.read()
        refused(emulator, 1)
        return re.search(rb"log lines dropped count=(\d+)", late.text)

    told = eventually(told, "the log tells of dropped lines")
    assert int(told[1]) >= dropped
    emulator.terminate()
    text = late.text
    os.set_blocking(reader, True)
    while piece := os.read(reader, 1 << 20):
        text += piece
    os.close(reader)
    assert emulator.process.wait(TIMEOUT) == 0
    lines = text.decode().splitlines()
    assert any(line.endswith("shutting down") for line in lines)
    # Nothing is torn.
    assert all(re.match(r"\d{4}-\d\d-\d\dT\S+ (info|warning) ", line) for line in lines), lines[-3:]


def test_an_unread_stderr_does_not_keep_it_from_ending(stopped_emulator, unread):
    emulator = stopped_emulator.start("--ephemeral", stderr=unread)
    refused(emulator, TOO_MANY)
    assert emulator.stop() == 0


def test_an_unread_stdout_does_not_keep_it_from_serving_and_ending(stopped_emulator, unread):
    emulator = stopped_emulator.start("--ephemeral", stdout=unread)
    assert is_alive(emulator)
    assert emulator.stop() == 0


def test_a_complaint_that_nobody_reads_does_not_keep_it_from_ending(emulator, unread):
    port = emulator.ports["gateway"]["port"]
    process = subprocess.Popen(
        [BINARY, "serve", "--ephemeral", "--gateway-port", str(port)], cwd=emulator.folder, stderr=unread)
    assert process.wait(TIMEOUT) == 3


def test_a_stopped_terminal_does_not_stop_it(stopped_emulator):
    leader, terminal = pty.openpty()
    termios.tcflow(terminal, termios.TCOOFF)
    emulator = stopped_emulator.start("--ephemeral", stdout=terminal, stderr=terminal)
    refused(emulator, BURST)
    assert is_alive(emulator)
    # The parent's description is the parent's: it must not have become non-blocking.
    assert not fcntl.fcntl(terminal, fcntl.F_GETFL) & os.O_NONBLOCK
    termios.tcflow(terminal, termios.TCOON)
    late = LateReader(leader)
    eventually(lambda: b"\nready\r\n" in late.read() and b"push rejected" in late.text, "the terminal shows what waited")
    termios.tcflow(terminal, termios.TCOOFF)
    refused(emulator, BURST)
    assert emulator.stop() == 0
    os.close(leader)
    os.close(terminal)


def test_sighup_opens_the_log_and_the_capture_again_and_nothing_is_lost(stopped_emulator):
    emulator = stopped_emulator
    log, capture = emulator.path("emulator.log"), emulator.path("traffic.jsonl")
    emulator.start("--ephemeral", "--log-file", log, "--capture", capture)
    stop, sent = threading.Event(), [0]

    def send():
        while not stop.is_set():
            refused(emulator, BURST)
            sent[0] += BURST

    sender = threading.Thread(target=send)
    sender.start()
    for number in range(1, 4):
        before = sent[0]
        eventually(lambda: sent[0] > before, "more was sent")
        os.rename(log, f"{log}.{number}")
        os.rename(capture, f"{capture}.{number}")
        emulator.process.send_signal(signal.SIGHUP)
        eventually(lambda: os.path.exists(log) and os.path.exists(capture), "both files are there again")
    # Nothing was moved away this time.
    emulator.process.send_signal(signal.SIGHUP)
    stop.set()
    sender.join()
    assert emulator.stop() == 0

    lines = []
    for path in (f"{log}.1", f"{log}.2", f"{log}.3", log):
        assert os.stat(path).st_mode & 0o777 == 0o600
        with open(path) as file:
            lines += file.read().splitlines()
    ids = [int(found[1]) for line in lines if (found := re.search(r" push rejected id=(\d+) .*because=", line))]
    assert ids == list(range(1, sent[0] + 1))

    pushes = 0
    for path in (f"{capture}.1", f"{capture}.2", f"{capture}.3", capture):
        with open(path) as file:
            entries = [json.loads(line) for line in file]
        assert "capture" in str(entries[0]) and sum(entry.keys() == entries[0].keys() for entry in entries) == 1
        pushes += len(json.loads(emulator.run("har", path).stdout)["log"]["entries"])
    assert pushes == sent[0]


def test_sighup_without_a_log_file_changes_nothing(emulator):
    emulator.process.send_signal(signal.SIGHUP)
    assert is_alive(emulator)
    assert emulator.stop() == 0


def test_a_log_file_that_can_not_be_opened_is_told_at_the_start(stopped_emulator):
    result = stopped_emulator.start_in_vain("--ephemeral", "--log-file", stopped_emulator.path("missing", "emulator.log"))
    assert result.returncode == 1 and "--log-file" in result.stderr and "No such file" in result.stderr
