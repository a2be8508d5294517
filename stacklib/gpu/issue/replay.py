"""The clock: streams of a multiprocessor's warps, cycle by cycle.

Four sub-cores have a scheduler each and share the load/store unit, the L1, and the
unit's part of the L2 and of memory. A warp issues in order, when the results that its
instruction needs are there (a scoreboard), its port is free and its events are
complete. Which of the warps that can is the policy:

- ``lrr`` (loosely round robin) takes the next in the ring that can issue;
- ``gto`` (greedy, then oldest) stays with a warp until it waits, then takes the oldest
  that can (T. Rogers et al., Cache-Conscious Wavefront Scheduling, MICRO 2012, 2);
- ``greedy`` stays as ``gto`` does, then takes the one that has been ready longest:
  first come, first served, so that nobody is left alone at the end.

Loads are delayed by those before them in the queues they share: how much longer a
loaded memory takes follows from its rate, and is put in nowhere.

Left out: instruction fetch, register banks, address translation, rows and refreshes of
the memory, and other units except for their part of its rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.memory.warp._fast import compiled, soon
from stacklib.quantity.bounds import whole

from . import _replay_kernel as kernel
from ._account_kernel import SERVERS, account
from .machine import PORTS, Machine, machine_of
from .streams import KIND, KINDS, NONE, Streams

POLICIES = ("lrr", "gto", "greedy")
REASONS = kernel.REASONS
_STORES = tuple(KIND[k] for k in ("store_global", "store_local"))
_MMA = KIND["mma"]


@dataclass(frozen=True)
class Replayed:
    """What the multiprocessor did; columns are by instruction, warp or block."""

    streams: Streams = field(repr=False)
    machine: Machine = field(repr=False)
    resident: int
    cycles: int  # until the last result is there and the last store done
    when: Sequence[int] = field(repr=False)  # cycle in which each was issued
    ready_at: Sequence[int] = field(repr=False)  # first cycle with its inputs
    why: Sequence[int] = field(repr=False)  # index into ``REASONS``: what came last
    held: Sequence[int] = field(repr=False)  # cycles that its port was full
    there: Sequence[int] = field(repr=False)  # cycle of its result
    serial: Sequence[int] = field(repr=False)  # its place among all issued
    sub_core: Sequence[int] = field(repr=False)  # of each warp
    left: Sequence[int] = field(repr=False)  # when its memory lets each warp end
    begin: Sequence[int] = field(repr=False)  # of each block
    end: Sequence[int] = field(repr=False)

    @property
    def seconds(self) -> float:
        """Time at the machine's clock."""
        return self.cycles / self.machine.clock

    @property
    def issued(self) -> int:
        """Warp instructions."""
        return len(self.streams)

    @property
    def utilisation(self) -> float:
        """Share of the issue slots that were filled."""
        slots = self.machine.slots * self.machine.sub_cores
        return self.issued / (slots * self.cycles)

    @cached_property
    def _accounts(self) -> tuple[list[int], Any, dict[str, float]]:
        return _account(self)

    @property
    def by_line(self) -> dict[int, dict[str, int]]:
        """Cycles of all warps by source line and reason; ``selected`` are issues."""
        lines, charged, _ = self._accounts
        n = len(REASONS)
        return {
            line: {
                reason: int(charged[row * n + at])
                for at, reason in enumerate(REASONS)
                if charged[row * n + at]
            }
            for row, line in enumerate(lines)
        }

    @property
    def stalls(self) -> dict[str, int]:
        """Cycles of all warps by reason, as Nsight Compute names them."""
        _, charged, _ = self._accounts
        n = len(REASONS)
        return {
            reason: sum(int(charged[row]) for row in range(at, len(charged), n))
            for at, reason in enumerate(REASONS)
        }

    @property
    def bounds(self) -> dict[str, float]:
        """Least cycles of each port: what was asked of it, at its width or rate."""
        return self._accounts[2]

    @property
    def ports(self) -> dict[str, float]:
        """Share of the time that each port was busy."""
        return {port: least / self.cycles for port, least in self.bounds.items()}

    @property
    def bound(self) -> str:
        """The port that was busiest."""
        return max(self.bounds, key=lambda port: self.bounds[port])


def replay(
    streams: Streams,
    device: str | Accelerator | Machine,
    *,
    resident: int,
    policy: str = "gto",
    active: int | None = None,
) -> Replayed:
    """Issue every instruction of every warp of one multiprocessor.

    ``resident``: blocks at once, which start in order; ``policy``: one of `POLICIES`;
    ``active``: multiprocessors that share the memory's rate, all by default. ValueError
    for what the device has no port for, and for warps that wait for ever.
    """
    whole(resident=resident)
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: one of {', '.join(POLICIES)}")
    machine = device if isinstance(device, Machine) else None
    if machine is None:
        assert not isinstance(device, Machine)
        machine = machine_of(device, active=active, stores=_stores(streams))
    _possible(streams, machine)
    return _Run(streams, machine, resident, POLICIES.index(policy)).run()


def _stores(streams: Streams) -> bool:
    """Whether sectors are written to memory."""
    return any(
        kind in _STORES and row >= 0 and streams.requests[row][3]
        for kind, row in _kinds_and_rows(streams)
    )


def _kinds_and_rows(streams: Streams) -> set[tuple[int, int]]:
    """Every pair of a kind and a request that occurs."""
    kind: Any = streams.kind
    if hasattr(kind, "shape"):
        import numpy as np

        wide = len(streams.requests) + 1
        both = np.unique(kind.astype(np.int64) * wide + np.asarray(streams.request) + 1)
        return {(int(x) // wide, int(x) % wide - 1) for x in both}
    return set(zip(streams.kind, streams.request, strict=True))


def _possible(streams: Streams, machine: Machine) -> None:
    """Refuse what the machine has no port for, and products without a cost."""
    for kind, row in _kinds_and_rows(streams):
        machine.way(KINDS[kind])
        if kind == _MMA and (row == NONE or streams.requests[row][0] < 1):
            raise ValueError(
                "an mma without a request: its passes are cycles of the tensor port"
            )
        if row != NONE and sum(streams.requests[row][1:4]) >= kernel.MOST_SECTORS:
            raise ValueError(
                f"{KINDS[kind]} asks for {sum(streams.requests[row][1:4])} sectors; "
                f"at most {kernel.MOST_SECTORS - 1} in one instruction"
            )


class _Run:
    """The columns of one replay: arrays where the loop is compiled, lists elsewhere."""

    def __init__(
        self, streams: Streams, machine: Machine, resident: int, policy: int
    ) -> None:
        self.streams, self.machine, self.policy = streams, machine, policy
        self.resident = min(resident, streams.blocks)
        self.arrays = compiled()
        starts = [w for w in range(streams.warps) if w == 0 or self._opens(w)]
        self.blocks = self.column([*starts, streams.warps])
        sizes = [
            b - a for a, b in zip(starts, [*starts[1:], streams.warps], strict=True)
        ]
        self.width = self.resident * max(sizes)
        self.table = self.column(machine.table())
        self.size = self.column(machine.size(policy, self.resident, self.width))

    def _opens(self, warp: int) -> bool:
        return bool(self.streams.block[warp] != self.streams.block[warp - 1])

    def column(self, values: Any) -> Any:
        """Whole numbers as the loop takes them; rows one after the other."""
        if self.arrays:
            import numpy as np

            return np.ascontiguousarray(values, np.int64).ravel()
        if hasattr(values, "tolist"):
            values = values.tolist()
        if len(values) and not isinstance(values[0], int):
            return [int(x) for row in values for x in row]
        return [int(x) for x in values]

    def blank(self, count: int, value: int = 0) -> Any:
        """So many times a value."""
        if self.arrays:
            import numpy as np

            return np.full(count, value, np.int64)
        return [value] * count

    def inputs(self) -> tuple[Any, ...]:
        """The streams as the loop takes them."""
        s = self.streams
        named = (s.first, s.block, s.kind, s.needs, s.request, s.arrive, s.wait)
        return tuple(self.column(c) for c in (*named, s.requests, s.events))

    def scratch(self) -> list[Any]:
        """Columns that the loop alone uses, in its order."""
        warps, subs = self.streams.warps, self.machine.sub_cores
        slots, events = self.machine.slots, max(1, len(self.streams.events))
        return [
            *(self.blank(warps), self.blank(warps), self.blank(warps, -1)),
            *(self.blank(warps), self.blank(warps), self.blank(warps)),
            *(self.blank(warps, -1), self.blank(warps)),
            *(self.blank(subs * self.width), self.blank(subs)),
            self.blank(subs, kernel.NEVER),
            *(self.blank(subs * slots), self.blank(subs), self.blank(slots)),
            self.blank(subs * len(PORTS)),
            *(self.blank(subs * self.machine.queue), self.blank(subs)),
            *(self.blank(events), self.blank(events), self.blank(events)),
            *(self.blank(self.streams.blocks), self.blank(self.streams.blocks)),
        ]

    def run(self) -> Replayed:
        """Run the loop; a fault of the streams is named."""
        n, blocks = len(self.streams), self.streams.blocks
        when, ready_at, why, held, there, serial = (self.blank(n) for _ in range(6))
        sub_core = self.blank(self.streams.warps)
        begin, end = self.blank(blocks), self.blank(blocks)
        scratch, out = self.scratch(), self.blank(2)
        left = self.blank(self.streams.warps)
        answers = (when, ready_at, why, held, there, serial, sub_core, left, begin, end)
        soon(kernel.loop, len(self.streams.kind))(
            *self.inputs(), self.blocks, self.table, self.size, *answers, *scratch, out
        )
        if out[1]:
            raise ValueError(_stuck(self.streams, scratch[0], scratch[6], scratch[17]))
        resident = self.resident
        return Replayed(self.streams, self.machine, resident, int(out[0]), *answers)


def _stuck(streams: Streams, at: Any, event_of: Any, came: Any) -> str:
    """Who waits for which event, and at which line."""
    said = []
    for warp in range(streams.warps):
        place = int(streams.first[warp]) + int(at[warp])
        if place == int(streams.first[warp + 1]):
            continue
        event = int(event_of[warp])
        event = int(streams.wait[place]) if event < 0 else event
        if event >= 0 and came[event] < streams.events[event]:
            said.append(
                f"warp {warp} at line {int(streams.line[place])} waits for event "
                f"{event}: {int(came[event])} of {int(streams.events[event])} arrived"
            )
    return "; ".join(said[:4]) or "blocks wait for blocks that never end"


def _account(done: Replayed) -> tuple[list[int], Any, dict[str, float]]:
    """Source lines, cycles by line and reason, and least cycles of every port."""
    run = _Run(done.streams, done.machine, done.resident, 0)
    first, block, kind, _, request, _, _, requests, _ = run.inputs()
    lines, rows = _lines(done.streams.line, run)
    machine, reasons = done.machine, len(REASONS)
    charged = run.blank(len(lines) * reasons)
    issued, either = run.blank(machine.sub_cores), run.blank(machine.sub_cores)
    alone = run.blank(machine.sub_cores * len(PORTS))
    served = run.blank(len(SERVERS))
    found = (done.when, done.ready_at, done.why, done.held, done.sub_core, done.left)
    soon(account, len(kind))(
        *(first, block, kind, request, requests, rows, run.table, run.size),
        *(*found, done.begin, reasons, charged, issued, alone, either, served),
    )
    return lines, charged, _bounds(machine, issued, alone, either, served)


def _lines(line: Any, run: _Run) -> tuple[list[int], Any]:
    """The source lines in order, and of each instruction the row of its line."""
    if run.arrays:
        import numpy as np

        seen = np.bincount(np.asarray(line)) > 0  # of few lines: nothing is sorted
        rows = (seen.cumsum() - 1)[line]
        return [int(x) for x in seen.nonzero()[0]], run.column(rows)
    found = sorted({int(x) for x in line})
    row_of = {x: row for row, x in enumerate(found)}
    return found, [row_of[int(x)] for x in line]


def _bounds(
    machine: Machine, issued: Any, alone: Any, either: Any, served: Any
) -> dict[str, float]:
    """Cycles that each port needs for what it was asked, whoever asks and when."""
    tick, wide = machine.tick, len(PORTS)
    least: dict[str, float] = {"issue": float(max(issued) / machine.slots)}
    for s in range(machine.sub_cores):
        own = [alone[s * wide + port] / tick for port in range(wide)]
        for port, took in zip(PORTS, own, strict=True):
            least[port] = max(least.get(port, 0.0), float(took))
        shared = (own[0] + own[1] + either[s] / tick) / 2
        least["fma"] = max(least["fma"], float(shared))
    for server, ticks in zip(SERVERS, served, strict=True):
        least[server] = float(ticks / tick)
    return {port: took for port, took in least.items() if took}
