"""Memory as hardware sees it: sectors, banks, swizzles, layouts, caches.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that. A ``Cache`` is run on a
trace of addresses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .arranged import Swizzled, tiled, vector_width
from .associative import hit_chance
from .attention_trace import TiledAttention
from .bandwidths import Explained, column, explain
from .banked import BankedMemory
from .banks import BankAccess, bank_access, bank_conflicts, strided_ways
from .builds import Builds, PackageBuild, builds_of, package_builds
from .bursts import Bus, Streamed, count_stream, stack_bus, strided_beats
from .chase_model import ChaseLevel, gpu_levels, served
from .coalescing import Request, coalesce, sectors, strided_pieces
from .dram import random_rate, refresh_overhead, stream_share
from .dram_cell import Cell
from .dram_channel import DramChannel, Served
from .dram_parts import DramPart, dram_names, dram_part
from .dram_verify import TimingViolation, verify
from .energy import StepEnergy, decode_energy, energy_of
from .find_levels import FoundLevel, find_levels
from .fusion import chain_bytes, chain_trace
from .generations import GenerationRow, Growth, generation_rows, growth
from .hbm import HbmStack, hbm_stack
from .in_flight import Saturation, closed_rate, closed_run, saturate
from .ladder import Rung, ladder, mean_step, steps
from .layout import (
    Layout,
    coalesced,
    complement,
    composed,
    divided,
    multiplied,
    row_major,
)
from .parts import Drive, drive
from .replacement import belady_misses, misses, set_misses
from .scratch_programs import matmul_program, mlp_program
from .scratchpad import Op, Program, cyclic_loads
from .shoreline import edge_bandwidth, interface_power, packed, stacks_along, ucie_edge
from .spilling import Plan, allocate
from .stack_height import Section, inferred, thickest_die
from .strides import column_fills, fullest_set
from .swizzle import Swizzle, matching_swizzle
from .swizzle_proof import rank_ways
from .swizzle_search import Search, find_swizzle, search_swizzle
from .tier_spill import TwoTiers, knee, layer_steps, spilled_time, two_tiers
from .tiers import Need, Tier, average_access_time, cheapest_tier
from .tiers_checkpoint import checkpoint_bytes, daly_interval, young_interval
from .tiers_kv import KvDemand, drives_needed, kv_demand
from .tiers_mix import Mix, Pages, cheapest_mix, zipf_pages
from .tiers_seen import tiers_from
from .tile_fit import TileFit, best_tile, fit_tile
from .tiles import Pattern, Tile, least_ways
from .tiling import TiledMatmul, hong_kung, tile_intensity, tile_traffic
from .transposing import Transposed, transpose
from .waves import stream_trace, wave_reads

if TYPE_CHECKING:
    from .batches import Requests, bank_ways, coalesce_all
    from .blocked_product import TiledProduct, blocked, line_trace, tiled_product
    from .cache import Cache, Traffic, chain
    from .chase_run import Chase, chase
    from .hierarchy import Flow, Hierarchy, LevelCounts
    from .l2 import l2_cache
    from .recorded import attend, multiply
    from .reuse import expected_hits, hit_curve, predicted_hits, reuse_distances
    from .scratchpad_run import Execution, execute, run_matmul, run_mlp
    from .tiers_walk import TierWalk, walk_tiers, zipf_trace
    from .walk import Walk, strided_walk

_WITH_NUMPY = {
    "Cache": "cache",
    "Chase": "chase_run",
    "Execution": "scratchpad_run",
    "Flow": "hierarchy",
    "Hierarchy": "hierarchy",
    "LevelCounts": "hierarchy",
    "Requests": "batches",
    "TierWalk": "tiers_walk",
    "TiledProduct": "blocked_product",
    "Traffic": "cache",
    "Walk": "walk",
    "attend": "recorded",
    "bank_ways": "batches",
    "blocked": "blocked_product",
    "chain": "cache",
    "chase": "chase_run",
    "coalesce_all": "batches",
    "execute": "scratchpad_run",
    "expected_hits": "reuse",
    "hit_curve": "reuse",
    "l2_cache": "l2",
    "line_trace": "blocked_product",
    "multiply": "recorded",
    "predicted_hits": "reuse",
    "reuse_distances": "reuse",
    "run_matmul": "scratchpad_run",
    "run_mlp": "scratchpad_run",
    "strided_walk": "walk",
    "tiled_product": "blocked_product",
    "walk_tiers": "tiers_walk",
    "zipf_trace": "tiers_walk",
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
    "ladder",
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
