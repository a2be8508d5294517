"""What attention in tiles asks of global memory: bytes by tensor, and FLOPs.

Tiles of queries outside (FlashAttention-2): a tile of queries is read once and its
result written once, and *all* keys and values that it sees are read for each tile of
queries, ceil(N / Br) times in all. Tiles of keys outside (FlashAttention-1): keys and
values are read once, and for each tile of keys the queries are read and the result and
two numbers a row are read, corrected and written. These are bytes *asked for*: what a
cache in front of the memory answers is counted by `read_once`.

Here N is ``tokens``, d ``head_dim``, Br ``tile_q``, Bc ``tile_k``; one head.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

ORDERS = {"fa2": "tiles of queries outside", "fa1": "tiles of keys outside"}
STATE = 4  # bytes of a row's height, and of its sum
# Scores are written, read by the softmax, weights written, and read again.
MATRIX_PASSES = 4


@dataclass(frozen=True, slots=True)
class Count:
    """Bytes and operations of one head's attention."""

    read: dict[str, int]  # bytes asked for, by tensor
    written: dict[str, int]
    unfused: int  # bytes of the same by three calls, with the matrix in memory
    matrix: int  # bytes of the matrix of scores; it crosses `MATRIX_PASSES` times
    flops: int  # of all pairs; of half of them where causal, as speeds are published
    flops_in_tiles: int  # of the pairs in tiles that are touched, masked ones too

    @property
    def bytes(self) -> int:
        """Read and written."""
        return sum(self.read.values()) + sum(self.written.values())

    @property
    def kv(self) -> int:
        """Bytes of keys and values that are read."""
        return self.read["k"] + self.read["v"]

    @property
    def saved(self) -> float:
        """How many times fewer bytes than by three calls."""
        return self.unfused / self.bytes


def io_count(
    *,
    tokens: int,
    head_dim: int,
    tile_q: int,
    tile_k: int,
    width: int = 2,
    causal: bool = False,
    order: str = "fa2",
) -> Count:
    """Bytes that the tiles of one head ask of global memory, in closed form.

    Parameters
    ----------
    tokens, head_dim : int
        Queries, and as many keys and values; numbers of each.
    tile_q, tile_k : int
        Rows of a tile of queries, and of keys and values. The last may be smaller.
    width : int
        Bytes of a number.
    causal : bool
        Whether a query sees only keys that are not after it; tiles that are masked
        altogether are not touched.
    order : str
        ``fa2``: tiles of queries outside; ``fa1``: tiles of keys outside.

    Returns
    -------
    Count

    Raises
    ------
    ValueError
        For a size that is no whole number from 1.
    UnknownName
        For another order.

    References
    ----------
    T. Dao and others, "FlashAttention", 2022, algorithm 1; T. Dao, "FlashAttention-2",
    2023, algorithm 1 and section 4.1, where FLOPs are halved for causal.

    Examples
    --------
    >>> count = io_count(tokens=4096, head_dim=128, tile_q=128, tile_k=128)
    >>> count.kv // (2 * 4096 * 128 * 2), count.read["q"] == 4096 * 128 * 2
    (32, True)
    """
    whole(tokens=tokens, head_dim=head_dim, tile_q=tile_q, tile_k=tile_k, width=width)
    row = head_dim * width
    once = tokens * row
    seen = keys_seen(tokens, tile_q, tile_k, causal)
    if resolve(order, ORDERS, "order") == "fa2":
        keys = sum(seen) * row
        read = {"q": once, "k": keys, "v": keys}
        written = {"o": once}
    else:
        # What the first tile of keys adds to is nothing, and is not read.
        queries = _queries_after(tokens, tile_q, tile_k, causal)
        again, state = queries - tokens, 2 * STATE
        read = {"q": queries * row, "k": once, "v": once}
        read |= {"o": again * row, "state": again * state}
        written = {"o": queries * row, "state": queries * state}
    matrix = tokens * tokens * width
    pairs = 2 * tokens * tokens
    return Count(
        read,
        written,
        4 * once + MATRIX_PASSES * matrix,
        matrix,
        pairs * head_dim if causal else 2 * pairs * head_dim,
        4 * head_dim * _pairs(tokens, tile_q, seen),
    )


def keys_seen(tokens: int, tile_q: int, tile_k: int, causal: bool) -> list[int]:
    """Keys that each tile of queries reads: N, or those in tiles up to its last row."""
    tiles = -(-tokens // tile_q)
    if not causal:
        return [tokens] * tiles
    ends = (min(tokens, (tile + 1) * tile_q) for tile in range(tiles))
    return [min(tokens, -(-end // tile_k) * tile_k) for end in ends]


def _queries_after(tokens: int, tile_q: int, tile_k: int, causal: bool) -> int:
    """Queries read for all tiles of keys: N each, or those from its first key's on."""
    tiles = -(-tokens // tile_k)
    if not causal:
        return tiles * tokens
    firsts = (tile * tile_k // tile_q * tile_q for tile in range(tiles))
    return sum(tokens - first for first in firsts)


def _pairs(tokens: int, tile_q: int, seen: list[int]) -> int:
    """Pairs in the tiles that are touched; the last tile of queries may be smaller."""
    missing = len(seen) * tile_q - tokens
    return tile_q * sum(seen) - missing * seen[-1]
