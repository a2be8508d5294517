"""A schedule run on real arrays, and where the pieces of an array go.

Each array is cut in equal chunks, the last padded with zeros. Floats add in the order
of the schedule, so that two algorithms agree to rounding; integers agree exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.interconnect.schedules.verify import verify

if TYPE_CHECKING:
    import numpy as np

Shape = tuple[int, ...]


def run(schedule: Schedule, arrays: Sequence[Any]) -> list[np.ndarray]:
    """What each rank holds after a schedule, computed on NumPy arrays.

    Parameters
    ----------
    schedule : Schedule
        Any that can be run; a wrong one gives what it gives, zero where nothing came.
    arrays : sequence of array_like
        One a rank, of one shape and type. An all-gather takes each rank's part; an
        all-to-all cuts the first axis, block ``d`` for rank ``d``; a broadcast reads
        the root's values only.

    Returns
    -------
    list of numpy.ndarray
        One a rank. An all-gather gives the parts one behind the other on the first
        axis, a reduce-scatter a flat part of the sum, its padding included.

    Raises
    ------
    ValueError
        For arrays that are not one a rank and alike, or a schedule that sends what is
        not there.

    Examples
    --------
    >>> from stacklib.interconnect.schedules.algorithms import all_reduce
    >>> run(all_reduce(3), [[1, 2], [10, 20], [100, 200]])[0].tolist()
    [111, 222]
    """
    import numpy as np

    given = _alike(schedule, [np.asarray(array) for array in arrays])
    runnable(schedule)
    shape = given[0].shape
    width = chunk_width(schedule, shape)
    holds: list[dict[int, np.ndarray]] = [{} for _ in range(schedule.nodes)]
    for rank, array in enumerate(given):
        chunks = schedule.begins(rank)
        padded = np.zeros(len(chunks) * width, array.dtype)
        padded[: array.size] = array.ravel()[: padded.size]
        holds[rank] = dict(zip(chunks, padded.reshape(-1, width or 1), strict=False))
    for sends in schedule.by_step():
        moving = [holds[send.source][send.chunk] for send in sends]
        for (_, _, node, chunk, reduce), piece in zip(sends, moving, strict=True):
            there = holds[node].get(chunk) if reduce else None
            holds[node][chunk] = piece if there is None else there + piece
    nothing = np.zeros(width, given[0].dtype)  # where a wrong schedule brings nothing
    pieces = [
        [holds[rank].get(chunk, nothing) for chunk in schedule.ends(rank)]
        for rank in range(schedule.ranks)
    ]
    groups, keep, end = result_shape(schedule, shape)
    joined = [np.concatenate(piece).reshape(groups, -1) for piece in pieces]
    return [whole[:, :keep].reshape(end) for whole in joined]


def _alike(schedule: Schedule, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays, refused where they are not one a rank, of numbers, and alike."""
    if len(arrays) != schedule.ranks:
        raise ValueError(
            f"{len(arrays)} arrays for {schedule.ranks} ranks: one each is needed"
        )
    first = arrays[0]
    for rank, array in enumerate(arrays):
        if array.dtype.kind not in "iufc":
            raise ValueError(f"rank {rank}: {array.dtype} holds no numbers to add")
        if array.shape != first.shape or array.dtype != first.dtype:
            raise ValueError(
                f"rank {rank} has {array.dtype} of shape {array.shape}, rank 0"
                f" {first.dtype} of {first.shape}: all must be alike"
            )
    return arrays


def runnable(schedule: Schedule) -> None:
    """Refuse a schedule that sends what is not there, or where nobody is."""
    if halt := verify(schedule).halts:
        raise ValueError(f"the schedule cannot be run: {halt}")


def chunk_width(schedule: Schedule, shape: Shape) -> int:
    """Elements of a chunk, padding included, where a rank brings such an array."""
    size = math.prod(shape)
    if not size:
        raise ValueError(f"an array of shape {shape} is empty: nothing to send")
    if schedule.collective == "all_to_all" and (shape or (1,))[0] % schedule.ranks:
        raise ValueError(
            f"first axis of {shape}: an all-to-all cuts it in {schedule.ranks} blocks"
        )
    return -(-size // len(schedule.begins(schedule.root)))


def padding(schedule: Schedule, shape: Shape) -> int:
    """Elements that a rank's array is padded by."""
    pieces = len(schedule.begins(schedule.root))
    return pieces * chunk_width(schedule, shape) - math.prod(shape)


def result_shape(schedule: Schedule, shape: Shape) -> tuple[int, int, Shape]:
    """Parts that a result joins, elements kept of each, and the result's shape."""
    size, n = math.prod(shape), schedule.ranks
    if schedule.collective == "reduce_scatter":
        part = chunk_width(schedule, shape) * schedule.chunks // n
        return 1, part, (part,)
    if schedule.collective == "all_gather":
        return n, size, (n * (shape[0] if shape else 1), *shape[1:])
    return 1, size, shape
