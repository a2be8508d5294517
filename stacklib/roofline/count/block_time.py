"""One NumPy block on this machine: what its work predicts, and the clock.

The prediction is each operation's roofline bound with every step through memory. Left
out: that NumPy runs elementwise steps on one core, what an exponential costs beside an
addition, and the first touch of each new array. The clock shows them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stacklib.hardware import THIS_MACHINE, Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import whole

from ..work.bounds import bound_on, device_of
from ..work.fit import model_of
from .operations import KINDS, block_operations, total

RULE, DTYPE = "steps", "fp64"  # what plain NumPy code does, and in which format


@dataclass(frozen=True, slots=True)
class Timed:
    """Operations of one kind: least time by the roofline, and time taken."""

    kind: str  # one of ``operations.KINDS``
    operations: Quantity  # what they do and move, each step through memory
    bytes: Quantity
    # Sum of their bounds; sum of their fastest runs, those that the rest of the machine
    # disturbed least.
    predicted: Quantity
    measured: Quantity


@dataclass(slots=True)
class _Stopwatch:
    """Seconds of every run of each operation."""

    clock: Callable[[], float]
    seconds: dict[str, list[float]]

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = self.clock()
        yield
        self.seconds.setdefault(name, []).append(self.clock() - start)


def time_block(
    model: str | LanguageModel,
    tokens: int,  # new tokens
    context: int = 0,  # tokens cached before them
    *,
    on: str | Accelerator = THIS_MACHINE,
    repeats: int = 9,
    clock: Callable[[], float] = time.perf_counter,  # gives seconds
) -> list[Timed]:
    """Predict one block of plain NumPy code kind by kind, then run it."""
    from .numpy_block import random_inputs, run_block

    found, watch = model_of(model), _Stopwatch(clock, {})
    whole(repeats=repeats)
    device = device_of(on)
    listed = block_operations(found, tokens, context, DTYPE, rule=RULE)
    bounds = {op.name: bound_on(op, device).time for op in listed}
    # The layer must fit this machine several times over.
    given = random_inputs(found, tokens, context)
    for _ in range(1 + repeats):
        run_block(found, given, rule=RULE, mark=watch)
    # The first run is not counted; the fastest is what the rest of the machine
    # disturbed least.
    taken = {name: min(some[1:]) for name, some in watch.seconds.items()}
    rows = []
    for kind in KINDS:
        chosen = [op for op in listed if op.kind == kind]
        work = total(listed, kind)
        least = [bounds[op.name] for op in chosen]
        predicted = sum(least[1:], least[0]).named("sum of bounds")
        seconds = sum(taken[op.name] for op in chosen)
        clocked = Quantity(seconds, "s", label=f"{kind}, measured", kind="measured")
        rows.append(Timed(kind, work.operations, work.bytes, predicted, clocked))
    return rows
