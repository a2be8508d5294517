"""A cache and an order of tiles, live: what stays near, and what it saves.

`explore` runs a small trace through caches of every size. `orders` gives the bytes
that attention reads from memory by the capacity of the L2, for a device, a length and
an order of blocks.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from stacklib import hardware
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.replacement import set_misses
from stacklib.memory.cache.traces import zipf
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import About, Spec, axis, chart, rule, sizes
from stacklib.plots.marks import line as curve  # `line` is a slider
from stacklib.plots.spec import readout

LENGTH = 2048  # accesses of a small trace
SIZES = tuple(2**e for e in range(9, 17))  # bytes
WAYS = (1, 2, 4, 8, 16)
LINES = (16, 32, 64, 128)
PATTERNS = (
    ("loop", "a loop over 10 KiB"),
    ("column", "columns of a matrix, rows of 1 KiB"),
    ("padded", "columns, rows of 1 KiB and 64 B"),
    ("stream", "one array after the other"),
    ("popular", "popular keys"),
    ("random", "anywhere in 32 KiB"),
)
HEADS, KV_HEADS = 64, 8
LENGTHS = (2048, 4096, 8192, 16384, 32768)
SECTIONS = (1, 2, 4, 8, 16, 32, 64)
CAPACITIES = tuple(2**e for e in range(21, 29))  # bytes


@cache
def trace(pattern: str) -> tuple[int, ...]:
    """Byte addresses of a small trace, one of ``PATTERNS``."""
    steps = range(LENGTH)
    random = Random(0)
    made = {
        "loop": lambda: (i * 64 % 10240 for i in steps),
        "column": lambda: (i % 64 * 1024 + i // 64 * 8 for i in steps),
        "padded": lambda: (i % 64 * 1088 + i // 64 * 8 for i in steps),
        "stream": lambda: (8 * i for i in steps),
        "popular": lambda: (64 * key for key in zipf(LENGTH, 1000)),
        "random": lambda: (8 * random.randrange(4096) for _ in steps),
    }
    if pattern not in made:
        raise ValueError(f"pattern {pattern!r}: one of {', '.join(made)}")
    return tuple(made[pattern]())


def hit_rate(pattern: str, size: int, ways: int, line: int) -> float:
    """Share of a small trace that hits an LRU cache; all ways where there are fewer."""
    lines = [address // line for address in trace(pattern)]
    ways = min(ways, size // line)
    return 1 - set_misses(lines, size // (line * ways), ways) / LENGTH


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.slider("size", "Size (B)", SIZES, 8192),
        choices.slider("ways", "Ways", WAYS, 4),
        choices.slider("line", "Line (B)", LINES, 64),
        choices.select("pattern", "Accesses", PATTERNS, "loop"),
    ]


def explore(*, size: int, ways: int, line: int, pattern: str) -> Spec:
    """Hit rate against size, with the chosen cache marked."""
    ours = [100 * hit_rate(pattern, s, ways, line) for s in SIZES]
    full = [100 * hit_rate(pattern, s, s // line, line) for s in SIZES]
    found = hit_rate(pattern, size, ways, line)
    rate = counted(found, "hit rate", "1")
    missed = counted(round(LENGTH * (1 - found)), "misses", "1")
    many = counted(max(1, size // (line * ways)), "sets", "1")
    return chart(
        f"{rate.text('%')} of the accesses hit: {dict(PATTERNS)[pattern]}.",
        x=sizes("Size of the cache", SIZES[0], SIZES[-1]),
        y=axis("Hits (%)", limits=[0, 105]),
        marks=[
            curve(SIZES, full, "any line anywhere", "simulated", series=3),
            curve(SIZES, ours, f"{ways} ways", "simulated", series=0),
            here(size, 100 * rate.si),
        ],
        readouts=[
            readout("hits", "Hit rate", rate, "share", unit="%"),
            readout("misses", "Misses", missed, digits=4),
            readout("sets", "Sets", many, digits=4),
        ],
    )


def order_controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``orders``."""
    known = choices.knowing(lambda d: (d.l2_capacity, d.compute_units), "gpu")
    names = [[key, hardware.get(key).name] for key, _ in known]
    return [
        choices.select("device", "Device", names, "h100_sxm"),
        choices.slider("length", "Tokens", LENGTHS, 16384),
        choices.slider("section", "Heads side by side", SECTIONS, 8),
    ]


def orders(*, device: str, length: int, section: int) -> Spec:
    """Bytes read from memory against the capacity of the L2.

    The units of the device are the blocks at once, its L2 is marked; the blocks of
    ``section`` heads start side by side.
    """
    chip = hardware.get(device)
    units, held = int(chip.compute_units.si), chip.l2_capacity.si
    plan = TiledAttention(HEADS, KV_HEADS, length, length)

    def missed(heads: int, capacity: float) -> float:
        return plan.reads(at_once=units, capacity=capacity, section=heads).missed

    sizes = sorted({*CAPACITIES, held})
    mib = [c / 2**20 for c in sizes]
    mine, at = About(device=device), held / 2**20
    names = {1: "a head at a time", KV_HEADS: "a group", HEADS: "all heads"}
    names[section] = "chosen"
    curves = []
    for i, (heads, words) in enumerate(names.items()):
        y = [missed(heads, c) / 1e9 for c in sizes]
        curves.append(curve(mib, y, words, "predicted", series=i, **mine))
    l2 = rule(f"L2 of {chip.short}", "predicted", x=at, **mine)
    found = missed(section, held)
    rate = counted(1 - found / plan.bytes_read, "hit rate", "1")
    moved = counted(found / 1e9, "bytes from memory", "GB")
    over = counted(found / plan.bytes_once, "times the least", "1")
    span = [CAPACITIES[0] / 2**20, CAPACITIES[-1] / 2**20]
    return chart(
        f"On {chip.short}, {rate.text('%')} of the reads hit the L2.",
        x=axis("Capacity of the L2 (MiB)", log=True, limits=span),
        y=axis("Read from memory (GB)", log=True, unit="GB"),
        marks=[*curves, l2, here(at, found / 1e9, **mine)],
        readouts=[
            readout("moved", "From memory", moved, unit="GB"),
            readout("hits", "Hit rate of the L2", rate, "share", unit="%"),
            readout("over", "Times the least", over),
        ],
        about=mine,
    )
