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
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

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
    """Byte addresses of a small trace.

    Parameters
    ----------
    pattern : str
        The first word of one of ``PATTERNS``.

    Raises
    ------
    ValueError
        For another word.
    """
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


def explore(*, size: int, ways: int, line: int, pattern: str) -> dict[str, Any]:
    """Spec of hit rate against size, with the chosen cache marked.

    Parameters
    ----------
    size, ways, line : int
        Of the cache, in bytes and lines.
    pattern : str
        The first word of one of ``PATTERNS``.

    Returns
    -------
    dict
        A figure spec.
    """
    ours = [100 * hit_rate(pattern, s, ways, line) for s in SIZES]
    full = [100 * hit_rate(pattern, s, s // line, line) for s in SIZES]
    here = hit_rate(pattern, size, ways, line)
    shared = {"kind": "line", "evidence": "simulated", "x": list(SIZES),
              "label_at": "none"}  # fmt: skip
    marks = [
        {"name": "any line anywhere", "y": full, "series": 5, **shared},
        {"name": f"{ways} ways", "y": ours, "series": 0, **shared},
        {"kind": "dots", "evidence": "simulated", "name": "chosen", "series": 4,
         "x": [size], "y": [100 * here], "label_at": "none"},
    ]  # fmt: skip
    rate = Quantity(here, "1", label="hit rate", kind="assumption")
    missed = Quantity(round(LENGTH * (1 - here)), "1", label="misses",
                      kind="assumption")  # fmt: skip
    many = Quantity(max(1, size // (line * ways)), "1", label="sets", kind="assumption")
    return {
        "title": f"{rate.text('%')} of the accesses hit: {dict(PATTERNS)[pattern]}.",
        "x": {"label": "Size of the cache (B)", "scale": "log",
              "limits": [SIZES[0], SIZES[-1]]},
        "y": {"label": "Hits (%)", "limits": [0, 105]},
        "marks": marks,
        "readouts": [
            readout("hits", "Hit rate", rate, "share", unit="%"),
            readout("misses", "Misses", missed, digits=4),
            readout("sets", "Sets", many, digits=4),
        ],
        "message": None,
    }  # fmt: skip


def _devices() -> list[list[str]]:
    """Devices whose L2 is known and shared by all units, as ``[key, name]``."""
    found = [hardware.get(key) for key, _ in choices.devices()]
    known = ("l2_capacity", "compute_units")
    gpus = [
        d for d in found
        if d.kind == "gpu" and None not in map(d.fields.get, known)
    ]  # fmt: skip
    return [[d.key, d.name] for d in gpus]


def order_controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``orders``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.slider("length", "Tokens", LENGTHS, 16384),
        choices.slider("section", "Heads side by side", SECTIONS, 8),
    ]


def orders(*, device: str, length: int, section: int) -> dict[str, Any]:
    """Spec of bytes read from memory against the capacity of the L2.

    Parameters
    ----------
    device : str
        Key of the device: its units are the blocks at once, its L2 is marked.
    length : int
        Tokens of the sequence, queries and keys.
    section : int
        Heads whose blocks start side by side.

    Returns
    -------
    dict
        A figure spec.
    """
    chip = hardware.get(device)
    units = int(chip.compute_units.si)
    plan = TiledAttention(HEADS, KV_HEADS, length, length)

    def missed(heads: int, capacity: float) -> float:
        return plan.reads(at_once=units, capacity=capacity, section=heads).missed

    held = chip.l2_capacity.si
    x = sorted({*CAPACITIES, held})
    mine = {"device": device}
    ways = {1: "a head at a time", KV_HEADS: "a group", HEADS: "all heads"}
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "predicted", "name": words, "series": series,
         "x": [c / 2**20 for c in x], "y": [missed(heads, c) / 1e9 for c in x],
         "label_at": "none", **mine}
        for series, (heads, words) in enumerate({**ways, section: "chosen"}.items())
    ]  # fmt: skip
    here = missed(section, held)
    marks += [
        {"kind": "vline", "evidence": "predicted", "name": f"L2 of {chip.short}",
         "x": [held / 2**20], **mine},
        {"kind": "dots", "evidence": "predicted", "name": "chosen", "series": 4,
         "x": [held / 2**20], "y": [here / 1e9], "label_at": "none", **mine},
    ]  # fmt: skip
    rate = Quantity(1 - here / plan.bytes_read, "1", label="hit rate",
                    kind="assumption")  # fmt: skip
    moved = Quantity(here / 1e9, "GB", label="bytes from memory", kind="assumption")
    over = Quantity(here / plan.bytes_once, "1", label="times the least",
                    kind="assumption")  # fmt: skip
    return {
        "title": f"On {chip.short}, {rate.text('%')} of the reads hit the L2.",
        "x": {"label": "Capacity of the L2 (MiB)", "scale": "log",
              "limits": [CAPACITIES[0] / 2**20, CAPACITIES[-1] / 2**20]},
        "y": {"label": "Read from memory (GB)", "scale": "log", "unit": "GB"},
        "marks": marks,
        "readouts": [
            readout("moved", "From memory", moved, unit="GB"),
            readout("hits", "Hit rate of the L2", rate, "share", unit="%"),
            readout("over", "Times the least", over),
        ],
        "message": None,
        "about": mine,
    }  # fmt: skip
