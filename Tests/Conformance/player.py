"""Plays a page of the documentation as a reader would who types it from top to bottom: player.py PAGE FOLDER. In the folder is what he
has: the repository, with the program built and certificates that save time. Ports are the default ones."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from harness import BINARY, TIMEOUT, eventually
from namespaces import switch_loopback_on
from pages import ROOT, Slip, blocks, check_diagram, pattern
from terminals import Terminal

SCRIPT = '#!/bin/sh\nexec PROGRAM {} "$@"\n'
# To curl by itself a refusal is an answer like any other; and it prints its progress where there is no terminal.
CURL = """#!/bin/bash
for word; do
  case $word in --fail*|-[!-]*) [[ $word != *f* ]] || exec PROGRAM "$@" ;; esac
done
exec PROGRAM --no-progress-meter --fail-with-body "$@" 2> >(grep -v '^curl: (22)' >&2)
"""


def program(folder, name, path, script):
    """Puts a script into the folder's `bin` in place of a program."""
    file = folder / "bin" / name
    file.write_text(script.replace("PROGRAM", str(path)))
    file.chmod(0o755)


def installed(folder):
    """The environment of somebody who has installed the emulator in a folder, and its packages for Python and Node."""
    (folder / "bin").mkdir()
    (folder / "bin" / "apns-emulator").symlink_to(BINARY)
    program(folder, "pytest", sys.executable, SCRIPT.format("-m pytest -p no:cacheprovider"))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("APNS_EMULATOR")}
    return inherited | {
        "PATH": f"{folder / 'bin'}:{inherited['PATH']}", "APNS_EMULATOR_BINARY": BINARY,
        "PYTHONPATH": str(ROOT / ".packaging" / "python" / "src"), "PYTEST_PLUGINS": "apns_emulator.pytest_plugin"}


def checked_out(folder):
    """Makes a folder look like the repository after a build, to a reader of its README; answers his environment."""
    environment = installed(folder) | {"HOME": str(folder)}
    # Where Debian puts nats-server.
    environment["PATH"] += ":/usr/sbin"
    program(folder, "python3", sys.executable, SCRIPT.format(""))
    program(folder, "make", shutil.which("make"), SCRIPT.format("-o build"))
    program(folder, "curl", shutil.which("curl"), CURL)
    for path in ROOT.iterdir():
        if path.name in (".ci", "Makefile", "README.md") or path.is_dir() and not path.name.startswith(".") and path.name != "certs":
            (folder / path.name).symlink_to(path)
    (folder / ".build" / "release").mkdir(parents=True)
    (folder / ".build" / "release" / "apns-emulator").symlink_to(BINARY)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "apns-emulator").symlink_to(ROOT / ".packaging" / "npm" / "package")
    for each in blocks("README.md"):
        write_file(each, folder)
    return environment


def write_file(block, folder):
    """What the reader was told to put into a file; answers whether the block is of that kind."""
    if is_file := block.tag.startswith("file "):
        (folder / block.tag.removeprefix("file ")).write_text(block.text + "\n")
    return is_file


class Player:
    def __init__(self, name, folder, text=None):
        self.name, self.folder = name, folder
        self.blocks = [each for each in blocks(name, text) if each.reason is None]
        self.environment = checked_out(folder)
        self.terminals = {}
        self.printed = None

    def play(self):
        tags = [each.tag for each in self.blocks if each.language == "sh"]
        if tags and not tags[0].startswith(("emulator", "each")):
            self._go_on("emulator", "apns-emulator serve --ports-file ports.json", "the start", "ready")
        for number, block in enumerate(self.blocks):
            if not write_file(block, self.folder):
                {"sh": self._type, "text": self._compare, "json": self._parse, "mermaid": lambda block, _: check_diagram(block)}.get(
                    block.language, self._run)(block, number)

    def close(self):
        """Ctrl-C everywhere, in the emulator's terminal last."""
        with contextlib.ExitStack() as stack:
            for terminal in self.terminals.values():
                stack.callback(terminal.close)

    def _terminal(self, name):
        if name not in self.terminals:
            self.terminals[name] = Terminal(self.folder, self.environment)
        return self.terminals[name]

    def _type(self, block, _):
        where, _, until = block.tag.partition(", once it says ")
        if where == "each in a terminal":
            for terminal in self.terminals.values():
                terminal.interrupt()
            for line in block.text.splitlines():
                self._go_on(line, line, block.place, until or "ready")
        elif where in ("", "fails"):
            terminal = self._terminal("first terminal")
            terminal.type(block.text)
            self.printed, failed = terminal.end()
            if (where == "fails") != bool(failed):
                raise Slip(f"{block.place}: {'failed: ' + ', '.join(failed) if failed else 'nothing failed'}; printed:\n{self.printed}")
        else:
            self._go_on(where, block.text, block.place, until or ("ready" if where == "emulator" else None))
            self.last = where

    def _go_on(self, name, commands, place, until):
        """Types what goes on beside the rest; returns once it says that, or has ended well."""
        terminal = self._terminal(name)
        terminal.type(commands)
        self.printed = None
        if until and not terminal.says(until):
            printed, failed = terminal.end()
            if failed:
                raise Slip(f"{place}: failed: {', '.join(failed)}; printed:\n{printed}")

    def _compare(self, block, _):
        if block.tag or self.printed is None:
            for line in block.text.splitlines():
                if line != "…":
                    self.terminals[block.tag or self.last].shows(pattern(line))
        elif not re.fullmatch(pattern(block.text), self.printed.removesuffix("\n") + "\n"):
            raise Slip(f"{block.place}: expected\n{block.text}\ngot\n{self.printed}")

    def _parse(self, block, _):
        # What is left out is a member of that name.
        text = re.sub(r"…(?=\s*})", '"…": 0', re.sub(r"…(?=\s*\])", '"…"', block.text))
        try:
            document = json.loads(text)
        except ValueError as error:
            raise Slip(f"{block.place}: {error}") from None
        if block.tag:
            path = self.folder / block.tag.removeprefix("as ")
            eventually(lambda: path.exists() and path.read_text().endswith("\n"), f"{path.name} is written")
            found = json.JSONDecoder().raw_decode(path.read_text())[0]
            for slip in differences(document, found, ""):
                raise Slip(f"{block.place}: {slip}, in {json.dumps(found)}")

    def _run(self, block, number):
        is_test = block.language == "python" and "def test_" in block.text
        suffix = {"python": "py", "js": "mjs", "cjs": "cjs"}[block.language]
        path = self.folder / f"{'test_' if is_test else ''}block_{number}.{suffix}"
        path.write_text(block.text + "\n")
        program = ["node"] if suffix != "py" else ["pytest", "-q"] if is_test else ["python3"]
        done = subprocess.run(
            [*program, path.name], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=2 * TIMEOUT)
        self.printed = done.stdout
        if done.returncode != 0 or is_test and f"{block.text.count('def test_')} passed" not in done.stdout:
            raise Slip(f"{block.place}: ended with {done.returncode}:\n{done.stdout}")


def differences(told, found, place):
    """Members that only one of both has, of those that are not left out."""
    if isinstance(told, dict) and isinstance(found, dict):
        for name in sorted(told.keys() ^ found.keys()):
            if name != "…" and (name in told or "…" not in told):
                yield f"{place}.{name} is {'told and not there' if name in told else 'there and not told'}"
        for name in sorted(told.keys() & found.keys()):
            yield from differences(told[name], found[name], f"{place}.{name}")
    elif type(told) is not type(found):
        yield f"{place} is told as {told!r} and is {found!r}"


def main(name, folder):
    # Ctrl-C is typed, too. Who starts tests in the background may have had it ignored, and shells would pass that on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    switch_loopback_on()
    with contextlib.closing(Player(name, pathlib.Path(folder))) as player:
        try:
            player.play()
        except (Slip, AssertionError) as slip:
            screens = [f"--- {name}\n{each.printed[-2000:]}" for name, each in player.terminals.items()]
            sys.exit("\n".join([str(slip), *screens]))


if __name__ == "__main__":
    main(*sys.argv[1:])
