"""Numbers of chapter 2, the SIMT machine: threads, divergence, a transpose.

In closed form, so that they need no NumPy; `tests/gpu/simt/test_simt_numbers.py` holds
each to what the machine counts.
"""

from __future__ import annotations

from statistics import median

from stacklib import hardware, memory
from stacklib.gpu.issue import divergence
from stacklib.quantity import Quantity, Source

from .. import kernel_times, results
from .registry import number

DEVICE = "h100-sxm"
LANES, WORD, SIDE = 32, 4, 256  # of a warp; bytes of fp32; side of the square
# Instructions of the kernel `two_ways`: those of every lane, and those of one path.
COMMON, PATH = 8, 2


def _stated(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


@number("simt.resident", digits=3)
def resident() -> Quantity:
    """Threads that an H100 holds at once."""
    chip = hardware.get(DEVICE)
    return chip.max_threads_per_unit * chip.compute_units


@number("simt.warp", digits=2, evidence="spec")
def warp() -> Quantity:
    """Lanes of a warp."""
    return Quantity(LANES, label="lanes of a warp", kind="constant")


@number("simt.apart", digits=2)
def apart() -> Quantity:
    """Active lanes an instruction when neighbours take different paths."""
    common = _stated(COMMON, "instructions of every lane")
    path = _stated(PATH, "instructions of a path")
    return (common * warp() + 2 * path * warp() / 2) / (common + 2 * path)


@number("simt.more", digits=2)
def more() -> Quantity:
    """Instructions when neighbours differ over those when none do."""
    common = _stated(COMMON, "instructions of every lane")
    path = _stated(PATH, "instructions of a path")
    return (common + 2 * path) / (common + path)


@number("simt.naive_sectors", digits=3)
def naive_sectors() -> Quantity:
    """Sectors a request of the transpose straight through, loads and stores."""
    along = memory.sectors(range(0, LANES * WORD, WORD))
    across = memory.sectors(range(0, LANES * SIDE * WORD, SIDE * WORD))
    loads, stores = _stated(along, "of a load"), _stated(across, "of a store")
    return (loads + stores) / 2


@number("simt.tiled_sectors", digits=3)
def tiled_sectors() -> Quantity:
    """Sectors a request of a transpose through a tile."""
    return _stated(memory.sectors(range(0, LANES * WORD, WORD)), "of a load or a store")


@number("simt.conflicts", digits=3)
def conflicts() -> Quantity:
    """Bank conflicts of a load that reads down a plain tile."""
    column = range(0, LANES * LANES * WORD, LANES * WORD)
    return _stated(memory.bank_access(column).extra, "passes beyond the first")


@number("simt.swizzled", digits=3)
def swizzled() -> Quantity:
    """Bank conflicts of a load that reads down a swizzled tile."""
    column = [LANES * WORD * row + WORD * row for row in range(LANES)]
    return _stated(memory.bank_access(column).extra, "passes beyond the first")


@number("simt.switch", digits=2)
def switch() -> Quantity:
    """Passes of a warp whose lanes all take paths of their own."""
    (taken,) = divergence.passes(range(LANES))
    return _stated(taken, "distinct paths among the lanes of a warp")


@number("simt.switch_slower", digits=3)
def switch_slower() -> Quantity:
    """Instructions of such a switch, over those when all lanes take one path."""
    paths, work = range(LANES), 64
    apart = divergence.instructions(paths, LANES, work)
    together = divergence.instructions([0] * LANES, LANES, work)
    return _stated(apart, "lanes apart") / _stated(together, "all lanes alike")


@number("simt.rows", digits=2, evidence="measured")
def rows() -> Quantity:
    """Published rows whose kernel was run."""
    ran = [o for o in kernel_times.outcomes() if o.predicted is not None]
    return _of_rows(len(ran), "published rows whose kernel was run")


@number("simt.tests", digits=2, evidence="measured")
def tests() -> Quantity:
    """Those whose constants are not from their own source."""
    return _of_rows(len(kernel_times.errors()), "rows whose constant is another's")


def _of_rows(count: int, label: str) -> Quantity:
    return Quantity(count, "1", label=label, source=kernel_times.SOURCE,
                    kind="measured")  # fmt: skip


@number("simt.median", unit="%", digits=2, evidence="measured")
def middle() -> Quantity:
    """Median error on those, by factors that had not seen their source."""
    return kernel_times.quantiles("by_source")[0]


@number("simt.p90", unit="%", digits=2, evidence="measured")
def high() -> Quantity:
    """The error that nine of ten of them stay below."""
    return kernel_times.quantiles("by_source")[1]


@number("simt.p90_device", unit="%", digits=2, evidence="measured")
def high_by_device() -> Quantity:
    """The same by factors that had not seen their device."""
    return kernel_times.quantiles("by_device")[1]


def _speed(name: str) -> Quantity:
    found = results.load("launch_speed")
    if found is None:
        raise results.ResultError(
            "launch_speed: not measured; run `benchmarks/launch_speed.py`"
        )
    (row,) = (row for row in found["rows"] if row["id"] == name)
    source = Source("benchmarks/results/launch_speed.json", found["device"],
                    found["date"], "measured")  # fmt: skip
    rate = row["lane_instructions"] / median(row["times_s"]) / 1e6
    return Quantity(rate, "1", label=f"million lane instructions a second, {name}",
                    source=source, kind="measured")  # fmt: skip


@number("simt.speed", digits=2, evidence="measured")
def speed() -> Quantity:
    """Million lane instructions a second of a plain copy, every check on."""
    return _speed("stride-1-checked")


@number("simt.speed_strided", digits=2, evidence="measured")
def speed_strided() -> Quantity:
    """The same where every lane has a sector of its own, and more."""
    return _speed("stride-32-checked")
