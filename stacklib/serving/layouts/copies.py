"""Copies of a model on some chips: what each holds, and how long it takes.

Steady state in closed form: requests come independently of one another, and as many are
held as take that long. Prompts on decode steps add ``steady.reading``. A first
token waits for half a step, for its own prompt, and in a queue of prompts one at a time
(Pollaczek and Khinchine): prompts are read for the share ``busy`` of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.interconnect.switches.closed import mean_wait
from stacklib.quantity import Quantity
from stacklib.quantity.keys import keys_of

from ..estimates import losses, steady
from ..estimates.step import Step, step_of
from .asked import Asked

# Batches for which vLLM captures a graph, up to its largest by default: kernels change
# their tiles at these.
BATCHES = (1, 2, 4, *range(8, 256, 8), *range(256, 513, 16))
BUSY = 0.95  # of the time, at most, that a pool reads prompts: beyond it lines grow


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of the model: ``ep`` groups of ``tp`` chips.

    - ``room``: requests that its memory holds, of prompt and answer
    - ``reads``: prompts that it holds, without an answer
    """

    device: str
    dtype: object
    tp: int
    ep: int
    step: Step
    room: float
    reads: float
    words: str

    @property
    def chips(self) -> int:
        """Chips of one copy."""
        return self.tp * self.ep

    @property
    def batches(self) -> tuple[int, ...]:
        """Requests that it may hold, from one a group to as many as lie in its room."""
        most = int(self.room / self.ep)
        found = [self.ep * n for n in BATCHES if n <= most]
        if 0 < most <= BATCHES[-1] and found[-1] < self.ep * most:
            found.append(self.ep * most)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Times:
    """What a copy does with ``batch`` requests.

    - ``ttft``, ``tpot``: seconds, on average
    - ``rate``: tokens a second
    """

    batch: int
    ttft: float
    tpot: float
    rate: float


def copy_of(asked: Asked, device: str, dtype: object, tp: int, ep: int) -> Copy:
    """A copy with the step it takes.

    - raises ``ValueError`` or ``UnknownSpec`` where chips cannot share it so
    """
    keys = (*keys_of(asked.model, device, dtype, None), tp, ep)
    step = step_of(keys, asked.software, "calibrated")
    tokens = asked.prompt + asked.new
    most = ep * float(BATCHES[-1])
    room = steady.held(step, tokens, tp * ep, most)
    reads = steady.held(step, asked.prompt, tp * ep, most)
    told = _sum(step, tokens, room)
    return Copy(device, dtype, tp, ep, step, room, reads, told)


def _sum(step: Step, tokens: float, room: float) -> str:
    """Why no more requests fit."""
    frame = step.frame
    each = Quantity(steady.request_bytes(step, tokens), "B")
    weights = Quantity(frame.shape.weights, "B")
    have = Quantity(frame.capacity * frame.chips, "B")
    left = f"{steady.FREE:.0%} of what {weights:.4 GB} of weights leave of {have:.4 GB}"
    found = "none" if room < 1 else f"{int(room)}"
    return f"requests of {tokens:,.0f} tokens, {each:.3 GB} each, in {left}: {found}"


def mixed(copy: Copy, asked: Asked, batch: int) -> Times:
    """One pool: prompts ride on the steps of those that write."""
    step = copy.step
    load = steady.Load(batch, asked.prompt, asked.new)
    turn, each = steady.step_time(step, load), steady.added(step, load)
    held = batch / copy.ep
    tpot = turn + steady.reading(step, load, max(0.0, held - 1))
    prompts = steady.reading(step, load, held)
    life = turn + prompts
    busy = prompts / life
    ttft = read_time(copy, asked) + turn / 2
    return Times(batch, ttft + mean_wait(busy, each, asked.spread), tpot, batch / life)


def read_time(copy: Copy, asked: Asked) -> float:
    """Seconds from a request's arrival at an idle copy to its first token."""
    return losses.REQUEST_S + steady.prompt_time(copy.step, asked.prompt)


def writing(copy: Copy, asked: Asked, batch: int) -> Times:
    """A pool that only writes: its steps have nobody's prompt on them."""
    turn = steady.step_time(copy.step, steady.Load(batch, asked.prompt, asked.new))
    return Times(batch, 0.0, turn, batch / turn)


def crossing_bytes(copy: Copy, asked: Asked) -> float:
    """Bytes of a prompt's cache, which goes from one pool to the other."""
    return float(copy.step.frame.shape.prompt(1, int(asked.prompt))[0])
