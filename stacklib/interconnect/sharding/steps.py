"""A step of training in integers, whole and in parts: equal to the last digit.

The model is two matrices with a ReLU between them, the loss half of the squared error,
the optimizer momentum; nothing is divided, so that integers stay integers and parts
must give exactly what the whole gives. What chips send goes through schedules, whose
sends are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stacklib.interconnect.schedules.algorithms import (
    all_gather,
    all_reduce,
    reduce_scatter,
)
from stacklib.interconnect.schedules.run import chunk_width, run
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[Any, Any]  # one array for each of the two matrices


@dataclass
class Network:
    """Runs schedules, and counts what rank 0 sends: all send alike."""

    ranks: int
    sent: int = 0  # numbers
    calls: list[str] = field(default_factory=list)

    def __call__(self, make: Callable[[int], Schedule], arrays: list[Any]) -> list[Any]:
        """What each rank holds afterwards."""
        schedule = make(self.ranks)
        each = chunk_width(schedule, arrays[0].shape)
        self.sent += sum(send.source == 0 for send in schedule.sends) * each
        self.calls.append(schedule.collective)
        return run(schedule, arrays)


def forward(weights: Pair, x: Any) -> tuple[Any, Any]:
    """What is between the matrices, and what comes out: a row for each sample."""
    inner = x @ weights[0].T
    return inner, (inner * (inner > 0)) @ weights[1].T


def gradients(weights: Pair, x: Any, y: Any) -> Pair:
    """Of half the squared error, summed over the samples."""
    inner, out = forward(weights, x)
    wrong = out - y
    back = (wrong @ weights[1]) * (inner > 0)
    return back.T @ x, wrong.T @ (inner * (inner > 0))


def whole_step(weights: Pair, momentum: Pair, x: Any, y: Any) -> tuple[Pair, Pair]:
    """Weights and momentum afterwards, on one chip."""
    grown = tuple(
        m + g for m, g in zip(momentum, gradients(weights, x, y), strict=True)
    )
    moved = tuple(w - m for w, m in zip(weights, grown, strict=True))
    return (moved[0], moved[1]), (grown[0], grown[1])


def data_parallel_step(
    weights: Pair, momentum: Pair, x: Any, y: Any, *, ranks: int, zero: int = 0
) -> tuple[list[Pair], Network]:
    """Weights of each rank afterwards, samples split among them, and what was sent.

    - ``zero``: as of ``shard_memory``; each matrix is a unit of its own.
    """
    whole(ranks=ranks)
    if len(x) % ranks:
        raise ValueError(f"{len(x)} samples among {ranks} ranks: each needs as many")
    net = Network(ranks)
    flats = [(w.ravel(), m.ravel()) for w, m in zip(weights, momentum, strict=True)]
    split = [[_part(w, ranks, r) for r in range(ranks)] for w, _ in flats]
    held = weights
    if zero == 3:  # gathered before the forward pass, dropped, and gathered again
        held = _gathered(net, split, weights)
        held = _gathered(net, split, weights)
    pieces = zip(_samples(x, ranks), _samples(y, ranks), strict=True)
    own = [gradients(held, *piece) for piece in pieces]
    after: list[list[Any]] = [[] for _ in range(ranks)]
    for at, (flat, moment) in enumerate(flats):
        mine = [g[at].ravel() for g in own]
        if zero == 0:
            sums = net(all_reduce, mine)
            moved = [flat - (moment + total) for total in sums]
        else:
            sums = net(reduce_scatter, mine)
            parts = [
                split[at][r] - (_part(moment, ranks, r) + sums[r]) for r in range(ranks)
            ]
            # Stage 3 leaves them in parts; here they are joined to be compared.
            join = Network(ranks) if zero == 3 else net
            moved = [joined[: flat.size] for joined in join(all_gather, parts)]
        for rank, each in enumerate(moved):
            after[rank].append(each.reshape(weights[at].shape))
    return [(first, second) for first, second in after], net


def tensor_parallel_step(
    weights: Pair, momentum: Pair, x: Any, y: Any, *, ranks: int
) -> tuple[Pair, Network]:
    """Weights afterwards, matrices split among ranks, joined to be compared.

    The first matrix is split by its outputs, the second by its inputs: one sum of the
    outputs forward, one of the inputs' gradient backward, for the layer before.
    """
    whole(ranks=ranks)
    if len(weights[0]) % ranks:
        raise ValueError(f"{len(weights[0])} rows among {ranks} ranks: as many each")
    import numpy as np

    net = Network(ranks)
    firsts, seconds = np.split(weights[0], ranks), np.split(weights[1], ranks, axis=1)
    pairs = list(zip(firsts, seconds, strict=True))
    through = [forward(pair, x) for pair in pairs]
    outs = net(all_reduce, [out for _, out in through])
    moved, back = [], []
    for rank, (pair, (inner, _)) in enumerate(zip(pairs, through, strict=True)):
        wrong = outs[rank] - y
        inward = (wrong @ pair[1]) * (inner > 0)
        back.append(inward @ pair[0])
        grads = inward.T @ x, wrong.T @ (inner * (inner > 0))
        parts = np.split(momentum[0], ranks), np.split(momentum[1], ranks, axis=1)
        moved.append(
            tuple(w - (m[rank] + g) for w, m, g in zip(pair, parts, grads, strict=True))
        )
    net(all_reduce, back)
    first = np.concatenate([pair[0] for pair in moved])
    return (first, np.concatenate([pair[1] for pair in moved], axis=1)), net


def _gathered(net: Network, split: list[list[Any]], weights: Pair) -> Pair:
    found = [net(all_gather, parts)[0] for parts in split]
    shaped = [
        flat[: w.size].reshape(w.shape) for flat, w in zip(found, weights, strict=True)
    ]
    return shaped[0], shaped[1]


def _part(flat: np.ndarray, ranks: int, rank: int) -> np.ndarray:
    """A rank's part, padded with zeros to as many as the others'."""
    each = -(-flat.size // ranks)
    part = flat[rank * each : (rank + 1) * each]
    return _padded(part, each)


def _padded(part: np.ndarray, each: int) -> np.ndarray:
    import numpy as np

    return np.concatenate([part, np.zeros(each - part.size, part.dtype)])


def _samples(rows: Any, ranks: int) -> list[Any]:
    each = len(rows) // ranks
    return [rows[r * each : (r + 1) * each] for r in range(ranks)]
