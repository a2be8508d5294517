"""Annex of section 4.4: six versions of one product, timed as they stand or changed."""

from __future__ import annotations

from typing import Any

from stacklib import gpu
from stacklib.evidence.series.matmul_ports import MARGIN
from stacklib.evidence.series.port import floats
from stacklib.pages.kernels import feed
from stacklib.quantity import Quantity, counting

DEVICE = "rtx_a6000"
SMALL = (512, 512, 32)  # rows, columns, shared size
PLAIN = (1024, 1024, 128)
LARGE = (1024, 2048, 64)  # where a block computes tiles of 128 columns and more
# The author's versions, and the author's names.
VERSIONS = {
    "first": "naive",
    "coalesced": "gmem coalescing",
    "shared": "smem caching",
    "squares": "2D blocktiling",
    "spread": "bank conflicts, offset",
    "buffered": "double buffering",
}


def _inputs(shape: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    m, n, k = shape
    return floats(m, k, seed=1), floats(k, n, seed=2), floats(m, n, seed=3)


def climb(
    kernel: Any,
    tile: tuple[int, int],
    block: int | tuple[int, int],
    numbers: int,
    shape: tuple[int, int, int] = PLAIN,
) -> str:
    """What the machine's clock says of a kernel: its rate, and what it waits for.

    - ``tile``: rows and columns of the result that a block computes.
    - ``block``: its threads.
    - ``numbers``: registers that a thread holds, those for addresses apart.
    """
    found = timed(kernel, tile, block, numbers, shape)
    rate = 2.0 * shape[0] * shape[1] * shape[2] / found.time / 1e12
    return f"{rate:.3g} TFLOP/s, waits for {found.bound}"


def timed(
    kernel: Any,
    tile: tuple[int, int],
    block: int | tuple[int, int],
    numbers: int,
    shape: tuple[int, int, int] = PLAIN,
) -> Any:
    """An estimate of a launch of it."""
    m, n, k = shape
    if m % tile[0] or n % tile[1]:
        raise ValueError(f"{m} x {n} is no whole number of tiles of {tile}")
    args = (*_inputs(shape), m, n, k, 1.0, 0.0)
    grid = (n // tile[1], m // tile[0])
    return gpu.estimate(kernel, grid, block, DEVICE, *args, registers=numbers + MARGIN)


def right(kernel: Any, tile: tuple[int, int], block: Any, numbers: int) -> bool:
    """Whether a kernel computes the product, on a small shape of whole tiles."""
    import numpy as np

    shape = (tile[0], tile[1], 32)
    a, b, c = _inputs(shape)
    args = (a, b, c, *shape, 1.0, 0.0)
    held = numbers + MARGIN
    ran = gpu.launch(kernel, (1, 1), block, DEVICE, *args, registers=held)
    found = ran.results["c"].reshape(shape[:2])
    expected = a.reshape(shape[0], 32) @ b.reshape(32, shape[1])
    return bool(np.allclose(found, expected, rtol=1e-4))


def published(version: str) -> Quantity:
    """The author's rate of a version, for 4,096 cubed."""
    return feed.rate(VERSIONS[version])


def by_clock(version: str) -> Quantity:
    """What the machine's clock says of it there, from the committed result."""
    return feed.rate(VERSIONS[version], by_clock=True)


def rows() -> list[dict[str, Any]]:
    """A row a version: both rates."""
    return [
        {"version": name, "published": published(name), "clock": by_clock(name)}
        for name in VERSIONS
    ]


@counting("versions at the same place in both orders")
def same_order() -> int:
    """Versions of the six that stand at the same place in both orders."""
    told = sorted(VERSIONS, key=lambda name: published(name).si)
    found = sorted(VERSIONS, key=lambda name: by_clock(name).si)
    return sum(a == b for a, b in zip(told, found, strict=True))
