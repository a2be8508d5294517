"""One row at one point, its values by the roles that its units and words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.quantity import Quantity

from .entries import RUN

SLACK = 1 + 2e-5  # values were rounded to six digits
DIRECTIONS = frozenset({"per_direction", "bidirectional"})
_ROLE_BY_DIMENSIONS = {
    (("FLOP", 1), ("s", -1)): "rate",
    (("OP", 1), ("s", -1)): "rate",
    (("B", 1), ("s", -1)): "bandwidth",
    (("FLOP", 1),): "work",
    (("OP", 1),): "work",
    (("B", -1), ("OP", 1)): "intensity",
    (("B", 1),): "traffic",
    (("B", -1), ("FLOP", 1)): "intensity",
    (("s", 1),): "time",
    (("J", 1), ("s", -1)): "power",
    (("s", -1), ("token", 1)): "tokens",
}
# What a label says where neither role nor unit does: of a plain number that it is part
# of a whole, or not, of bytes that they must fit.
_SHARE = re.compile(
    r"^(share|fraction)\b|\b(share|fraction) of|"
    r"\b(occupancy|utili[sz]ation|efficiency|mfu|mbu|hit rate)\b",
    re.I,
)
_RATIO = re.compile(r"\b(over|ratio|change|gain|more|faster|error)\b", re.I)
_MEMORY = re.compile(r"\bmemory\b", re.I).search  # whose bytes go one way, too
_RESIDENT = re.compile(
    r"^(memory(?! of)|needs?|needed)\b|"
    r"\b(holds?|held|resident|capacity|weights|fits?)\b",
    re.I,
)
_LINK = re.compile(r"\b(nvlink|pcie|infiniband|link|port)\b", re.I)


@dataclass(frozen=True)
class Point:
    """One row at one point: its values as quantities, by column and by role."""

    where: str
    row: dict[str, Any]
    device: hardware.Accelerator | None
    values: dict[str, tuple[Quantity, str]]

    def of(self, role: str) -> Iterator[tuple[str, Quantity]]:
        """Columns and values that play ``role``."""
        for column, (value, is_role) in self.values.items():
            if is_role == role:
                yield column, value

    @property
    def words(self) -> str:
        """All that the row says."""
        return f"{self.where}, {', '.join(self.values)}"

    def rates_over_links(self) -> Iterator[tuple[str, Quantity]]:
        """Columns and values of bytes a second that have a direction, or the role."""
        for column, (value, role) in self.values.items():
            if role == "link" or (value.tags & DIRECTIONS and not _MEMORY(column)):
                yield column, value.to("B/s")

    def fault(self, column: str, value: Quantity, says: str) -> str:
        return f"{self.where}, column {column}: {value.text(digits=5)} {says}"


def role_of(column: str, value: Quantity, told: str) -> str:
    """The role of a value: told, or by its unit, or by the words of its column."""
    role = told.removesuffix(RUN).strip()
    if role:
        return role
    if value.unit == "%":
        return "ratio" if _RATIO.search(column) else "share"
    dims = value.shown.dims
    if dims == (("B", 1), ("s", -1)) and not _MEMORY(column):
        if value.tags & DIRECTIONS or _LINK.search(column):
            return "link"
    if not dims and _SHARE.search(column):
        return "share"
    if dims == (("B", 1),) and _RESIDENT.search(column):
        return "resident"
    return _ROLE_BY_DIMENSIONS.get(dims, "")


def over(
    p: Point, column: str, value: Quantity, bound: float, of: str
) -> Iterator[str]:
    if value.si > bound * SLACK:
        limit = Quantity(bound / value.shown.factor, value.shown.bare().text)
        on = f"{p.row['chips']} x {p.row['device']}"
        says = f"exceeds {limit.text(digits=5)}, {of} of {on}"
        yield p.fault(column, value, says)
