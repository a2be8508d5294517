"""Section 4.4: How is a tensor core kept fed?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import hardware, models
from stacklib.gpu.tensor.tile_feed import Feed, feed_of, feed_share, feed_time, run_feed
from stacklib.kernels import pipeline
from stacklib.kernels.schedule.feed import (
    Promoted,
    feed_events,
    promoted_events,
    promoted_of,
    promoted_pace,
)
from stacklib.kernels.schedule.pipeline import steady_state
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    one_of,
)
from stacklib.quantity.constants import case
from stacklib.roofline.bound import gemm
from stacklib.roofline.work.products import Product, product

from ...figures_of import measured
from . import claims

if TYPE_CHECKING:
    from stacklib.evidence.kernel_series import Line

# The live figure imports this page in a browser: what needs NumPy is imported where it
# is called.

DEVICE, MODEL = "h100_sxm", "llama-3-70b"
TOKENS, TP = case("context"), case("chips")
ROWS, COLUMNS, DEPTH = 128, 256, 64  # of a block's tile, and of a step
STEPS = 64
BUFFERS = (1, 2, 3, 4)

# -- a block's loop --------------------------------------------------------------------


@cache
def feed(buffers: int = 2, together: int = 2) -> Feed:
    """A step of a block whose loads are shared by a pair, or not, on an H100."""
    return feed_of(
        DEVICE,
        rows=ROWS,
        columns=COLUMNS,
        depth=DEPTH,
        cluster=(together, 1),
        buffers=buffers,
    )


def round_trip() -> Quantity:
    """Cycles from the start of a step's loads until its buffer is free again."""
    one = feed()
    return (one.load + one.latency + one.mma).named("a buffer's round")


def room() -> Quantity:
    """Shared memory that one buffer takes: a step of both operands."""
    each = bytes_per_element("bf16")
    sides = chosen((ROWS + COLUMNS) * DEPTH, label="numbers of a step")
    return (sides * each).named("a buffer")


def needed() -> int:
    """The fewest buffers with which no tile waits, found by events."""
    stages = feed_events(feed(), 1).stages
    one = max(stage.time for stage in stages)
    return next(s for s in range(1, 9) if steady_state(stages, s) <= one * (1 + 1e-9))


def busy(buffers: int) -> Quantity:
    """Share of a long loop's cycles in which the tensor cores multiply."""
    return feed_share(feed(buffers), STEPS).named(f"busy with {buffers} buffers")


def alone(buffers: int) -> Quantity:
    """The same for a block that shares its loads with no other."""
    return feed_share(feed(buffers, 1), STEPS).named(f"busy alone, {buffers} buffers")


def pace(buffers: int) -> float:
    """Cycles from tile to tile in steady state."""
    return steady_state(feed_events(feed(), 1).stages, buffers)


def three_ways(buffers: int, steps: int = STEPS) -> tuple[float, float, float]:
    """Cycles of a loop: closed form, recurrence, events."""
    one = feed(buffers)
    closed = float(feed_time(one, steps).si)
    return closed, run_feed(one, steps)[-1].end, feed_events(one, steps).time


def written(depth: int, sums: int, tiles: int = 8) -> float:
    """Share of a block's time in which it multiplies, over tiles of the result.

    A tile's steps along ``depth``, then its 16-bit result on the way to the L2; with
    two places for sums the next tile is multiplied meanwhile.
    """
    steps = depth // DEPTH
    l2 = hardware.level(hardware.get(DEVICE), "l2")
    store = ROWS * COLUMNS * 2 / float(l2.known("width").si)
    stages = [
        ("multiply", steps * float(feed().mma.si), "tensor"),
        ("write", store, "L2"),
    ]
    return pipeline(stages, tiles, sums).busy("tensor")


@cache
def deepgemm(consumers: int) -> Promoted:
    """DeepGEMM's loop on an H800, with so many groups of warps that multiply."""
    return promoted_of("h800_sxm", consumers=consumers)


def deepgemm_share(consumers: int = 2) -> float:
    """Share of the FP8 peak that its pace allows."""
    loop = deepgemm(consumers)
    return float(loop.feed.mma.si) / promoted_pace(loop)


def deepgemm_events(consumers: int = 2, steps: int = STEPS) -> float:
    """Cycles from step to step, by events, the first ones left out."""
    loop = deepgemm(consumers)
    runs = [promoted_events(loop, n) for n in (steps, 2 * steps)]
    ends = [run.events[-1].end for run in runs]
    return (ends[1] - ends[0]) / steps


def fast() -> Quantity:
    """DeepGEMM's best, as quoted."""
    return claims.FAST


def deepgemm_published() -> Quantity:
    """The share of an H800's dense FP8 peak that it is."""
    peak = hardware.get(claims.H800).peak("fp8")
    return (fast().retag("dense").retag("per_chip") / peak).named("share of the peak")


def yields(ffma: int) -> float:
    """What the yield bit is worth beside a product of 64 cycles."""
    from stacklib.kernels.schedule import yield_bit

    return yield_bit.gain(mma=64, ffma=ffma).times


# -- the next tile ---------------------------------------------------------------------

BLOCKS = 8
GROUPS = {"row by row": 1, "grouped by two": 2, "grouped by four": 4}


def bands(group: int) -> tuple[int, int]:
    """Bands of A and of B that the first eight blocks read."""
    return group, BLOCKS // group


def bytes_read(group: int) -> Quantity:
    """Bytes of those bands, each read once."""
    model, each = models.get(MODEL), bytes_per_element("bf16")
    k = model.size("hidden", "hidden size").named("shared size")
    a, b = (
        counted(bands, group, take=f"[{at}]", label=f"bands of {of}")
        * chosen(size, label=f"{side} of a band")
        for at, of, size, side in ((0, "A", ROWS, "rows"), (1, "B", COLUMNS, "columns"))
    )
    return ((a + b) * k * each).named(f"bytes of {BLOCKS} blocks, {group} high")


# -- the ladder ------------------------------------------------------------------------

SERIES = "siboehm-sgemm"
LADDER = {  # version, and what it takes away
    "naive": "",
    "gmem coalescing": "lanes that read different rows",
    "smem caching": "loads from the L2",
    "2D blocktiling": "loads from shared memory",
    "bank conflicts, offset": "lanes that meet in a bank",
    "double buffering": "waiting at the barrier",
}
SHORT = {
    "gmem coalescing": "coalesced",
    "smem caching": "shared",
    "1D blocktiling": "1D tile",
    "2D blocktiling": "2D tile",
    "bank conflicts, linearized": "linearized",
    "bank conflicts, offset": "offset",
    "double buffering": "buffered",
    "warptiling": "warp tile",
}
WAITS = {"lsu": "load/store", "latency": "latency", "issue": "issue slots"}


def short(version: str) -> str:
    """A version's name where there is little room."""
    return SHORT.get(version, version)


def versions() -> dict[str, Line]:
    """The author's kernels that have a time, in his order."""
    from stacklib.pages.gpu.simt import series

    mine = (one for one in series.lines() if one.series == SERIES)
    return {one.kernel: one for one in mine if one.predicted is not None}


def waits() -> dict[str, str]:
    """The part of the chip that each waits for by the clock."""
    from stacklib.evidence import measurements, results
    from stacklib.pages.gpu.simt.series import RESULT

    names = {one.id: one for one in measurements.series()}
    rows = results.need(RESULT)["rows"]
    return {
        names[row_["id"]].subject: row_["part"]
        for row_ in rows
        if row_["series"] == SERIES
    }


def rate(version: str, *, by_clock: bool = False) -> Quantity:
    """What was published of a version, or what the machine's clock says."""
    from stacklib.evidence import measurements
    from stacklib.pages.gpu.simt import series

    if by_clock:
        label, unit = f"{version}, by the clock", "FLOP/s"
        found = counted(series.by_clock, SERIES, version, unit=unit, label=label)
    else:
        mine = (r for r in measurements.series() if r.text("series") == SERIES)
        id = next(r.id for r in mine if r.subject == version)
        found = measured(id).named(f"{version}, published")
    return found.to("TFLOP/s")


def ladder() -> list[dict[str, Any]]:
    """A row a version: what it removes, both rates, what is waited for."""
    return [
        {
            "version": short(name),
            "takes away": what or "(the start)",
            "published": rate(name),
            "clock": rate(name, by_clock=True),
            "then waits for": WAITS[waits()[name]],
        }
        for name, what in LADDER.items()
    ]


def turned() -> Quantity:
    """Pairs of the author's versions whose order the clock has the wrong way."""
    from stacklib.evidence import kernel_series

    found = list(versions().values())
    return counted(len, kernel_series.order_faults(found), label="pairs turned")


def judged() -> Quantity:
    """Pairs whose published rates are far enough apart to judge."""
    from stacklib.pages.gpu.simt import series

    return counted(series.pairs, list(versions().values()), label="pairs judged")


# -- the prompt ------------------------------------------------------------------------


def prompt(tokens: int = TOKENS, tp: int = TP, dtype: str = "bf16") -> list[Product]:
    """A layer's products on one of ``tp`` GPUs."""
    m = models.get(MODEL)
    kept = (m.heads + 2 * m.kv_heads) * m.head_dim // tp
    shapes = (
        (kept, m.hidden),
        (m.hidden, m.heads * m.head_dim // tp),
        (2 * m.intermediate // tp, m.hidden),
        (m.hidden, m.intermediate // tp),
    )
    return [product(m=tokens, n=n, k=k, dtype=dtype) for n, k in shapes]


@cache
def prompt_times(tokens: int = TOKENS, tp: int = TP) -> dict[str, float]:
    """Seconds of all layers: at the peak, with tiles, at the clock held, in all."""
    device, layers = hardware.get(DEVICE), models.get(MODEL).layers
    chip, factor = gemm.chip_of(device, "bf16"), hardware.efficiency
    total = dict.fromkeys(("peak", "tiles", "clock", "all"), 0.0)
    for work in prompt(tokens, tp):
        found = gemm.gemm_time(work, device)
        wear = gemm.wear_of(chip, chip.bandwidth, factor)
        assert found.tiling is not None
        parts = {
            "peak": work.operations / chip.peak,
            "tiles": gemm.compute_time(work, found.tiling, chip.units, wear),
            "clock": found.compute,
            "all": found.time,
        }
        for name, seconds in parts.items():
            total[name] += layers * seconds
    return total


def prompt_time(what: str) -> float:
    """One of these times of the prompt, in seconds."""
    return prompt_times()[what]


def spent(what: str) -> Quantity:
    """The same as a quantity; what the product model predicts is the whole."""
    label, family = f"prompt, {what}", "A" if what == "all" else ""
    return counted(prompt_time, what, unit="s", label=label, family=family)


def reached() -> Quantity:
    """Share of the dense peak over the prompt's products."""
    return (spent("peak") / spent("all")).named("share of the peak")


PUBLISHED = {  # rows of the published measurements, and their sizes at tp 4
    "QKV": ("A-0456", 0),
    "gate and up": ("A-0454", 2),
    "down": ("A-0455", 3),
}


def beside() -> list[dict[str, Any]]:
    """Products of a Llama 70B at tp 4: predicted, and as Vidur's authors timed them."""
    rows = []
    for name, (key, at) in PUBLISHED.items():
        work = prompt(TOKENS, 4, "fp16")[at]
        how = {"take": "time", "unit": "s", "family": "A"}
        label = f"{name}, predicted"
        time = counted(gemm.gemm_time, work, DEVICE, label=label, **how)
        told = measured(key)
        rows.append(
            {
                "product": f"{name}, {work.m} x {work.n} x {work.k}",
                "predicted": time,
                "published": told,
                "ratio": (time / told).named(f"{name}, predicted over published"),
            }
        )
    return rows


def best_library() -> Quantity:
    """Share of the peak of the largest square product published of an H100."""
    side, pair = chosen(8192, label="side"), 2 * one_of("FLOP")
    done = (pair * side * side * side).named("operations of 8192 cubed")
    peak = hardware.get(DEVICE).peak("bf16").across(1)
    return (done / measured("A-0228") / peak).named("library, share of the peak")


def triton_over_rocblas() -> tuple[Quantity, Quantity]:
    """The least and the most that Triton had over rocBLAS on an MI308X."""
    pairs = (("A-0488", "A-0487"), ("A-0490", "A-0489"), ("A-0494", "A-0493"))
    ratios = [
        (measured(t) / measured(r)).named("Triton over rocBLAS") for t, r in pairs
    ]
    ratios.sort(key=lambda q: q.si)
    return ratios[0], ratios[-1]


def ported() -> tuple[Quantity, Quantity]:
    """Habits of CUDA that are tried with 64 lanes, and those that break."""
    from stacklib.kernels.written import hip

    return counted(len, tuple(hip.CASES), label="habits tried"), broken()


@counting("habits that break")
def broken() -> int:
    """Those of them that compute something else with 64 lanes."""
    from stacklib.kernels.written import hip

    return sum(not hip.run_case(name, 64, blocks=1).as_cuda for name in hip.CASES)
