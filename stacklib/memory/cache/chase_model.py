"""What a pointer chase costs, by the size of what it walks: the closed form.

One dependent load after the other, in one random cycle through every line of a
working set. A cache with LRU replacement keeps a line until as many other lines of its
set have been asked for as it has ways. The chase asks for all of them before it comes
back. So a set that holds its lines hits always, and a set with one line too many
misses always:

    n lines over S sets, n = q S + r:   r sets hold q + 1 lines, S - r hold q
    lines that stay = r (q + 1) [q + 1 <= ways] + (S - r) q [q <= ways]

Between the capacity and one way more, the hits fall from all to none. ``served`` counts
what each level answers, ``latency`` weighs it with the latencies. ``chase_run``
walks the chase through simulated caches instead.

Where pages lie is up to the system. A cache indexed by physical addresses sees them at
random: of P pages, each of c page colours (way size over page size) gets a binomial
share, and a line stays where its colour has no more pages than ways.

Left out: address translation, prefetching, other programs, hashed sets.

The random cycle is lmbench's idea (McVoy and Staelin, USENIX ATC 1996); reading caches
off the steps that it makes is older (Saavedra and Smith, IEEE ToC 44(10), 1995).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, assumed
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.bounds import device_of

from ..warp.coalescing import LINE

GPU_WAYS = 16  # nobody publishes them; they only soften the steps


@dataclass(frozen=True, slots=True)
class ChaseLevel:
    """A cache as a chase sees it, or the memory behind the caches."""

    name: str  # for people
    latency: float  # of a load that this level answers: cycles
    size: int | None = None  # bytes; none for the memory, which holds everything
    ways: int = GPU_WAYS  # lines of a set
    line: int = LINE  # bytes of a line

    def __post_init__(self) -> None:
        above_zero(**{f"{self.name}: latency": self.latency})
        for name in ("ways", "line") if self.size is None else ("size", "ways", "line"):
            whole(**{f"{self.name}: {name}": getattr(self, name)})
        if self.size is not None and self.size % (self.ways * self.line):
            raise ValueError(
                f"{self.name}: {self.size} bytes do not divide into {self.ways} ways "
                f"of {self.line}-byte lines"
            )

    @property
    def sets(self) -> int:
        """Sets of a cache."""
        if self.size is None:
            raise ValueError(f"{self.name} is the memory: it has no sets")
        return self.size // (self.ways * self.line)

    def reached(self, stride: int) -> int:
        """Sets that a chase of this stride touches: a power of two misses most.

        ``stride``: bytes between neighbours of the working set.
        """
        return self.sets // math.gcd(self.sets, stride // self.line)


def half_of_l2(device: Accelerator) -> Quantity:
    """Bytes of the side of an L2 that is nearer to a unit."""
    sides = assumed(
        2, label="partitions of the L2", why="The L2 of an H100 is drawn in two halves."
    )
    return (device.l2_capacity / sides).named("half of the L2")


def check(levels: Sequence[ChaseLevel], stride: int) -> None:
    """Hold a hierarchy to what the closed form counts."""
    if len(levels) < 2 or levels[-1].size is not None:
        raise ValueError("give caches, nearest first, then a memory without size")
    whole(stride=stride)
    caches = levels[:-1]
    for level in caches:
        if level.size is None:
            raise ValueError(f"{level.name}: only the last level has no size")
        if stride % level.line:
            raise ValueError(
                f"stride = {stride}: no whole number of {level.name}'s "
                f"{level.line}-byte lines"
            )
    for near, far in pairwise(caches):
        overflow = near.reached(stride) * (near.ways + 1)
        if far.reached(stride) * far.ways < overflow:
            raise ValueError(
                f"{far.name} must hold what overflows {near.name}: {overflow} lines"
            )


def lines_of(working_set: int, stride: int) -> int:
    """Loads of one lap."""
    whole(working_set=working_set)
    if working_set < 2 * stride or working_set % stride:
        raise ValueError(
            f"working_set = {working_set}: a whole number of {stride}-byte strides, "
            "two or more"
        )
    return working_set // stride


def served(
    working_set: int,  # bytes from the first line to the last
    levels: Sequence[ChaseLevel],
    stride: int = LINE,  # bytes from one line of the working set to the next
    page: int | None = None,  # bytes of a page that may lie anywhere in physical memory
) -> tuple[float, ...]:
    """Share of a chase's loads that each level answers, nearest first."""
    check(levels, stride)
    lines = lines_of(working_set, stride)
    stay, before = [], 0.0
    for level in levels[:-1]:
        held = _kept(lines, level, stride) / lines
        if page is not None and _colours(level, page, stride) > 1:
            held = _kept_anywhere(working_set, level, page, stride)
        stay.append(max(0.0, held - before))
        before = max(before, held)
    return (*stay, 1.0 - before)


def latency(
    working_set: int,
    levels: Sequence[ChaseLevel],
    stride: int = LINE,
    page: int | None = None,
) -> float:
    """Mean latency of a chase's loads, in the unit of the levels' latencies."""
    shares = served(working_set, levels, stride, page)
    return sum(s * level.latency for s, level in zip(shares, levels, strict=True))


def _kept(lines: int, level: ChaseLevel, stride: int) -> int:
    """Lines that stay in a cache, from one lap to the next."""
    sets, ways = level.reached(stride), level.ways
    q, r = divmod(lines, sets)
    return r * (q + 1) * (q + 1 <= ways) + (sets - r) * q * (q <= ways)


def _colours(level: ChaseLevel, page: int, stride: int) -> int:
    """Places that a page can have in a cache: the bytes of a way over its own."""
    whole(stride, page=page)
    if page % stride:
        raise ValueError(f"page = {page}: no whole number of {stride}-byte strides")
    return level.sets * level.line // page


def _kept_anywhere(
    working_set: int, level: ChaseLevel, page: int, stride: int
) -> float:
    """Expected share of lines that stay when pages lie anywhere.

    A page's lines stay if, of the other pages, fewer than ``ways`` share its colour.
    """
    others = -(-working_set // page) - 1
    chance = 1 / _colours(level, page, stride)
    return _binomial_below(level.ways, others, chance)


def _binomial_below(k: int, n: int, p: float) -> float:
    """Chance that fewer than k of n come up, each with probability p."""
    if n < k:
        return 1.0
    term, total = n * math.log1p(-p), 0.0  # logarithm of the chance of none
    for i in range(k):
        total += math.exp(term)
        term += math.log((n - i) / (i + 1)) + math.log(p) - math.log1p(-p)
    return min(1.0, total)


def gpu_levels(on: str | Accelerator, ways: int = GPU_WAYS) -> tuple[ChaseLevel, ...]:
    """What one thread of an NVIDIA GPU chases through, in cycles.

    One thread runs on one unit, so its first level is the L1 of that unit and not of
    the chip. Where the far side of the L2 was measured, the near side is half of it.
    """
    device = device_of(on)

    def level(name: str, key: str, size: Quantity | None = None) -> ChaseLevel:
        cycles = hardware.level(device, key).known("cycles").si
        whole = ways * LINE
        held = None if size is None else int(size.to("B").si // whole * whole)
        return ChaseLevel(name, cycles, held, ways)

    hardware.level(device, "l1").known("line")  # other vendors' lines are not known
    first = level("L1", "l1", hardware.level(device, "l1").known("capacity"))
    memory, l2 = level("memory", "dram"), hardware.level(device, "l2").known("capacity")
    if hardware.level(device, "l2_far").cycles is None:
        return first, level("L2", "l2", l2), memory
    near = level("near L2", "l2", half_of_l2(device))
    return first, near, level("far L2", "l2_far", l2), memory
