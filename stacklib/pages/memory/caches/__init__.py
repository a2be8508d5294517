"""Section 3.4: What stays near?"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from stacklib import hardware, models
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.replacement import misses
from stacklib.memory.cache.strides import column_fills, fullest_set
from stacklib.memory.cache.traces import TRACES
from stacklib.memory.cache.waves import Reads, wave_reads
from stacklib.memory.tile.tiling import TiledMatmul
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    constant,
    counted,
    recorded,
)

DEVICE, MODEL = "h100-sxm", "llama-3-70b"
TOKENS, TILE = 16000, 128
SIDE, STEP = 8192, 64  # of the product, and of its steps
GROUPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64)
ROOM = 64  # lines of the cache that a loop overruns
ROUNDS = 10
LENGTH, HELD = 20_000, 300  # of the traces, and the keys that fit
ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)
FP32 = 4
# The second cache of the book's machine.
L2: dict[str, Any] = {"line": 64, "sets": 1024, "ways": 16}
POWER, PADDED = 1024, 1040  # sides of the squares that chapter 1 transposed


def square(side: int) -> Quantity:
    """Rows, and columns, of a square that chapter 1 transposed."""
    file = "benchmarks/results/five_operations_passes.json"
    return recorded(file, f"transpose-{side}x{side}-0", "rows", label="rows")


# -- policies ----------------------------------------------------------------------


@cache
def loop() -> list[int]:
    """Lines of a loop that is one line longer than the cache has room for."""
    return ROUNDS * list(range(ROOM + 1))


def anomaly(room: int) -> Quantity:
    """Misses of FIFO on Belady's trace, with room for so many."""
    return counted(misses, ANOMALY, room, "fifo")


@cache
def missed(trace: str, policy: str) -> Quantity:
    """Share of a trace that a policy misses."""
    count = counted(
        misses, TRACES[trace](LENGTH), HELD, policy, label=f"misses of {policy}"
    )
    return (count / chosen(LENGTH, label="accesses")).named("misses")


# -- strides -----------------------------------------------------------------------


def fills(side: int) -> Quantity:
    """Lines that the second cache fills for an element of a transposed square."""
    label = f"L2 fills an element, side {side:,}"
    return counted(column_fills, side, FP32, label=label, **L2)


def column_sets() -> Quantity:
    """Sets of that cache that a column of the first square reaches."""
    shape = POWER, POWER * FP32, L2["line"], L2["sets"]
    lines = chosen(POWER, label="lines of a column")
    return lines / counted(fullest_set, *shape, label="lines in a set")


# -- attention ---------------------------------------------------------------------


@cache
def attention(causal: bool = False) -> TiledAttention:
    """A layer of the model over the prompt of this section."""
    model = models.get(MODEL)
    heads, kv_heads, width = model.heads, model.kv_heads, model.head_dim
    return TiledAttention(
        heads, kv_heads, TOKENS, TOKENS, width, TILE, TILE, causal=causal
    )


def units() -> int:
    """Blocks that run at once: one on every compute unit."""
    return int(hardware.get(DEVICE).compute_units.si)


@cache
def attention_reads(section: int) -> Reads:
    """Reads of the layer with ``section`` heads side by side."""
    capacity = hardware.get(DEVICE).l2_capacity.si
    return attention().reads(at_once=units(), capacity=capacity, section=section)


def intensity(m: int, n: int) -> Quantity:
    """FLOP a byte that a tile of m rows and n columns does with what it reads."""
    rows, columns = chosen(m, label="rows of the tile"), chosen(n, label="columns")
    each = (rows + columns) * bytes_per_element("bf16")
    return (constant("multiply_add") * rows * columns / each).named("FLOP a byte")


def attention_intensity() -> Quantity:
    """FLOP a byte of a step: a tile of keys and one of values, multiplied by both."""
    rows = chosen(TILE, label="rows of a tile")
    each = bytes_per_element("bf16")
    return (rows * constant("multiply_add") / each).named("FLOP a byte")


def asks(intensity: Quantity) -> Quantity:
    """Bytes a second that work of this intensity reads at full rate."""
    return hardware.get(DEVICE).peak("bf16") / intensity


def needed(intensity: Quantity) -> Quantity:
    """Hit rate from which memory keeps up: 1 - bandwidth * intensity / peak."""
    chip = hardware.get(DEVICE)
    return (1 - chip.memory_bandwidth * intensity / chip.peak("bf16")).named(
        "hit rate at which memory keeps up"
    )


# -- a product ---------------------------------------------------------------------


def product() -> TiledMatmul:
    """The square product of this section."""
    return TiledMatmul(SIDE, SIDE, SIDE, TILE, TILE, STEP)


@cache
def product_reads(group: int) -> Reads:
    """Reads of the product with bands of ``group`` rows of blocks."""
    plan = product()
    order = ((("x", i), ("w", j)) for i, j in plan.order("grouped", group))
    band = TILE * plan.k * plan.width
    capacity = hardware.get(DEVICE).l2_capacity.si
    return wave_reads(order, lambda _: float(band), at_once=units(), capacity=capacity)


@cache
def best_group() -> int:
    """Rows of a band with the highest hit rate."""
    return max(GROUPS, key=lambda g: product_reads(g).hit_rate)


# -- the simulator -----------------------------------------------------------------


def peer() -> list[Quantity]:
    """Speed over pycachesim's in every case, the least first."""
    from stacklib.evidence import results

    file, rows = "benchmarks/results/cache.json", results.need("cache")["rows"]
    read = partial(recorded, file, field="times_s/median", unit="s")
    times = {row["id"]: read(row["id"], label=f"time of {row['id']}") for row in rows}
    cases = {row["case"] for row in rows}
    ratios = [times[f"{c}, pycachesim"] / times[f"{c}, stacklib"] for c in cases]
    return sorted(ratios, key=lambda ratio: ratio.si)
