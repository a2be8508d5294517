"""What ``gpu.simt.kernels`` lacks: a work-efficient scan, a whole sort.

Kernels are plain functions of a thread for `gpu.launch`. ``radix_sort`` sorts a whole
array, pass by pass: counts of digits by block, their scan, and a scatter that keeps the
order of equals. ``measured`` runs a primitive on one block and counts work and depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib import gpu
from stacklib.gpu.simt import kernels
from stacklib.gpu.simt.report import Report
from stacklib.quantity.bounds import whole

from .primitives import primitive

T = Any  # a Thread
BLOCK = 64  # threads of a block of the kernels that name it


def scan_work_efficient(t: T, src: T, dst: T) -> None:
    """Sums of all before each element of a block: up a tree, and down again."""
    s = t.shared(1024, np.int64)
    i, n = t.thread.x, t.block_dim.x
    s[i] = src[t.block.x * n + i]
    t.sync()
    k = 1
    while k < n:  # up: each node becomes the sum of its two halves
        right = 2 * k * (i + 1) - 1
        if right < n:
            s[right] += s[right - k]
        t.sync()
        k = 2 * k
    if i == 0:
        s[n - 1] = 0
    t.sync()
    k = n // 2
    while k > 0:  # down: left gets what is before both, right that and the left's sum
        right = 2 * k * (i + 1) - 1
        if right < n:
            left = s[right - k]
            s[right - k] = s[right]
            s[right] += left
        t.sync()
        k = k // 2
    dst[t.block.x * n + i] = s[i]


# -- a whole sort ----------------------------------------------------------------------


def digit_counts(t: T, keys: T, counts: T, n: int, shift: int, radix: int) -> None:
    """How often each digit comes in a block; counts[digit, block]."""
    own = t.shared(256, np.int64)
    i = t.block.x * t.block_dim.x + t.thread.x
    for first in range(0, radix, t.block_dim.x):
        if first + t.thread.x < radix:
            own[first + t.thread.x] = 0
    t.sync()
    if i < n:
        t.atomic_add(own, (keys[i] >> shift) & (radix - 1), 1)
    t.sync()
    for first in range(0, radix, t.block_dim.x):
        digit = first + t.thread.x
        if digit < radix:
            counts[digit, t.block.x] = own[digit]


def digit_scatter(
    t: T, keys: T, dst: T, starts: T, n: int, shift: int, radix: int
) -> None:
    """Each key to its place: where its digit of this block starts, equals in order."""
    held = t.shared(1024, np.int64)
    x = t.thread.x
    i = t.block.x * t.block_dim.x + x
    held[x] = radix  # beyond the end: no digit
    key = 0
    if i < n:
        key = keys[i]
        held[x] = (key >> shift) & (radix - 1)
    t.sync()
    if i < n:
        before = 0
        for j in range(t.block_dim.x):
            if j < x and held[j] == held[x]:
                before += 1
        dst[starts[held[x], t.block.x] + before] = key


@dataclass(frozen=True, slots=True)
class Sorted:
    """Keys in order, and the reports of all launches."""

    keys: NDArray[np.int64]
    reports: tuple[Report, ...]

    @property
    def asked(self) -> int:
        """Bytes of global memory that lanes asked for, keys and counts together."""
        return sum(sum(r.traffic.asked.values()) for r in self.reports)


def radix_sort(keys: Any, *, bits: int, digit: int = 4, block: int = BLOCK) -> Sorted:
    """Sort whole numbers below 2^bits on the SIMT machine, from the last digit on.

    - ``keys``: array (n,) of int; from zero up.
    - ``bits``, ``digit``: int; of a key, and of a digit: ceil(bits / digit) passes of
      two launches; the scan of the counts between them is a scan as any, and done here.
    - ``block``: int; threads of a block.
    - raises ``ValueError`` for an empty array, a key out of range, digits of more than
      8 bits.
    """
    given = np.asarray(keys)
    whole(bits=bits, digit=digit, block=block)
    if given.ndim != 1 or not len(given) or digit > 8:
        raise ValueError(f"keys {given.shape} in digits of {digit} bits: one row, to 8")
    if given.min() < 0 or given.max() >= 2**bits:
        raise ValueError(f"keys from {given.min()} to {given.max()}: below 2^{bits}")
    now, n, radix = given.astype(np.int64), len(given), 2**digit
    blocks, reports = -(-n // block), []
    for shift in range(0, bits, digit):
        sizes = n, shift, radix
        counts = gpu.empty((radix, blocks), np.int64)
        made = gpu.launch(digit_counts, blocks, block, "h100-sxm", now, counts, *sizes)
        totals = made.results["counts"].ravel()
        starts = (np.cumsum(totals) - totals).reshape(radix, blocks)
        moved = gpu.launch(
            digit_scatter,
            blocks,
            block,
            "h100-sxm",
            now,
            gpu.empty(n, np.int64),
            starts,
            *sizes,
        )
        now = moved.results["dst"]
        reports += [made.report, moved.report]
    return Sorted(now, tuple(reports))


# -- work and depth --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measured:
    """A primitive on one block: closed form beside what the machine counted."""

    name: str
    n: int
    work: float  # told
    depth: float
    counted_work: int
    counted_depth: int
    instructions: int  # warp instructions of the whole launch
    time: float  # s, estimated, launching apart


def measured(name: str, n: int) -> Measured:
    """Run a primitive on a block of n threads and count.

    Work: numbers stored in shared memory beyond the first n. Depth: barriers after the
    one that ends the loading.

    - raises ``ValueError`` for n that is no power of two from 32 to 1,024.
    """
    row = primitive(name)
    if n not in (32, 64, 128, 256, 512, 1024):
        raise ValueError(f"n = {n!r}: a power of two from 32 to 1,024")
    src = np.random.default_rng(n).integers(0, 100, n)
    table: dict[str, Callable[..., None]] = {
        "reduce": kernels.reduce_sequential,
        "scan": kernels.scan,
        "scan-work-efficient": scan_work_efficient,
        "radix-pass": kernels.radix_pass,
    }
    out = gpu.empty(1 if row.name == "reduce" else n, np.int64)
    more = (0,) if row.name == "radix-pass" else ()
    report = gpu.launch(table[row.name], 1, n, "h100-sxm", src, out, *more).report
    stored = report.counters.lanes["store_shared"]
    barriers = report.counters.lanes["barrier"] // n
    return Measured(
        row.name,
        n,
        row.work(n),
        row.depth(n),
        stored - n,
        barriers - 1,
        report.instructions,
        report.time,
    )
