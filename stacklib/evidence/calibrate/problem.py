"""What is fitted: factors with bounds, and the measured rows that read them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

HUBER = 0.1  # log ratio up to which a miss counts squared, beyond it linearly
CAP = 1.5  # log ratio beyond which it counts no more: a factor of 4.5 is an error

Override = Callable[[Mapping[str, float]], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Factor:
    """One efficiency factor."""

    prior: float  # its value where no row speaks of it
    least: float  # bounds of the fit
    most: float
    fixed: bool = False  # true for a physical constant, which is never fitted
    family: str = ""  # whose rows alone fit it, when all others have been fitted

    @property
    def begin(self) -> float:
        """Where a fit begins, to the digits that it stores."""
        return rounded(self.prior)


@dataclass(frozen=True, slots=True)
class Case:
    """One measured row that is predicted."""

    id: str
    key: str  # where it is scored
    source: str  # who measured
    device: str
    measured: float  # in the row's unit
    predict: Callable[[], float]
    reads: frozenset[str]  # names of the factors it reads
    read_back: bool = False
    words: tuple[str, ...] = ()  # its cell, from the broadest to the finest
    software: str = ""  # whose kernels ran
    rate: bool = False  # whether more is faster
    part: str = ""  # of its key's rows, where parts have bars of their own
    first: bool = False  # predicted before its value was known: it tests the fit

    @property
    def miss(self) -> float:
        """Log of predicted over measured, with the factors in force."""
        return math.log(self.predict() / self.measured)

    @property
    def family(self) -> str:
        """The letter of its key: D_large and D_small share theirs."""
        return self.key.split("_")[0]

    @property
    def cell(self) -> str:
        """Its family and its words, as a band is named."""
        return "/".join((self.key, *self.words))


def rounded(value: float) -> float:
    """Four significant digits: no more is known, and no more is stored."""
    return float(f"{value:.4g}")


def loss(miss: float) -> float:
    """What a miss costs: Huber's function of the log ratio, capped."""
    size = min(abs(miss), CAP)
    if size <= HUBER:
        return size * size / (2 * HUBER)
    return size - HUBER / 2


def weights(cases: Sequence[Case], fitted: bool = False) -> list[float]:
    """What each row counts: every family the same, and repetition little.

    The rows of one source on one device are alike: n of them count as the square
    root of n. The weights of a family (a key) sum to one. In a fit (``fitted``), rows
    that were predicted first count nothing.
    """
    groups = Counter((c.key, c.source, c.device) for c in cases)
    plain = [
        0.0 if fitted and c.first else groups[c.key, c.source, c.device] ** -0.5
        for c in cases
    ]
    totals: dict[str, float] = {}
    for case, weight in zip(cases, plain, strict=True):
        totals[case.key] = totals.get(case.key, 0.0) + weight
    return [w and w / totals[c.key] for c, w in zip(cases, plain, strict=True)]


@dataclass(frozen=True)
class Problem:
    """Factors, rows, and how factors are put in force."""

    factors: Mapping[str, Factor]  # by name, in the order in which they are fitted
    cases: tuple[Case, ...]
    override: Override
    weight: tuple[float, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.weight:
            object.__setattr__(self, "weight", tuple(weights(self.cases, True)))

    def touched(self) -> dict[str, list[int]]:
        """Rows that read each factor, by their place."""
        found: dict[str, list[int]] = {name: [] for name in self.factors}
        for i, case in enumerate(self.cases):
            for name in case.reads:
                if name in found:
                    found[name].append(i)
        return found

    def only(self, keep: Callable[[Case], bool]) -> Problem:
        """The same factors on some of the rows."""
        kept = tuple(case for case in self.cases if keep(case))
        return Problem(self.factors, kept, self.override)

    def parts(self) -> dict[str, list[int]]:
        """Places of the rows that are fitted together, in the order of the fits.

        First those of all keys that have no factor of their own, under ``""``; then
        those of each such key.
        """
        own = dict.fromkeys(f.family for f in self.factors.values() if f.family)
        found: dict[str, list[int]] = {"": [], **{family: [] for family in own}}
        for i, case in enumerate(self.cases):
            found[case.family if case.family in own else ""].append(i)
        return found

    def unreached(self) -> list[str]:
        """Factors that only rows of families with factors of their own read."""
        parts, touched = self.parts(), self.touched()
        return [
            name
            for name, factor in self.factors.items()
            if touched[name] and not factor.fixed
            if {*touched[name]}.isdisjoint(parts[factor.family])
        ]

    def stages(self) -> list[Problem]:
        """What is fitted one after the other: factors with the rows that fit them.

        A model that is built on others is judged with them as they are, and does not
        move them.
        """
        return [
            Problem(
                {n: f for n, f in self.factors.items() if f.family == family},
                tuple(self.cases[i] for i in places),
                self.override,
                tuple(self.weight[i] for i in places),
            )
            for family, places in self.parts().items()
        ]

    def drawn(self, places: Iterable[int]) -> Problem:
        """The same factors on rows drawn with repetition."""
        times = Counter(places)
        chosen = sorted(times)
        return Problem(
            self.factors,
            tuple(self.cases[i] for i in chosen),
            self.override,
            tuple(self.weight[i] * times[i] for i in chosen),
        )

    def miss(self, place: int) -> float:
        """How far a row is off, as a log ratio, with the factors in force.

        A row that cannot be computed with them is infinitely far off.
        """
        try:
            return self.cases[place].miss
        except (ValueError, ArithmeticError):
            return math.inf

    def moved(
        self, places: Iterable[int], values: Mapping[str, float], name: str
    ) -> list[int]:
        """Rows whose prediction a factor changes between its bounds."""
        factor, ends = self.factors[name], []
        read = [i for i in places if name in self.cases[i].reads]
        for x in (factor.least, factor.most):
            with self.override({**values, name: x}):
                ends.append([self.miss(i) for i in read])
        return [i for i, a, b in zip(read, *ends, strict=True) if a != b]

    def cost(self, places: Iterable[int]) -> float:
        """Weighted loss of some rows with the factors in force."""
        return sum(self.weight[i] * loss(self.miss(i)) for i in places)

    def lonely(self, values: Mapping[str, float]) -> dict[str, int]:
        """Fitted factors that move rows of one source or of one device alone.

        With the number of those rows. Such a factor would describe its source or its
        device; none is allowed in the book.
        """
        alone = {}
        for name, places in self.touched().items():
            if self.factors[name].fixed:
                continue
            moved = self.moved(places, values, name)
            sources = {self.cases[i].source for i in moved}
            devices = {self.cases[i].device for i in moved}
            if len(sources) < 2 or len(devices) < 2:
                alone[name] = len(moved)
        return alone
