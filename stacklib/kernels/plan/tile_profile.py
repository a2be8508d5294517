"""A profile of the blocked product: what a tile shape spends its time on, by name.

``memory.tile.blocked_product`` walks the rows of a tile of W for every four rows of Y.
Six terms, each a count over a rate, and the largest gives the bottleneck its name:

    arithmetic   2 m n k over the core's rate with operands in the first cache
    short rows   m k / 16 ceil(n / tile_n) starts of the innermost loop
    W tiles      m / tile_m passes over W, each of its tiles fetched anew
    W rows       the other m / 4 passes, where a tile does not stay in the first cache
    Y            k / tile_k passes over Y, read and written
    X            n / tile_n passes over X

``MOVES`` says what helps against each. The sum is a crude model of the time: good
enough to say where to look, which is all that a guided search asks of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero, whole

WIDTH, GROUP = 4, 4  # bytes of a number; rows of Y in a pass
MOVES = {
    "short rows": (("tile_n", 1), ("tile_n", 2)),
    "W tiles": (("tile_m", 1), ("tile_m", 2)),
    "W rows": (("tile_k", -1), ("tile_n", -1), ("tile_k", -2)),
    "Y": (("tile_k", 1), ("tile_m", -1), ("tile_k", 2)),
    "X": (("tile_n", 1), ("tile_m", 1)),
    "arithmetic": (("tile_k", 1), ("tile_n", 1), ("tile_m", 1)),
}


@dataclass(frozen=True, slots=True)
class Core:
    """What a core has; times in seconds, sizes in bytes, rates a second."""

    rate: float  # operations with all operands near
    start_s: float  # of the innermost loop
    l1: int
    l2: int
    from_l2: float
    from_l3: float

    def __post_init__(self) -> None:
        above_zero(**{name: getattr(self, name) for name in self.__slots__})

    def fetch(self, held: int, moved: float) -> float:
        """Seconds to bring so many bytes of something that is so large."""
        if held <= self.l1:
            return 0.0
        return moved / (self.from_l2 if held <= self.l2 else self.from_l3)


def tile_terms(size: int, tile: Mapping[str, int], core: Core) -> dict[str, float]:
    """Seconds by name of a square product, in tiles ``tile_m``, ``tile_n``, ``tile_k``.

    - raises ``ValueError`` for sizes below one.
    """
    m, n, k = (min(size, tile[name]) for name in ("tile_m", "tile_n", "tile_k"))
    whole(size=size, tile_m=m, tile_n=n, tile_k=k)
    square = WIDTH * size * size
    across, deep = math.ceil(size / n), math.ceil(size / k)
    sweeps = math.ceil(size / GROUP) ** 2 * across
    # What lies between two uses of a row of W: its tile, and four rows of Y.
    w_held = WIDTH * (k * n + GROUP * n)
    y_held = WIDTH * (m * n + k * n)
    x_held = WIDTH * (m * size + k * n)
    return {
        "arithmetic": 2 * size**3 / core.rate,
        "short rows": sweeps * core.start_s,
        "W tiles": core.fetch(square, math.ceil(size / m) * square),
        "W rows": core.fetch(w_held, (size / GROUP - math.ceil(size / m)) * square),
        "Y": core.fetch(y_held, 2 * square * (deep - 1)),
        "X": core.fetch(x_held, square * (across - 1)),
    }


def bottleneck(size: int, tile: Mapping[str, int], core: Core) -> str:
    """Name of the largest term but for arithmetic, which every tile has.

    ``arithmetic`` where the others are small beside it.
    """
    terms = tile_terms(size, tile, core)
    floor = terms.pop("arithmetic") / 20
    name = max(terms, key=lambda term: terms[term])
    return name if terms[name] > floor else "arithmetic"
