"""Row 1: whoever started the emulator does not read what it prints."""

import os
import pty
import signal
import time

# A pipe holds 64 KiB and a terminal 4 KiB; a push takes some 150 bytes of log.
PUSHES = 3000


def attack_pipe(run):
    unread(run, *os.pipe(), "pipe")


def attack_terminal(run):
    """As behind Ctrl-S, or in the background of a shell with `stty tostop`."""
    unread(run, *pty.openpty(), "terminal")


def unread(run, ours, theirs, kind):
    lab = run.lab("--log-level", "info", output=theirs)
    with run.beside(lab):
        with lab.connect() as connection:
            connection.socket.settimeout(run.timeout)
            accepted = push(connection, lab, PUSHES)
        run.holds(f"pushes accepted behind a {kind} that nobody reads", accepted == PUSHES, accepted, f"{PUSHES}")
    began = time.monotonic()
    lab.emulator.process.send_signal(signal.SIGTERM)
    while lab.emulator.process.poll() is None and time.monotonic() - began < run.timeout:
        time.sleep(0.02)
    run.holds("ends when it is told to", lab.emulator.process.poll() == 0, lab.emulator.process.poll(), "0")
    os.close(ours)
    os.close(theirs)


def push(connection, lab, count):
    """Answers how many of so many pushes to a phone that is off were accepted."""
    accepted = 0
    try:
        while accepted < count:
            streams = [connection.request(lab.fields(apns_id=None)) for _ in range(min(50, count - accepted))]
            accepted += sum(connection.answer(stream).status == 200 for stream in streams)
    except OSError:
        pass
    return accepted
