"""An interpreter of PTX: a grid of threads, warp by warp, as the ISA describes them.

A warp issues one instruction at a time, for those of its lanes that are at the lowest
address; lanes that parted meet again there. The subset is what ``nvcc`` writes for the
book's kernels; anything else is refused by name and line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.quantity.bounds import is_whole

from ..simt.arguments import Empty
from ..simt.plan import Size, dimensions
from .ptx import Kernel, PtxError, parse
from .ptx_step import WARP, Lane, Memory, Step, place
from .ptx_values import to_bits, width

ALIGNMENT = 256
Watch = Callable[[str, list[int]], None]


@dataclass(frozen=True, slots=True)
class PtxRun:
    """What a run left behind."""

    results: dict[str, Any]
    per_thread: Any  # instructions each thread executed, in order of blocks and threads
    opcodes: Counter[str]  # opcode -> executions by threads
    warp_instructions: int  # instructions that warps issued, each for one lane or more

    @property
    def instructions(self) -> int:
        """Executed by all threads together."""
        return int(self.per_thread.sum())

    @property
    def active_lanes(self) -> float:
        """Lanes that take part in an instruction, of 32."""
        return self.instructions / self.warp_instructions


def run_ptx(
    ptx: str | Kernel,
    grid: Size,
    block: Size,
    *args: Any,
    budget: int = 20_000_000,
    watch: Watch | None = None,
) -> PtxRun:
    """Run a PTX kernel on every thread of a grid.

    Parameters
    ----------
    ptx : str or Kernel
        Text, or what `parse` made of it.
    *args
        For each parameter a NumPy array, an array still `empty`, or a number.
    budget : int
        Warp instructions after which a run counts as endless.
    watch : function, optional
        Told of every request of a warp, as it is made: opcode, and an address a lane.

    Returns
    -------
    PtxRun

    Raises
    ------
    PtxError
        For an instruction outside the subset, a read of nothing, an address outside
        every array, a barrier not all reach, or a run that does not end.
    ValueError, TypeError
        For sizes or arguments that make no sense.

    Examples
    --------
    >>> import numpy as np
    >>> from stacklib import gpu
    >>> ptx = gpu.compiled("twice").ptx
    >>> ran = gpu.run_ptx(ptx, 1, 32, np.arange(32, dtype=np.float32),
    ...                   gpu.empty(32), 32)
    >>> ran.results["twice_param_1"][:4].tolist(), ran.per_thread[0].item()
    ([0.0, 2.0, 4.0, 6.0], 18)
    """
    kernel = parse(ptx) if isinstance(ptx, str) else ptx
    size, threads = dimensions(grid, "grid"), dimensions(block, "block")
    count = threads.x * threads.y * threads.z
    if count > 1024:
        raise ValueError(f"block = {block!r}: {count:,} threads > 1,024")
    memory = Memory("global")
    params, arrays = _arguments(kernel, args, memory)
    program = [Step(kernel, at, params, memory) for at in range(len(kernel.code))]
    per_thread: list[int] = []
    executions, issued = [0] * len(program), 0
    for k in range(size.x * size.y * size.z):
        where = (k % size.x, k // size.x % size.y, k // size.x // size.y)
        lanes = _lanes(kernel, where, threads, size)
        left = budget - issued
        issued += _block(kernel, program, lanes, executions, left, watch)
        per_thread += [lane.executed for lane in lanes]
    opcodes: Counter[str] = Counter()
    for instruction, times in zip(kernel.code, executions, strict=True):
        opcodes[instruction.opcode] += times
    results = {
        name: np.frombuffer(bytes(data), dtype).reshape(shape).copy()
        for name, (data, dtype, shape) in arrays.items()
    }
    return PtxRun(results, np.array(per_thread), +opcodes, issued)


def _arguments(
    kernel: Kernel, args: Sequence[Any], memory: Memory
) -> tuple[dict[str, int], dict[str, tuple[bytearray, Any, tuple[int, ...]]]]:
    if len(args) != len(kernel.params):
        wanted = ", ".join(f".{kind} {name}" for name, kind in kernel.params)
        raise TypeError(f"{kernel.name} takes {wanted}; {len(args)} given")
    params: dict[str, int] = {}
    arrays: dict[str, tuple[bytearray, Any, tuple[int, ...]]] = {}
    base = 1 << 20
    for (name, kind), given in zip(kernel.params, args, strict=True):
        if isinstance(given, Empty):
            given = np.zeros(given.shape, given.dtype)
        if isinstance(given, np.ndarray):
            if kind != "u64" or given.dtype.itemsize != 4 or not given.size:
                raise TypeError(
                    f"{name}: an array {given.shape} of {given.dtype} for .{kind}; "
                    "arrays of 4-byte numbers go to .u64"
                )
            data = bytearray(given.tobytes())
            memory.pieces.append((base, data))
            arrays[name] = (data, given.dtype, given.shape)
            params[name] = base
            base = -(-(base + len(data) + ALIGNMENT) // ALIGNMENT) * ALIGNMENT
        elif kind == "f32":
            params[name] = to_bits(float(given))
        elif is_whole(given):
            params[name] = int(given) & (1 << width(kind)) - 1
        else:
            raise TypeError(f"{name} = {given!r}: a whole number for .{kind}")
    return params, arrays


def _lanes(
    kernel: Kernel, where: tuple[int, int, int], threads: Any, size: Any
) -> list[Lane]:
    shared = Memory("shared", [(0, bytearray(kernel.shared_bytes))])
    common = {
        f"%{name}.{axis}": value
        for name, three in (
            ("ctaid", where),
            ("ntid", (threads.x, threads.y, threads.z)),
            ("nctaid", (size.x, size.y, size.z)),
        )
        for axis, value in zip("xyz", three, strict=True)
    }
    return [
        Lane(
            common
            | {
                "%tid.x": t % threads.x,
                "%tid.y": t // threads.x % threads.y,
                "%tid.z": t // threads.x // threads.y,
                "%laneid": t % WARP,
                "%warpid": t // WARP,
            },
            shared,
        )
        for t in range(threads.x * threads.y * threads.z)
    ]


def _block(
    kernel: Kernel,
    program: list[Step],
    lanes: list[Lane],
    executions: list[int],
    budget: int,
    watch: Watch | None,
) -> int:
    """Run one block; the warp instructions it issued."""
    warps = [lanes[k : k + WARP] for k in range(0, len(lanes), WARP)]
    issued = 0
    while True:
        for warp in warps:
            while ready := [one for one in warp if not (one.done or one.waits)]:
                pc = min(lane.pc for lane in ready)
                here = [lane for lane in ready if lane.pc == pc]
                if pc >= len(program):
                    raise PtxError(f"{kernel.name} ends without ret")
                try:
                    asked = program[pc].addresses(here) if watch else None
                    program[pc].issue(here)
                except PtxError as error:
                    raise PtxError(f"{place(kernel, pc)}: {error}") from None
                if watch and asked:
                    watch(kernel.code[pc].opcode, asked)
                issued += 1
                executions[pc] += len(here)
                if issued > budget:
                    raise PtxError(
                        f"{place(kernel, pc)}: the budget is spent; does this loop end?"
                    )
        waiting = [lane for lane in lanes if lane.waits]
        if not waiting:
            return issued
        places = {lane.pc for lane in waiting}
        if len(places) > 1:
            raise PtxError(f"threads wait at different barriers: instructions {places}")
        for lane in waiting:
            lane.waits = False
