"""The fewest steps by a solver: one model of all schedules of so many steps.

For every chunk, step and chip a bit a contribution says whether the chip holds it. A
chip that keeps its sum adds what comes; one that does not copies what comes from one
chip. No contribution comes in twice, because the bits' sum is a bit again. Wires carry
no more than their slots. At the end all bits are one. Where the solver finds that this
cannot be, no schedule of so many steps exists, of these chunks on this board.

OR-tools' CP-SAT (extra ``search``) is imported inside, and needed nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.quantity.bounds import above_zero, whole

from .board import Board
from .bounds import least_steps


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver says of one number of steps."""

    says: str  # found, impossible, or unknown where its time was up
    schedule: Schedule | None = None


def solve(
    board: Board,
    chunks: int,
    steps: int,
    *,
    limit: float = 10.0,
    workers: int = 2,
    growing: bool = False,
) -> Answer:
    """A schedule of exactly so many steps or fewer, or that there is none.

    - ``chunks``: pieces of the array; each wire carries ``slots`` of them in a step.
    - ``limit``: seconds after which the answer is unknown.
    - ``growing``: whether chips never let go of a contribution. That is found sooner;
      that it cannot be found then proves nothing, and is unknown.
    - raises ``ValueError`` for no chunks or a limit of nothing, ``ImportError`` where
      OR-tools are not installed.
    """
    whole(chunks=chunks)
    whole(0, steps=steps)
    above_zero(limit=limit)
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise ImportError(
            "OR-tools are missing: pip install stacklib[search]"
        ) from None
    made = _Model(cp_model.CpModel(), board, chunks, steps, growing)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = workers
    status = solver.solve(made.model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer("found", made.schedule(solver.value))
    if status == cp_model.INFEASIBLE and not growing:
        return Answer("impossible")
    return Answer("unknown")


class _Model:
    """Bits and their constraints."""

    def __init__(
        self, model: Any, board: Board, chunks: int, steps: int, growing: bool
    ) -> None:
        self.model, self.board = model, board
        self.chunks, self.steps = chunks, steps
        self.sends: dict[tuple[int, int, int, int], Any] = {}
        self.keeps: dict[tuple[int, int, int], Any] = {}
        for chunk in range(chunks):
            self._chunk(chunk, growing)
        for step in range(steps):
            self._wires(step)

    def _chunk(self, chunk: int, growing: bool) -> None:
        """What each chip holds of a chunk, step by step."""
        ranks, add = range(self.board.ranks), self.model.add
        holds: list[list[Any]] = [[int(r == at) for r in ranks] for at in ranks]
        for step in range(self.steps):
            after = [[self.model.new_bool_var("") for _ in ranks] for _ in ranks]
            for at in ranks:
                keep = self.keeps[step, at, chunk] = self.model.new_bool_var("")
                came = [self._both(keep, holds[at])]
                into = []
                for one in (a for a, b in self.board.ways if b == at):
                    sent = self.model.new_bool_var("")
                    self.sends[step, one, at, chunk] = sent
                    into.append(sent)
                    came.append(self._both(sent, holds[one]))
                # one that does not keep its own copies, from one chip
                add(sum(into) == 1).only_enforce_if(~keep)
                for rank in ranks:
                    add(after[at][rank] == sum(part[rank] for part in came))
                    if growing:
                        add(after[at][rank] >= holds[at][rank])
            holds = after
        for at in ranks:
            for rank in ranks:
                add(holds[at][rank] == 1)

    def _both(self, chosen: Any, bits: list[Any]) -> list[Any]:
        """Each bit where it was chosen."""
        found = []
        for bit in bits:
            if isinstance(bit, int):
                found.append(chosen if bit else 0)
                continue
            both = self.model.new_bool_var("")
            self.model.add_implication(both, chosen)
            self.model.add_implication(both, bit)
            self.model.add_bool_or([~chosen, ~bit, both])
            found.append(both)
        return found

    def _wires(self, step: int) -> None:
        """No wire carries more than its slots."""
        load: dict[int, list[Any]] = defaultdict(list)
        for pair, way in self.board.ways.items():
            for wire in way:
                load[wire] += [
                    self.sends[step, *pair, chunk] for chunk in range(self.chunks)
                ]
        for wire, sends in load.items():
            self.model.add(sum(sends) <= self.board.slots[wire])

    def schedule(self, value: Any) -> Schedule:
        """What was found, without copies of what is there already."""
        rows = sorted(
            Send(step, one, at, chunk, bool(value(self.keeps[step, at, chunk])))
            for (step, one, at, chunk), sent in self.sends.items()
            if value(sent)
        )
        return Schedule(
            "all_reduce", "found", self.board.ranks, self.chunks, tuple(rows)
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The fewest steps that were found, and below which there is none."""

    low: int  # no schedule has fewer
    why: str  # far, sends, cut, or solver
    schedule: Schedule | None  # None where no time was enough

    @property
    def optimal(self) -> bool:
        """Whether the schedule's steps are the fewest there are."""
        return self.schedule is not None and self.schedule.steps == self.low


def search(
    board: Board, chunks: int, *, limit: float = 10.0, workers: int = 2, more: int = 6
) -> Found:
    """Fewest steps: from the counted bound upwards until a schedule is found.

    - ``limit``: seconds for each number of steps, twice; ``more``: steps above the
      bound that are tried.
    """
    low, why = least_steps(board, chunks)
    bound = low
    for steps in range(bound, bound + more + 1):
        for growing in (True, False):
            tried = solve(
                board, chunks, steps, limit=limit, workers=workers, growing=growing
            )
            if tried.says == "found":
                return Found(low, why, tried.schedule)
            if tried.says == "impossible" and low == steps:
                low, why = steps + 1, "solver"
    return Found(low, why, None)
