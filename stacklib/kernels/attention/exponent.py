"""How the bytes of attention in tiles grow with head_dim: by its square.

A chip that holds M numbers holds tiles of M / (4d) *rows*: queries, keys, values and
result. So there are 4 N d / M tiles of queries, and each reads 2 N d numbers of keys
and values: 8 N^2 d^2 / M. A bound of N^2 d / M comes of counting a tile as M / 4 rows,
whatever their length: the exponent is lost where numbers are taken for rows. The models
take floats, quantities or arrays.
"""

from __future__ import annotations

from math import log2
from typing import Any

from .count import io_count

TILES_HELD = 4  # of queries, keys, values and the result


def tile_rows(head_dim: Any, on_chip: Any) -> Any:
    """Rows of each tile that a chip of so many numbers holds, M / (4d).

    T. Dao and others, "FlashAttention", 2022, algorithm 1, line 1.
    """
    return on_chip / (TILES_HELD * head_dim)


def kv_numbers(tokens: Any, head_dim: Any, rows: Any) -> Any:
    """Numbers of keys and values that tiles of queries of so many rows read.

    With `tile_rows`, 8 N^2 d^2 / M (theorem 2); with M / 4, the bound that lost a d.
    """
    return tokens / rows * (2 * tokens * head_dim)


def saving(head_dim: Any, on_chip: Any) -> Any:
    """The order of what tiles save, M / d^2: N^2 over N^2 d^2 / M, no constants."""
    return on_chip / head_dim**2


def exponent_counted(
    *, tokens: int, head_dim: int, on_chip: int, order: str = "fa2"
) -> float:
    """log2 of how the counted bytes grow when head_dim is doubled and tiles still fit.

    2 less what is read once: that grows by the first power. ``on_chip``: in numbers.

    - raises ``ValueError`` where not even one row of each tile fits.
    """
    counts = []
    for wide in (head_dim, 2 * head_dim):
        rows = int(tile_rows(wide, on_chip))
        if not rows:
            raise ValueError(
                f"on_chip = {on_chip} numbers: no row of each of {TILES_HELD} tiles of "
                f"head_dim {wide} fits"
            )
        count = io_count(
            tokens=tokens, head_dim=wide, tile_q=rows, tile_k=rows, order=order
        )
        counts.append(count.bytes)
    return log2(counts[1] / counts[0])
