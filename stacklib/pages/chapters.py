"""The ten chapters by number, from ``chapters.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter, written or planned."""

    number: int
    room: str  # of stacklib; the folder's name behind the number
    title: str
    about: str  # two sentences
    reader: str  # who should read it

    @property
    def folder(self) -> str:
        """Its folder below ``chapters/`` and ``exercises/``."""
        return f"{self.number:02}-{self.room}"


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CHAPTERS = {row["number"]: Chapter(**row) for row in _TABLE["chapter"]}
