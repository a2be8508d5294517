"""Smith-Waterman with and without DPX: operations counted while it really runs.

Local alignment of two sequences (T. Smith and M. Waterman, J. Mol. Biol. 1981) with
gaps that cost ``opened`` at first and ``extended`` for each further place (O. Gotoh,
J. Mol. Biol. 1982). A cell is additions and maxima of small integers and nothing else:

    E = max(E of the left - extended, H of the left - opened)
    F = max(F from above - extended, H from above - opened)
    H = max(H of the diagonal + score, E, F, 0)

Hopper's DPX instructions fuse an addition, a maximum and a clamp at zero (CUDA Math
API, ``__viaddmax_s32_relu``) or a maximum of three. ``align`` computes with a unit that
counts what it issues; ``per_cell`` is the count in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# Instructions of a cell. H - opened is computed once, for the right and for below.
PLAIN = {"add": 4, "max": 5}
FUSED = {"viaddmax": 2, "max": 1, "viaddmax_relu": 1, "add": 1}
# What one of them does: an addition and a maximum; and a clamp at zero besides.
REPLACES = {"viaddmax": ("add", "max"), "viaddmax_relu": ("add", "max", "max")}
LOW = -(10**9)


@dataclass(slots=True)
class Unit:
    """Integer arithmetic that counts; ``fused`` has the DPX instructions."""

    fused: bool
    issued: dict[str, int] = field(default_factory=dict)

    def _one(self, name: str) -> None:
        self.issued[name] = self.issued.get(name, 0) + 1

    def add(self, a: int, b: int) -> int:
        """``a + b``."""
        self._one("add")
        return a + b

    def maximum(self, a: int, b: int) -> int:
        """``max(a, b)``."""
        self._one("max")
        return max(a, b)

    def add_max(self, a: int, b: int, c: int) -> int:
        """``max(a + b, c)``: one instruction, or two."""
        if self.fused:
            self._one("viaddmax")
            return max(a + b, c)
        return self.maximum(self.add(a, b), c)

    def add_max_clamp(self, a: int, b: int, c: int) -> int:
        """``max(a + b, c, 0)``: one instruction, or three."""
        if self.fused:
            self._one("viaddmax_relu")
            return max(a + b, c, 0)
        return self.maximum(self.maximum(self.add(a, b), c), 0)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Best score, cells computed, and instructions by name."""

    score: int
    cells: int
    issued: dict[str, int] = field(hash=False)

    @property
    def per_cell(self) -> float:
        """Instructions a cell."""
        return sum(self.issued.values()) / self.cells


def align(
    a: str,
    b: str,
    *,
    fused: bool,
    match: int = 2,
    miss: int = -1,
    opened: int = 3,
    extended: int = 1,
) -> Alignment:
    """Score of the best local alignment, and the instructions it took."""
    if not a or not b:
        raise ValueError(f"sequences of {len(a)} and {len(b)} letters: one at least")
    if opened < 0 or extended < 0:
        raise ValueError(f"opened = {opened}, extended = {extended}: from 0 up")
    unit, best = Unit(fused), 0
    above = [0] * (len(b) + 1)
    above_opened, f = [-opened] * (len(b) + 1), [LOW] * (len(b) + 1)
    for letter in a:
        diagonal, left_opened, e = 0, -opened, LOW
        for j, other in enumerate(b, start=1):
            e = unit.add_max(e, -extended, left_opened)
            f[j] = unit.add_max(f[j], -extended, above_opened[j])
            gaps = unit.maximum(e, f[j])
            score = match if letter == other else miss
            h = unit.add_max_clamp(diagonal, score, gaps)
            left_opened = unit.add(h, -opened)  # for the right and for below
            diagonal, above[j], above_opened[j] = above[j], h, left_opened
            best = max(best, h)
    return Alignment(best, len(a) * len(b), unit.issued)


def per_cell(fused: bool) -> int:
    """Instructions of one cell, in closed form."""
    return sum((FUSED if fused else PLAIN).values())
