"""Roofline explorer: where an operation lands under a device's roof.

Operations are the parts of a language model: a matrix against one vector or
against a matrix of tokens, and attention for one new token or for a whole
prompt (heads as in Llama-3-70B). Bytes are the least that must move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stacklib import hardware, models, roofline
from stacklib.roofline import Work

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


def _limited(spec: dict[str, Any]) -> dict[str, Any]:
    """Axes that stand still while the reader moves a slider."""
    spec["x"]["limits"] = list(SPAN)
    spec["y"]["limits"] = [0.01, 10_000]
    return spec
