"""What goes wrong on purpose."""

from __future__ import annotations

import types
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Type

from .console import Console, ConsoleError, escaped


class Fault:
    """A rule that is in force. As a context manager it is removed at the end of the block."""

    def __init__(self, console: Console, name: str) -> None:
        self._console, self.name = console, name

    @property
    def rule(self) -> Dict[str, Any]:
        """The rule as the console has it: ``match``, ``when``, ``effect``, ``enabled``, ``hits``."""
        answer: Dict[str, Any] = self._console.get(self._path)
        return answer

    @property
    def hits(self) -> int:
        """How often it has struck."""
        return int(self.rule["hits"])

    def enable(self, enabled: bool = True) -> None:
        """Switches it on or off; off, what it held up goes on."""
        self._console.post("/api/v1/faults", {"name": self.name, "enabled": enabled})

    def remove(self) -> None:
        """Takes it away; what it held up goes on. It may be gone already."""
        try:
            self._console.request("DELETE", self._path)
        except ConsoleError as error:
            if error.status != 404:
                raise

    @property
    def _path(self) -> str:
        return "/api/v1/faults/" + escaped(self.name)

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[types.TracebackType]
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"Fault({self.name!r})"


class Faults:
    """The faults of an emulator, by name and in the order in which they are looked at."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def add(
        self,
        name: str,
        effect: Mapping[str, Any],
        *,
        next: Optional[int] = None,
        every: Optional[int] = None,
        probability: Optional[float] = None,
        interface: Optional[str] = None,
        topic: Optional[str] = None,
        token: Optional[str] = None,
        priority: Optional[int] = None,
        connection: Optional[str] = None,
    ) -> Fault:
        """Has something go wrong, in the place of a fault of the same name.

        >>> emulator.faults.add("busy", {"reason": "ServiceUnavailable"}, next=2, interface="provider")
        >>> emulator.faults.add("slow", {"delayMs": 300}, every=3, topic="com.example.app")

        Without ``next``, ``every`` or ``probability`` it strikes always; what else is named must fit. Every effect is in
        ``Documentation/faults.md``.
        """
        when = _given(next=next, every=every, probability=probability)
        match = _given(interface=interface, topic=topic, token=token, priority=priority, connection=connection)
        rule = {"name": name, "match": match, "effect": dict(effect)}
        self._console.post("/api/v1/faults", {**rule, "when": when} if when else rule)
        return Fault(self._console, name)

    def add_preset(self, preset: str) -> Fault:
        """One of those that the emulator knows: ``fail-twice``, ``outage``, ``flaky``, ``throttled`` and others."""
        return Fault(self._console, self._console.post("/api/v1/faults", {"preset": preset})["name"])

    def clear(self) -> None:
        """Takes all of them away."""
        self._console.post("/api/v1/reset", {"what": ["faults"]})

    def __getitem__(self, name: str) -> Fault:
        if name not in self._names():
            raise KeyError(name)
        return Fault(self._console, name)

    def __iter__(self) -> Iterator[Fault]:
        return iter([Fault(self._console, name) for name in self._names()])

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> Tuple[str, ...]:
        return tuple(rule["name"] for rule in self._console.get("/api/v1/faults")["faults"])


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
