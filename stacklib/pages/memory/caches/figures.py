"""Figures of what an order of blocks reads from memory: by formula, and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.waves import L2_WAYS, stream_trace, wave_reads
from stacklib.memory.tile.tiling import TiledMatmul


def _cache(mib: float, line: int) -> Any:
    """A cache of about ``mib`` MiB whose lines are tiles."""
    from stacklib.memory.cache.cache import Cache

    # An odd number of sets, over which regular strides spread: as in `memory.l2_cache`.
    sets = max(1, int(mib * 2**20) // (L2_WAYS * line) - 1) | 1
    return Cache(sets * L2_WAYS * line, L2_WAYS, line)


def attention_orders_spec(
    plan: TiledAttention,
    *,
    at_once: int,
    sections: Mapping[str, int],
    capacities: Sequence[float],
    l2: Mapping[str, float],
    title: str,
) -> dict[str, Any]:
    """Bytes attention reads from memory against the capacity of the L2.

    Parameters
    ----------
    plan : TiledAttention
        What is computed.
    at_once : int
        Blocks that run together.
    sections : dict of str to int
        Orders by the name they are shown with: heads side by side.
    capacities : sequence of float
        Where the simulated cache is run, in MiB; the formula is drawn between them.
    l2 : dict of str to float
        Devices to mark, and the MiB of their L2.
    title : str
        What the figure shows.
    """
    first, last = capacities[0], capacities[-1]
    fine = [first * (last / first) ** (i / 48) for i in range(49)]
    marks: list[dict[str, Any]] = []
    for series, (name, section) in enumerate(sections.items()):
        told = [
            plan.reads(at_once=at_once, capacity=mib * 2**20, section=section).missed
            for mib in fine
        ]
        trace = plan.trace(at_once=at_once, section=section, line=plan.k_tile_bytes)
        run = [
            (1 - trace.read_hit_rate(_cache(mib, plan.k_tile_bytes))) * plan.bytes_read
            for mib in capacities
        ]
        marks += [
            {"kind": "line", "evidence": "predicted", "name": name, "series": series,
             "x": fine, "y": [b / 1e9 for b in told]},
            {"kind": "dots", "evidence": "simulated", "name": f"{name}, run",
             "series": series, "x": list(capacities), "y": [b / 1e9 for b in run],
             "label_at": "none"},
        ]  # fmt: skip
    marks += [
        {"kind": "vline", "evidence": "predicted", "name": name, "x": [mib],
         "series": 5}
        for name, mib in l2.items()
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Capacity of the L2 (MiB)", "scale": "log",
              "limits": [first, last]},
        "y": {"label": "Read from memory (GB)", "scale": "log", "unit": "GB"},
        "marks": marks,
    }  # fmt: skip


def product_bands_spec(
    plan: TiledMatmul,
    *,
    at_once: int,
    capacities: Sequence[float],
    groups: Sequence[int],
    title: str,
) -> dict[str, Any]:
    """Hit rate of the L2 against the rows of blocks in a band, for some capacities.

    Parameters
    ----------
    plan : TiledMatmul
        What is computed; its tiles of both operands have equally many bytes.
    at_once : int
        Blocks that run together.
    capacities : sequence of float
        Of the L2, in MiB.
    groups : sequence of int
        Rows of blocks in a band.
    title : str
        What the figure shows.

    Raises
    ------
    ValueError
        When the tiles of the operands differ in size.
    """
    if plan.tile_m != plan.tile_n:
        raise ValueError(f"tiles of {plan.tile_m} and {plan.tile_n} rows: equal ones")
    tile = plan.tile_m * plan.tile_k * plan.width
    steps = -(-plan.k // plan.tile_k)
    orders = {
        g: [(("x", i), ("w", j)) for i, j in plan.order("grouped", g)] for g in groups
    }
    traces = {
        g: stream_trace(order, at_once=at_once, steps=steps, tile=tile)
        for g, order in orders.items()
    }
    marks: list[dict[str, Any]] = []
    for series, mib in enumerate(capacities):
        cache = _cache(mib, tile)
        told = [
            wave_reads(orders[g], lambda _: float(steps * tile), at_once=at_once,
                       capacity=cache.size).hit_rate
            for g in groups
        ]  # fmt: skip
        run = [cache.run(traces[g]).hit_rate for g in groups]
        marks += [
            {"kind": "line", "evidence": "predicted", "name": f"{mib:g} MiB",
             "series": series, "x": list(groups), "y": [100 * h for h in told]},
            {"kind": "dots", "evidence": "simulated", "name": f"{mib:g} MiB, run",
             "series": series, "x": list(groups), "y": [100 * h for h in run],
             "label_at": "none"},
        ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Rows of blocks in a band", "scale": "log",
              "limits": [groups[0], groups[-1]]},
        "y": {"label": "Reads that hit the L2 (%)", "limits": [70, 100]},
        "marks": marks,
    }  # fmt: skip
