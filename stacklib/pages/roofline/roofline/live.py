"""Roofline explorer: where an operation lands under a device's roof.

Operations are the parts of a language model: a matrix against one vector or
against a matrix of tokens, and attention for one new token or for a whole
prompt (heads as in Llama-3-70B). Bytes are the least that must move.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from stacklib import hardware, models, roofline
from stacklib.hardware import Accelerator
from stacklib.plots.live import choices
from stacklib.plots.live.parts import CHOSEN, chosen
from stacklib.plots.marks import Spec
from stacklib.plots.rooflines import RATE, SPAN, roofline_spec
from stacklib.plots.spec import readout
from stacklib.roofline import Work
from stacklib.roofline.count.traffic_cuts import five_operations
from stacklib.roofline.work.bounds import Bound

HEADS_OF = "llama-3-70b"
SIZES = tuple(2**e for e in range(7, 15))


def _attention(queries: int, keys: int, dtype: str) -> Work:
    m = models.get(HEADS_OF)
    shape = {"heads": m.heads, "kv_heads": m.kv_heads, "head_dim": m.head_dim}
    return roofline.attention(
        queries=queries, keys=keys, causal=True, dtype=dtype, **shape
    )


def _one_of_five(key: str, size: int, dtype: str) -> Work:
    return five_operations(ROWS, size, dtype)[key]


# key -> (menu, size and format to work)
OPERATIONS: dict[str, tuple[str, Callable[[int, str], Work]]] = {
    "gemv": ("vector x square matrix", lambda n, f: roofline.gemv(n=n, k=n, dtype=f)),
    "matmul": (
        "square matrix product",
        lambda n, f: roofline.matmul(m=n, n=n, k=n, dtype=f),
    ),
    "decode": ("attention, one new token", lambda n, f: _attention(1, n, f)),
    "prefill": ("attention, whole prompt", lambda n, f: _attention(n, n, f)),
}

# The five of the learning guide join them where the reader has a point of their own.
ROWS = 4096
_FIVE = {
    "layernorm": "layer norm of 4,096 rows",
    "softmax": "softmax of 4,096 rows",
    "gelu": "GELU of 4,096 rows",
    "transpose": "transpose of 4,096 rows",
}
ALL_OPERATIONS = OPERATIONS | {
    key: (label, partial(_one_of_five, key)) for key, label in _FIVE.items()
}
INTENSITIES = tuple(n * 10**e for e in range(4) for n in (1, 2, 5))  # FLOP/B
BYTES = tuple(n * 10**e for e in range(5) for n in (1, 2, 5))  # MB


def controls() -> list[dict[str, Any]]:
    """Menus and slider of ``explore``."""
    menu = {key: label for key, (label, _) in OPERATIONS.items()}
    return [
        choices.device("device", "Device", "h100_sxm"),
        choices.select("dtype", "Number format", choices.formats(), "bf16"),
        choices.select("operation", "Operation", menu, "matmul"),
        choices.slider("size", "Size (rows, or tokens)", SIZES, 1024),
    ]


def explore(*, device: str, dtype: str, operation: str, size: int) -> Spec:
    """One device's roofline with the operation as a point on it.

    The size is rows of the matrices, or tokens attended to. Where the device publishes
    no rate for the format there are no marks, and the message says so.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        return _without(chip, dtype)
    label, count = OPERATIONS[operation]
    work = count(size, dtype)
    found = roofline.bound_on(work, chip)
    share = found.share_of_peak
    title = f"{chip.short}, {label}: {share:%} of the peak, bound by {found.bound}."
    points = {CHOSEN: (work, found)}  # apart from its roof
    readouts = [
        readout("intensity", "Arithmetic intensity", work.intensity),
        readout("ridge", "Ridge", roofline.ridge(chip, dtype)),
        readout("rate", "Attainable rate", found.rate, unit=RATE),
        readout("share", "Share of peak", share, "share", unit="%"),
        readout("time", "Least time", found.time),
    ]
    return _shown(chip, dtype, title, points, readouts)


def own_controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``own_point``."""
    menu = {key: label for key, (label, _) in ALL_OPERATIONS.items()}
    return [
        choices.device("device", "Device", "a100_sxm_80gb"),
        choices.select("dtype", "Number format", choices.formats(), "bf16"),
        choices.select("operation", "Operation", menu, "softmax"),
        choices.slider("size", "Size (columns, or tokens)", SIZES, 4096),
        choices.slider("intensity", "Your intensity (FLOP/B)", INTENSITIES, 50),
        choices.slider("moved", "Your bytes (MB)", BYTES, 100),
    ]


def own_point(
    *, device: str, dtype: str, operation: str, size: int, intensity: int, moved: int
) -> Spec:
    """``explore`` with every operation of the chapter, and a point of your own.

    Your point is operations a byte, and million bytes.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        return _without(chip, dtype)
    label, count = ALL_OPERATIONS[operation]
    theirs, mine = count(size, dtype), _own_work(intensity, moved, dtype)
    found, own = (roofline.bound_on(w, chip) for w in (theirs, mine))
    points = {
        series: (work, bound)
        for series, work, bound in ((5, mine, own), (CHOSEN, theirs, found))
        if work.operations.si > 0  # a log axis has no place for no work
    }
    waits = f"{label} waits for {found.bound}, your point for {own.bound}"
    readouts = [
        readout("ridge", "Ridge", roofline.ridge(chip, dtype)),
        *_of("operation", "Operation", theirs, found),
        *_of("own", "Your point", mine, own),
    ]
    return _shown(chip, dtype, f"{chip.short}: {waits}.", points, readouts)


def _own_work(intensity: int, moved: int, dtype: str) -> Work:
    crossing = chosen(1e6 * moved, "B", "your bytes")
    each = chosen(intensity, "FLOP/B", "your intensity")
    return Work((each * crossing).named("your operations"), crossing, "yours", dtype)


def _of(name: str, label: str, work: Work, bound: Bound) -> list[dict[str, Any]]:
    """Intensity, least time and share of the peak of one point."""
    share = bound.share_of_peak
    return [
        readout(f"{name}-intensity", f"{label}: intensity", work.intensity),
        readout(f"{name}-time", f"{label}: least time", bound.time),
        readout(f"{name}-share", f"{label}: of the peak", share, "share", unit="%"),
    ]


def _without(chip: Accelerator, dtype: str) -> Spec:
    known = ", ".join(chip.formats)
    why = f"{chip.short} publishes no {dtype} rate. It has {known}."
    bare = roofline_spec([], title=f"{chip.short} has no {dtype} arithmetic.")
    return {**_limited(bare), "message": why}


def _shown(
    chip: Accelerator,
    dtype: str,
    title: str,
    points: dict[int, tuple[Work, Bound]],
    readouts: list[dict[str, Any]],
) -> Spec:
    """The roof with points by their colour."""
    about = {"device": chip.key, "dtype": dtype}
    told = {"evidence": "yours", **about}
    rows = [
        {"name": work.name, "intensity": work.intensity, "rate": bound.rate, **told}
        for work, bound in points.values()
    ]
    spec = _limited(roofline_spec([chip.key], dtype, title=title, points=rows))
    for mark, series in zip(spec["marks"][-len(rows) :], points, strict=True):
        mark["series"] = series
    return {**spec, "readouts": readouts, "about": about}


def _limited(spec: Spec) -> Spec:
    """Axes that stand still while the reader moves a slider."""
    spec["x"]["limits"] = list(SPAN)
    spec["y"]["limits"] = [0.01, 10_000]
    return spec
