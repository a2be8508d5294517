"""Keys and values in blocks: the memory that sequences share.

A block holds ``block`` tokens of one sequence in every layer. `PagedCache` lets
``tinylm.forward`` read one sequence through its table: the obvious slow version of
`batched.forward_batch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.tinylm.config import Config
from stacklib.tinylm.forward import Floats


@dataclass
class Pool:
    """The numbers of all blocks, (layers, blocks, kv_heads, block, head_dim) twice."""

    config: Config
    blocks: int
    block_size: int
    keys: Floats = field(init=False, repr=False)
    values: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        whole(blocks=self.blocks, block_size=self.block_size)
        c = self.config
        each = (c.num_key_value_heads, self.block_size, c.head_dim)
        shape = (c.num_hidden_layers, self.blocks, *each)
        # Written, not only asked for: else a step that is the first on a block would
        # wait until the system has found memory for it.
        self.keys = np.full(shape, 0, dtype=np.float32)
        self.values = np.full(shape, 0, dtype=np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a block's keys: layers, heads, tokens, numbers of a head."""
        return self.keys[:, 0].shape

    def read(self, block: int) -> tuple[Floats, Floats]:
        """A block's keys and values in all layers, copied."""
        return self.keys[:, block].copy(), self.values[:, block].copy()

    def write(self, block: int, keys: Floats, values: Floats) -> None:
        """Put back what `read` gave, into any block."""
        self.keys[:, block] = keys
        self.values[:, block] = values

    def copy(self, source: int, target: int) -> None:
        """One block onto another, as copy on write asks for."""
        self.write(target, self.keys[:, source], self.values[:, source])


@dataclass
class PagedCache:
    """One sequence's cache as ``tinylm.forward`` takes it, kept in a pool's blocks."""

    pool: Pool
    table: Sequence[int]
    length: int = 0

    def extend(self, layer: int, keys: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Keep a layer's new keys and values; all of them so far come back."""
        size, end = self.pool.block_size, self.length + keys.shape[1]
        for token, place in enumerate(range(self.length, end)):
            block, offset = self.table[place // size], place % size
            self.pool.keys[layer, block, :, offset] = keys[:, token]
            self.pool.values[layer, block, :, offset] = values[:, token]
        used = list(self.table[: -(-end // size)])

        def together(x: Floats) -> Floats:  # (used, heads, size, d) -> (heads, end, d)
            heads, wide = x.shape[1], x.shape[3]
            return x[used].swapaxes(0, 1).reshape(heads, -1, wide)[:, :end]

        return together(self.pool.keys[layer]), together(self.pool.values[layer])
