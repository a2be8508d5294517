"""One attention, several witnesses: bytes of K and V asked of global memory.

The same tiles, counted by formula, by recorded NumPy loads, and by the sectors that two
machines touch. A compiler's interpreter or a cubin's instructions are two more: whoever
has their number adds a `Witness`. All are before any cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from stacklib.quantity.bounds import whole

from .count import io_count

WIDTH = 4  # bytes of a number on the machines
SECTOR = 32


@dataclass(frozen=True, slots=True)
class Tiling:
    """One head that every witness is asked about, in float32.

    - raises ``ValueError`` for a size that is no whole number from 1, and for rows that
      are no whole number of sectors, which tiles would share.
    """

    tokens: int
    head_dim: int
    tile_q: int
    tile_k: int
    causal: bool = False

    def __post_init__(self) -> None:
        sizes = asdict(self)
        del sizes["causal"]
        whole(**sizes)
        if self.head_dim * WIDTH % SECTOR:
            raise ValueError(
                f"head_dim = {self.head_dim}: rows of {self.head_dim * WIDTH} bytes "
                f"are no whole number of {SECTOR}-byte sectors; take a multiple of "
                f"{SECTOR // WIDTH}"
            )


@dataclass(frozen=True, slots=True)
class Witness:
    """What one of them says."""

    name: str
    k: int  # bytes of keys that were asked for
    v: int

    @property
    def kv(self) -> int:
        """Both."""
        return self.k + self.v


def formula(tiling: Tiling) -> Witness:
    """The closed form."""
    read = io_count(**asdict(tiling), width=WIDTH).read
    return Witness("formula", read["k"], read["v"])


def measured(tiling: Tiling, seed: int = 0) -> list[Witness]:
    """NumPy's recorded loads, the SIMT machine's sectors and the tile machine's.

    Each computes the attention of the same numbers; ``seed`` chooses them.

    - raises ``ArithmeticError`` when a witness has another result than the reference:
      its count is of no worth.
    """
    import numpy as np

    from . import recorded, twins
    from .naive import naive_attention

    random = np.random.default_rng(seed)
    shape = (3, tiling.tokens, tiling.head_dim)
    q, k, v = random.standard_normal(shape, dtype=np.float32)
    tiles: dict[str, Any] = {
        "tile_q": tiling.tile_q,
        "tile_k": tiling.tile_k,
        "causal": tiling.causal,
    }
    four = (x[None, None] for x in (q, k, v))
    right = naive_attention(*four, causal=tiling.causal)[0, 0]
    run = recorded.record(q, k, v, **tiles)
    found = [("recorded loads", run.out, run.read)]
    for name, machine in (
        ("SIMT sectors", twins.by_threads),
        ("tile sectors", twins.by_tiles),
    ):
        found.append((name, *machine(q, k, v, **tiles)))
    for name, out, _ in found:
        if not np.allclose(out, right, rtol=1e-4, atol=1e-5):
            raise ArithmeticError(f"{name}: the result of {tiling} is wrong")
    return [Witness(name, read["k"], read["v"]) for name, _, read in found]


def dissenting(tiling: Tiling, witnesses: Iterable[Witness]) -> list[str]:
    """What differs from the formula, in words; empty where all agree.

    Any witness's numbers may be among them, of the same ``tiling``.
    """
    told = formula(tiling)
    return [
        f"{one.name}: {name} {number:,} B, by formula {right:,} B"
        for one in witnesses
        for name, number, right in (("K", one.k, told.k), ("V", one.v, told.v))
        if number != right
    ]
