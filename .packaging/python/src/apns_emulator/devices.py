"""Somebody with a phone."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import queue
import signal
import subprocess
import threading
import time
import types
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Type

from .console import escaped
from .process import STOP_PATIENCE, EmulatorError
from .pushes import NoPush

if TYPE_CHECKING:
    from .emulator import Emulator

# Runs a command until the end of standard input, which comes when this process is killed, too.
GUARD = '"$@" < /dev/null & exec > /dev/null 2>&1; cat; kill $!; wait'


@dataclasses.dataclass(frozen=True)
class Message:
    """A push that has reached a phone."""

    topic: str
    token: str
    apns_id: Optional[str]
    priority: Optional[int]
    payload: Any
    """The JSON of the payload; a text if it is none."""
    raw_payload: bytes
    from_store: bool
    """Whether it was stored while the phone was offline."""

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Message:
        return cls(
            told["topic"], told["token"], told["apnsId"], told["priority"], told["payload"],
            base64.b64decode(told["payloadBase64"]), told["fromStore"],
        )


class Device:
    """A phone with apps. It is offline, and its newest notification stored for it, unless it is connected:

    >>> with emulator.device("phone-1", "com.example.app").connect() as phone:
    ...     # ... the code under test pushes to phone.token ...
    ...     assert phone.next_message().payload["aps"]["alert"] == "Hello"
    """

    def __init__(self, emulator: Emulator, udid: str) -> None:
        self._emulator, self.udid = emulator, udid
        self._tokens: Dict[str, str] = {}
        self._connection: Optional[_Connection] = None

    @property
    def token(self) -> str:
        """The token of its app, in hexadecimal; of the first one, if there are several."""
        if not self._tokens:
            raise EmulatorError(f"no app is installed on {self.udid}")
        return next(iter(self._tokens.values()))

    @property
    def tokens(self) -> Mapping[str, str]:
        """The token of each app by its topic."""
        return dict(self._tokens)

    def install(self, topic: str) -> str:
        """Installs an app as a person does, and answers its token. Twice is the same as once."""
        return self._change(topic, "install")

    def reinstall(self, topic: str) -> str:
        """Removes it and installs it again: it has another token then, and the old one is gone."""
        return self._change(topic, "reinstall")

    def remove(self, topic: str) -> None:
        """Removes an app: its token is gone once the phone has said so, which it does when the next push comes for it. The
        phone must be connected for that."""
        self._act(f"apps/{escaped(topic)}/remove")
        self._tokens.pop(topic, None)

    def erase(self) -> None:
        """Removes all apps at once."""
        self._act("erase")
        self._tokens.clear()

    def connect(self, patience: float = 30.0) -> Device:
        """Switches the phone on; returns when it is known to the service, with a token for each app."""
        if self._connection is None:
            connection = _Connection(self._emulator, self.udid, list(self._tokens))
            try:
                self._tokens.update(connection.wait_for_tokens(set(self._tokens), patience))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._emulator.connected.append(self)
        return self

    def disconnect(self) -> None:
        """Switches it off; what is sent now is kept for it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._emulator.connected.remove(self)

    def next_message(self, timeout: float = 5.0) -> Message:
        """The next message in order, each once; waits for one if need be. Raises ``NoPush`` if none came."""
        if self._connection is None:
            raise EmulatorError(f"{self.udid} is not connected")
        return Message.told(self._connection.next("notification", time.monotonic() + timeout))

    def _change(self, topic: str, verb: str) -> str:
        told = self._act(f"apps/{escaped(topic)}/{verb}")
        self._tokens[topic] = told["token"]
        return self._tokens[topic]

    def _act(self, what: str) -> Any:
        return self._emulator.console_api.post(f"/api/v1/devices/{escaped(self.udid)}/{what}")

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[types.TracebackType]
    ) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"Device({self.udid!r}, {', '.join(map(repr, self._tokens))})"


class _Connection:
    """``apns-emulator device --json``: a line for each thing that happens."""

    def __init__(self, emulator: Emulator, udid: str, topics: List[str]) -> None:
        self._udid = udid
        words = ["sh", "-c", GUARD, "sh", *emulator.command("device"), "--udid", udid, "--json", "--environment", emulator.environment]
        for topic in topics:
            words += ["--topic", topic]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            # Not those of an emulator that these tests may run in.
            env={**os.environ, **emulator.variables},
        )
        self._events: queue.Queue[Optional[Dict[str, Any]]] = queue.Queue()
        self._last_line = ""
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for_tokens(self, topics: set[str], patience: float) -> Dict[str, str]:
        deadline = time.monotonic() + patience
        tokens: Dict[str, str] = {}
        while topics - tokens.keys():
            event = self.next("token", deadline)
            tokens[event["topic"]] = event["token"]
        return tokens

    def next(self, name: str, deadline: float) -> Dict[str, Any]:
        while True:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                text = f"no {name} came to {self._udid} in time; the last it told was {self._last_line}"
                raise NoPush(text) from None
            if event is None:
                self._events.put(None)
                raise EmulatorError(f"{self._udid} ended: {self._last_line}")
            if event["event"] == name:
                return event

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(STOP_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._last_line = line.strip()
                if line.startswith("{"):
                    self._events.put(json.loads(line))
        self._events.put(None)
