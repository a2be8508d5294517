"""The machine that runs a rewritten kernel: masks, branches, loops, arithmetic.

All warps run the same statement together, each with a mask of its active lanes. At a
branch both sides run, one after the other, each with the lanes that take it, and the
paths join where the statement ends (the immediate post-dominator: the stack of masks of
W. Fung et al., *Dynamic warp formation*, MICRO 2007, section 2). A warp with no active
lane issues nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.memory.warp.batches import bank_ways
from stacklib.memory.warp.coalescing import LINE, SECTOR

from .counters import MOST, Counters
from .lanes import COMPARISONS, OPERATORS, Lanes, in_common, is_weak
from .requests import Traffic, distinct
from .rewrite import KernelError

MOST_ROUNDS = 1_000_000  # of one loop, before it is taken to hang
WHOLE_DIVISIONS = (np.floor_divide, np.remainder)
Mask: TypeAlias = NDArray[np.bool_]


class Unset:
    """What a name of the kernel holds before anything is assigned to it."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name

    def _read(self, *_: Any) -> Any:
        raise self.machine.error(f"{self.name!r} is read before anything is assigned")

    __getattr__ = __getitem__ = __bool__ = __index__ = __float__ = _read


for _word in (*OPERATORS, *(f"r{word}" for word in OPERATORS), *COMPARISONS):
    setattr(Unset, f"__{_word}__", Unset._read)


@dataclass(slots=True)
class Branch:
    """An ``if`` on its way: the lanes that came, and those for which it holds."""

    came: Mask
    holds: Any  # a mask, or a plain bool where all lanes agree by construction


@dataclass(slots=True)
class Loop:
    """A loop on its way: the lanes still in it, those waiting for the next round."""

    came: Mask
    inside: Mask
    skipped: Mask
    rounds: int = 0


class Machine:
    """Masks and counters of a batch of blocks that run together."""

    def __init__(
        self,
        blocks: int,  # blocks of the batch
        threads: int,
        first_block: int,  # number of the first
        counters: Counters,  # where instructions
        traffic: Traffic,  # requests are counted
        kernel: Any,
    ) -> None:
        self.threads, self.first_block = threads, first_block
        self.name, self.file = kernel.__name__, kernel.__code__.co_filename
        self.counters, self.traffic = counters, traffic
        self.warps_of_block = -(-threads // 32)
        self.warps = blocks * self.warps_of_block
        lane = np.arange(32 * self.warps_of_block).reshape(self.warps_of_block, 32)
        self.thread = np.tile(lane, (blocks, 1))
        numbers: Any = np.arange(blocks) + first_block
        self.block: Any = np.repeat(numbers, self.warps_of_block)
        self.number = self.thread + self.block[:, None] * threads
        self.launched: Mask = self.thread < threads
        self.alive: Mask = self.launched
        self.alive_lanes = int(np.count_nonzero(self.launched))
        self.loops: list[Loop] = []
        # Barriers passed: those of the block in the upper half, then any.
        self.tick: Any = np.zeros(self.warps, np.int64)
        self.issued = 0  # memory requests so far, for their order
        # Loads are numbered; a warp that uses one waits for all issued before.
        self.loads, self.arrived = 0, 0
        self.on_the_way: set[str] = set()
        self.set_mask(self.launched)

    # -- masks ---------------------------------------------------------------

    def set_mask(self, mask: Mask) -> None:
        """Make these the active lanes."""
        self.mask = mask
        active = mask.any(axis=1)
        self.active_warps = int(np.count_nonzero(active))
        self.active_lanes = int(np.count_nonzero(mask))
        self.full = self.active_lanes == self.alive_lanes
        self.everyone = self.active_lanes == mask.size

    def _remaining(self, mask: Mask) -> Mask:
        """Those of a mask that have not returned, left a loop or skipped a round."""
        mask = mask & self.alive
        for loop in self.loops:
            mask = mask & loop.inside & ~loop.skipped
        return mask

    def line(self) -> int:
        """Line of the kernel that is running."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0

    def error(self, what: str, where: Mask | None = None) -> KernelError:
        """An error that names the first lane of ``where``, and the line."""
        who = ""
        if where is not None and where.any():
            warp, lane = np.argwhere(where)[0]
            thread, block = int(self.thread[warp, lane]), int(self.block[warp])
            who = f" (block {block}, thread {thread}, lane {lane})"
        return KernelError(f"{self.name}, line {self.line()}: {what}{who}")

    def issue(self, kind: str, times: int = 1) -> None:
        """Count an instruction of the active warps."""
        line, seen = self.line(), self.counters.first_warp
        self.counters.issue(kind, self.active_warps, self.active_lanes, line, times)
        if self.first_block == 0 and len(seen) < MOST and self.mask[0].any():
            seen.append((line, kind, tuple(self.mask[0].tolist())))

    # -- values --------------------------------------------------------------

    def lanes(
        self, values: Any, valid: Mask | None = None, load: int = 0, weak: bool = False
    ) -> Lanes:
        """Values of the active lanes, or of those named."""
        return Lanes(self, values, self.mask if valid is None else valid, load, weak)

    def loaded(self, values: Any, space: str) -> Lanes:
        """Values that a load or an atomic of the active lanes brings, later."""
        self.loads += 1
        self.on_the_way.add(space)
        return self.lanes(values, load=self.loads)

    def array(self, value: Any, why: str = "") -> Any:
        """Values of an operand, once there; KernelError where an active lane has none.

        Counted is a wait of the active warps for the slowest memory on the way.
        """
        if isinstance(value, Lanes) and value.load > self.arrived:
            space = "global" if "global" in self.on_the_way else "shared"
            self.counters.waits[space] += self.active_warps
            self.arrived = self.loads
            self.on_the_way.clear()
        return self.held(value, why)

    def held(self, value: Any, why: str = "") -> Any:
        """The same without waiting: for moving it to another name."""
        if isinstance(value, Unset):
            raise self.error(f"{value.name!r} is read before anything is assigned")
        if not isinstance(value, Lanes):
            return value
        if value.machine is not self:
            raise self.error("a value of another launch")
        if value.valid is not self.mask:
            missing = self.mask & ~value.valid
            if missing.any():
                raise self.error(
                    f"a value is used by a lane that never computed it{why}", missing
                )
        return value.values

    def compute(self, ufunc: Any, kind: str, *operands: Any) -> Lanes:
        """One instruction: the operation on every active lane."""
        weak = [is_weak(operand) for operand in operands]
        arrays = in_common(operands, [self.array(operand) for operand in operands])
        if ufunc in WHOLE_DIVISIONS:
            self._divisor(*arrays)
        self.issue(kind)
        for each, free in zip(arrays, weak, strict=True):
            if not free and each.dtype == np.float64:
                self.counters.doubles += self.active_warps
                break
        with np.errstate(all="ignore"):  # of lanes that are masked off, too
            values = ufunc(*arrays)
        return self.lanes(values, weak=all(weak))

    def _divisor(self, number: Any, by: Any) -> None:
        """Whole numbers by zero: whatever a GPU then gives, nobody meant it."""
        if np.result_type(number, by).kind in "iub":
            zero = self.mask & (np.asarray(by) == 0)
            if zero.any():
                raise self.error("a whole number is divided by zero", zero)

    def unset(self, name: str) -> Unset:
        """What ``name`` holds before its first assignment."""
        return Unset(self, name)

    def put(self, old: Any, new: Any) -> Any:
        """What a name holds after ``name = new`` by the active lanes."""
        if isinstance(new, Unset):
            raise self.error(f"{new.name!r} is read before anything is assigned")
        if self.full or not isinstance(new, Lanes | int | float | bool | np.generic):
            return new
        if not self.active_lanes:
            return new if isinstance(old, Unset) else old
        values, load = self.held(new), new.load if isinstance(new, Lanes) else 0
        weak = is_weak(new)
        if isinstance(old, Unset):
            whole = np.broadcast_to(np.asarray(values), self.mask.shape)
            return self.lanes(whole, load=load, weak=weak)
        valid, before = self.launched, old
        if isinstance(old, Lanes):
            valid, load, before = old.valid | self.mask, max(load, old.load), old.values
        weak = weak and is_weak(old)
        values, before = in_common((new, old), [values, before])
        return self.lanes(np.where(self.mask, values, before), valid, load, weak)

    def _condition(self, test: Any) -> Any:
        """A mask, or a plain bool where the test is one."""
        if isinstance(test, Lanes):
            return self.array(test).astype(bool)
        if isinstance(test, Unset):
            raise self.error(f"{test.name!r} is read before anything is assigned")
        return bool(test)

    def _count_branch(self, holds: Mask) -> None:
        here, line = self.mask, self.line()
        yes, no = (here & holds).any(axis=1), (here & ~holds).any(axis=1)
        parted = int(np.count_nonzero(yes & no))
        self.issue("branch")
        self.counters.branches += self.active_warps
        self.counters.divergent += parted
        if parted:
            self.counters.line_divergent[line] += parted

    # -- memory and other lanes ----------------------------------------------

    def who(self) -> tuple[Any, Any]:
        """Active threads, counted over the grid, and the barriers each has passed."""
        if self.everyone:
            return self.number.ravel(), np.repeat(self.tick, 32)
        rows = np.nonzero(self.mask)[0]
        return self.number[self.mask], self.tick[rows]

    def request(self, array: Any, kind: str, addresses: Any) -> None:
        """Count a load, store or atomic of the active lanes."""
        self.issue(
            f"{kind}_{array.space}" if kind != "atomic" else f"atomic_{array.space}"
        )
        if not self.active_lanes:
            return
        line, width, count = self.line(), array.itemsize, self.active_warps
        if array.space == "shared":
            here = self.mask.any(axis=1)
            ways = bank_ways(addresses[here], width, self.mask[here])
            phases, taken = int(np.count_nonzero(ways)), int(ways.sum())
            self.traffic.add("shared_requests", kind, count)
            self.traffic.add("phases", kind, phases)
            self.traffic.add("passes", kind, taken)
            seen = self.traffic.line_passes.setdefault(line, [0, 0])
            seen[0], seen[1] = seen[0] + count, seen[1] + taken
            return
        rows, sectors = distinct(addresses // SECTOR, self.mask)
        lines = sectors * SECTOR // LINE
        fresh: Any = np.ones(len(rows), bool)
        fresh[1:] = (rows[1:] != rows[:-1]) | (lines[1:] != lines[:-1])
        self.traffic.add("requests", kind, count)
        self.traffic.add("sectors", kind, len(rows))
        self.traffic.add("lines", kind, int(np.count_nonzero(fresh)))
        asked = len(distinct(addresses, self.mask)[0])
        self.traffic.add("asked", kind, asked * width)
        seen = self.traffic.line_sectors.setdefault(line, [0, 0])
        seen[0], seen[1] = seen[0] + count, seen[1] + len(rows)
        first = self.first_block * self.warps_of_block
        self.traffic.trace.append((self.issued, kind, rows + first, sectors))
        self.issued += 1

    def barrier(self, warp_only: bool = False) -> None:
        """All of a block, or of a warp, are here before any goes on."""
        self.issue("barrier")
        here = self.mask.any(axis=1)
        groups = self.alive.reshape(-1, 32 * (1 if warp_only else self.warps_of_block))
        came = self.mask.reshape(groups.shape)
        torn = came.any(axis=1) & (groups & ~came).any(axis=1)
        if torn.any():
            missing = (groups & ~came & torn[:, None]).reshape(self.mask.shape)
            name = "syncwarp" if warp_only else "sync"
            raise self.error(
                f"{name}() is not reached by all threads of a "
                f"{'warp' if warp_only else 'block'}; the first that is missing",
                missing,
            )
        if not warp_only:
            self.tick[here] += 1 << 32
        self.tick[here] += 1

    def shuffle(self, value: Any, source: Any) -> Lanes:
        """The value of another lane; it must be active too."""
        values = np.broadcast_to(self.array(value), self.mask.shape)
        given = np.broadcast_to(self.array(source), self.mask.shape)
        if given.dtype.kind not in "iu":
            raise self.error(
                f"a shuffle from lane {source!r}: a whole number is needed"
            )
        lanes = given % 32
        self.issue("shuffle")
        asleep = self.mask & ~np.take_along_axis(self.mask, lanes, axis=1)
        if asleep.any():
            raise self.error("a shuffle reads a lane that is masked off", asleep)
        found = np.take_along_axis(values, lanes, axis=1)
        return self.lanes(found, weak=is_weak(value))

    def vote(
        self, test: Any, reduce: Callable[[Any], Any], ignored: bool = False
    ) -> Lanes:
        """One answer a warp from its active lanes."""
        held = np.broadcast_to(self._condition(test), self.mask.shape)
        self.issue("vote")
        answer = reduce(np.where(self.mask, held, ignored))
        return self.lanes(np.broadcast_to(answer[:, None], self.mask.shape))

    # -- if ------------------------------------------------------------------

    def branch(self, test: Any) -> Branch:
        """An ``if`` begins."""
        holds = self._condition(test)
        if not isinstance(holds, bool):
            self._count_branch(holds)
        return Branch(self.mask, holds)

    def then(self, branch: Branch) -> bool:
        """Whether some lane takes the first side; it runs with those."""
        if isinstance(branch.holds, bool):
            return branch.holds
        self.set_mask(branch.came & branch.holds)
        return bool(self.active_lanes)

    def otherwise(self, branch: Branch) -> bool:
        """Whether some lane takes the other side; it runs with those."""
        if isinstance(branch.holds, bool):
            return not branch.holds
        self.set_mask(self._remaining(branch.came & ~branch.holds))
        return bool(self.active_lanes)

    def join(self, branch: Branch) -> None:
        """The paths meet."""
        self.set_mask(self._remaining(branch.came))

    # -- loops ---------------------------------------------------------------

    def loop(self) -> Loop:
        """A loop begins."""
        begun = Loop(self.mask, self.mask, np.zeros_like(self.mask))
        self.loops.append(begun)
        return begun

    def head(self, loop: Loop) -> None:
        """A round begins, for the lanes still inside."""
        loop.rounds += 1
        if loop.rounds > MOST_ROUNDS:
            raise self.error(f"a loop of more than {MOST_ROUNDS:,} rounds", loop.inside)
        loop.skipped = np.zeros_like(loop.skipped)
        self.set_mask(self._remaining(loop.came))

    def again(self, loop: Loop, test: Any) -> bool:
        """Whether some lane goes round; the others have left."""
        if not self.active_lanes:
            return False
        holds = self._condition(test)
        if isinstance(holds, bool):
            return holds
        self._count_branch(holds)
        loop.inside = loop.inside & holds
        self.set_mask(self.mask & holds)
        return bool(self.active_lanes)

    def step(self, loop: Loop) -> bool:
        """A round of ``for`` begins; whether some lane is still inside."""
        self.head(loop)
        return bool(self.active_lanes)

    def range(self, loop: Loop, *ends: Any) -> Iterator[Any]:
        """``range``, whose ends may differ by lane."""
        if not any(isinstance(end, Lanes | Unset) for end in ends):
            yield from range(*ends)
            return
        start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
        if isinstance(step, Lanes | Unset) or step == 0:
            raise self.error("the step of a range is one number, not zero")
        given = np.asarray(self.array(start)), np.asarray(self.array(stop))
        if any(end.dtype.kind not in "iu" for end in (*given, np.asarray(step))):
            raise self.error("the ends of a range are whole numbers")
        first = np.broadcast_to(given[0], self.mask.shape)
        at = self.lanes(first, weak=is_weak(start))
        while True:
            self.head(loop)
            inside = at < stop if step > 0 else at > stop
            if not self.again(loop, inside):
                return
            yield at
            loop.skipped = np.zeros_like(loop.skipped)
            self.set_mask(self._remaining(loop.came))
            at = at + step

    def leave(self, loop: Loop) -> None:
        """``break`` of the active lanes."""
        loop.inside = loop.inside & ~self.mask
        self.set_mask(np.zeros_like(self.mask))

    def skip(self, loop: Loop) -> None:
        """``continue`` of the active lanes."""
        loop.skipped = loop.skipped | self.mask
        self.set_mask(np.zeros_like(self.mask))

    def done(self, loop: Loop) -> None:
        """Behind the loop all lanes that came meet, but those that returned."""
        self.loops.pop()
        self.set_mask(self._remaining(loop.came))

    def exit(self) -> None:
        """``return`` of the active lanes."""
        self.alive = self.alive & ~self.mask
        self.alive_lanes = int(np.count_nonzero(self.alive))
        self.set_mask(np.zeros_like(self.mask))

    # -- conditions ----------------------------------------------------------

    def both(self, *tests: Callable[[], Any]) -> Any:
        """``and``: each test is asked of the lanes for which the ones before hold."""
        return self._chained(tests, True)

    def either(self, *tests: Callable[[], Any]) -> Any:
        """``or``: each test is asked of the lanes for which none before holds."""
        return self._chained(tests, False)

    def _chained(self, tests: tuple[Callable[[], Any], ...], wanted: bool) -> Any:
        came, result = self.mask, np.full(self.mask.shape, wanted)
        by_lane = False
        for test in tests:
            holds = self._condition(test())
            if isinstance(holds, bool):
                if holds is wanted:
                    continue
                if not by_lane:
                    return holds
            by_lane = True
            result = np.where(self.mask, holds, result)
            self.set_mask(self.mask & (holds if wanted else np.logical_not(holds)))
        self.set_mask(came)
        return self.lanes(result) if by_lane else wanted

    def negate(self, test: Any) -> Any:
        """``not``."""
        if isinstance(test, Lanes):
            return self.compute(np.logical_not, "compare", test)
        return not self._condition(test)

    def choose(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """``a if test else b``, each side with the lanes that take it: a select."""
        holds = self._condition(test)
        if isinstance(holds, bool):
            return yes() if holds else no()
        came = self.mask
        self.set_mask(came & holds)
        one = yes()
        first = self.array(one)
        self.set_mask(came & ~holds)
        two = no()
        other = self.array(two)
        self.set_mask(came)
        self.issue("arithmetic")
        weak = is_weak(one) and is_weak(two)
        first, other = in_common((one, two), [first, other])
        return self.lanes(np.where(holds, first, other), weak=weak)
