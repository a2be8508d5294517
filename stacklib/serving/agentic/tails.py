"""Tails of chains: why the sum of 99th percentiles is not the 99th of the sum.

Latencies add along a chain, quantiles do not: all hops are rarely slow at once. Three
ways to see by how much. In closed form, for exponential hops. Of k calls side by side
the last counts, which is k waits in a row (A. Rényi, 1953): the first of k to end, the
next of those left, and so on, with rates k, k - 1, ..., 1 over the mean. So a chain of
such hops is a row of exponential waits, whose distribution is a series of positive
terms (A. Jensen's uniformisation, 1953). By drawing (``drawn``). By an engine, which
answers hop after hop (``replayed``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from math import ceil, exp, expm1, lgamma, log, log1p

from stacklib.quantity.bounds import above_zero, at_least, share, whole
from stacklib.quantity.names import resolve

from ..engine.events import STEP_WORK
from ..engine.place import Place

P99 = 0.99
SURE = 0.9  # of a band
SIGMA = 0.5  # of a lognormal hop's logarithm
APART = 1000  # the longest wait over the shortest, at most
HALVINGS = 64  # of an interval, to a float's last digit
TINY = 1e-15  # of chains: fewer are none
BASE = 64  # in which prompts are numbered, by their tokens


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop: ``calls`` side by side, all of which have to end, of one mean each."""

    mean: float
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Tail:
    """The q-th quantile of each hop, and that of the chain."""

    hops: tuple[float, ...]
    chain: float
    q: float
    # Where the chain's true quantile lies, by order statistics; None: too few chains.
    low: float | None = None
    high: float | None = None

    @property
    def summed(self) -> float:
        """What adding up the hops' quantiles says of the chain."""
        return sum(self.hops)

    @property
    def ratio(self) -> float:
        """By how much that is too large."""
        return self.summed / self.chain


def tail(chains: Sequence[Sequence[float]], q: float = P99) -> Tail:
    """Quantiles of hops and of their sums, from latencies of chains.

    Parameters
    ----------
    chains : sequence of sequence of float
        Of each chain the latency of each of its hops.
    q : float
        Which quantile, above 0 and below 1.

    Raises
    ------
    ValueError
        For no chains, chains of several lengths, and latencies that are none.

    Examples
    --------
    >>> found = tail([(1.0, 9.0), (9.0, 1.0), (2.0, 2.0)])
    >>> found.summed, found.chain, found.high
    (18.0, 10.0, None)
    """
    _inside(q=q)
    rows = [tuple(row) for row in chains]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"chains of {sorted(lengths)} hops: one number is needed")
    for number, row in enumerate(rows):
        at_least(
            0.0, **{f"hop {hop} of chain {number}": x for hop, x in enumerate(row)}
        )
    sums = sorted(map(sum, rows))
    if not sums[-1]:
        raise ValueError("every hop took no time: nothing to compare")
    first, last = order_interval(len(sums), q)
    return Tail(
        tuple(quantile(column, q) for column in zip(*rows, strict=True)),
        quantile(sums, q),
        q,
        sums[first - 1] if first else None,
        sums[last - 1] if last else None,
    )


def quantile(sample: Sequence[float], q: float) -> float:
    """The smallest value that at least a share q of a sample does not exceed."""
    return sorted(sample)[max(0, ceil(q * len(sample) - 1e-9) - 1)]


def order_interval(
    n: int, q: float, sure: float = SURE
) -> tuple[int | None, int | None]:
    """Ranks, from 1, between which the q-th quantile lies, whatever is drawn from.

    How many of n values lie below the quantile is binomial, so the k-th smallest is
    above it with probability P(fewer than k below). None where n is too small for an
    end: no value of the sample is then sure to be beyond it.
    """
    whole(n=n)
    _inside(q=q, sure=sure)
    miss, below = (1 - sure) / 2, 0.0
    first = None
    for rank in range(1, n + 1):
        ways = lgamma(n + 1) - lgamma(rank) - lgamma(n - rank + 2)
        below += exp(ways + (rank - 1) * log(q) + (n - rank + 1) * log1p(-q))
        if below <= miss:
            first = rank
        if below >= 1 - miss:
            return first, rank
    return first, None


def exponential_tail(hops: Sequence[Hop], q: float = P99) -> Tail:
    """Quantiles of exponential hops that know nothing of one another, and of the chain.

    A hop of k calls ends with the last: (1 - exp(-t / mean)) ** k = q.

    - raises ``ValueError`` for no hops, means that are none or over ``APART`` times
      apart, and a quantile not between 0 and 1

    >>> round(exponential_tail([Hop(1.0)] * 7).ratio, 2)
    2.21
    """
    _inside(q=q)
    rates = _rates(hops)
    each = tuple(-hop.mean * log(-expm1(log(q) / hop.calls)) for hop in hops)
    alive = _alive(rates)
    # Of all chains, few can take many times the mean (Markov).
    low, high = 0.0, sum(1 / rate for rate in rates) / (1 - q)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        late = _later(alive, max(rates) * middle) > 1 - q
        low, high = (middle, high) if late else (low, middle)
    return Tail(each, high, q)


def _rates(hops: Sequence[Hop]) -> list[float]:
    """Of the waits in a row that the hops are."""
    if not hops:
        raise ValueError("no hops: a chain has at least one")
    for hop in hops:
        above_zero(mean=hop.mean)
        whole(calls=hop.calls)
    rates = [left / hop.mean for hop in hops for left in range(1, hop.calls + 1)]
    if max(rates) > APART * min(rates):
        raise ValueError(
            f"{hops}: waits over {APART} times apart; leave the short ones out, they "
            "change nothing"
        )
    return rates


def _alive(rates: Sequence[float]) -> list[float]:
    """Share of chains that have not ended after 0, 1, 2, ... ticks of the fastest."""
    going = [each / max(rates) for each in rates]
    at = [1.0] + [0.0] * (len(rates) - 1)
    alive = [1.0]
    while alive[-1] > TINY:
        moved = [share * go for share, go in zip(at, going, strict=True)]
        at = [
            a - out + into for a, out, into in zip(at, moved, [0, *moved], strict=False)
        ]
        alive.append(sum(at))
    return alive


def _later(alive: Sequence[float], ticks: float) -> float:
    """Share of chains that take longer, where ticks are as many on average."""
    if not ticks:
        return 1.0
    each = log(ticks)
    return sum(
        share * exp(k * each - ticks - lgamma(k + 1)) for k, share in enumerate(alive)
    )


LAWS: dict[str, Callable[[random.Random, float], float]] = {
    "exponential": lambda draw, mean: draw.expovariate(1 / mean),
    "lognormal": lambda draw, mean: mean * draw.lognormvariate(-(SIGMA**2) / 2, SIGMA),
}


def drawn(
    hops: Sequence[Hop],
    chains: int,
    *,
    law: str = "exponential",
    together: bool = False,
    seed: int = 0,
) -> list[list[float]]:
    """Latencies of each hop of so many chains, for ``tail``.

    - ``law``: one of ``LAWS``
    - ``together``: hops of a chain are slow together, one draw for all
    """
    whole(chains=chains)
    one = LAWS[resolve(law, LAWS, "law")]
    _rates(hops)
    draw, found = random.Random(seed), []
    for _ in range(chains):
        alike = draw.random()
        row = []
        for hop in hops:
            own = random.Random(alike) if together else draw
            row.append(max(one(own, hop.mean) for _ in range(hop.calls)))
        found.append(row)
    return found


def replayed(
    submit: Callable[[list[int], int], Place],
    step: Callable[[], Iterable[Place]],
    lengths: Sequence[Sequence[int]],
    *,
    prompt: int = 8,
    at_once: int = 1,
) -> list[list[float]]:
    """Latencies of chains whose hops an engine answers one after the other.

    - ``submit``: puts a prompt in line, whose answer has so many tokens
    - ``step``: makes one step; who got tokens in it
    - ``lengths``: tokens of each hop's answer, chain by chain
    - ``prompt``: tokens of each hop's prompt, no two alike
    - ``at_once``: chains under way at the same time
    """
    whole(prompt=prompt, at_once=at_once)
    found: list[list[float]] = [[] for _ in lengths]
    for number, chain in enumerate(lengths):
        if not chain:
            raise ValueError(f"chain {number} has no hops: each has at least one")
    active: dict[int, int] = {}
    waiting, asked = iter(range(len(lengths))), count()

    def ask(chain: int) -> None:
        number, most = next(asked), lengths[chain][len(found[chain])]
        tokens = [1 + number // BASE**place % BASE for place in range(prompt)]
        active[submit(tokens, most).id] = chain

    for each in islice(waiting, at_once):
        ask(each)
    while active:
        for request in step():
            if request.finished is None:
                continue
            each = active.pop(request.id)
            found[each].append(request.finished - request.submitted)
            left = len(lengths[each]) - len(found[each])
            following = each if left else next(waiting, None)
            if following is not None:
                ask(following)
    return found


def alone(prompt: int, tokens: int) -> int:
    """Work of one answer in an engine that does nothing else, in closed form.

    A step is as much as its calls and its rows; the prompt's makes the first token.
    """
    whole(prompt=prompt, tokens=tokens)
    return STEP_WORK + prompt + (tokens - 1) * (STEP_WORK + 1)


def _inside(**shares: float) -> None:
    share(**shares)
    above_zero(**shares, **{f"1 - {name}": 1 - each for name, each in shares.items()})
