"""Three ways to give sequences memory that grow by a token a step, and what they waste.

- *the longest*: each reserves one run for the longest sequence there may be.
- *its own length*: each reserves one run of just what it will need, as if that were
  known; runs are taken where they first fit, and between them holes are left.
- *blocks*: each has the blocks of its tokens so far, and takes another when they are
  full. Where none is left, the youngest gives its blocks back and starts again.

Not modelled: prompts (a sequence begins with its first token), sharing, and sizes of
blocks that a kernel would like.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.quantity.names import resolve

from .allocator import BlockAllocator
from .allocator import Sequence as Table


def filled(tokens: Any, block: Any) -> Any:
    """Share of their blocks' slots that sequences fill: L / (L + (B - 1) / 2).

    - ``tokens``: mean length L; a float, a quantity or an array.
    - ``block``: tokens B that a block holds.

    Behind the last token 0 to B - 1 slots are empty, each number as often as another
    where lengths are spread over more than a block. ValueError below one token.
    """
    at_least(1, tokens=tokens, block=block)
    return tokens / (tokens + (block - 1) / 2)


def filled_by_counting(longest: int, block: int) -> float:
    """The same over every moment of sequences of 1 to ``longest`` tokens, counted.

    - ``longest``: each length up to it occurs once, and grows by a token a moment.
    - ``block``: tokens that a block holds.

    ValueError for anything but whole numbers from one.
    """
    whole(longest=longest, block=block)
    tokens = slots = 0
    for length in range(1, longest + 1):
        moments = longest + 1 - length  # of so many sequences it is a length
        tokens += moments * length
        slots += moments * -(-length // block) * block
    return tokens / slots


def filled_by_allocator(
    longest: int, block: int, sequences: int = 1000, seed: int = 0
) -> float:
    """The same of an allocator's owned blocks, for sequences met at random moments.

    - ``longest``, ``block``: as above.
    - ``sequences``: how many are in memory.
    - ``seed``: of the moments.

    ValueError for anything but whole numbers from one.
    """
    whole(longest=longest, sequences=sequences)
    draw, lengths = random.Random(seed), range(1, longest + 1)
    # Seen as long as it lives, and at any of its moments.
    lives = draw.choices(lengths, lengths, k=sequences)
    seen = [draw.randrange(1, length + 1) for length in lives]
    pool = BlockAllocator(sum(-(-length // block) for length in seen), block)
    for length in seen:
        table = pool.allocate([0], publish=False)
        assert table
        for _ in range(1, length):
            pool.append(table, 0)
    return pool.stats().utilisation


def reserved(longest: Any) -> Any:
    """Share of a reservation of the longest that holds tokens: (N + 2) / 3N.

    - ``longest``: N tokens; all lengths up to it are as frequent.

    Of a sequence of l tokens l moments are seen, with (l + 1) / 2 tokens on average;
    so it is the sum of l (l + 1) / 2 over N times the sum of l. ValueError below one.
    """
    above_zero(longest=longest)
    return (longest + 2) / (3 * longest)


class Holes:
    """Memory handed out in runs, each where it first fits.

    - ``slots``: how many there are.
    """

    def __init__(self, slots: int) -> None:
        self.holes = [(0, slots)]  # begin and end, in order

    def take(self, length: int) -> int | None:
        """Where a run of so much ``length`` begins; None where no hole is as long."""
        for n, (begin, end) in enumerate(self.holes):
            if end - begin >= length:
                rest = [(begin + length, end)] if end - begin > length else []
                self.holes[n : n + 1] = rest
                return begin
        return None

    def give(self, begin: int, length: int) -> None:
        """Take a run back that begins there; holes that touch become one.

        - ``length``: as it was taken.
        """
        joined: list[tuple[int, int]] = []
        for hole in sorted([*self.holes, (begin, begin + length)]):
            if joined and joined[-1][1] == hole[0]:
                joined[-1] = (joined[-1][0], hole[1])
            else:
                joined.append(hole)
        self.holes = joined


class Share(NamedTuple):
    """Shares of a memory over all steps in which somebody waited, and who ran.

    ``tokens`` + ``later`` (reserved, to be filled) + ``never`` (reserved, in vain) +
    ``free`` is one. ``again`` is the share of computed tokens that were given up.
    """

    tokens: float
    later: float
    never: float
    free: float
    running: float
    again: float


class _Run:
    """A sequence: what it will need, what it has, and where."""

    def __init__(self, length: int, place: Any) -> None:
        self.length, self.place, self.has = length, place, 1


class _Reserving:
    def __init__(self, slots: int, longest: int, block: int, spare: int) -> None:
        self.memory, self.longest = Holes(slots), longest

    def size(self, length: int) -> int:
        return self.longest

    def admit(self, length: int, running: int) -> _Run | None:
        place = self.memory.take(self.size(length))
        return None if place is None else _Run(length, place)

    def grow(self, run: _Run) -> bool:
        return True

    def leave(self, run: _Run) -> None:
        self.memory.give(run.place, self.size(run.length))

    def kept(self, run: _Run) -> int:
        return self.size(run.length)


class _Knowing(_Reserving):
    def size(self, length: int) -> int:
        return length


class _Paging:
    def __init__(self, slots: int, longest: int, block: int, spare: int) -> None:
        self.pool = BlockAllocator(slots // block, block)
        self.block, self.spare = block, spare

    def admit(self, length: int, running: int) -> _Run | None:
        # Who is let in too early is thrown out again.
        if len(self.pool.free_blocks) <= running * self.spare:
            return None
        table = self.pool.allocate([0], publish=False)
        return None if table is None else _Run(length, table)

    def grow(self, run: _Run) -> bool:
        table: Table = run.place
        return self.pool.append(table, 0)

    def leave(self, run: _Run) -> None:
        self.pool.free(run.place)

    def kept(self, run: _Run) -> int:
        return len(run.place.blocks) * self.block


SCHEMES: dict[str, Any] = {
    "the longest": _Reserving,
    "its own length": _Knowing,
    "blocks": _Paging,
}


def serve(
    lengths: Iterable[int],
    slots: int,
    scheme: str,
    *,
    longest: int,
    block: int = 16,
    spare: int = 8,
) -> Share:
    """Serve sequences in order by one of ``SCHEMES``, as many at once as fit.

    - ``lengths``: tokens that each comes to.
    - ``slots``: tokens that the memory holds.
    - ``scheme``: its name.
    - ``longest``: what a reservation of the longest holds.
    - ``block``: tokens that a block holds.
    - ``spare``: blocks that stay free for each that runs when another is let in.

    ValueError for anything but whole numbers from one, and for a length above
    ``longest`` or ``slots``; LookupError for a scheme there is none of.
    """
    waiting = deque(lengths)
    whole(slots=slots, longest=longest, block=block, spare=spare)
    for length in waiting:
        whole(length=length)
        if length > longest or longest > slots // block * block:
            raise ValueError(
                f"length = {length}, longest = {longest}, slots = {slots}: "
                "none of them may exceed the next"
            )
    memory = SCHEMES[resolve(scheme, SCHEMES, "scheme", exact=True)](
        slots, longest, block, spare
    )
    runs: list[_Run] = []
    sums, steps, computed, lost = [0, 0, 0, 0], 0, 0, 0
    while waiting:
        while waiting and (run := memory.admit(waiting[0], len(runs))):
            waiting.popleft()
            runs.append(run)
        here = [(r.has, memory.kept(r), r.length) for r in runs]
        sums[0] += sum(has for has, _, _ in here)
        sums[1] += sum(min(kept, length) - has for has, kept, length in here)
        sums[2] += sum(max(0, kept - length) for _, kept, length in here)
        sums[3] += len(runs)
        steps += 1
        computed += len(runs)
        for run in [*runs]:
            if run not in runs:
                continue  # thrown out in this step
            if run.has == run.length:
                runs.remove(run)
                memory.leave(run)
                continue
            while not memory.grow(run):
                youngest = runs.pop()
                memory.leave(youngest)
                waiting.appendleft(youngest.length)
                lost += youngest.has
                if youngest is run:
                    break
            else:
                run.has += 1
    tokens, later, never, running = (x / steps if steps else 0.0 for x in sums)
    used = (tokens / slots, later / slots, never / slots)
    again = lost / computed if computed else 0.0
    return Share(*used, 1 - sum(used), running, again)
