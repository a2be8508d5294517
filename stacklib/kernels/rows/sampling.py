"""Temperature, top-k, top-p and min-p: a chain of kernels, or one.

As a library does it, every cut is a kernel or some: the logits are scaled, sorted in
four passes over digits, masked, turned into probabilities, summed in order, masked and
scaled again, and each step reads and writes as long a row as the last. But a cut is
only a threshold. ``sample_fused`` finds it without sorting, by radix select: a
histogram of the leading digit says in which bucket the threshold lies, the next digit
where in that bucket, with *how many* as weight for top-k and *how much probability* for
top-p. A row that fits on the chip is read once, a longer one once a sweep.

Both give what ``tinylm.sampling.probabilities`` gives, cut by cut in that order, and
draw the same token for the same random number. Ties go to the lower index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import at_least
from stacklib.tinylm.sampling import Sampling

from .flash_sampling import COLDEST, FP32, INDEX, Crossed

DIGIT, BUCKETS = 8, 256  # bits of a digit, as radix sorts on GPUs take
CHIP = 227 * 1024  # bytes of shared memory that a block of an H100 can have
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A token, the distribution it is from, and what it took."""

    token: int
    probabilities: Floats  # (vocab,), zero where cut
    crossed: Crossed
    sweeps: int  # over the row, from memory or on the chip


def _row(logits: Any, u: float) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        row = np.asarray(logits, np.float32)
    if row.ndim != 1 or not len(row) or not np.isfinite(row.max()):
        raise ValueError(f"logits of shape {row.shape}: one row, its largest finite")
    if not 0 <= u < 1:
        raise ValueError(f"u = {u!r}: a random number from 0 up to 1")
    return row


def _drawn(p: Floats, u: float) -> int:
    """By inversion, in the order of the vocabulary."""
    sums = np.cumsum(p)
    at = int(np.searchsorted(sums, u * sums[-1], side="right"))
    return min(at, int(np.flatnonzero(p)[-1]))


# -- as many kernels as there are steps ------------------------------------------------


@dataclass
class _Memory:
    """Rows by name; every kernel says what it reads and writes."""

    arrays: dict[str, Any] = field(default_factory=dict)
    crossed: Crossed = field(default_factory=Crossed)

    def kernel(self, function: Any, reads: str, writes: str = "") -> Any:
        """Launch a function of rows; what it returns is written, or given back."""
        self.crossed.launches += 1
        names = reads.split()
        for name in names:
            self.crossed.read[name] += _bytes(self.arrays[name])
        made = function(*(self.arrays[name] for name in names))
        if not writes:
            return made
        self.arrays[writes] = made
        self.crossed.written[writes] += _bytes(made)
        return None


def _bytes(array: Any) -> int:
    return len(array) * (INDEX if array.dtype.kind in "iu" else FP32)


def sample_in_passes(logits: Any, how: Sampling, u: float) -> Sampled:
    """Cut by cut, each a kernel or some.

    - ``logits``: array (vocab,); taken in float32.
    - ``how``: Sampling; the cuts; those that keep all cost nothing.
    - ``u``: float; a random number from 0 up to 1.
    - raises ``ValueError`` for another shape, NaN, and ``u`` out of range.
    """
    row = _row(logits, u)
    memory = _Memory({"x": row})
    if how.temperature == 0:
        token = memory.kernel(lambda x: int(x.argmax()), "x")
        return Sampled(token, np.eye(1, len(row), token)[0], memory.crossed, 1)
    warm = max(how.temperature, COLDEST)
    if warm != 1:
        memory.kernel(lambda x: x / np.float64(warm), "x", "x")
    memory.kernel(_exponentials, "x", "p")
    memory.kernel(lambda p: p / p.sum(), "p", "p")
    if 0 < how.top_k < len(row) or how.top_p < 1:
        _sort(memory, row)
    if 0 < how.top_k < len(row):
        memory.kernel(lambda p, o: _without(p, o[how.top_k :]), "p order", "p")
        memory.kernel(lambda p: p / p.sum(), "p", "p")
    if how.top_p < 1:
        memory.kernel(lambda p, o: np.cumsum(p[o]) - p[o], "p order", "before")
        memory.kernel(
            lambda p, o, b: _without(p, o[b >= how.top_p]), "p order before", "p"
        )
        memory.kernel(lambda p: p / p.sum(), "p", "p")
    if how.min_p > 0:
        floor = how.min_p * memory.kernel(lambda p: p.max(), "p")
        memory.kernel(lambda p: np.where(p < floor, 0.0, p), "p", "p")
        memory.kernel(lambda p: p / p.sum(), "p", "p")
    token = memory.kernel(lambda p: _drawn(p, u), "p")
    crossed = memory.crossed
    return Sampled(token, memory.arrays["p"], crossed, crossed.launches)


def _exponentials(x: Any) -> Floats:
    wide = x.astype(np.float64)
    out: Floats = np.exp(wide - wide.max())
    return out


def _without(p: Floats, dropped: Any) -> Floats:
    kept = p.copy()
    kept[dropped] = 0.0
    return kept


def _sort(memory: _Memory, row: Any) -> None:
    """Indices from the largest logit down: one pass a digit, histogram and scatter."""
    memory.arrays |= {
        "keys": np.uint32(0xFFFFFFFF) - ordered(row),
        "order": np.arange(len(row), dtype=np.int32),
    }
    for digit in range(4):
        shift = np.uint32(DIGIT * digit)
        memory.kernel(
            lambda k, s=shift: np.bincount((k >> s) & np.uint32(255), minlength=256),
            "keys",
            "counts",
        )
        places = np.argsort(
            (memory.arrays["keys"] >> shift) & np.uint32(255), kind="stable"
        )
        memory.kernel(
            lambda k, c, o, at=places: np.stack((k[at], o[at].view(np.uint32))).ravel(),
            "keys counts order",
            "moved",
        )
        keys, order = memory.arrays.pop("moved").reshape(2, -1)
        memory.arrays |= {"keys": keys, "order": order.view(np.int32)}


# -- one kernel ------------------------------------------------------------------------


def ordered(row: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Whole numbers in the order of float32 numbers; both zeros are one."""
    bits = (row + np.float32(0)).view(np.uint32)
    sign = bits >> np.uint32(31)
    flip = np.where(sign == 1, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    out: NDArray[np.uint32] = bits ^ flip
    return out


def select(keys: Any, weights: Any, target: float) -> tuple[int, int]:
    """The least key that is kept if weights are taken from the largest key down.

    A key is kept while what lies above it weighs less than ``target``. Digit by digit:
    a histogram of the weights finds the bucket in which the target is reached, and only
    that one is looked at again.

    - ``keys``: array (n,) of uint64; all different.
    - ``weights``: array (n,); from zero up.
    - gives tuple of int: the key, and the sweeps it took; key 0 where all are kept.
    """
    keys = np.asarray(keys, np.uint64)
    above, prefix = 0.0, 0
    inside: Any = np.ones(len(keys), bool)
    for sweep, shift in enumerate(range(64 - DIGIT, -1, -DIGIT), start=1):
        digit = (keys[inside] >> np.uint64(shift)) & np.uint64(BUCKETS - 1)
        sums = np.bincount(digit.astype(np.int64), weights[inside], BUCKETS)
        over = above + np.concatenate((np.cumsum(sums[::-1])[::-1][1:], [0.0]))
        full = np.flatnonzero(np.bincount(digit.astype(np.int64), minlength=BUCKETS))
        reached = full[over[full] < target]  # buckets of which a part is kept
        bucket = int(reached[0])
        above, prefix = float(over[bucket]), (prefix << DIGIT) | bucket
        if bucket == full[0] and above + sums[bucket] < target:
            return prefix << shift, sweep  # all that is left is kept
        inside &= (keys >> np.uint64(shift)) == np.uint64(prefix)
        if inside.sum() == 1:
            return int(keys[inside][0]), sweep
    return prefix, sweep


def sample_fused(
    logits: Any, how: Sampling, u: float, *, chip_bytes: int = CHIP
) -> Sampled:
    """All cuts and the draw in one kernel; arguments as ``sample_in_passes``.

    ``chip_bytes``: what the kernel can hold of the row; a longer row comes from memory
    again for every sweep.
    """
    row = _row(logits, u)
    at_least(0, chip_bytes=chip_bytes)
    size, sweeps = len(row) * FP32, 1
    if how.temperature == 0:
        token = int(row.argmax())
        p = np.eye(1, len(row), token)[0]
    else:
        p, sweeps = _cut(row, how)
        token = _drawn(p, u)
    crossed = Crossed(launches=1)
    crossed.read["x"] = size if size <= chip_bytes else size * sweeps
    crossed.written["token"] = INDEX
    return Sampled(token, p, crossed, sweeps)


def _cut(row: Any, how: Sampling) -> tuple[Floats, int]:
    """The distribution after all cuts, and the sweeps it took."""
    tie = np.uint64(0xFFFFFFFF) - np.arange(len(row), dtype=np.uint64)
    keys = (ordered(row).astype(np.uint64) << np.uint64(32)) | tie
    p = _exponentials(row / np.float64(max(how.temperature, COLDEST)))
    sweeps = 2  # largest and sum together, as online softmax has them; and the draw
    if 0 < how.top_k < len(row):
        least, more = select(keys, np.ones(len(row)), how.top_k)
        p, sweeps = np.where(keys >= np.uint64(least), p, 0.0), sweeps + more
    if how.top_p < 1:
        least, more = select(keys, p, how.top_p * p.sum())
        p, sweeps = np.where(keys >= np.uint64(least), p, 0.0), sweeps + more
    # The largest of p is 1: its exponent is zero, and no cut drops it.
    p = np.where(p < how.min_p, 0.0, p)
    return p / p.sum(), sweeps
