"""What the host adds to a step of this machine, by what the step has in it.

The account knows the products and the calls of one sequence. Between them Python runs:
once a step, for every row, token and piece of a prompt, and for what attention gathers
of the cache, sequence by sequence. With a second row every product is one of matrices,
which BLAS begins more slowly than one with a vector. What each costs is fitted to timed
steps of an engine that serves other requests than those that are predicted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stacklib.hardware.host_spec import roofline_file
from stacklib.quantity.bounds import above_zero

from ..token import host
from ..token.account import account
from ..token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from ..token.work import LAUNCHES
from .steps import READ, ByBlocks, Work

Law = Callable[[Work], float]
PARTS = ("step", "matrix", "row", "token", "piece", "cached", "score")
WINDOW = 64  # steps that are held against the law together
INSIDE = 0.95  # of windows of rounds that the law had not seen
STORED = "host_steps.json"  # beside the roofline of this machine
TURNS, STRANGE = 5, 3  # of the fit; times the law


class Timed(NamedTuple):
    """A step that was made: its round, what was in it, and its seconds."""

    round: int
    work: Work
    seconds: float


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of the host by part, and how far whole windows of steps were from it.

    - ``costs``: seconds of each of ``PARTS``
    - ``low``, ``high``: times the law that windows took, in rounds it had not seen
    - ``steps``: that were timed
    """

    costs: tuple[float, ...]
    low: float
    high: float
    steps: int

    def seconds(self, work: Work) -> float:
        """Of the host, in one step."""
        return _dot(self.costs, work)


def counts(work: Work) -> tuple[int, ...]:
    """How much of each of ``PARTS`` is in a step."""
    ends = [end for _, end in work.pieces]
    return (
        1,
        int(work.rows > 1),
        work.rows,
        work.decodes + work.ends,
        len(work.pieces),
        work.context + sum(ends),
        sum((end - start) * end for start, end in work.pieces),
    )


def pace_of(timed: Sequence[Timed], account: Law) -> Pace:
    """The host's costs that timed steps of two rounds or more leave over.

    - ``account``: seconds of a step without the host
    """
    rounds = sorted({each.round for each in timed})
    if len(rounds) < 2 or len(timed) < WINDOW * len(rounds):
        raise ValueError(
            f"{len(timed)} steps of {len(rounds)} rounds: at least two rounds of "
            f"{WINDOW} steps are needed"
        )
    above_zero(seconds=min(each.seconds for each in timed))
    ratios = []
    for out in rounds:
        law = _fitted([each for each in timed if each.round != out], account)
        unseen = [each for each in timed if each.round == out]
        for start in range(0, len(unseen) - WINDOW + 1, WINDOW):
            window = unseen[start : start + WINDOW]
            told = sum(account(each.work) + _dot(law, each.work) for each in window)
            ratios.append(sum(each.seconds for each in window) / told)
    ratios.sort()
    out = round((1 - INSIDE) / 2 * (len(ratios) - 1))
    costs = _fitted(timed, account)
    return Pace(costs, min(1.0, ratios[out]), max(1.0, ratios[-1 - out]), len(timed))


def stored_pace(model: str) -> Pace | None:
    """That of this machine for one of the book's models, where it was measured."""
    path = roofline_file().with_name(STORED)
    return read_pace(path).get(model) if path.exists() else None


@lru_cache(maxsize=4)
def read_pace(path: Path) -> dict[str, Pace]:
    """Paces of a stored measurement, by model."""
    found = json.loads(path.read_text(encoding="utf-8"))
    costs = tuple(found["costs_s"][part] for part in PARTS)
    return {found["model"]: Pace(costs, found["low"], found["high"], found["steps"])}


def _dot(costs: Sequence[float], work: Work) -> float:
    return sum(a * b for a, b in zip(costs, counts(work), strict=True))


def _fitted(timed: Sequence[Timed], account: Law) -> tuple[float, ...]:
    """Least squares of relative errors, by turns with the law they are relative to.

    A cost below zero is none; a step many times as long as the law was not the host's.
    """
    import numpy

    parts = numpy.array([counts(each.work) for each in timed], float)
    base = numpy.array([account(each.work) for each in timed])
    taken = numpy.array([each.seconds for each in timed])
    costs, law = numpy.zeros(len(PARTS)), taken
    for _ in range(TURNS):
        weight = (taken < STRANGE * law) / law
        kept = list(range(len(PARTS)))
        while True:
            used = parts[:, kept] * weight[:, None]
            found = numpy.linalg.lstsq(used, (taken - base) * weight, rcond=None)[0]
            if not kept or found.min() >= 0:
                break
            del kept[int(found.argmin())]
        costs[:] = 0
        costs[kept] = found
        law = base + parts @ costs
    return tuple(costs.tolist())


@lru_cache(maxsize=4096)
def _lines(name: str, tokens: int, past: int) -> dict[str, float]:
    """Seconds by line: of a prompt, or of one token after so many."""
    prompt = tokens if tokens > 1 else None
    found = account(name, "this-machine", context=past or None, prompt=prompt).lines
    return {line.name: float(line.time.si) for line in found if line.time is not None}


class Here(ByBlocks):
    """NumPy's steps: calls once a step, products by its tokens, attention by request.

    - ``name``: of the model
    - ``gap``: of the host, which the account leaves out: seconds of each step, or by
      what is in it
    """

    def __init__(
        self, name: str, gap: float | Pace | None = None, factor: float = 1.0
    ) -> None:
        super().__init__(factor)
        self.name, self.gap = name, gap or 0.0
        self.most = host.longest(name)

    def seconds(self, work: Work) -> float:
        """As of `ByBlocks`."""
        gap = self.gap.seconds(work) if isinstance(self.gap, Pace) else self.gap
        found = self._rows(work.rows) + gap
        if many := work.decodes:
            past = min(READ * (-(-work.context // (READ * many)) or 1), self.most)
            found += many * _lines(self.name, 1, past)[ATTENTION]
        for start, end in work.pieces:
            found += self._prompt(end) - self._prompt(start)
        return found

    def _rows(self, rows: int) -> float:
        """Products and calls of so many tokens."""
        asked = min(rows, self.most)
        found = _lines(self.name, asked, 0 if asked > 1 else 1)
        products = sum(found.get(line, 0.0) for line in (PRODUCTS, HEAD, NORMS))
        return products * rows / asked + found[LAUNCHES]

    def _prompt(self, tokens: int) -> float:
        asked = min(tokens, self.most)
        if not asked:
            return 0.0
        return _lines(self.name, asked, 1 if asked == 1 else 0)[ATTENTION]
