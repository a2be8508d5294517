"""Section 4.3: Why is a norm as slow as its bytes?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import measurements, runs
from stacklib.kernels.rows.norms import lane_waste, next_power
from stacklib.kernels.rows.primitives import PRIMITIVES, depth, sort_bytes, work
from stacklib.pages.gpu.simt import series
from stacklib.pages.kernels.launches.claims import cost
from stacklib.pages.kernels.norms import calls
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted, counting
from stacklib.quantity.constants import case
from stacklib.roofline.work.moving import memory_time

from ...figures_of import measured

DEVICE, MODEL = "h100_sxm", "llama-3-70b"
ROWS = case("context")  # tokens of the prompt
OPERATIONS = "square", "add", "scale", "weight"  # of each number
BLOCK = 256  # threads of the primitives that are run
ONE_ROW, SMALL = "simveit-rmsnorm", 768


# -- bytes and seconds of one norm -----------------------------------------------------


def width() -> int:
    """Numbers of a row of the model."""
    return int(models.get(MODEL).hidden)


def hidden(words: str, model: str = MODEL) -> Quantity:
    """The same as a size of a model, named."""
    return models.get(model).size("hidden", "hidden size").named(words)


def bandwidth() -> Quantity:
    """Of an H100's memory."""
    return hardware.get(DEVICE).memory_bandwidth.across(1)


def numbers() -> Quantity:
    """Numbers that the prompt puts through one norm."""
    rows = chosen(ROWS, label="tokens of the prompt")
    return (rows * hidden("width of the model")).named("numbers")


def arithmetic() -> Quantity:
    """Time of a norm's arithmetic on the FP32 cores."""
    each = counted(len, OPERATIONS, unit="FLOP", label="operations for a number")
    peak = hardware.get(DEVICE).peak("fp32").across(1)
    return (numbers() * each / peak).named("arithmetic of a norm")


def moved(*, fused: bool) -> Quantity:
    """Bytes of the prompt's norm, as one kernel or as calls."""
    label = "bytes of one kernel" if fused else "bytes of the calls"
    return _of_cut("fused_bytes", label, fused, ROWS, unit="B")


def _of_cut(take: str, label: str, fused: bool, rows: int, unit: str = "") -> Quantity:
    """A number of the norm of so many rows, cut into kernels."""
    how: dict[str, Any] = {"fused": fused, "take": take, "unit": unit, "label": label}
    return counted(calls.cut, rows, width(), **how)


def time(*, fused: bool) -> Quantity:
    """The same at an H100's bandwidth."""
    label = "norm as one kernel" if fused else "norm as calls"
    return memory_time(moved(fused=fused), DEVICE).named(label)


def times_fewer() -> Quantity:
    """Bytes of the calls over those of one kernel."""
    return (moved(fused=False) / moved(fused=True)).named("times the bytes")


@counting(lambda at, side: f"{calls.CALLS[at][0]} {side}, for each number", unit="B")
def call_bytes(at: int, side: str) -> float:
    """Bytes for a number that a call reads or writes, rows of one number left out."""
    graph = calls.rmsnorm_graph(ROWS, width())
    op = graph.ops[at]
    names = op.inputs if side == "reads" else (op.output,)
    return round(sum(graph.of(name).bytes for name in names) / (ROWS * width()), 2)


def call_rows() -> list[dict[str, Any]]:
    """A row a call: what it reads and writes for each number."""
    return [
        {"call": name, **{side: call_bytes(at, side) for side in ("reads", "writes")}}
        for at, (name, *_) in enumerate(calls.CALLS)
    ]


# -- the norms of a step ---------------------------------------------------------------


@counting("norms of a step")
def norms() -> int:
    """Norms that a token passes: two a layer, one at the end."""
    return 2 * int(models.get(MODEL).layers) + 1


def start() -> Quantity:
    """From one kernel of a graph to the next, at the quick end, as in section 4.1."""
    return cost("node", "low")


def row() -> Quantity:
    """Time of a row's bytes, once in and once out."""
    once = hidden("numbers") * bytes_per_element("bf16")
    return memory_time(2 * once, DEVICE).named("bytes of a row")


def even() -> Quantity:
    """Rows whose bytes take as long as a kernel's start."""
    return (start() / row()).named("rows that take as long as a start")


def step(*, fused: bool) -> Quantity:
    """Time that a token's norms take: their bytes, and the starts of their kernels."""
    label = "norms of a step, fused" if fused else "norms of a step, as calls"
    crossed = _of_cut("fused_bytes", "bytes of a row", fused, 1, unit="B")
    one = kernels(fused=fused) * start() + memory_time(crossed, DEVICE)
    return (norms() * one).named(label)


def kernels(*, fused: bool) -> Quantity:
    """Kernels of a norm."""
    return _of_cut("launches", "kernels of a norm", fused, 1)


# -- run on the tile machine -----------------------------------------------------------


@cache
def ran(rows: int, columns: int) -> Any:
    """RMS norm's Triton text on the tile machine: its error, and the report."""
    import numpy as np

    from stacklib.kernels.written import host_triton, rows_triton

    random = np.random.default_rng(0)
    x = random.standard_normal((rows, columns), dtype=np.float32)
    weight = random.standard_normal(columns, dtype=np.float32)
    with host_triton.on_tiles() as launched:
        y = rows_triton.rmsnorm(x, weight)
    wide = x.astype(np.float64)
    right = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * weight
    return float(np.abs(y - right).max()), launched[0].report


def asked(rows: int, columns: int) -> dict[str, int]:
    """Bytes that it asked to load and to store."""
    return dict(ran(rows, columns)[1].traffic.asked)


@counting("one row on the tile machine", unit="s")
def chain() -> float:
    """Time of one row, where nothing but its own chain of steps is waited for."""
    return float(ran(1, width())[1].time)


# -- lanes -----------------------------------------------------------------------------


def idle(columns: int) -> Quantity:
    """Share of lanes beyond a row of so many numbers."""
    return counted(lane_waste, columns, label=f"idle lanes, {columns}")


def lanes(columns: int = SMALL) -> Quantity:
    """Lanes of the tile that holds a row."""
    return counted(next_power, columns, label=f"lanes for {columns}")


# -- sums as trees ---------------------------------------------------------------------


def levels() -> Quantity:
    """Levels of the tree that sums a row of the model."""
    return told("reduce", "depth", width(), label="levels of a row's sum")


def serial() -> Quantity:
    """Sums of such a row."""
    return told("reduce", "work", width(), label="sums of a row")


@cache
def _measured(name: str) -> Any:
    from stacklib.kernels.rows.primitive_kernels import measured

    return measured(name, BLOCK)


def told(name: str, what: str, n: int = BLOCK, label: str = "") -> Quantity:
    """Work or depth of a primitive on n numbers, in closed form."""
    run = {"work": work, "depth": depth}[what]
    return counted(run, name, n, label=label or f"{what} of {name}, formula")


@counting("{what} of {name}, counted")
def seen(name: str, what: str) -> int:
    """The same as the SIMT machine counted it."""
    return int(getattr(_measured(name), f"counted_{what}"))


def primitive_rows() -> list[dict[str, Any]]:
    """A row a primitive: work and depth, by formula and counted."""
    return [
        {
            "primitive": name,
            "work": told(name, "work"),
            "counted": seen(name, "work"),
            "depth": told(name, "depth"),
            "barriers": seen(name, "depth"),
        }
        for name in PRIMITIVES
    ]


@counting("crossings of a sort")
def sort_crossings() -> float:
    """Crossings of the keys in a radix sort of 32-bit keys, a byte a pass."""
    return sort_bytes(BLOCK) / (4 * BLOCK)


# -- others' measurements --------------------------------------------------------------


@cache
def published() -> dict[str, Quantity]:
    """Rates of one RMS norm written five ways, on an H100."""
    found = {}
    for row in measurements.series():
        if row.text("series", "") == ONE_ROW:
            found[row.subject] = measured(row.id).named(row.subject)
    return found


def share(name: str) -> Quantity:
    """Of the bandwidth that the data sheet has."""
    return (published()[name] / bandwidth()).named(f"share of the bandwidth, {name}")


def ends() -> tuple[Quantity, Quantity]:
    """Least and largest of those shares."""
    order = sorted(published(), key=lambda name: published()[name].si)
    return share(order[0]), share(order[-1])


def clock(name: str) -> Quantity | None:
    """Rate of the same kernel by the machine's clock, from the committed result."""
    if name not in {one.kernel for one in series.of_kind("norm") if one.predicted}:
        return None
    label = f"{name} by the machine's clock"
    return counted(series.by_clock, ONE_ROW, name, unit="B/s", label=label).to("GB/s")


def series_rows() -> list[dict[str, Any]]:
    """A row a kernel: published rate, what the machine's clock says, the share."""
    return [
        {"kernel": name, "published": rate, "clock": clock(name), "share": share(name)}
        for name, rate in published().items()
    ]


def measured_here() -> str:
    """What `make gpu` has to say of it."""
    found = runs.gpu_results()
    return "\n".join(found) or "Triton's kernels on a GPU: not measured yet."
