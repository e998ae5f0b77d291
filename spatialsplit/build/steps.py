"""What each step of a build saw, kept and dropped: the counts of the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One step's counts, with `n_in = n_kept + sum(dropped)`."""

    name: str
    n_in: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_kept(self) -> int:
        """What went on to the next step."""
        return self.n_in - sum(self.dropped.values())

    def entry(self) -> dict[str, Any]:
        """Give the step as it stands in the manifest; reasons that dropped nothing are left out."""
        dropped = {reason: count for reason, count in sorted(self.dropped.items()) if count}
        return {"step": self.name, "in": self.n_in, "kept": self.n_kept, "dropped": dropped}
