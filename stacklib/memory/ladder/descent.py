"""Bytes of one decode step at every level of a chip, from its memory to its registers.

A weight crosses each level once, whatever the level. What is small grows on the way
down: every unit draws the input vector for itself, and every strip of a matrix reads
it again. ``descent`` sums that by formula, ``walked`` strip by strip.

The kernel modelled multiplies strips of ``rows`` rows of a matrix by eight columns at a
time, and brings both through shared memory, as ``cp.async`` or TMA do. Sixteen rows
are those of the instruction ``mma.m16n8``, whose operands are in registers; sixty-four
those of ``wgmma.m64n8``, which reads the columns from shared memory itself (PTX ISA,
matrix multiply-accumulate instructions). Where a matrix has fewer strips than the chip
has units, units share a strip lengthwise. Keys and values are matrices to it, and the
query heads that share them are columns. Left out: scores, norms, partial sums, and what
chips tell one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.models import LanguageModel
from stacklib.models.parts import Attention
from stacklib.quantity import (
    Quantity,
    assumed,
    bytes_per_element,
    ceil,
    chosen,
    counted,
)
from stacklib.roofline import decode_step
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import model_of

from .rungs import ladder

LEVELS = ("HBM", "L2", "shared memory", "registers")
ROWS = (16, 64)  # of a matrix that one instruction multiplies: mma, wgmma
COLUMNS = 8  # by so many columns, at least
SLICE = 32  # bytes of a row that it takes: sixteen numbers of two bytes
SUM = 4  # bytes of an accumulator, fp32, read and written
GIVEN_A_SHARE = ("o", "down")  # matrices whose input is already split over the chips


@dataclass(frozen=True, slots=True)
class Passage:
    """One level of one chip during a decode step."""

    level: str  # one of ``LEVELS``, nearest to the memory first
    bytes: Quantity  # what it hands on, and what is written to it, on one chip
    rate: Quantity  # what it can hand on in a second, all units together

    @property
    def time(self) -> Quantity:
        """Seconds it is busy at that rate."""
        seconds = self.bytes / self.rate.retag("per_direction")
        return seconds.named(f"{self.level} is busy")


@dataclass(frozen=True, slots=True)
class _Shape:
    """A matrix as one chip holds it, and how often a step passes one like it."""

    rows: int
    columns: int
    times: int

    def strips(self, height: int) -> int:
        """Strips of that many columns; the last may be narrower."""
        return -(-self.columns // height)


def _shapes(model: LanguageModel, tp: int) -> Iterator[_Shape]:
    for number, block in enumerate(model.kinds):
        for matrix in block.matrices(model.hidden):
            rows, columns = matrix.rows, matrix.columns
            if matrix.name in GIVEN_A_SHARE:
                rows = rows // tp
            else:
                columns = columns // tp
            yield _Shape(rows, columns, model.count(number))
    yield _Shape(model.hidden, model.vocab // tp, 1)


def _checked(model: LanguageModel, tp: int, rows: int) -> None:
    if rows not in ROWS:
        raise ValueError(f"rows = {rows!r}: one of {', '.join(map(str, ROWS))}")
    mixed = any(m.total > 1 for k in model.kinds for m in k.matrices(model.hidden))
    plain = all(isinstance(kind.attention, Attention) for kind in model.kinds)
    if mixed or not plain or not model.grows:
        raise ValueError(
            f"{model.key}: its experts or its attention need a descent of their own; "
            "this is that of dense models with one cache of keys and values"
        )


def _slice(rows: int) -> int:
    """Bytes of a matrix that one instruction multiplies."""
    return rows * SLICE


def _operands(rows: int) -> int:
    """Bytes that one instruction reads from registers and writes to them."""
    columns = COLUMNS * SLICE if rows == 16 else 0
    return rows * SLICE + columns + 2 * rows * COLUMNS * SUM


def _drawn(model: LanguageModel, tp: int, rows: int, units: int | None = None) -> int:
    """Numbers of the input vectors that strips draw, or units that keep them."""
    return sum(
        s.rows * min(units or s.strips(rows), s.strips(rows)) * s.times
        for s in _shapes(model, tp)
    )


def descent(
    model: str | LanguageModel = "llama-3-70b",
    *,
    on: str | Accelerator = "h100-sxm",
    dtype: str = "bf16",
    tp: int = 8,
    batch: int = 1,
    context: int = 4096,  # tokens cached in each
    rows: int = 16,
) -> tuple[Passage, ...]:
    """What each level of one chip passes on in a decode step, by formula."""
    model, device = model_of(model), device_of(on)
    step = decode_step(
        model, on=device, dtype=dtype, tp=tp, batch=batch, context=context
    )
    step.time  # noqa: B018  raises where it does not fit
    _checked(model, tp, rows)
    chips = chosen(tp, label="chips")
    width = bytes_per_element(dtype)
    sequences = chosen(batch, label="batch")
    units = int(device.compute_units.si)
    memory = (step.bytes / chips).named("bytes from memory, one chip")

    strip = (model, tp, rows)
    vectors = counted(
        _drawn, *strip, units, label="numbers of input vectors, drawn by each unit"
    )
    strips = counted(
        _drawn, *strip, label="numbers of input vectors, read by each strip"
    )
    second = (memory + vectors * width * sequences).named("bytes from the L2")
    twice = assumed(
        2,
        label="written to shared memory, and read",
        why="Every operand is stored to the tile once and loaded from it once.",
    )
    shared = twice * memory + (vectors + strips) * width * sequences
    weights = counted(_slice, rows, unit="B", label="weights of an instruction")
    slices = memory / weights
    sets = ceil(
        sequences
        / assumed(
            COLUMNS,
            label="columns of an instruction",
            why="The narrowest mma has eight.",
        )
    )
    operands = counted(
        _operands, rows, unit="B", label="operands and sums of an instruction"
    )
    passed = (memory, second, shared, slices * sets * operands)
    return tuple(
        Passage(level, moved.named(f"bytes through {level}"), rate)
        for level, moved, rate in zip(LEVELS, passed, _rates(device), strict=True)
    )


def _rates(device: Accelerator) -> tuple[Quantity, ...]:
    """Bytes a second of each level, all units together."""
    rungs = {rung.name: rung.chip_bandwidth for rung in ladder(device)}
    if "HBM" not in rungs:
        rungs["HBM"] = rungs.get("memory")
    missing = [level for level in LEVELS if rungs.get(level) is None]
    if missing:
        raise UnknownSpec(f"{device.key}: bandwidth of {', '.join(missing)} is unknown")
    return tuple(rate for level in LEVELS if (rate := rungs[level]) is not None)


def walked(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str = "bf16",
    tp: int = 8,
    context: int = 4096,
    rows: int = 16,
) -> dict[str, float]:
    """The same bytes for one sequence, counted strip by strip; level -> bytes."""
    model, device = model_of(model), device_of(on)
    _checked(model, tp, rows)
    width, units = bytes_per_element(dtype).si, int(device.compute_units.si)
    out = dict.fromkeys(LEVELS, 0.0)

    def weights(size: float) -> None:
        """A stretch of weights or cache on its way to the registers."""
        out["HBM"] += size
        out["L2"] += size
        out["shared memory"] += 2 * size
        out["registers"] += size / (rows * SLICE) * _operands(rows)

    for shape in _shapes(model, tp):
        for _ in range(shape.times):
            vector = shape.rows * width
            begun = set()
            for strip in range(shape.strips(rows)):
                begun.add(strip % units)  # strips are dealt out in turn
                weights(min(rows, shape.columns - strip * rows) * vector)
                out["shared memory"] += vector
            out["L2"] += vector * len(begun)
            out["shared memory"] += vector * len(begun)
    vectors = sum(
        block.vectors(model.hidden) * model.count(n)
        for n, block in enumerate(model.kinds)
    )
    vectors += model.final_norm * model.hidden
    weights(vectors * width / tp)
    weights(model.kv_bytes_per_token(dtype).si * (context + 1) / tp)
    return out
