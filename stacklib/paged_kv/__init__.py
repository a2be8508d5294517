"""Who owns which block of a cache: the room of paged KV memory.

``BlockAllocator(blocks).allocate(tokens)`` gives a sequence its blocks, found by
content where somebody had the same beginning; ``PrefixTree()`` keeps beginnings of any
length. Both say why they found no more. They hand out numbers of blocks, never
contents: whoever owns the memory copies and saves it when told to. A ``TieredCache``
says which block is in which tier of memory, and ``kv_transfer`` how long a cache is on
its way to another server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .allocator import BlockAllocator, Sequence, Short
    from .found import Match, Why
    from .tiered import Served, TieredCache
    from .transfer import Transfer, kv_transfer
    from .tree import Lock, PrefixTree
    from .views import BlockView, Stats
else:
    __all__, __getattr__, __dir__ = offer(__name__)
