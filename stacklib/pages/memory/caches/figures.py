"""Figures of what an order of blocks reads from memory: by formula, and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.waves import L2_WAYS, stream_trace, wave_reads
from stacklib.memory.tile.tiling import TiledMatmul
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, rule

if TYPE_CHECKING:
    from stacklib.memory.cache.cache import Cache

MEGA = 2**20


def _cache(mib: float, line_size: int) -> Cache:
    """A cache of about ``mib`` MiB whose lines are tiles."""
    from stacklib.memory.cache.cache import Cache

    # An odd number of sets, over which regular strides spread: as in `memory.l2_cache`.
    sets = max(1, int(mib * MEGA) // (L2_WAYS * line_size) - 1) | 1
    return Cache(sets * L2_WAYS * line_size, L2_WAYS, line_size)


def attention_orders_spec(
    plan: TiledAttention,
    *,
    at_once: int,
    sections: Mapping[str, int],
    capacities: Sequence[float],
    l2: Mapping[str, float],
    title: str,
) -> Spec:
    """Bytes attention reads from memory against the capacity of the L2, in MiB.

    ``sections`` is heads side by side by the name of an order; the simulated cache is
    run at ``capacities``, and the formula drawn between them.
    """
    first, last = capacities[0], capacities[-1]
    fine = [first * (last / first) ** (i / 48) for i in range(49)]
    tile = plan.k_tile_bytes
    marks: list[Mark] = []
    for i, (name, section) in enumerate(sections.items()):
        reads = [
            plan.reads(at_once=at_once, capacity=mib * MEGA, section=section)
            for mib in fine
        ]
        trace = plan.trace(at_once=at_once, section=section, line=tile)
        misses = [1 - trace.read_hit_rate(_cache(mib, tile)) for mib in capacities]
        told = [r.missed / 1e9 for r in reads]
        run = [m * plan.bytes_read / 1e9 for m in misses]
        marks += _told_and_run(name, (fine, told), (capacities, run), i)
    marks += [rule(name, "predicted", x=mib, series=5) for name, mib in l2.items()]
    return chart(
        title,
        x=axis("Capacity of the L2 (MiB)", log=True, limits=[first, last]),
        y=axis("Read from memory (GB)", log=True, unit="GB"),
        marks=marks,
    )


Points = tuple[Sequence[float], Sequence[float]]


def _told_and_run(name: str, told: Points, run: Points, series: int) -> list[Mark]:
    rings = dots(*run, f"{name}, run", "simulated", at="none", series=series)
    return [line(*told, name, "predicted", series=series), rings]


def product_bands_spec(
    plan: TiledMatmul,
    *,
    at_once: int,
    capacities: Sequence[float],
    groups: Sequence[int],
    title: str,
) -> Spec:
    """Hit rate of L2s of some MiB against the rows of blocks in a band, ``groups``.

    Tiles of both operands have equally many bytes; ValueError where they differ.
    """
    if plan.tile_m != plan.tile_n:
        raise ValueError(f"tiles of {plan.tile_m} and {plan.tile_n} rows: equal ones")
    tile, steps = plan.tile_m * plan.tile_k * plan.width, -(-plan.k // plan.tile_k)
    orders = [
        [(("x", i), ("w", j)) for i, j in plan.order("grouped", g)] for g in groups
    ]
    traces = [stream_trace(o, at_once=at_once, steps=steps, tile=tile) for o in orders]

    def told(order: list, size: float) -> float:
        whole = float(steps * tile)
        found = wave_reads(order, lambda _: whole, at_once=at_once, capacity=size)
        return 100 * found.hit_rate

    marks: list[Mark] = []
    for i, mib in enumerate(capacities):
        cache = _cache(mib, tile)
        formula = [told(order, cache.size) for order in orders]
        run = [100 * cache.run(trace).hit_rate for trace in traces]
        marks += _told_and_run(f"{mib:g} MiB", (groups, formula), (groups, run), i)
    ends = [groups[0], groups[-1]]
    return chart(
        title,
        x=axis("Rows of blocks in a band", log=True, limits=ends),
        y=axis("Reads that hit the L2 (%)", limits=[70, 100]),
        marks=marks,
    )
