"""Recomputation: activations that are not kept, and run again on the way back.

A chain of layers is cut into segments. A segment is *kept* (everything its backward
pass needs stays in memory) or *checkpointed* (only its input stays, and it runs again
before its backward pass). Memory is highest while some segment goes back: what is
stored of the segments before it, and all of its own:

    peak = max over segments j of  sum_{i < j} stored_i + kept_j

Segments of sqrt(n) layers need about 2 sqrt(n) activations instead of n, for one more
forward pass (T. Chen et al., *Training deep nets with sublinear memory cost*, 2016,
section 4). They are not the best: early segments find less stored before them and may
be longer, and the last need not run again. ``checkpoint_plan`` finds the cheapest plan
under a budget, and the smallest possible, by dynamic programming; ``run_plan`` walks it
with a ledger. Recomputing inside of what is recomputed goes on down to log n memory
(A. Griewank and A. Walther, *Algorithm 799: revolve*, 2000): ``revolve``.

Left out: gradients and weights, which all plans hold, and what a kernel needs besides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from stacklib.quantity import resolve
from stacklib.quantity.bounds import at_least, whole

METHODS = ("keep", "every", "sqrt", "optimal")
BACKWARD = 2  # passes' worth of FLOPs back: for the input and for the weights


@dataclass(frozen=True, slots=True)
class Layer:
    """What a layer of the chain holds and does."""

    input_bytes: float  # what has to stay if it is to run again
    kept_bytes: float  # what its backward pass needs, its input included
    flops: float  # of its forward pass

    def __post_init__(self) -> None:
        at_least(0, input_bytes=self.input_bytes, flops=self.flops)
        at_least(self.input_bytes, kept_bytes=self.kept_bytes)


@dataclass(frozen=True, slots=True)
class Segment:
    """Layers ``first`` up to ``last``, not included; kept, or run again."""

    first: int
    last: int
    kept: bool


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """Segments, and what they cost."""

    method: str
    segments: tuple[Segment, ...]  # none where nothing fits
    memory: float  # bytes of activations at the peak
    recomputed: float  # FLOPs of forward passes that run again
    flops: float  # of a whole step: forward, backward, and again
    infeasible: str = ""  # why no plan fits the budget, where none does

    @property
    def overhead(self) -> float:
        """FLOPs beyond those of a step that keeps everything, as a share of it."""
        own = self.flops - self.recomputed
        return self.recomputed / own if own else 0.0


def checkpoint_plan(
    layers: Sequence[Layer], *, budget: float | None = None, method: str = "optimal"
) -> CheckpointPlan:
    """Which layers to keep and which to run again.

    Parameters
    ----------
    layers : sequence of Layer
        The chain, in the order of its forward pass.
    budget : float, optional
        Bytes of activations there are. Without it the optimal plan is the one with
        the least memory of all.
    method : str
        ``keep`` everything, ``every`` layer by itself, ``sqrt``, or ``optimal``.

    Returns
    -------
    CheckpointPlan
        With ``infeasible`` set, and no segments, where nothing fits the budget.

    Raises
    ------
    ValueError
        For no layers, and a budget below zero.

    Examples
    --------
    >>> chain = [Layer(1, 10, 1.0)] * 16
    >>> [checkpoint_plan(chain, method=m).memory for m in METHODS]
    [160.0, 25.0, 43.0, 22.0]
    """
    method = resolve(method, METHODS, "method")
    layers = list(layers)
    if not layers:
        raise ValueError("layers = []: a chain of at least one is needed")
    if budget is None:
        budget = math.inf if method != "optimal" else _least(layers)
    else:
        at_least(0, budget=budget)
    n = len(layers)
    if method == "optimal":
        cuts = _cheapest(layers, budget)
    elif method == "keep":
        cuts = [Segment(0, n, True)]
    else:
        step = 1 if method == "every" else math.ceil(math.sqrt(n))
        cuts = [Segment(i, min(n, i + step), False) for i in range(0, n, step)]
    memory, again = _priced(layers, cuts) if cuts else (_least(layers), 0.0)
    whole_step = (1 + BACKWARD) * sum(layer.flops for layer in layers)
    if memory > budget:
        why = f"at least {memory:,.0f} B are needed, {budget:,.0f} B there are"
        return CheckpointPlan(method, (), memory, 0.0, whole_step, why)
    return CheckpointPlan(method, tuple(cuts), memory, again, whole_step + again)


def _kept(layers: Sequence[Layer], segment: Segment) -> float:
    return sum(x.kept_bytes for x in layers[segment.first : segment.last])


def _priced(layers: Sequence[Layer], cuts: Sequence[Segment]) -> tuple[float, float]:
    """Peak bytes and FLOPs run again, by the formula above."""
    stored = peak = again = 0.0
    for cut in cuts:
        whole_segment = _kept(layers, cut)
        peak = max(peak, stored + whole_segment)
        stored += whole_segment if cut.kept else layers[cut.first].input_bytes
        again += 0.0 if cut.kept else sum(x.flops for x in layers[cut.first : cut.last])
    return peak, again


def _least(layers: Sequence[Layer]) -> float:
    """Bytes below which no plan goes that runs each layer again at most once.

    From the back: what a suffix needs is the least, over the end of its first segment,
    of the larger of that segment whole and its input beside what the rest needs.
    """
    n = len(layers)
    sums = _sums(layers)
    needs = [0.0] * (n + 1)
    for i in reversed(range(n)):
        needs[i] = min(
            max(sums[j] - sums[i], layers[i].input_bytes + needs[j])
            for j in range(i + 1, n + 1)
        )
        # One kept whole is never smaller, but for the last: its input is not apart.
        needs[i] = min(needs[i], sums[n] - sums[i])
    return needs[0]


def _sums(layers: Sequence[Layer]) -> list[float]:
    sums = [0.0]
    for layer in layers:
        sums.append(sums[-1] + layer.kept_bytes)
    return sums


def _cheapest(layers: Sequence[Layer], budget: float) -> list[Segment]:
    """The plan with the fewest FLOPs run again whose peak is within the budget.

    From the front, by layer: of all plans that end there, those that no other beats in
    both bytes stored and FLOPs run again.
    """
    n, sums = len(layers), _sums(layers)
    fronts: list[list[tuple[float, float, tuple[Segment, ...]]]] = [[(0.0, 0.0, ())]]
    for end in range(1, n + 1):
        found = []
        for start in range(end):
            size = sums[end] - sums[start]
            flops = sum(layer.flops for layer in layers[start:end])
            for stored, again, cuts in fronts[start]:
                if stored + size > budget:
                    continue
                after = stored + layers[start].input_bytes
                cut = Segment(start, end, False)
                found.append((after, again + flops, (*cuts, cut)))
                if end == start + 1:  # more layers kept are kept one by one
                    keep = Segment(start, end, True)
                    found.append((stored + size, again, (*cuts, keep)))
        fronts.append(_unbeaten(found))
    if not fronts[n]:
        return []
    return list(min(fronts[n], key=lambda plan: (plan[1], plan[0]))[2])


def _unbeaten(
    found: list[tuple[float, float, tuple[Segment, ...]]],
) -> list[tuple[float, float, tuple[Segment, ...]]]:
    front: list[tuple[float, float, tuple[Segment, ...]]] = []
    for plan in sorted(found, key=lambda p: (p[0], p[1])):
        if not front or plan[1] < front[-1][1]:
            front.append(plan)
    return front


# -- step by step --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Walked:
    """A training step that was walked through: its peak and its work."""

    peak: float  # bytes
    flops: float
    again: float  # FLOPs of layers that ran a second time
    held: tuple[float, ...]  # bytes after each step forward, again and back


def run_plan(layers: Sequence[Layer], plan: CheckpointPlan) -> Walked:
    """Walk a plan forward and back with a ledger of what is held.

    - raises ``ValueError`` for a plan that leaves a layer out or takes one twice.
    """
    covered = [i for cut in plan.segments for i in range(cut.first, cut.last)]
    if covered != list(range(len(layers))):
        raise ValueError(f"the plan's layers are {covered}: 0 to {len(layers) - 1}")
    held: dict[object, float] = {}
    trace: list[float] = []
    flops = again = 0.0

    def note() -> None:
        trace.append(sum(held.values()))

    for cut in plan.segments:
        if not cut.kept:
            held["input", cut.first] = layers[cut.first].input_bytes
        for i in range(cut.first, cut.last):
            flops += layers[i].flops
            if cut.kept:
                held["all", i] = layers[i].kept_bytes
            note()
    for cut in reversed(plan.segments):
        if not cut.kept:
            held.pop(("input", cut.first))  # part of what the first layer keeps
            for i in range(cut.first, cut.last):
                held["all", i] = layers[i].kept_bytes
                flops += layers[i].flops
                again += layers[i].flops
                note()
        for i in reversed(range(cut.first, cut.last)):
            flops += BACKWARD * layers[i].flops
            note()
            held.pop(("all", i))
    return Walked(max(trace), flops, again, tuple(trace))


# -- again and again -------------------------------------------------------------------


def revolve(layers: int, slots: int) -> int:
    """Least forward steps to go back through equal layers with some inputs stored.

    Dynamic programming over the first checkpoint; Griewank and Walther's closed form
    is r n - C(s + r, r - 1) with the least r for which C(s + r, s) >= n. A layer's own
    backward step, which runs it once more, is not counted.

    ``slots``: inputs that can be stored, the chain's own included.
    """
    whole(layers=layers, slots=slots)

    @cache
    def steps(n: int, s: int) -> int:
        if n == 1:
            return 0
        if s == 1:
            return n * (n - 1) // 2
        return min(k + steps(n - k, s - 1) + steps(k, s) for k in range(1, n))

    return steps(layers, slots)
