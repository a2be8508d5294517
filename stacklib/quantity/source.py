"""Where a value was read, and how far that can be trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass

CONFIDENCE = ("vendor", "measured", "secondary", "recalled", "announced")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value was read.

    Parameters
    ----------
    title : str
        The document.
    where : str
        The place in it (table, page, section).
    seen : str
        ISO date on which it was read.
    confidence : str
        One of ``vendor``, ``measured``, ``secondary``, ``recalled``,
        ``announced``.
    inherited : bool
        True when the field has no source of its own and takes its device's.

    Raises
    ------
    ValueError
        For an unknown confidence, an empty title or a date that is not ISO.
    """

    title: str
    where: str
    seen: str
    confidence: str
    inherited: bool = False

    def __post_init__(self) -> None:
        if self.confidence not in CONFIDENCE:
            raise ValueError(
                f"confidence {self.confidence!r}: use one of {', '.join(CONFIDENCE)}"
            )
        if not self.title.strip():
            raise ValueError("a source needs a title")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.seen):
            raise ValueError(f"source seen {self.seen!r}: write the date as 2026-11-21")
