"""Signals that reach `exec` reach the command that it runs, each once."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from harness import BINARY

# Writes a line for each interrupt; ends when it is told to terminate.
COMMAND = """
import os, signal
signal.signal(signal.SIGINT, lambda *_: os.write(3, b"interrupted\\n"))
signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
os.write(3, b"ready\\n")
while True:
    signal.pause()
"""


class Run:
    """`exec` with its standard input on a pipe; the command writes to a pipe of its own."""

    def __init__(self, folder, **options):
        read, write = os.pipe()
        os.set_inheritable(write, True)
        shell = f'exec 3>&{write}; exec "$0" "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, BINARY, "exec", "--certs", os.path.join(folder, "certs"), "--", sys.executable, "-c",
             COMMAND], cwd=folder, stdin=subprocess.PIPE, pass_fds=[write], **options)
        os.close(write)
        self.lines = os.fdopen(read)

    def finish(self):
        """Ends the command; answers what it wrote since."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 7
        self.process.stdin.close()
        return self.lines.read()


@pytest.fixture
def terminal():
    main, other = pty.openpty()
    yield main, other
    os.close(main)


def take(terminal):
    """In a new session, makes the terminal its controlling one."""
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def test_an_interrupt_from_the_terminal_comes_once_though_standard_input_is_a_pipe(tmp_path, terminal):
    main, other = terminal
    run = Run(str(tmp_path), start_new_session=True, preexec_fn=lambda: take(other), stdout=other, stderr=other)
    os.close(other)
    assert run.lines.readline() == "ready\n"
    # What the terminal makes of Ctrl-C.
    os.write(main, b"\x03")
    assert run.lines.readline() == "interrupted\n"
    assert run.finish() == ""


def test_an_interrupt_from_another_program_comes_once(tmp_path):
    run = Run(str(tmp_path), start_new_session=True)
    assert run.lines.readline() == "ready\n"
    run.process.send_signal(signal.SIGINT)
    assert run.lines.readline() == "interrupted\n"
    assert run.finish() == ""
