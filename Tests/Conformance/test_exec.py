"""Signals that reach `exec` reach the command that it runs, each once."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys

import pytest

from harness import BINARY, TIMEOUT

# Writes a line for each interrupt; ends when it is told to terminate. It takes signals one by one, as one that a handler is to run
# for may come just before the command pauses, and the handler after the pause only.
COMMAND = """
import os, signal
signals = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
os.write(3, b"ready\\n")
while signal.sigwait(signals) == signal.SIGINT:
    os.write(3, b"interrupted\\n")
os._exit(7)
"""
# In a new session, makes standard output its controlling terminal, and becomes what is said. Not done between fork and exec of this
# process, which has threads.
TAKE = """
import fcntl, os, sys, termios
fcntl.ioctl(1, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Run:
    """`exec` with its standard input on a pipe; the command writes to a pipe of its own."""

    def __init__(self, folder, *before, **options):
        read, write = os.pipe()
        os.set_inheritable(write, True)
        shell = f'exec 3>&{write}; exec "$0" "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, *before, BINARY, "exec", "--certs", os.path.join(folder, "certs"), "--", sys.executable, "-c",
             COMMAND], cwd=folder, stdin=subprocess.PIPE, pass_fds=[write], start_new_session=True, **options)
        os.close(write)
        self.lines = os.fdopen(read)

    def expect(self, line):
        """The next that the command writes; with a bound, or a signal that is lost would be waited for without an end."""
        ready, _, _ = select.select([self.lines], [], [], TIMEOUT)
        assert ready, f"waited in vain for {line!r}"
        assert self.lines.readline() == line + "\n"

    def finish(self):
        """Ends the command; answers what it wrote since."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(TIMEOUT) == 7
        self.process.stdin.close()
        return self.lines.read()


@pytest.fixture
def start(tmp_path):
    runs = []

    def start(*before, **options):
        runs.append(Run(str(tmp_path), *before, **options))
        return runs[-1]

    yield start
    for run in runs:
        # Nothing is left of one that went well.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.process.pid, signal.SIGKILL)
        run.process.wait()


@pytest.fixture
def terminal():
    main, other = pty.openpty()
    yield main, other
    os.close(main)


def test_an_interrupt_from_the_terminal_comes_once_though_standard_input_is_a_pipe(start, terminal):
    main, other = terminal
    run = start(sys.executable, "-c", TAKE, stdout=other, stderr=other)
    os.close(other)
    run.expect("ready")
    # What the terminal makes of Ctrl-C.
    os.write(main, b"\x03")
    run.expect("interrupted")
    assert run.finish() == ""


def test_an_interrupt_from_another_program_comes_once(start):
    run = start()
    run.expect("ready")
    run.process.send_signal(signal.SIGINT)
    run.expect("interrupted")
    assert run.finish() == ""
