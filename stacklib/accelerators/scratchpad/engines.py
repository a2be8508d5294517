"""A program for the engines of a NeuronCore: what it takes one by one, and together.

A core has four engines with a stream of instructions each (tensor, vector, scalar,
GPSIMD) and DMA queues beside them, over one scratchpad, the SBUF, of 128 partitions,
and the PSUM, where sums of the tensor engine stay. Each engine takes one column of 128
numbers a cycle. A program is rows: what is done to one tile, by whom, on how large a
piece, after what. Alone, the rows' times add up; overlapped over many tiles, the
busiest engine sets the pace, which ``kernels.schedule.pipeline`` runs and
``steady_state`` tells in closed form.

Clocks and the memory's share are those of ``kernels.schedule.nki``; GPSIMD's is taken
as ScalarE's, eight processors of 16 lanes at 1.4 GHz (AWS's guide, recalled). Left out:
fixed costs of an instruction, semaphores, the ports that VectorE and GPSIMD share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from stacklib import hardware
from stacklib.kernels.schedule.nki import PARTITIONS, SCALAR_CLOCK
from stacklib.kernels.schedule.nki import engines as clocks
from stacklib.kernels.schedule.pipeline import (
    Stage,
    Timeline,
    pipeline,
    steady_state,
)
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

SUM = 4  # bytes
PASSES = {"bf16": 1, "fp32": 4}  # of the tensor engine
WIDTH = {"bf16": 2, "fp32": 4}  # bytes
ENGINES = ("tensor", "vector", "scalar", "gpsimd", "dma")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One row of a program: what an engine does to a piece of a tile.

    ``partitions`` x ``columns`` numbers, one column a cycle; the tensor engine also
    takes ``contract`` rows of both operands. ``needs``: rows before it, or (row, tiles
    back); None: the one above.
    """

    name: str
    engine: str
    columns: int
    partitions: int = PARTITIONS
    contract: int = PARTITIONS
    dtype: str = "bf16"
    needs: tuple[str | tuple[str, int], ...] | None = None
    pieces: int = 1  # how many such pieces a tile has


@dataclass(frozen=True, slots=True)
class Overlap:
    """A program over so many tiles."""

    times: dict[str, float]  # seconds of one tile, by row
    work: dict[str, float]  # seconds of one tile, by engine
    tiles: int
    timeline: Timeline
    pace: float  # seconds a tile, once full: the closed form

    @property
    def sum(self) -> float:
        """Seconds, one row after another."""
        return self.tiles * sum(self.times.values())

    @property
    def most(self) -> float:
        """Seconds of the busiest engine, were it never to wait."""
        return self.tiles * max(self.work.values())

    @property
    def time(self) -> float:
        """Seconds, with every engine beginning as soon as it can."""
        return self.timeline.time

    @property
    def busiest(self) -> str:
        """The engine with the most work."""
        return max(self.work, key=lambda engine: self.work[engine])

    @property
    def gain(self) -> float:
        """How much sooner than one row after another."""
        return self.sum / self.time


def engines(
    program: Iterable[Instruction | Sequence[Any]],
    on: str = "trainium2",
    *,
    tiles: int = 16,
    buffers: int | None = None,
) -> Overlap:
    """Run a program's tiles over a core's engines.

    Parameters
    ----------
    program : iterable of Instruction or of rows
        Rows as (name, engine, columns) or with further fields of ``Instruction``.
    on : str
        A device whose cores have these engines: ``trainium2``.
    tiles : int
        How many tiles pass.
    buffers : int, optional
        Places for what a row makes; default as many as are wanted.

    Returns
    -------
    Overlap
        Seconds by row and engine, their sum, the busiest engine, the run.

    Raises
    ------
    ValueError
        For more than 128 partitions or rows of a product, more than 512 columns of
        sums in PSUM, a piece that a partition has no room for, an empty program, and
        sizes that are not whole.
    UnknownName
        For another engine, format or device.
    UnknownSpec
        For a device whose cores have no partitions.

    Examples
    --------
    >>> run = engines([("load", "dma", 512), ("scores", "tensor", 512)])
    >>> run.busiest, run.time < run.sum
    ('dma', True)
    """
    rows = [_row(given) for given in program]
    if not rows:
        raise ValueError("program is empty: at least one row is needed")
    if buffers is not None:
        whole(buffers=buffers)
    device = hardware.get(on)
    core = hardware.microarchitecture(device)
    partitions = int(core.count("partitions").si)
    sums = int(core.size("psum_bank").si) // SUM
    room = int(device.shared_per_unit.si) // partitions
    made = clocks(on)
    rates = {
        "tensor": made.tensor,
        "vector": made.vector,
        "scalar": made.scalar,
        "gpsimd": SCALAR_CLOCK,
    }
    times: dict[str, float] = {}
    work: dict[str, float] = {}
    stages = []
    for row in rows:
        engine = _checked(row, partitions, sums, room)
        if engine == "dma":
            moved = row.partitions * row.columns * WIDTH[row.dtype]
            time = row.pieces * moved / made.dma
        else:
            passes = PASSES[row.dtype] if engine == "tensor" else 1
            time = row.pieces * passes * row.columns / rates[engine]
        times[row.name] = time
        work[engine] = work.get(engine, 0.0) + time
        stages.append(Stage(row.name, time, engine, row.needs))
    run = pipeline(stages, tiles, buffers)
    return Overlap(times, work, tiles, run, steady_state(run.stages, buffers))


def _row(given: Instruction | Sequence[Any]) -> Instruction:
    if isinstance(given, Instruction):
        return given
    row = isinstance(given, Sequence) and not isinstance(given, str)
    if not row or not 3 <= len(given) <= len(fields(Instruction)):
        raise ValueError(f"row {given!r}: (name, engine, columns) at least")
    return Instruction(*given)


def _checked(row: Instruction, partitions: int, sums: int, room: int) -> str:
    """The engine of a row whose shapes the core can hold."""
    engine = resolve(row.engine, ENGINES, "engine", exact=True)
    resolve(row.dtype, PASSES, "format", exact=True)
    whole(columns=row.columns, partitions=row.partitions, contract=row.contract)
    whole(pieces=row.pieces)
    if row.partitions > partitions:
        raise ValueError(
            f"{row.name}: partitions = {row.partitions}, the SBUF has {partitions}; "
            "cut the tile into more pieces"
        )
    if row.columns * WIDTH[row.dtype] > room:
        raise ValueError(
            f"{row.name}: columns = {row.columns} of {WIDTH[row.dtype]} B, a partition "
            f"of the SBUF has {room} B; use pieces"
        )
    if engine == "tensor":
        if row.contract > partitions:
            raise ValueError(
                f"{row.name}: contract = {row.contract}, the array has {partitions} "
                "rows; add up products of parts in PSUM"
            )
        if row.columns > sums:
            raise ValueError(
                f"{row.name}: columns = {row.columns}, a bank of the PSUM holds "
                f"{sums} fp32 sums a partition; use pieces"
            )
    return engine
