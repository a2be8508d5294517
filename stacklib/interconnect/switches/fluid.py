"""DCQCN as a fluid: its delay equations, and the point where they stand still.

Zhu et al., ECN or Delay, CoNEXT 2016, equations 3 to 12. Rates within are frames per
second, as each frame is marked on its own. Left out there and here: hyper increase,
pauses, and the wait of a marked frame for its own turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, log1p
from typing import Any, NamedTuple

from stacklib.quantity.bounds import above_zero, at_least, whole

from .dcqcn import Dcqcn


class Still(NamedTuple):
    """Where nothing changes any more."""

    mark: float  # share of frames marked
    queue: float  # bytes
    alpha: float
    target: float  # B/s of each sender, above its share of the port


class Course(NamedTuple):
    """A run of the equations, a sample an entry."""

    times: tuple[float, ...]  # s
    queue: tuple[float, ...]  # bytes
    rates: tuple[tuple[float, ...], ...]  # B/s of each sender


def still(of: Dcqcn, rate: float, flows: int, frame: int = 4096) -> Still:
    """The one fixed point of flows through a port of a rate (equation 11), by halving.

    Above ``pmax`` the queue stays where all is marked, at ``kmax``.
    """
    above_zero(rate=rate)
    whole(flows=flows, frame=frame)
    each = rate / flows / frame
    low, high = 0.0, 1.0
    for _ in range(60):
        mark = (low + high) / 2
        a, b, c, d, e = _terms(mark, each, of, frame)
        alpha = -expm1(of.decay * each * log1p(-mark))
        push = of.notice**2 * of.additive / frame * each
        low, high = (
            (mark, high) if a * a * alpha < push * (b + d) * (c + e) else (low, mark)
        )
    mark = (low + high) / 2
    a, b, _, d, _ = _terms(mark, each, of, frame)
    alpha = -expm1(of.decay * each * log1p(-mark))
    over = a * alpha / (of.notice * (b + d))
    inside = of.kmin + mark / of.pmax * (of.kmax - of.kmin)
    queue = inside if mark <= of.pmax else of.kmax
    return Still(mark, queue, alpha, (each + over) * frame)


def near_mark(of: Dcqcn, rate: Any, flows: Any, frame: Any = 4096) -> Any:
    """Share of frames marked there, where it is small (equation 12).

    The cube root of additive n^2 / (decay rate^2) (1 / counter + n / (timer rate))^2,
    all of it in frames.
    """
    above_zero(rate=rate, flows=flows, frame=frame)
    slow = frame / of.counter + flows * frame / (of.timer * rate)
    push = of.additive * frame / rate**2 * flows**2 / of.decay
    return (push * slow**2) ** (1 / 3)


def run_fluid(
    of: Dcqcn,
    rate: float,
    starts: Sequence[float],
    *,
    frame: int = 4096,
    delay: float = 4e-6,
    until: float = 20e-3,
    step: float = 2e-6,
) -> Course:
    """The delay equations by Euler's steps, from an empty queue.

    - ``starts``: B/s that each sender has at first, at most ``rate``.
    - ``delay``: s until a mark is felt.
    """
    starts = list(starts)
    above_zero(rate=rate, until=until, step=step, **{"number of starts": len(starts)})
    at_least(0, delay=delay)
    whole(frame=frame)
    for one in starts:
        above_zero(**{"start of a sender": one})
    full, floor = rate / frame, of.floor / frame
    kinds = sorted(set(starts))  # senders that start alike stay so
    many, place = [starts.count(one) for one in kinds], [kinds.index(x) for x in starts]
    now = [min(one / frame, full) for one in kinds]
    goal, alpha, queue = list(now), [1.0] * len(now), 0.0
    behind = max(1, round(delay / step))
    past = [(0.0, list(now))] * behind
    times, queues, rates = [], [], []
    for k in range(round(until / step)):
        times.append(k * step)
        queues.append(queue)
        rates.append(tuple(now[kind] * frame for kind in place))
        seen, old = past[k % behind]
        past[k % behind] = queue, list(now)
        mark = of.marks(seen)
        arrived = sum(x * y for x, y in zip(many, now, strict=True))
        for i, before in enumerate(old):
            a, b, c, d, e = _terms(mark, before, of, frame)
            gap = goal[i] - now[i]
            told = 1.0 if mark == 1 else -expm1(of.decay * before * log1p(-mark))
            up = gap * before * (b + d) / 2 - now[i] * alpha[i] * a / (2 * of.notice)
            goal[i] += step * (
                of.additive / frame * before * (c + e) - gap * a / of.notice
            )
            goal[i] = min(goal[i], full)
            now[i] = min(max(now[i] + step * up, min(floor, full)), full)
            alpha[i] += step * of.gain / of.decay * (told - alpha[i])
        queue = max(0.0, queue + step * (arrived - full) * frame)
    return Course(tuple(times), tuple(queues), tuple(rates))


def _terms(
    mark: float, each: float, of: Dcqcn, frame: int
) -> tuple[float, float, float, float, float]:
    """The paper's a to e: chance of a notice, and increases a frame by each count."""
    by_bytes, by_time = of.counter / frame, of.timer * each
    if mark <= 0:
        return 0.0, 1 / by_bytes, 1 / by_bytes, 1 / by_time, 1 / by_time
    if mark >= 1:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    less = log1p(-mark)
    b, d = (mark / expm1(min(-less * count, 700)) for count in (by_bytes, by_time))
    c, e = (b * exp(less * of.fast * by_bytes), d * exp(less * of.fast * by_time))
    return -expm1(of.notice * each * less), b, c, d, e
