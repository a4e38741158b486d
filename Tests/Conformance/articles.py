"""Plays an article of Documentation: types its commands as a reader would, and compares what comes with what it says.

```sh                  typed in the first terminal, in one shell from top to bottom; must succeed
```sh fails            the same, and the last command must fail
```sh second terminal  a command that goes on beside all that follows
```sh emulator         an emulator's `serve`, up to where it is ready
```text                all that the block before has printed; … is anything within a line, and alone any lines
```text second terminal  lines that come there, in this order, with others between them
"""

import os
import re
import socket
import subprocess
import threading

from harness import BINARY, FREE_PORTS, PATIENCE, eventually

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "Documentation")
END_OF_BLOCK = "\x1e"


def blocks(name):
    """The fenced blocks of an article that the player knows: line, language, tag, text."""
    with open(os.path.join(FOLDER, name)) as file:
        lines = file.read().splitlines()
    found, start = [], None
    for number, line in enumerate(lines):
        if start is None and (fence := re.fullmatch(r"```(sh|text)(?: (.*))?", line)):
            start, language, tag = number, fence[1], fence[2] or ""
        elif start is not None and line == "```":
            found.append((start + 1, language, tag, "\n".join(lines[start + 1:number])))
            start = None
    assert start is None, f"{name}:{start + 1}: a block without end"
    return found


def pattern(expected):
    """A regular expression for what an article says comes."""
    lines = []
    for line in expected.splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*")
        else:
            lines.append(".*".join(re.escape(part) for part in re.split(" *… *", line)) + r" *\n")
    return "".join(lines)


class FirstTerminal:
    """One shell, so that variables live on from block to block."""

    def __init__(self, folder, environment):
        self.shell = subprocess.Popen(
            ["bash"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def type(self, commands):
        """Answers what the commands printed, and the status of the last."""
        self.shell.stdin.write(
            f"{{\n{commands}\n}} < /dev/null\nprintf '{END_OF_BLOCK}%d\\n' $?\n")
        self.shell.stdin.flush()
        printed = ""
        while END_OF_BLOCK not in printed:
            line = self.shell.stdout.readline()
            assert line, f"the shell ended in {commands!r}, having printed {printed!r}"
            printed += line
        printed, status = printed.split(END_OF_BLOCK)
        return printed, int(status)

    def close(self):
        self.shell.stdin.close()
        self.shell.wait(PATIENCE)
        self.shell.stdout.close()


class OtherTerminal:
    """A command that goes on, and what it has printed so far."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(
            ["bash", "-c", "exec " + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        self.compared = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def shows(self, expected):
        """Waits until a line matches, behind the one that matched last."""
        def found():
            for place in range(self.compared, len(self.lines)):
                if re.fullmatch(pattern(expected), self.lines[place]):
                    self.compared = place + 1
                    return True
            return False
        eventually(found, f"{expected!r} shows in the other terminal, after {self.lines}")

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class Player:
    """Reads an article at a running emulator, whose addresses take the place of the default ones."""

    def __init__(self, emulator, name):
        self.name = name
        self.emulator = emulator
        self.terminals = []
        self.chosen = {}
        binaries = emulator.path("bin")
        os.makedirs(binaries)
        os.symlink(os.path.abspath(BINARY), os.path.join(binaries, "apns-emulator"))
        self.environment = emulator.environment | {"PATH": binaries + os.pathsep + os.environ["PATH"]}
        self.first = FirstTerminal(emulator.folder, self.environment)

    def play(self):
        """Answers how many blocks were typed and how many were compared."""
        typed = compared = 0
        printed = ""
        for line, language, tag, text in blocks(self.name):
            place = f"{self.name}:{line}"
            if language == "text":
                compared += 1
                self._compare(tag, text, printed, place)
                continue
            typed += 1
            printed = self._type(tag, self._here(text), place)
        return typed, compared

    def _type(self, tag, text, place):
        if tag == "second terminal":
            self._finish(self.terminals)
            self.terminals = [OtherTerminal(text, self.emulator.folder, self.environment)]
            return None
        if tag == "emulator":
            self.emulator.start(*text.split()[2:])
            return ""
        assert tag in ("", "fails"), f"{place}: an unknown block, {tag!r}"
        printed, status = self.first.type(text)
        assert (status != 0) == (tag == "fails"), f"{place}: ended with {status}: {printed}"
        return printed

    def _compare(self, tag, text, printed, place):
        if tag == "second terminal" or printed is None:
            for line in text.splitlines():
                if line != "…":
                    self.terminals[-1].shows(line)
        else:
            assert re.fullmatch(pattern(text), printed), f"{place}: expected\n{text}\ngot\n{printed}"

    def _here(self, text):
        """The same command at this emulator's addresses."""
        if not self.emulator.ports:
            return text
        for listener, default in (("console", 8790), ("provider", 2197), ("gateway", 2195)):
            text = re.sub(rf"\b(localhost|127\.0\.0\.1):{default}\b",
                          rf"\1:{self.emulator.ports[listener]['port']}", text)
        return re.sub(r"\b3[17]9\d\b", lambda port: str(self._free(port[0])), text)

    def _free(self, port):
        """The port that stands for one that an article has chosen itself."""
        if port not in self.chosen:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.chosen[port] = probe.getsockname()[1]
        return self.chosen[port]

    def _finish(self, terminals):
        for terminal in terminals:
            terminal.close()

    def close(self):
        self._finish(self.terminals)
        self.first.close()
