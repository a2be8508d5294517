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
from stacklib.quantity import Quantity
from stacklib.roofline import Work
from stacklib.roofline.count.traffic_cuts import five_operations

from ..rooflines import RATE, SPAN, roofline_spec
from ..spec import readout
from . import choices

HEADS_OF = "llama-3-70b"
SIZES = tuple(2**e for e in range(7, 15))


def _attention(queries: int, keys: int, dtype: str) -> Work:
    m = models.get(HEADS_OF)
    return roofline.attention(
        queries=queries, keys=keys, heads=m.heads, kv_heads=m.kv_heads,
        head_dim=m.head_dim, causal=True, dtype=dtype,
    )  # fmt: skip


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
    menu = [(key, label) for key, (label, _) in OPERATIONS.items()]
    return [
        choices.device("device", "Device", "h100_sxm"),
        choices.select("dtype", "Number format", choices.formats(), "bf16"),
        choices.select("operation", "Operation", menu, "matmul"),
        choices.slider("size", "Size (rows, or tokens)", SIZES, 1024),
    ]


def explore(*, device: str, dtype: str, operation: str, size: int) -> dict[str, Any]:
    """Spec of one device's roofline with the operation as a point on it.

    Parameters
    ----------
    device, dtype : str
        Key of the device; number format of operands and peak.
    operation : str
        A key of ``OPERATIONS``.
    size : int
        Rows of the matrices, or tokens attended to.

    Returns
    -------
    dict
        A figure spec; without marks and with a ``message`` where the device
        publishes no rate for the format.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        message = (
            f"{chip.short} publishes no {dtype} rate. It has {', '.join(chip.formats)}."
        )
        bare = roofline_spec([], title=f"{chip.short} has no {dtype} arithmetic.")
        return {**_limited(bare), "message": message}
    label, count = OPERATIONS[operation]
    work = count(size, dtype)
    found = roofline.bound_on(work, chip)
    about = {"device": device, "dtype": dtype}
    point = {"name": work.name, "intensity": work.intensity, "rate": found.rate,
             "evidence": "predicted", **about}  # fmt: skip
    title = (
        f"{chip.short}, {label}: {found.share_of_peak:%} of the peak, "
        f"bound by {found.bound}."
    )
    spec = _limited(roofline_spec([device], dtype, title=title, points=[point]))
    spec["marks"][-1]["series"] = 4  # the point, apart from its roof
    spec["readouts"] = [
        readout("intensity", "Arithmetic intensity", work.intensity),
        readout("ridge", "Ridge", roofline.ridge(chip, dtype)),
        readout("rate", "Attainable rate", found.rate, unit=RATE),
        readout("share", "Share of peak", found.share_of_peak, "share", unit="%"),
        readout("time", "Least time", found.time),
    ]
    return {**spec, "about": about}


def own_controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``own_point``."""
    menu = [(key, label) for key, (label, _) in ALL_OPERATIONS.items()]
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
) -> dict[str, Any]:
    """``explore`` with every operation of the chapter, and a point of your own.

    Parameters
    ----------
    device, dtype : str
        Key of the device; number format of operands and peak.
    operation : str
        A key of ``ALL_OPERATIONS``.
    size : int
        Columns of the matrices, or tokens attended to.
    intensity, moved : int
        Your point: operations a byte, million bytes.

    Returns
    -------
    dict
        A figure spec; without marks and with a ``message`` where the device
        publishes no rate for the format.
    """
    chip = hardware.get(device)
    if dtype not in chip.formats:
        return explore(device=device, dtype=dtype, operation="gemv", size=size)
    label, count = ALL_OPERATIONS[operation]
    theirs = count(size, dtype)
    crossing = Quantity(1e6 * moved, "B", label="your bytes", kind="assumption")
    each = Quantity(intensity, "FLOP/B", label="your intensity", kind="assumption")
    mine = Work((each * crossing).named("your operations"), crossing, "yours", dtype)
    found, own = (roofline.bound_on(w, chip) for w in (theirs, mine))
    about = {"device": device, "dtype": dtype, "evidence": "predicted"}
    points = [
        {"name": w.name, "intensity": w.intensity, "rate": b.rate, **about}
        for w, b in ((mine, own), (theirs, found))
        if w.operations.si > 0  # a log axis has no place for no work
    ]
    title = (
        f"{chip.short}: {label} waits for {found.bound}, your point for {own.bound}."
    )
    spec = _limited(roofline_spec([device], dtype, title=title, points=points))
    for mark, series in zip(spec["marks"][-len(points) :], (5, 4), strict=False):
        mark["series"] = series
    spec["readouts"] = [
        readout("ridge", "Ridge", roofline.ridge(chip, dtype)),
        *_of("operation", "Operation", theirs, found),
        *_of("own", "Your point", mine, own),
    ]
    return {**spec, "about": {"device": device, "dtype": dtype}}


def _of(name: str, label: str, work: Work, bound: roofline.Bound) -> list[dict]:
    """Intensity, least time and share of the peak of one point."""
    share = bound.share_of_peak
    return [
        readout(f"{name}-intensity", f"{label}: intensity", work.intensity),
        readout(f"{name}-time", f"{label}: least time", bound.time),
        readout(f"{name}-share", f"{label}: of the peak", share, "share", unit="%"),
    ]


def _limited(spec: dict[str, Any]) -> dict[str, Any]:
    """Axes that stand still while the reader moves a slider."""
    spec["x"]["limits"] = list(SPAN)
    spec["y"]["limits"] = [0.01, 10_000]
    return spec
