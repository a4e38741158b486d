"""A reader's terminal: one shell, in which commands are typed block by block."""

import os
import re
import signal
import subprocess
import threading

from harness import TIMEOUT, eventually

# What stands in the output for the end of a block, with the status of its last command, and for a command that failed.
END, FAILED = "\x1e", "\x1f"
# Ctrl-C ends what runs in the shell, not the shell.
BEFORE = r"""
trap : INT
failed() { printf '\x1f%d: %s\n' "$1" "${BASH_COMMAND%%$'\n'*}"; }
trap 'failed $?' ERR
"""


class Terminal:
    def __init__(self, folder, environment):
        self.shell = subprocess.Popen(
            ["bash"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", start_new_session=True)
        self.output = ""
        self.is_busy = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self._write(BEFORE)

    def type(self, commands):
        """Begins to carry them out, after Ctrl-C for what still runs."""
        self.interrupt()
        self.output, self.compared, self.is_busy = "", 0, True
        self._write(f"{{\n{commands}\n}} < /dev/null\nprintf '{END}%d\\n' $?\n")

    def end(self):
        """Waits until they are carried out; answers what was printed, and the commands that failed with their status."""
        eventually(lambda: re.search(f"{END}\\d+\n", self.output) or self.shell.poll() is not None,
                   lambda: f"the commands end, having printed {self.output!r}")
        self.is_busy = False
        return self.printed, re.findall(f"{FAILED}(.*)", self.output)

    def says(self, text):
        """Waits until a line begins or ends with that or has it in quotes, or the commands have ended; answers whether it came."""
        word = re.compile(rf'^{re.escape(text)}\b|\b{re.escape(text)}$|"{re.escape(text)}"', re.M)
        eventually(lambda: word.search(self.output) or END in self.output, lambda: f"{text!r} shows in {self.output!r}")
        return word.search(self.output) is not None

    @property
    def printed(self):
        return re.sub(f"{FAILED}.*\n|{END}.*\n", "", self.output)

    def shows(self, pattern):
        """Waits until a line matches, behind the one that matched last."""
        def found():
            lines = self.printed.splitlines(keepends=True)
            place = next((at for at in range(self.compared, len(lines)) if re.fullmatch(pattern, lines[at])), None)
            if place is not None:
                self.compared = place + 1
            return place is not None
        eventually(found, lambda: f"a line {pattern!r} shows in {self.printed!r}, behind the {self.compared} that did")

    def interrupt(self):
        """Ctrl-C, if something runs; waits for its end."""
        if self.is_busy:
            if END not in self.output:
                os.killpg(self.shell.pid, signal.SIGINT)
            self.end()

    def close(self):
        try:
            self.interrupt()
        finally:
            # Also what runs in the background.
            os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.wait(TIMEOUT)
            self.reader.join(TIMEOUT)
            self.shell.stdin.close()
            self.shell.stdout.close()

    def _write(self, text):
        self.shell.stdin.write(text)
        self.shell.stdin.flush()

    def _read(self):
        for line in self.shell.stdout:
            self.output += line
