"""Who asks when, and for how much: rows of traffic, drawn or read.

Times of arrival, lengths of prompts and of answers are drawn each by a seed of its own:
one seed for all would make long prompts come after long pauses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from stacklib.quantity.bounds import above_zero, is_whole, whole

from .steps import nanoseconds

Prefix = tuple[Any, int]  # the name of a text, and how many of its tokens come first
Length = int | Callable[[random.Random], int]


class Row(NamedTuple):
    """One request.

    - ``arrival``: nanoseconds; ``prompt``, ``new``: tokens read and written
    - ``prefix``: 0, or how many of its first tokens it has in common with other rows:
      a number for all that have one, a name and a number for those of one name. What it
      reads and writes after them continues the text of that name.
    """

    id: Any
    arrival: int
    prompt: int
    new: int
    prefix: int | Prefix = 0

    @property
    def text(self) -> Any:
        """Name of the text that it begins with, or goes on with; None without one."""
        if isinstance(self.prefix, tuple):
            return self.prefix[0]
        return "" if self.prefix else None

    @property
    def shared(self) -> int:
        """Tokens of that text."""
        return self.prefix[1] if isinstance(self.prefix, tuple) else self.prefix


def lognormal(median: float, mean: float, most: int = 1 << 20) -> Length:
    """Lengths with a long tail, by their median and their mean.

    - ``median``, ``mean``: tokens; the mean is not below the median
    - ``most``: longer ones are cut to it
    """
    above_zero(median=median, mean=mean)
    whole(most=most)
    if mean < median:
        raise ValueError(f"mean = {mean}: below the median {median}; lognormal is not")
    from math import log, sqrt

    middle, width = log(median), sqrt(2 * log(mean / median))

    def length(draw: random.Random) -> int:
        return max(1, min(most, round(draw.lognormvariate(middle, width))))

    return length


def draws(seed: int, what: str) -> random.Random:
    """A stream of draws of its own."""
    whole(0, seed=seed)
    return random.Random(f"{what} {seed}")


def lengths(given: Length, name: str, requests: int, seed: int) -> list[int]:
    """Tokens of each request.

    - ``given``: one number for all, or a law that draws from a stream
    """
    if not callable(given):
        whole(**{name: given})
        return [int(given)] * requests
    draw = draws(seed, name)
    found = [given(draw) for _ in range(requests)]
    for each in found:
        whole(**{name: each})
    return found


def _rows(
    pauses: Iterable[float], requests: int, prompt: Length, new: Length, seed: int
) -> list[Row]:
    """Rows after pauses in seconds."""
    read = lengths(prompt, "prompt", requests, seed)
    written = lengths(new, "new", requests, seed)
    found, at = [], 0.0
    for number, pause in zip(range(requests), pauses, strict=False):
        at += pause
        row = (number, nanoseconds(at, 0), read[number], written[number])
        found.append(Row(*row))
    return found


def poisson(
    rate: float,
    requests: int,
    *,
    prompt: Length = 512,
    new: Length = 256,
    seed: int = 0,
) -> list[Row]:
    """Requests that know nothing of one another: pauses are exponential.

    Parameters
    ----------
    rate : float
        Requests a second.
    requests : int
        How many.
    prompt, new : int or callable
        Tokens read and written; a law draws them from a ``random.Random``.
    seed : int
        Of arrivals, prompts and answers, each by a stream of its own.

    Returns
    -------
    list of Row
        In the order of arrival.

    Raises
    ------
    ValueError
        For a rate that is not above zero, and numbers that are no whole ones from 1.
    """
    above_zero(rate=rate)
    whole(requests=requests)
    draw = draws(seed, "arrivals")
    pauses = (draw.expovariate(rate) for _ in range(requests))
    return _rows(pauses, requests, prompt, new, seed)


def bursty(
    rate: float,
    requests: int,
    *,
    cv: float = 2.0,
    prompt: Length = 512,
    new: Length = 256,
    seed: int = 0,
) -> list[Row]:
    """Requests that come in bursts: pauses of a gamma law.

    Parameters
    ----------
    rate, requests, prompt, new, seed
        As of `poisson`.
    cv : float
        Standard deviation of pauses over their mean; 1 is `poisson`'s law. The 2 is
        chosen.

    Returns
    -------
    list of Row
        In the order of arrival.

    Raises
    ------
    ValueError
        For a rate not above zero, ``cv`` outside 1e-6 to 1e6, counts not whole from 1.
    """
    above_zero(rate=rate, cv=cv)
    whole(requests=requests)
    if not 1e-6 < cv < 1e6:  # a law of a shape that a float can hold
        raise ValueError(f"cv = {cv}: a number between 1e-6 and 1e6 is needed")
    draw, shape = draws(seed, "arrivals"), 1 / cv**2
    pauses = (draw.gammavariate(shape, 1 / (rate * shape)) for _ in range(requests))
    return _rows(pauses, requests, prompt, new, seed)


def rows_of(traffic: Iterable[Sequence[Any]]) -> list[Row]:
    """Rows that were checked, in the order of arrival.

    - ``traffic``: rows, or what has as many values
    - raises ``ValueError`` that names place and value: nothing to serve, numbers that
      are no whole ones or too small, a row before the one above it, a prefix longer
      than its prompt, an id twice
    """
    found: list[Row] = []
    seen, last = set(), 0
    if not isinstance(traffic, Iterable):
        raise ValueError(f"traffic = {traffic!r}: rows of requests are needed")
    for place, each in enumerate(traffic, 1):
        try:
            row = _own(each if type(each) is Row else Row(*each))
        except (TypeError, IndexError):
            raise ValueError(
                f"row {place}: {each!r}: id, arrival, prompt, new and prefix are needed"
            ) from None
        if row.arrival < last if is_whole(row.arrival) else True:
            _refused(place, row, last)
        for least, value in ((1, row.prompt), (1, row.new), (0, row.shared)):
            if not is_whole(value) or value < least:
                _refused(place, row, last)
        if row.shared > row.prompt or row.id in seen:
            _refused(place, row, last)
        seen.add(row.id)
        last = row.arrival
        found.append(row)
    if not found:
        raise ValueError("traffic has no rows: at least one request is needed")
    return found


def _own(row: Row) -> Row:
    """The row with Python's whole numbers: sums of NumPy's narrow ones run over."""
    hash((row.id, row.text))  # raises for names that are none
    numbers = (row.arrival, row.prompt, row.new, row.shared)
    if all(type(each) is int for each in numbers) or not all(map(is_whole, numbers)):
        return row
    arrival, prompt, new, shared = map(int, numbers)
    prefix = (row.text, shared) if isinstance(row.prefix, tuple) else shared
    return Row(row.id, arrival, prompt, new, prefix)


def _refused(place: int, row: Row, last: int) -> None:
    """Say what is wrong with a row."""
    where = f"row {place} ({row.id!r})"
    for least, name in ((0, "arrival"), (1, "prompt"), (1, "new"), (0, "shared")):
        value = getattr(row, name)
        if not is_whole(value) or value < least:
            what = "prefix" if name == "shared" else name
            raise ValueError(
                f"{where}: {what} = {value!r}: a whole number from {least} is needed"
            )
    if row.arrival < last:
        raise ValueError(
            f"{where}: arrival = {row.arrival} comes before the row above it, {last}: "
            "sort the rows by arrival"
        )
    if row.shared > row.prompt:
        raise ValueError(
            f"{where}: prefix = {row.shared} tokens of a prompt of {row.prompt}"
        )
    raise ValueError(f"{where}: id {row.id!r} stands above already")
