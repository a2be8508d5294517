"""Memory as hardware sees it: sectors, banks, swizzles, layouts, caches.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that. A ``Cache`` is run on a
trace of addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .cache.cache import Cache
    from .cache.chain import chain
    from .cache.hierarchy import Hierarchy
    from .cache.replacement import misses
    from .dram.channel import DramChannel
    from .dram.parts import dram_part
    from .ladder.energy import decode_energy
    from .stack.builds import builds_of, package_builds
    from .stack.hbm import hbm_stack
    from .tiers.kv import kv_demand
    from .tiers.parts import drive
    from .tiers.tier import Tier, cheapest_tier
    from .tile.tiling import TiledMatmul
    from .warp.banks import bank_access, bank_conflicts
    from .warp.coalescing import coalesce, sectors
    from .warp.layout import Layout
    from .warp.swizzle import Swizzle
    from .warp.swizzle_search import find_swizzle
    from .warp.tiles import Tile
    from .warp.transposing import transpose
else:
    __all__, __getattr__, __dir__ = offer(__name__)
