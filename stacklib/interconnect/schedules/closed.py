"""Steps and bytes of the algorithms in closed form, held to what their sends count.

n ranks, C chunks of a pipeline, groups of g on m = n / g nodes; p is the largest power
of two up to n. Bytes are a share of the array: each step's busiest rank, summed. The
two trees have no short form: at most 2 floor(log2 n) + C + 1 steps down.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from stacklib.interconnect.schedules import algorithms_switch as switch
from stacklib.interconnect.schedules.algorithms import KNOWN
from stacklib.interconnect.schedules.algorithms_halving import power
from stacklib.interconnect.schedules.algorithms_nodes import node_size
from stacklib.interconnect.schedules.compose import Ask
from stacklib.interconnect.schedules.cost import Cost, Count, least_share, priced
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

Form = Callable[[Ask], Count]


def _logs(n: int) -> int:
    """ceil(log2 n)."""
    return (n - 1).bit_length()


def _rounds(steps: Callable[[Ask], int], times: int = 1) -> Form:
    """As many steps, and (n - 1) / n of the array: the least there is."""

    def form(ask: Ask) -> Count:
        share = Fraction(times * (ask.ranks - 1), ask.ranks)
        return Count(times * steps(ask), share)

    return form


def _ring(ask: Ask) -> int:
    return ask.ranks - 1


def _nodes(ask: Ask) -> int:
    g = node_size(ask)
    return g - 1 + ask.ranks // g - 1


def _direct(ask: Ask) -> int:
    return 1


def _bruck(ask: Ask) -> int:
    return _logs(ask.ranks)


def _halving(times: int) -> Form:
    """2 log2 p steps and 2 (p - 1) / p, and so often a whole array where ranks fold."""

    def form(ask: Ask) -> Count:
        p = power(ask.ranks)
        fold = times * (ask.ranks > p)
        return Count(2 * _logs(p) + fold, Fraction(2 * (p - 1), p) + fold)

    return form


def _halving_gather(ask: Ask) -> Count:
    """log2 p steps; a folded rank's chunk goes in alone and the others come back."""
    n, p = ask.ranks, power(ask.ranks)
    extra = n - p
    chunks = sum(h + min(h, extra) for h in (1 << k for k in range(_logs(p))))
    if not extra:
        return Count(_logs(p), Fraction(chunks, n))
    return Count(_logs(p) + 2, Fraction(chunks + n, n))


def _tree(n: int, pieces: int = 1) -> Count:
    """Down a heap: two chunks a step, one where its last parent has a single child."""
    if n < 3:
        return Count(pieces * (n - 1), Fraction(n - 1))
    steps = n.bit_length() - 1 + pieces - 1
    return Count(steps, Fraction(2 * steps - (n == power(n)), pieces))


def _tree_broadcast(ask: Ask) -> Count:
    return _tree(ask.ranks, ask.chunks or 1)


def _tree_all_reduce(ask: Ask) -> Count:
    down = _tree_broadcast(ask)
    return Count(2 * down.steps, 2 * down.share)


def _pieces_through(network: Callable[[Ask], switch.Levels]) -> Form:
    """Pieces up and down the levels of switches, one behind the other."""

    def form(ask: Ask) -> Count:
        pieces, last = ask.chunks or 1, 2 * len(network(ask)) - 1
        return Count(pieces + last, Fraction(min(2 * pieces, pieces + last), pieces))

    return form


def _whole_through(network: Callable[[Ask], switch.Levels], extra: int) -> Form:
    """All at once up and down: n chunks, and ``extra``."""

    def form(ask: Ask) -> Count:
        share = Fraction(ask.ranks + extra, ask.ranks)
        return Count(2 * len(network(ask)), share)

    return form


def _ring_all_to_all(ask: Ask) -> Count:
    return Count(ask.ranks - 1, Fraction(ask.ranks - 1, 2 * ask.ranks))


def _bruck_all_to_all(ask: Ask) -> Count:
    """A chunk moves as often as its distance has bits."""
    bits = sum(far.bit_count() for far in range(ask.ranks))
    return Count(_logs(ask.ranks), Fraction(bits, ask.ranks**2))


def _nodes_all_to_all(ask: Ask) -> Count:
    g = node_size(ask)
    m = ask.ranks // g
    chunks = (g - 1) * m + (m - 1) * g
    return Count((g > 1) + (m > 1), Fraction(chunks, ask.ranks**2))


def _chain(ask: Ask) -> Count:
    steps = ask.ranks - 2 + (ask.chunks or 1)
    return Count(steps, Fraction(steps, ask.chunks or 1))


def _nodes_broadcast(ask: Ask) -> Count:
    g = node_size(ask)
    across, inside = _tree(ask.ranks // g), _tree(g)
    return Count(across.steps + inside.steps, across.share + inside.share)


def _parted(extra: int, gather: Form) -> dict[str, Form]:
    return {
        "ring": _rounds(_ring),
        "halving_doubling": gather,
        "direct": _rounds(_direct),
        "bruck": _rounds(_bruck),
        "hierarchical": _rounds(_nodes),
        "in_switch": _whole_through(switch.one_switch, extra),
        "collnet": _whole_through(switch.two_levels, extra),
    }


FORMS: dict[str, dict[str, Form]] = {
    "all_reduce": {
        "ring": _rounds(_ring, 2),
        "tree": _tree_all_reduce,
        "halving_doubling": _halving(2),
        "direct": _rounds(_direct, 2),
        "bruck": _rounds(_bruck, 2),
        "hierarchical": _rounds(_nodes, 2),
        "in_switch": _pieces_through(switch.one_switch),
        "collnet": _pieces_through(switch.two_levels),
    },
    "reduce_scatter": _parted(1, _halving_gather),
    "all_gather": _parted(0, _halving_gather),
    "all_to_all": {
        "ring": _ring_all_to_all,
        "direct": lambda ask: Count(1, Fraction(ask.ranks - 1, ask.ranks**2)),
        "bruck": _bruck_all_to_all,
        "hierarchical": _nodes_all_to_all,
    },
    "broadcast": {
        "ring": _chain,
        "tree": _tree_broadcast,
        "halving_doubling": _halving(1),
        "direct": lambda ask: Count(1, Fraction(ask.ranks - 1)),
        "hierarchical": _nodes_broadcast,
        "in_switch": _pieces_through(switch.one_switch),
        "collnet": _pieces_through(switch.two_levels),
    },
}


def closed_count(
    collective: str,
    algorithm: str,
    ranks: int,
    *,
    chunks: int | None = None,
    group: int | None = None,
) -> Count:
    """Steps and share of the array without building a schedule."""
    whole(ranks=ranks)
    forms = FORMS[resolve(collective, FORMS, "collective")]
    form = forms[resolve(algorithm, forms, f"closed form of {collective}")]
    return form(Ask(ranks, chunks, group)) if ranks > 1 else Count(0, Fraction(0))


def closed_cost(
    collective: str,
    algorithm: str,
    ranks: int,
    *,
    size: Any,
    alpha: Any,
    beta: Any,
    chunks: int | None = None,
    group: int | None = None,
) -> Cost:
    """What ``cost`` counts, without a schedule."""
    moved = closed_count(collective, algorithm, ranks, chunks=chunks, group=group)
    through = resolve(algorithm, KNOWN[collective], "algorithm") in (
        "in_switch",
        "collnet",
    )
    least = least_share(collective, ranks, through)
    return priced(moved, least, size=size, alpha=alpha, beta=beta)
