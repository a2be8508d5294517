"""Memory as hardware sees it: sectors, banks, swizzles, layouts, caches.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that. A ``Cache`` is run on a
trace of addresses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .cache.associative import hit_chance
from .cache.attention_trace import TiledAttention
from .cache.chase_model import ChaseLevel, gpu_levels, served
from .cache.find_levels import FoundLevel, find_levels
from .cache.replacement import belady_misses, misses, set_misses
from .cache.strides import column_fills, fullest_set
from .cache.waves import stream_trace, wave_reads
from .dram.bursts import Bus, Streamed, count_stream, stack_bus, strided_beats
from .dram.cell import Cell
from .dram.channel import DramChannel, Served
from .dram.in_flight import Saturation, closed_rate, closed_run, saturate
from .dram.parts import DramPart, dram_names, dram_part
from .dram.rates import random_rate, refresh_overhead, stream_share
from .dram.verify import TimingViolation, verify
from .ladder.energy import StepEnergy, decode_energy, energy_of
from .ladder.rungs import Rung, mean_step, steps
from .scratchpad.operations import Op, Program, cyclic_loads
from .scratchpad.programs import matmul_program, mlp_program
from .scratchpad.spilling import Plan, allocate
from .stack.bandwidths import Explained, column, explain
from .stack.builds import Builds, PackageBuild, builds_of, package_builds
from .stack.generations import GenerationRow, Growth, generation_rows, growth
from .stack.hbm import HbmStack, hbm_stack
from .stack.height import Section, inferred, thickest_die
from .stack.shoreline import (
    edge_bandwidth,
    interface_power,
    packed,
    stacks_along,
    ucie_edge,
)
from .tiers.checkpoint import checkpoint_bytes, daly_interval, young_interval
from .tiers.kv import KvDemand, drives_needed, kv_demand
from .tiers.mix import Mix, Pages, cheapest_mix, zipf_pages
from .tiers.parts import Drive, drive
from .tiers.seen import tiers_from
from .tiers.spill import TwoTiers, knee, layer_steps, spilled_time, two_tiers
from .tiers.tier import Need, Tier, average_access_time, cheapest_tier
from .tile.fit import TileFit, best_tile, fit_tile
from .tile.fusion import chain_bytes, chain_trace
from .tile.tiling import TiledMatmul, hong_kung, tile_intensity, tile_traffic
from .warp.arranged import Swizzled, tiled, vector_width
from .warp.banked import BankedMemory
from .warp.banks import BankAccess, bank_access, bank_conflicts, strided_ways
from .warp.coalescing import Request, coalesce, sectors, strided_pieces
from .warp.layout import (
    Layout,
    coalesced,
    complement,
    composed,
    divided,
    multiplied,
    row_major,
)
from .warp.swizzle import Swizzle, matching_swizzle
from .warp.swizzle_proof import rank_ways
from .warp.swizzle_search import Search, find_swizzle, search_swizzle
from .warp.tiles import Pattern, Tile, least_ways
from .warp.transposing import Transposed, transpose

if TYPE_CHECKING:
    from .cache.cache import Cache, Traffic, chain
    from .cache.chase_run import Chase, chase
    from .cache.hierarchy import Flow, Hierarchy, LevelCounts
    from .cache.l2 import l2_cache
    from .cache.recorded import attend, multiply
    from .cache.reuse import expected_hits, hit_curve, predicted_hits, reuse_distances
    from .cache.walk import Walk, strided_walk
    from .scratchpad.run import Execution, execute, run_matmul, run_mlp
    from .tiers.walk import TierWalk, walk_tiers, zipf_trace
    from .tile.blocked_product import TiledProduct, blocked, line_trace, tiled_product
    from .warp.batches import Requests, bank_ways, coalesce_all

_WITH_NUMPY = {
    "Cache": "cache.cache",
    "Chase": "cache.chase_run",
    "Execution": "scratchpad.run",
    "Flow": "cache.hierarchy",
    "Hierarchy": "cache.hierarchy",
    "LevelCounts": "cache.hierarchy",
    "Requests": "warp.batches",
    "TierWalk": "tiers.walk",
    "TiledProduct": "tile.blocked_product",
    "Traffic": "cache.cache",
    "Walk": "cache.walk",
    "attend": "cache.recorded",
    "bank_ways": "warp.batches",
    "blocked": "tile.blocked_product",
    "chain": "cache.cache",
    "chase": "cache.chase_run",
    "coalesce_all": "warp.batches",
    "execute": "scratchpad.run",
    "expected_hits": "cache.reuse",
    "hit_curve": "cache.reuse",
    "l2_cache": "cache.l2",
    "line_trace": "tile.blocked_product",
    "multiply": "cache.recorded",
    "predicted_hits": "cache.reuse",
    "reuse_distances": "cache.reuse",
    "run_matmul": "scratchpad.run",
    "run_mlp": "scratchpad.run",
    "strided_walk": "cache.walk",
    "tiled_product": "tile.blocked_product",
    "walk_tiers": "tiers.walk",
    "zipf_trace": "tiers.walk",
}


def __getattr__(name: str) -> Any:
    if name in _WITH_NUMPY:
        module = importlib.import_module(f"{__name__}.{_WITH_NUMPY[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # also what is imported later


__all__ = [
    "BankAccess",
    "BankedMemory",
    "Builds",
    "Bus",
    "Cache",
    "Cell",
    "Chase",
    "ChaseLevel",
    "DramChannel",
    "DramPart",
    "Drive",
    "Execution",
    "Explained",
    "Flow",
    "FoundLevel",
    "GenerationRow",
    "Growth",
    "HbmStack",
    "Hierarchy",
    "KvDemand",
    "Layout",
    "LevelCounts",
    "Mix",
    "Need",
    "Op",
    "PackageBuild",
    "Pages",
    "Pattern",
    "Plan",
    "Program",
    "Request",
    "Requests",
    "Rung",
    "Saturation",
    "Search",
    "Section",
    "Served",
    "StepEnergy",
    "Streamed",
    "Swizzle",
    "Swizzled",
    "Tier",
    "TierWalk",
    "TwoTiers",
    "Tile",
    "TileFit",
    "TiledAttention",
    "TiledMatmul",
    "TiledProduct",
    "TimingViolation",
    "Traffic",
    "Transposed",
    "Walk",
    "allocate",
    "attend",
    "average_access_time",
    "bank_access",
    "bank_conflicts",
    "bank_ways",
    "belady_misses",
    "best_tile",
    "blocked",
    "builds_of",
    "chain",
    "chain_bytes",
    "chain_trace",
    "chase",
    "cheapest_mix",
    "cheapest_tier",
    "checkpoint_bytes",
    "closed_rate",
    "closed_run",
    "coalesce",
    "coalesce_all",
    "coalesced",
    "column",
    "column_fills",
    "complement",
    "composed",
    "count_stream",
    "cyclic_loads",
    "daly_interval",
    "decode_energy",
    "divided",
    "dram_names",
    "dram_part",
    "drive",
    "drives_needed",
    "edge_bandwidth",
    "energy_of",
    "execute",
    "expected_hits",
    "explain",
    "find_levels",
    "find_swizzle",
    "fit_tile",
    "fullest_set",
    "generation_rows",
    "gpu_levels",
    "growth",
    "hbm_stack",
    "hit_chance",
    "hit_curve",
    "hong_kung",
    "inferred",
    "interface_power",
    "knee",
    "kv_demand",
    "l2_cache",
    "layer_steps",
    "least_ways",
    "line_trace",
    "matching_swizzle",
    "matmul_program",
    "mean_step",
    "misses",
    "mlp_program",
    "multiplied",
    "multiply",
    "package_builds",
    "packed",
    "predicted_hits",
    "random_rate",
    "rank_ways",
    "refresh_overhead",
    "reuse_distances",
    "row_major",
    "run_matmul",
    "run_mlp",
    "saturate",
    "search_swizzle",
    "sectors",
    "served",
    "set_misses",
    "spilled_time",
    "stack_bus",
    "stacks_along",
    "steps",
    "stream_share",
    "stream_trace",
    "strided_beats",
    "strided_pieces",
    "strided_walk",
    "strided_ways",
    "thickest_die",
    "two_tiers",
    "tiers_from",
    "tile_intensity",
    "tile_traffic",
    "tiled",
    "tiled_product",
    "transpose",
    "ucie_edge",
    "vector_width",
    "verify",
    "walk_tiers",
    "wave_reads",
    "young_interval",
    "zipf_pages",
    "zipf_trace",
]
