"""Sets up the tables of a launch, runs the compiled loop, and says what came of it."""

from __future__ import annotations

import mmap
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stacklib.memory.warp._fast import is_cold

from ..lang.builder import KernelError
from ..vm import state as at
from ..vm._apart import entry
from ..vm.formats import FORMS
from ..vm.parted import GROUPS
from ..vm.program import FIELDS, OP, ORDERS, WAITS, ArrayUse, Program
from .codes import decoded
from .counters import Counters
from .requests import Traffic

ALIGNMENT = 256  # of every array in global memory, as cudaMalloc gives
TURN = 20_000  # instructions a warp issues before others of its block go on
BUDGET = 20_000_000  # instructions between two looks from outside
FIRST = 6_000  # that Python runs before numba has compiled the machine, or loaded it
RESIDENT = 64 << 20  # bytes of registers of blocks that are resident together
PIECE = 1 << 22  # bytes of an array that are looked at together
NORESERVE = 0x4000  # Linux's MAP_NORESERVE, which Python does not name
VAST = 1 << 28  # bytes of arrays of which hardly all is touched
ROOM = 1 << 27  # bytes of a table of what is logged, once it has grown
CLOCKS = 1 << 26  # entries of a table of what each warp has seen of each other
_taken: list[int] = []  # such instructions so far
SPECIALS = (
    "thread.x",
    "thread.y",
    "thread.z",
    "block.x",
    "block.y",
    "block.z",
    "lane",
    "warp",
    "rank",
)


@dataclass
class Machine:
    """The tables of one launch."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    check: bool
    units: int = 1
    resident: int = 1  # blocks that a device runs at once
    kept: int = 0  # blocks of one unit that are recorded
    most: int = 0  # blocks that run, the first ones; 0 for all
    every: int = 1  # of which every so manieth
    skipped: int = 0  # blocks of that unit left out, after those that begin together
    tables: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.width = -(-self.threads // 32)
        self._place_arrays()
        self._make_warps()
        self._make_memory()
        self._make_logs()
        self._make_waits()

    # -- tables --------------------------------------------------------------

    def _place_arrays(self) -> None:
        """Byte addresses of arrays, and numbers of the elements that are watched."""
        program = self.program
        uses = program.arrays
        rows = max(1, len(uses)) + len(program.boxes)
        table: Any = np.zeros((rows, at.A_COLUMNS), np.int64)
        self._lay_boxes(table)
        base = ALIGNMENT
        for row, use in zip(table, uses, strict=False):
            self._lay(row, use)
            if use.space in ("global", "constant"):
                row[at.A_BASE] = base
                base += row[at.A_COUNT] * row[at.A_SIZE]
                base = -(-base // ALIGNMENT) * ALIGNMENT
        self.slots = self._slots()
        self.stride = -(-program.shared_bytes // 16) * 16
        self.shared_base = base
        self.bytes = base + self.slots * self.stride + 64
        self.tables["A"] = table
        self._watch(table, uses)
        for row, use in zip(table, uses, strict=False):
            if use.space == "shared":
                row[at.A_BASE] += base
                row[at.A_STRIDE] = self.stride

    @staticmethod
    def _lay(row: Any, use: ArrayUse) -> None:
        row[at.A_BASE] = use.base
        row[at.A_SIZE], row[at.A_FORM] = use.form.size, use.form.code
        row[at.A_SPACE] = at.SPACES.index(use.space)
        count = 1
        for axis, length in enumerate(use.shape):
            row[at.A_DIMS + axis] = length
            count *= length
        row[at.A_COUNT], row[at.A_OPEN] = count, use.open

    def _lay_boxes(self, table: Any) -> None:
        """Boxes of bulk copies stand behind the arrays."""
        for row, box in zip(table[::-1], self.program.boxes[::-1], strict=False):
            row[at.A_SPACE] = at.BOX
            row[at.BOX_DST], row[at.BOX_SRC] = box.dst, box.src
            row[at.BOX_RANK], row[at.BOX_BARRIERS] = len(box.shape), box.barriers
            row[at.A_DIMS : at.A_DIMS + len(box.shape)] = box.shape

    def _slots(self) -> int:
        """Blocks that are resident together: only those that wait need others."""
        size = self.program.cluster
        if not {"ATOMIC", "FENCE", "GRID_BARRIER"} & self.program.uses:
            return size
        each = self.width * self.program.registers * 256 + self.program.shared_bytes
        fits = max(1, RESIDENT // each)
        if "GRID_BARRIER" in self.program.uses:
            fits = self.blocks
        most = int(min(self.blocks, fits, max(1, self.resident * self.units)))
        return max(size, most // size * size)

    def _watch(self, table: Any, uses: list[ArrayUse]) -> None:
        watched = fresh = 0
        for row, use in zip(table, uses, strict=False):
            if use.space == "local" or not self.check:
                continue
            copies = self.slots if use.space == "shared" else 1
            count = int(row[at.A_COUNT])
            row[at.A_DIMS + 6], row[at.A_DIMS + 7] = count, count
            if use.written:
                row[at.A_WATCHED], row[at.A_SHADOW] = 1, watched
                watched += count * copies
            partly = use.home is not None and use.home.unwritten.any()
            if use.space == "shared" or use.values is None or partly:
                row[at.A_FRESH] = fresh + 1
                fresh += count * copies
        self.tables["H"] = np.zeros((max(1, watched), at.TOUCHES), np.int64)
        written: Any = np.zeros(max(1, fresh), np.uint8)
        self.tables["L"] = written
        for row, use in zip(table, uses, strict=False):
            if use.home is not None and row[at.A_FRESH]:
                first = int(row[at.A_FRESH]) - 1
                written[first : first + row[at.A_COUNT]] = ~use.home.unwritten

    def _make_warps(self) -> None:
        t, warps = self.tables, self.slots * self.width
        registers = self.program.registers
        t["P"] = self.program.rows
        t["W"] = np.zeros((warps, at.WARP_COLUMNS), np.int64)
        t["W"][:, at.STATE] = at.DONE
        t["RR"] = np.zeros((warps, registers, 32), np.int64)
        t["FF"] = t["RR"].view(np.float64)
        for reg, number, floating in self.program.constants:
            if floating:
                t["FF"][:, reg] = number
            else:
                t["RR"][:, reg] = number
        frames = (GROUPS + 1) * (self._depth() + 3) - 1  # of lanes laid aside, too
        t["ST"] = np.zeros((warps, frames, 4), np.int64)
        t["V"] = np.zeros((warps, registers), np.int64)
        t["B"] = np.zeros((self.slots, 4), np.int64)
        t["BAR"] = np.zeros((self.slots, at.NAMED, 5), np.int64)
        words = max(1, self.program.local_words)
        t["LOC"] = np.zeros((warps, words, 32), np.int64)
        t["LOV"] = np.zeros((warps, words), np.int64)
        self._make_clocks(warps)
        specials = [(r, SPECIALS.index(name)) for r, name in self.program.specials]
        t["SP"] = np.array(specials, np.int64).reshape(-1, 2)
        t["grid"] = np.array([*self.grid, self.program.cluster])
        t["dims"] = np.array(self.block)
        t["width"], t["threads"] = self.width, self.threads

    def _depth(self) -> int:
        opens = [OP["IF"], OP["LOOP"]]
        return int(np.isin(self.program.rows[:, 0], opens).sum())

    def _make_clocks(self, warps: int) -> None:
        """How far each warp has seen each other, in its block or in the grid."""
        fences = "FENCE" in self.program.uses
        columns, places = self.width, 0
        if self.program.cluster > 1 or (fences and self.check and self.blocks > 1):
            columns = self.width * self.blocks
            if columns * warps > CLOCKS:
                raise ValueError(
                    f"{self.blocks:,} blocks that pass values to each other: "
                    "what each has seen of each other is not kept for so many; launch "
                    f"at most {int(CLOCKS**0.5) // self.width:,}, or with check=False"
                )
        if fences:
            places = min(4096, max(64, self.blocks * 4))
        fence = self.program.rows[:, 0] == OP["FENCE"]
        of_block = (self.program.rows[fence, FIELDS.index("imm")] == 0).any()
        rows = warps * (3 if of_block else 2 if fences else 1)
        self.tables["VC"] = np.zeros((rows, columns), np.int64)
        self.tables["LV"] = np.zeros((places, columns + 1 if places else 1), np.int64)

    def _make_memory(self) -> None:
        t = self.tables
        whole: Any = _untouched(-(-self.bytes // 8) * 8)
        t["M8"], t["M16"] = whole, whole.view(np.uint16)
        t["M32"], t["M64"] = whole.view(np.uint32), whole.view(np.int64)
        t["MF"], t["MD"] = whole.view(np.float32), whole.view(np.float64)
        for row, use in zip(t["A"], self.program.arrays, strict=False):
            if use.values is not None:
                raw = np.ascontiguousarray(use.values).view(np.uint8).ravel()
                first = int(row[at.A_BASE])
                for piece in range(0, len(raw), PIECE):
                    part = raw[piece : piece + PIECE]
                    if len(raw) <= PIECE or part.any():  # zeros need no memory
                        whole[first + piece : first + piece + len(part)] = part

    def _make_logs(self) -> None:
        t = self.tables
        t["G"] = np.zeros(at.MACHINE, np.int64)
        t["G"][at.GRID_EVENT], t["G"][at.STRIDE] = -1, self.every
        t["G"][at.TOGETHER] = min(self.resident, self.kept)
        t["G"][at.SKIPPED] = self.skipped
        t["C"] = np.zeros((len(self.program.rows), at.COUNTERS), np.int64)
        t["Q"] = np.zeros((1 << 12, at.REQUEST_COLUMNS), np.int64)
        t["S"] = np.zeros(1 << 15, np.int64)
        t["TR"] = np.zeros((1 << 14, at.TRACE_COLUMNS), np.int64)
        t["E"] = np.zeros(1 << 12, np.int64)
        t["scratch"] = np.zeros((6, 256), np.int64)
        t["FV"] = np.zeros((2, 256), np.float64)

    def _make_waits(self) -> None:
        """Barriers in shared memory, what each warp waits for, copies under way."""
        t, program = self.tables, self.program
        barriers, warps = len(program.mbarriers), self.slots * self.width
        needed = program.uses & WAITS
        columns = max(at.V_COLUMNS, at.M_CLOCK + 2 * t["VC"].shape[1], barriers)
        rows = self.slots * barriers + warps + 1
        t["MB"] = np.zeros((rows, columns) if needed else (1, 1), np.int64)
        t["MB"][-1, :barriers] = program.mbarriers
        t["CP"] = np.zeros((256 if needed else 1, at.X_COLUMNS), np.int64)
        t["G"][at.MB_OF_BLOCK] = barriers
        t["G"][at.MB_WARPS] = self.slots * barriers if needed else -1
        t["G"][at.CLUSTER] = program.cluster
        named = (program.rows[:, 0] == OP["BARRIER"]) & (program.rows[:, 6] != 0)
        t["G"][at.PLAIN] = not (self.program.uses & ORDERS) and not named.any()
        t["G"][at.BOXES] = len(t["A"]) - len(program.boxes)

    # -- running -------------------------------------------------------------

    def run(self, watch: Any = None) -> None:
        """Run all blocks; KernelError where the kernel does what it may not."""
        from ..vm.loop import run

        left = FIRST - sum(_taken)
        if left > 0:
            before = int(self.tables["G"][at.ISSUED])
            ended = self._went(run, left, left)
            _taken.append(int(self.tables["G"][at.ISSUED]) - before)
            if ended:
                return
        if is_cold(entry(run)) and sys.stderr.isatty():
            print("compiling the machine, once: half a minute", file=sys.stderr)
        while not self._went(entry(run), TURN, BUDGET):
            if watch is not None:
                watch(self)

    def _went(self, loop: Any, turn: int, budget: int) -> bool:
        """Whether all blocks are done, after so many instructions or before."""
        from ..vm.loop import MOST_ROUNDS
        from .faults import deadlock, fault

        t = self.tables
        said = at.FULL
        while said == at.FULL:
            with np.errstate(all="ignore"):  # whole numbers wrap
                said = loop(
                    self.most or self.blocks,
                    self.units,
                    self.kept,
                    at.Own(*(t[name] for name in at.Own._fields)),
                    at.Tables(*(t[name] for name in at.Tables._fields)),
                    MOST_ROUNDS,
                    turn,
                    budget,
                )
            if said == at.FULL:
                self._grow()
        if said in (at.FAILED, at.DEADLOCK):
            raise KernelError(fault(self) if said == at.FAILED else deadlock(self))
        return bool(said == at.FINISHED)

    def _grow(self) -> None:
        """Four times the room for what is logged, or more: what is not used is free."""
        g, copies = self.tables["G"], len(self.tables["CP"])
        used = {"Q": g[at.REQUESTS_MADE], "S": g[at.SECTORS_MADE], "TR": g[at.TRACED]}
        for name, count in {**used, "E": g[at.EVENTS] + 1, "CP": copies}.items():
            old = self.tables[name]
            room = max(4 * len(old), ROOM // old[:1].nbytes)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[:count] = old[:count]
            self.tables[name] = new

    def write_back(self) -> None:
        """Give arrays that live on the device what the launch left of them."""
        t = self.tables
        for row, use in zip(t["A"], self.program.arrays, strict=False):
            if use.home is None:
                continue
            first, count = int(row[at.A_BASE]), int(row[at.A_COUNT])
            raw = t["M8"][first : first + count * int(row[at.A_SIZE])]
            fresh = int(row[at.A_FRESH]) - 1
            left = use.home.unwritten
            if fresh >= 0:
                left = t["L"][fresh : fresh + count] == 0
            use.home.take(raw, left)

    # -- what came of it -----------------------------------------------------

    def results(self) -> dict[str, Any]:
        """Arrays of global memory by name, as the kernel left them."""
        found: dict[str, Any] = {}
        for row, use in zip(self.tables["A"], self.program.arrays, strict=False):
            if use.space != "global":
                continue
            first, count = int(row[at.A_BASE]), int(row[at.A_COUNT])
            raw = self.tables["M8"][first : first + count * int(row[at.A_SIZE])]
            found[use.name] = decoded(raw, use.form).reshape(use.shape)
        return found

    def counters(self) -> Counters:
        """Warp instructions by kind and by line."""
        made, c, rows = Counters(), self.tables["C"], self.program.rows
        lines = rows[:, FIELDS.index("line")].tolist()
        for n in np.flatnonzero(c[:, at.C_WARPS]).tolist():
            kind, line = self.program.kinds[n], lines[n]
            warps, lanes = int(c[n, at.C_WARPS]), int(c[n, at.C_LANES])
            made.issue(kind, warps, lanes, line)
            made.branches += int(c[n, at.C_BRANCHES])
            parted = int(c[n, at.C_PARTED])
            made.divergent += parted
            if parted:
                made.line_divergent[line] += parted
        return made

    def traffic(self) -> Traffic:
        """Requests, sectors and passes, and the sectors in the order asked for."""
        made, c = Traffic(), self.tables["C"]
        for n in np.flatnonzero(c[:, at.C_REQUESTS]).tolist():
            kind = self.program.kinds[n]
            word, _, space = kind.partition("_")
            line = int(self.program.rows[n, FIELDS.index("line")])
            made.count(word, space, line, c[n].tolist())
        made.listed(self.tables["Q"], self.tables["S"], self.tables["G"])
        return made


def _untouched(size: int) -> Any:
    """Zeros that take no memory until they are written; of large arrays few are."""
    if size <= VAST or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(size, np.uint8)
    kept = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
    pages = mmap.mmap(-1, size, kept)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, np.uint8)


__all__ = ["FORMS", "Machine"]
