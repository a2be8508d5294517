"""One line of a chapter's report: counts against totals, and what is missing."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Count:
    """How many there are of how many there must be."""

    what: str
    have: int
    want: int

    @property
    def ok(self) -> bool:
        return self.have >= self.want

    def __str__(self) -> str:
        return f"{self.what} {self.have}/{self.want}"


@dataclass(frozen=True)
class Most(Count):
    """How many there are of how many there may be, or of a ceiling above it."""

    ceiling: int = 0

    @property
    def ok(self) -> bool:
        return self.have <= max(self.want, self.ceiling)

    def __str__(self) -> str:
        over = f" (ceiling {self.ceiling:,})" if self.ceiling else ""
        return f"{self.what} {self.have:,}/{self.want:,}{over}"


@dataclass(frozen=True)
class Line:
    """A line of the report."""

    name: str  # what the line is about
    counts: tuple[Count, ...]  # each must be reached
    note: str = ""  # said after the counts
    missing: tuple[str, ...] = field(default=())
    not_run: bool = False  # something is not measured yet, and not owed

    @property
    def ok(self) -> bool:
        return all(count.ok for count in self.counts) and not self.missing

    @property
    def word(self) -> str:
        """*ok*, *short*, or *not run* where nothing is short and a part never ran."""
        if not self.ok:
            return "short"
        return "not run" if self.not_run else "ok"

    def __str__(self) -> str:
        said = ", ".join([*map(str, self.counts), *filter(None, [self.note])])
        return f"{self.word:7} {self.name}: {said}"

    def as_dict(self) -> dict[str, Any]:
        """The line with its counts by name."""
        return {
            "name": self.name,
            "ok": self.ok,
            "word": self.word,
            "counts": {c.what: [c.have, c.want] for c in self.counts},
            "note": self.note,
            "missing": list(self.missing),
        }
