"""What a provider was seen to do against Apple's advice."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Dict, List, Optional

from .clock import moment
from .console import Console


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that a provider does, once for each provider that does it."""

    id: str
    """``lost-after-error``, …: ``Documentation/advice.md`` has a heading for each."""
    severity: str
    """``error``: Apple refuses it, throttles for it, or a push is lost by it; ``warning``: against Apple's advice; ``note``."""
    sentence: str
    """What was seen."""
    remedy: str
    """What to do about it."""
    count: int
    """How often."""
    connections: int
    """How many connections did it."""
    interface: str
    """``gateway``, ``provider`` or ``console``."""
    credential: str
    """Whose connections; empty while they have shown nothing."""
    peer: str
    """The host that they come from."""
    first: datetime.datetime
    last: datetime.datetime
    notifications: List[int]
    """Ids of the first pushes that show it."""
    faults: Dict[str, int]
    """How many of ``count`` a fault has caused, by its name."""
    raw: Dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """All that the console tells of it."""

    @classmethod
    def told(cls, told: Dict[str, Any]) -> Finding:
        provider = told["provider"]
        return cls(
            id=told["id"], severity=told["severity"], sentence=told["sentence"], remedy=told["remedy"], count=told["count"],
            connections=told["connections"], interface=provider["interface"], credential=provider["credential"],
            peer=provider["peer"], first=moment(told["first"]), last=moment(told["last"]),
            notifications=list(told["notifications"]), faults={each["name"]: each["count"] for each in told["faults"]}, raw=told,
        )

    def __str__(self) -> str:
        examples = f"\n  pushes: {', '.join(map(str, self.notifications))}" if self.notifications else ""
        return f"{self.severity} {self.id}: {self.sentence}\n  {self.remedy}{examples}"


def list_findings(console: Console, severity: Optional[str], rule: Optional[str]) -> List[Finding]:
    """The worst first. What has not been sent again by now counts as lost."""
    console.post("/api/v1/advice/complete")
    given = {name: value for name, value in (("severity", severity), ("id", rule)) if value is not None}
    return [Finding.told(each) for each in console.get("/api/v1/advice", given)["findings"]]
