"""The clock that every expiry and every date of an emulator goes by."""

from __future__ import annotations

import datetime
from typing import Any, Union

from .console import Console


class Clock:
    """What waits in real time (delays of faults, time-outs of waits) does not go by it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def now(self) -> datetime.datetime:
        """The emulator's present moment, in UTC."""
        return moment(self._console.get("/api/v1/clock")["now"])

    @property
    def is_frozen(self) -> bool:
        return bool(self._console.get("/api/v1/clock")["frozen"])

    def advance(self, by: Union[str, datetime.timedelta]) -> None:
        """Moves it forward: ``"61m"``, ``"1d12h"``, or a ``timedelta``; back, if that is negative."""
        if isinstance(by, datetime.timedelta):
            by = f"{round(by / datetime.timedelta(milliseconds=1))}ms"
        self._put(advance=by)

    def set(self, to: datetime.datetime) -> None:
        """Makes it another moment; time goes on from there unless it stands still."""
        utc = to.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        self._put(set=utc.isoformat(timespec="milliseconds") + "Z")

    def freeze(self) -> None:
        """Lets time stand still."""
        self._put(freeze=True)

    def unfreeze(self) -> None:
        """Lets time go on from where it stood."""
        self._put(freeze=False)

    def reset(self) -> None:
        """Follows the world's clock again."""
        self._console.post("/api/v1/reset", {"what": ["clock"]})

    def _put(self, **change: Any) -> None:
        self._console.request("PUT", "/api/v1/clock", change)


def moment(text: str) -> datetime.datetime:
    """A time as the console writes it."""
    layout = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in text else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.datetime.strptime(text, layout).replace(tzinfo=datetime.timezone.utc)
