"""Numbers of chapter 2, how tensor cores are fed and what a timeline says of them."""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.gpu.chip.slices import cluster_bytes
from stacklib.gpu.tensor import kernel_trace
from stacklib.gpu.tensor.tile_feed import Feed, feed_of, feed_share
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.roofline.bound import gemm

from ..ledger import get as claim
from .registry import number

H100, ROWS, COLUMNS, DEPTH = "h100-sxm", 128, 256, 64
STEPS, FEW, BUFFERS = 64, 4, 4  # of a shared size of 4,096, and of 256


def _count(value: float, label: str, unit: str = "1") -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


@cache
def feed(cluster: tuple[int, int], buffers: int = BUFFERS) -> Feed:
    """Cycles of a step on an H100."""
    return feed_of(
        H100, rows=ROWS, columns=COLUMNS, depth=DEPTH, cluster=cluster, buffers=buffers
    )


def _plain(cycles: Quantity) -> Quantity:
    """Cycles as a number, which the text follows with the word."""
    return cycles / _count(1, "one cycle", "cycle")


def _share(cluster: tuple[int, int], buffers: int, steps: int) -> Quantity:
    count = _count(steps, "steps along the shared size")
    found: Quantity = feed_share(feed(cluster, buffers), count)
    return found


@number("feed.tile", unit="KiB", digits=2)
def tile() -> Quantity:
    """Bytes that a block loads for a step."""
    return cluster_bytes(ROWS, COLUMNS, DEPTH, width=bytes_per_element("bf16")) * 1


@number("feed.width", evidence="measured")
def width() -> Quantity:
    """Bytes that a unit of an H100 reads from the L2 in a cycle, all units reading."""
    chip = hardware.microarchitecture(hardware.get(H100))
    return 1 * chip.constants["l2_bytes_per_cycle"]


@number("feed.load", digits=4)
def load() -> Quantity:
    """Cycles that this takes, for a block alone."""
    return _plain(feed((1, 1)).load)


@number("feed.mma", digits=4)
def mma() -> Quantity:
    """Cycles in which the tensor cores multiply it."""
    return _plain(feed((1, 1)).mma)


@number("feed.load_pair", digits=3)
def load_pair() -> Quantity:
    """Cycles of loading, for a block of a pair that shares its columns."""
    return _plain(feed((2, 1)).load)


@number("feed.alone", unit="%")
def alone() -> Quantity:
    """Utilization of a block alone, deep buffers, 4,096 deep."""
    return _share((1, 1), BUFFERS, STEPS)


@number("feed.pair", unit="%")
def pair() -> Quantity:
    """The same for a block of a pair."""
    return _share((2, 1), BUFFERS, STEPS)


@number("feed.one", unit="%")
def one_of() -> Quantity:
    """A pair with a single buffer."""
    return _share((2, 1), 1, STEPS)


@number("feed.two", unit="%")
def two() -> Quantity:
    """A pair with two buffers."""
    return _share((2, 1), 2, STEPS)


@number("feed.short", unit="%")
def short() -> Quantity:
    """A pair with deep buffers and a short shared size."""
    return _share((2, 1), BUFFERS, FEW)


@number("feed.few", evidence="spec")
def few() -> Quantity:
    """Steps of the short one, an assumption of this section."""
    return _count(FEW, "steps of a short product")


@number("feed.buffers", evidence="spec")
def buffers() -> Quantity:
    """Buffers of such tiles that fit into a block's shared memory."""
    chip = hardware.microarchitecture(hardware.get(H100))
    fit = chip.constants["shared_per_block"] / tile()
    return _count(int(fit.si), "whole buffers that fit")


def _events() -> list[dict[str, object]]:
    found: list[dict[str, object]] = kernel_trace.recorded()["traceEvents"]
    return found


@number("feed.trace_busy", unit="%", evidence="simulated")
def trace_busy() -> Quantity:
    """Share of the simulated timeline in which a kernel ran."""
    return _count(
        kernel_trace.busy(_events()), "counted by stacklib.gpu.tensor.kernel_trace"
    )


@number("feed.trace_tensor", unit="%", evidence="simulated")
def trace_tensor() -> Quantity:
    """Operations of its tensor cores over those there was room for."""
    peak = hardware.get(H100).peak("bf16").si
    found = kernel_trace.tensor_share(_events(), peak)
    return _count(found, "counted by stacklib.gpu.tensor.kernel_trace")


# -- one basis --------------------------------------------------------------------


@number("tensor.mixed_listed", unit="%", digits=2, evidence="claimed")
def mixed_listed() -> Quantity:
    """An A100 over an H100, by one column of a guide: sparse over dense."""
    return claim("table-a100-vs-h100").quantity()


@number("tensor.mixed_dense", unit="%", digits=2)
def mixed_dense() -> Quantity:
    """The same, dense over dense."""
    return hardware.get("a100").peak("fp16") / hardware.get(H100).peak("fp16")


@number("tensor.mixed_times", digits=2)
def mixed_times() -> Quantity:
    """The first over the second."""
    return mixed_listed() / mixed_dense()


@number("tensor.gain", digits=2, evidence="spec")
def gain() -> Quantity:
    """Sparse rate over dense rate on a data sheet with 2:4 sparsity."""
    dense = hardware.get(H100).peak("bf16").si
    sparse = hardware.get(H100).peak("bf16", sparse=True).si
    return _count(sparse / dense, "printed sparse over printed dense rate, H100")


@number("tensor.group", evidence="spec")
def group() -> Quantity:
    """Neighbouring weights of a group in 2:4 sparsity."""
    return _count(4, "weights of a group")


@number("tensor.stay", evidence="spec")
def stay() -> Quantity:
    """Those of them that may differ from zero."""
    return _count(2, "weights that stay")


@number("tensor.place", unit="bit", evidence="spec")
def place() -> Quantity:
    """Bits that say where a weight stood in its group."""
    return _count(2, "bits of a place", "bit")


# -- where the sawtooth falls -----------------------------------------------------


@cache
def _teeth() -> tuple[int, int]:
    """Falls of the sawtooth, and those at which the library's tile is another."""
    falls = followed = 0
    before: tuple[float, tuple[int, ...]] | None = None
    for n in range(1024, 8193, 128):
        share = gpu.tile_waves(m=n, n=n, rows=ROWS, columns=COLUMNS, units=132).share
        chosen = gemm.gemm_time(gemm.product(m=n, n=n, k=n), "h100").tiling
        assert chosen is not None
        tile = (chosen.rows, chosen.columns, chosen.split)
        if before and share < before[0] - 0.02:
            falls, followed = falls + 1, followed + (tile != before[1])
        before = share, tile
    return falls, followed


@number("tensor.falls", evidence="predicted")
def falls() -> Quantity:
    """Sides at which the sawtooth of one tile is lower than a step before."""
    return _count(_teeth()[0], "falls of the sawtooth (counted)")


@number("tensor.followed", evidence="predicted")
def followed() -> Quantity:
    """Those at which the modelled library takes another tile than a step before."""
    return _count(_teeth()[1], "falls at which the tile changes (counted)")
