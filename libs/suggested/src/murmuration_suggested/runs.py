"""What is known of a run. Pure."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """One run: when it began, how many people have a list in it, and whom anybody may be suggested."""

    version: str
    began_at: int  # ms
    people: int
    everybody: tuple[str, ...] = ()
    refused_because: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Write it, its version first."""
        told = {name: value for name, value in asdict(self).items() if name != "version"}
        return f"{self.version} {json.dumps(told)}"

    @classmethod
    def from_text(cls, text: str) -> "Run":
        """Read it; what a later release may add is left out."""
        version, _, told = text.partition(" ")
        known = {name: value for name, value in json.loads(told).items() if name in cls.__dataclass_fields__}
        lists: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in known.items()}
        return cls(version, **lists)
