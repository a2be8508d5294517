"""The order of work on each stage of a pipeline: gpipe, 1F1B, interleaved, zero bubble.

A stage holds one chunk of layers, or v of them that a microbatch visits turn by turn:
chunk c of stage s is the (c p + s)-th part of the model. Each piece of work is a
``forward``, a ``backward``, or, where a schedule takes the backward apart, ``inputs``
(the gradient that the stage before waits for) and ``weights`` (nobody waits).

- gpipe: all forwards, then all backwards (Y. Huang et al., 2019).
- 1f1b: forwards until the first can come back, then a backward after each forward
  (D. Narayanan et al., 2019); interleaved as in Megatron-LM (Narayanan et al., 2021).
- zb-h1: 1F1B with the weights' part put off, on stage s by s microbatches, so that no
  stage holds more than the first; zb-h2: twice as many forwards ahead, put off by twice
  as many (P. Qi et al., 2024).
- dualpipe: rank s holds parts s and p - 1 - s, chunks 0 and 1; half of the microbatches
  go up the ranks and half come down (DeepSeek-V3 Technical Report, 2024, figure 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .closed import SCHEDULES

FORWARD, BACKWARD, INPUTS, WEIGHTS = "forward", "backward", "inputs", "weights"


class Work(NamedTuple):
    """A piece of work of one stage."""

    kind: str
    microbatch: int
    chunk: int = 0

    def __str__(self) -> str:
        where = f", chunk {self.chunk}" if self.chunk else ""
        return f"{self.kind} of microbatch {self.microbatch}{where}"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What each stage does, in order."""

    orders: tuple[tuple[Work, ...], ...]
    microbatches: int
    chunks: int = 1
    schedule: str = "yours"
    mirrored: bool = False  # chunk 1 of rank s is part p - 1 - s, with its own half
    # By stage, places of forwards that run beside the backward that follows: what
    # either of them hands on is there when both are done.
    beside: tuple[frozenset[int], ...] = ()

    @property
    def stages(self) -> int:
        """How many there are."""
        return len(self.orders)


def pipeline(
    stages: int, microbatches: int, schedule: str = "1f1b", interleave: int = 1
) -> Pipeline:
    """Order of work on each stage of a pipeline.

    Parameters
    ----------
    stages, microbatches : int
        Stages of the pipeline, and microbatches of a step.
    schedule : str
        ``gpipe``, ``1f1b``, ``zb-h1``, ``zb-h2`` or ``dualpipe``.
    interleave : int
        Chunks of layers that a stage holds; with zero bubble and dualpipe, one.

    Raises
    ------
    ValueError
        For counts below one, chunks where there is only one, microbatches of an
        interleaved schedule that are no multiple of the stages, and for dualpipe an odd
        count, or microbatches below twice the stages.

    Examples
    --------
    >>> made = pipeline(3, 3)
    >>> [f"{work.kind[0]}{work.microbatch}" for work in made.orders[1]]
    ['f0', 'f1', 'b0', 'f2', 'b1', 'b2']
    """
    schedule = resolve(schedule, SCHEDULES, "pipeline schedule")
    whole(stages=stages, microbatches=microbatches, interleave=interleave)
    depth = {"zb-h1": 1, "zb-h2": 2}.get(schedule, 0)
    if interleave > 1 and (depth or schedule == "dualpipe"):
        raise ValueError(f"interleave = {interleave}: {schedule} has one chunk a stage")
    if interleave > 1 and microbatches % stages:
        raise ValueError(
            f"microbatches = {microbatches}: interleaved, a multiple of the "
            f"stages = {stages} is needed"
        )
    if schedule == "dualpipe":
        if stages % 2 or microbatches % 2 or microbatches < 2 * stages:
            raise ValueError(
                f"stages = {stages}, microbatches = {microbatches}: dualpipe needs "
                "even counts, and twice as many microbatches as stages"
            )
        half = microbatches // 2
        both = [_both_ways(stages, half, s) for s in range(stages)]
        made = tuple(tuple(order) for order, _ in both)
        pairs = tuple(frozenset(places) for _, places in both)
        return Pipeline(made, half, 2, schedule, mirrored=True, beside=pairs)
    if depth:
        orders = [_apart(stages, microbatches, depth, s) for s in range(stages)]
    else:
        orders = [
            _whole(stages, microbatches, schedule, interleave, stage)
            for stage in range(stages)
        ]
    return Pipeline(tuple(map(tuple, orders)), microbatches, interleave, schedule)


def _whole(p: int, m: int, schedule: str, v: int, stage: int) -> list[Work]:
    """Forwards ahead of the first backward, then turn by turn, then what is left."""
    forwards = [Work(FORWARD, *where) for where in _turns(p, m, v)]
    backwards = [Work(BACKWARD, k, v - 1 - c) for k, c in _turns(p, m, v)]
    ahead = p - 1 - stage if v == 1 else 2 * (p - 1 - stage) + (v - 1) * p
    if schedule == "gpipe":
        ahead = m * v
    found = forwards[:ahead]
    for forward, backward in zip(forwards[ahead:], backwards, strict=False):
        found += [forward, backward]
    return found + backwards[len(forwards[ahead:]) :]


def _turns(p: int, m: int, v: int) -> list[tuple[int, int]]:
    """Microbatches and chunks: p microbatches through a chunk, then the next chunk."""
    if v == 1:
        return [(k, 0) for k in range(m)]
    return [
        (first + k, c) for first in range(0, m, p) for c in range(v) for k in range(p)
    ]


def _apart(p: int, m: int, depth: int, stage: int) -> list[Work]:
    """Backward in two parts; on stage s the weights' follow ``depth s`` later."""
    ahead, late = min(depth * (p - 1 - stage), m), depth * stage
    found = [Work(FORWARD, k) for k in range(ahead)]
    for k in range(m):
        if ahead + k < m:
            found.append(Work(FORWARD, ahead + k))
        found.append(Work(INPUTS, k))
        if k >= late:
            found.append(Work(WEIGHTS, k - late))
    return found + [Work(WEIGHTS, k) for k in range(max(m - late, 0), m)]


def _both_ways(p: int, half: int, rank: int) -> tuple[list[Work], list[int]]:
    """One rank of dualpipe: its near way's microbatches (0) and its far way's (1)."""
    near = min(rank, p - 1 - rank)
    ahead, flip = p // 2 - near - 1, int(rank >= p // 2)
    found: list[Work] = []
    done: dict[tuple[str, int], int] = {}
    late: list[Work] = []  # weights' parts put off
    pairs: list[int] = []

    def does(kind: str, way: int, apart: bool = False) -> None:
        chunk = way ^ flip
        k = done.get((kind, chunk), 0)
        done[kind, chunk] = k + 1
        found.append(Work(kind, k, chunk))
        if kind == INPUTS:
            (late if apart else found).append(Work(WEIGHTS, k, chunk))

    for _ in range(2 * ahead):
        does(FORWARD, 0)
    for way in (0, 1) * (near + 1):
        does(FORWARD, way)
    for _ in range(ahead):
        does(INPUTS, 1, apart=True)
        found.append(late.pop(0))
        does(FORWARD, 1)
    for turn in range(2 * (half - p + near + 1)):
        if turn or ahead:  # the middle ranks begin one after the other
            pairs.append(len(found))
        does(FORWARD, turn % 2)
        does(INPUTS, 1 - turn % 2)
    for _ in range(ahead):
        does(INPUTS, 1)
        pairs.append(len(found))
        does(FORWARD, 1)
        does(INPUTS, 0)
    for turn in range(2 * (near + 1)):
        does(INPUTS, 1 - turn % 2, apart=turn > near)
    for _ in range(ahead):
        found.append(late.pop(0))
        does(INPUTS, 0, apart=True)
    return found + late, pairs
