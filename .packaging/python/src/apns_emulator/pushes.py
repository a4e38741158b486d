"""What providers have sent, and how to wait for it."""

from __future__ import annotations

import base64
import dataclasses
import datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict

from .clock import moment
from .console import Console, ConsoleError

PAGE = 1000
"""How many are asked for at once."""


class Filters(TypedDict, total=False):
    """Which pushes are meant: all that are given must fit."""

    topic: str
    token: str
    udid: str
    interface: str
    """``gateway``, ``provider`` or ``console``."""
    status: int
    """What was answered: 200, 410, …"""
    reason: str
    """Why it was refused: ``BadDeviceToken``, …"""
    state: str
    """``rejected``, ``stored``, ``sent``, ``delivered``, ``replaced``, ``expired`` or ``discarded``."""
    phone: str
    """What a phone has made of it: ``presented``, ``callback``, …"""
    q: str
    """Text anywhere in the payload."""
    since: int
    """Only those after the one with this id."""


@dataclasses.dataclass(frozen=True)
class Push:
    """A push as the emulator got it from a provider, with what became of it."""

    id: int
    """Counts the pushes of this emulator, from 1."""
    received_at: datetime.datetime
    interface: str
    topic: Optional[str]
    token: str
    udid: Optional[str]
    """The device that the token is of; ``None`` if the token is unknown."""
    environment: str
    push_type: str
    priority: int
    expiration: Optional[datetime.datetime]
    """When it is given up; ``None`` if the provider said nothing."""
    apns_id: Optional[str]
    collapse_id: Optional[str]
    identifier: Optional[int]
    """Of the binary protocol."""
    payload: Any
    """The JSON of the payload; a text if it is none."""
    raw_payload: bytes
    """The bytes as they came."""
    accepted: bool
    """Whether the provider heard that all is well."""
    status: Optional[int]
    """``None`` where there was no answer."""
    reason: Optional[str]
    """Why it was refused; ``None`` if it was accepted."""
    explanation: Optional[str]
    """Which rule refused it, what was expected and what came."""
    fault: Optional[str]
    """The name of the fault that struck it, if one did."""
    state: str
    """Where it was on its way to the device when this was looked at."""
    raw: Dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """All that the console tells of it, with the ``timeline``."""

    @classmethod
    def told(cls, told: Dict[str, Any]) -> Push:
        verdict = told["verdict"]
        return cls(
            id=told["id"], received_at=moment(told["receivedAt"]), interface=told["interface"], topic=told["topic"],
            token=told["token"], udid=told["udid"], environment=told["environment"], push_type=told["pushType"],
            priority=told["priority"], expiration=moment(told["expiration"]) if told["expiration"] else None,
            apns_id=told["apnsId"], collapse_id=told["collapseId"], identifier=told["identifier"],
            payload=told["payload"], raw_payload=base64.b64decode(told["payloadBase64"]), accepted=verdict["accepted"],
            status=verdict["status"], reason=verdict["reason"], explanation=verdict["explanation"],
            fault=_fault_name(verdict["fault"]), state=told["state"], raw=told,
        )

    def __str__(self) -> str:
        outcome = "accepted" if self.accepted else self.reason or "no answer"
        to = self.udid or f"{self.token[:8]}…"
        return f"#{self.id} {self.topic or 'no topic'} to {to}: {outcome}, {self.state}, {_short(self.payload)}"


class NoPush(AssertionError):
    """No such push came in time; says what came instead, and what about it did not fit."""


def list_pushes(console: Console, filters: Mapping[str, Any]) -> List[Push]:
    """All that fit, oldest first."""
    found: List[Push] = []
    query = {**filters, "limit": PAGE}
    while True:
        page = console.get("/api/v1/notifications", query)
        found += map(Push.told, page["notifications"])
        if page["next"] is None or not page["notifications"]:
            return found
        query["since"] = page["next"]


def wait_for_pushes(console: Console, count: int, timeout: float, filters: Mapping[str, Any]) -> List[Push]:
    """Waits until so many fit; those that came before count too."""
    match = dict(filters)
    body = {"match": match, "count": count, "timeoutMs": round(timeout * 1000)}
    try:
        answer = console.request("POST", "/api/v1/notifications/wait", body, patience=timeout + 30)
    except ConsoleError as error:
        if error.status != 408:
            raise
        raise NoPush(_disappointment(error.body, count, timeout, filters, console)) from None
    return [Push.told(each) for each in answer["notifications"]]


def _disappointment(
    body: Mapping[str, Any], count: int, timeout: float, filters: Mapping[str, Any], console: Console
) -> str:
    wanted = ", ".join(f"{name}={value!r}" for name, value in filters.items()) or "any"
    came = len(body["notifications"])
    lines = [f"{came} of {count} pushes came within {timeout:g} s ({wanted})"]
    lines += [f"  came: {Push.told(each)}" for each in body["notifications"][-5:]]
    lines += [f"  near: {Push.told(each['notification'])}\n        {_misfits(each['failed'])}" for each in body["nearMisses"]]
    if len(lines) == 1:
        latest = list_pushes(console, {})[-5:]
        lines += [f"  else: {push}" for push in latest] or ["  and nothing else did"]
    return "\n".join(lines)


def _misfits(failed: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{each['filter']} is {each['actual']!r}, not {each['expected']!r}" for each in failed)


def _fault_name(fault: Any) -> Optional[str]:
    name = fault.get("name") if isinstance(fault, dict) else fault
    return str(name) if name is not None else None


def _short(payload: Any) -> str:
    text = str(payload)
    return text if len(text) <= 80 else text[:79] + "…"
