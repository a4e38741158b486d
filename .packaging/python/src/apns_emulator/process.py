"""The program as a child of this process: how it is found, started, and ended whatever happens to us."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import selectors
import shutil
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

Setting = Union[str, int, float, "os.PathLike[str]", Sequence[str]]
"""The value of a flag; ``True`` for one that has none, a list for one that may be repeated."""

LISTENERS = ("gateway", "feedback", "provider", "courier", "console", "proxy")

# The command that `exec` runs. It tells the ports once they are open, then waits for the end of its standard input: that comes
# when the emulator is stopped, and as well when this process is killed, so that no emulator is ever left behind.
GUARD = 'echo "$APNS_EMULATOR_ACCESS" "$(cat "$APNS_EMULATOR_PORTS_FILE")"; cat > /dev/null; rm -rf "$0"'

STOP_PATIENCE = 10.0
"""Seconds that an emulator may take to end in order."""


class EmulatorError(Exception):
    """The emulator did not start, or is not running."""


def binary_path() -> pathlib.Path:
    """The program: that of this package, or the one that ``APNS_EMULATOR_BINARY`` names, or the first on the PATH."""
    named = os.environ.get("APNS_EMULATOR_BINARY")
    if named:
        return pathlib.Path(named)
    packaged = pathlib.Path(__file__).parent / "bin" / "apns-emulator"
    if packaged.exists():
        return packaged
    found = shutil.which("apns-emulator")
    if found is None:
        raise EmulatorError("there is no apns-emulator: name it in APNS_EMULATOR_BINARY, or put it on the PATH")
    return pathlib.Path(found)


def flags(settings: Mapping[str, Setting]) -> List[str]:
    """``token_seed="x", lenient=True`` as ``--token-seed x --lenient``."""
    words: List[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words += [flag] if value else []
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for each in value:
                words += [flag, str(each)]
        else:
            words += [flag, str(value)]
    return words


class EmulatorProcess:
    """One running emulator, with its files in a temporary folder that goes with it."""

    def __init__(self, arguments: Sequence[str], binary: Optional[os.PathLike[str]], patience: float) -> None:
        self.binary = str(binary or binary_path())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apns-emulator-"))
        self.log = self.folder / "log"
        self.access: Optional[str] = None
        self.ports: Dict[str, Any] = {}
        self._process: Optional[subprocess.Popen[bytes]] = None
        try:
            with authority.lent_to(self.folder / "certs"):
                self._process = self._launch(arguments)
                access, _, ports = self._first_line(self._process, time.monotonic() + patience).partition(" ")
            self.access, self.ports = access or None, json.loads(ports)
        except BaseException:
            self.stop()
            raise

    def _launch(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        words = [self.binary, "exec", "--ephemeral", "--log-level", "info"]
        words += ["--certs", str(self.folder / "certs"), "--ports-file", str(self.folder / "ports.json")]
        for listener in LISTENERS:
            words += [f"--{listener}-port", "0"]
        words += [*arguments, "--", "sh", "-c", GUARD, str(self.folder)]
        with open(self.log, "wb") as log:
            try:
                # A session of its own: Ctrl-C is for the tests, which then stop it themselves.
                return subprocess.Popen(
                    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
                )
            except OSError as error:
                raise EmulatorError(f"{self.binary} can't be run: {error.strerror}") from None

    def _first_line(self, process: subprocess.Popen[bytes], deadline: float) -> str:
        """What the guard tells as soon as all ports are open."""
        output = process.stdout
        assert output is not None
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise EmulatorError(f"the emulator did not get ready in time:\n{self.log_tail()}")
                chunk = os.read(output.fileno(), 65536)
                if not chunk:
                    process.wait(STOP_PATIENCE)
                    raise EmulatorError(f"the emulator did not start:\n{self.log_tail()}")
                line += chunk
        return line.decode()

    def log_tail(self) -> str:
        """The last lines that it logged."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
        except FileNotFoundError:
            return ""

    def stop(self) -> None:
        """Ends it in order, or, if that takes too long, at once."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            if self._process.poll() is None:
                self._process.terminate()
            try:
                self._process.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Authority:
    """The root and its certificates for servers and devices: made by the first emulator of this process, and given to those
    that follow, as RSA keys take most of a start's time and clients then trust one file only."""

    def __init__(self) -> None:
        self._files: Dict[str, bytes] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lent_to(self, folder: pathlib.Path) -> Iterator[None]:
        """Writes them there, for an emulator that is started in this block; one after the other while there are none yet."""
        with contextlib.ExitStack() as turn:
            if not self._files:
                turn.enter_context(self._lock)
            folder.mkdir(mode=0o700)
            for name, content in self._files.items():
                with open(folder / name, "xb", opener=_private) as file:
                    file.write(content)
            yield
            if not self._files:
                self._files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


authority = _Authority()

