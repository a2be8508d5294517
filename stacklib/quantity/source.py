"""Where a value was read, and how far that can be trusted."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from .files import PACKAGE

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


@cache
def owed() -> tuple[str, ...]:
    """Modules whose numbers do not all have a witness yet: a list that only shrinks.

    In them a leaf that was read may still name no record, a private function may still
    stand behind a count, and typed dots be called measured. Everywhere else that is
    refused where it is made.
    """
    path = PACKAGE / "quantity" / "data" / "owed.toml"
    return tuple(tomllib.loads(path.read_text("utf-8"))["modules"])


def owes(module: str) -> bool:
    """Whether a module, or the package it stands in, is in that list."""
    return any(f"{module}.".startswith(f"{name}.") for name in owed())
