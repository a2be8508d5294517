"""Which instruction reaches the tensor cores, and the rules of their arithmetic.

Both are tables: an architecture is found by its compute capability, a rule by the
generation's name and the number format.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import Quantity, Source, resolve

__all__ = [
    "Arithmetic",
    "Instruction",
    "arithmetic",
    "generations",
    "instruction",
    "part_count",
]

_PATH = Path(__file__).parent / "data" / "tensor_cores.toml"
LANES = ("pascal", "gcn5", "rdna2")  # architectures without a matrix instruction
ROWS = "rows/gpu/issue/data/tensor_cores.toml"  # how a leaf names what it was read from


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a tensor core of one generation adds products of one format."""

    generation: str  # such as ``hopper``
    dtype: str  # ``e4m3fn``
    terms: int  # products that one addition takes, with the accumulator
    fraction: int
    result: int  # bits behind the point of a result in FP32
    source: Source  # who found out


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction that multiplies matrices."""

    name: str
    targets: tuple[str, ...]
    threads: int  # threads that issue it together
    left: str  # where the operands come from and the result stays
    right: str
    sums: str
    rows: tuple[int, ...]  # rows of the result it can have
    columns: tuple[int, int, int]  # first, last and step of its columns
    units: int  # multiprocessors that its most rows take together
    k: dict[str, int]  # shared size by format
    source: Source  # where the shapes are from
    place: int  # in the table

    def side(self, axis: str, dtype: str, label: str) -> Quantity:
        """``rows``, ``columns`` or shared size ``k`` of the largest shape."""
        last = len(self.rows) - 1
        value, at = {
            "rows": (self.rows[last], last),
            "columns": (self.columns[1], 1),
            "k": (self.k.get(dtype, 0), dtype),
        }[axis]
        key = f"{ROWS}/instructions/{self.place}/{axis}/{at}"
        told = {"source": self.source, "kind": "spec", "key": key}
        return Quantity(value, label=label, **told)  # type: ignore[arg-type]

    def macs(self, dtype: str) -> int:
        """Multiply-adds of the largest shape for a format."""
        k = self.k[resolve(dtype, self.k, f"format of {self.name}")]
        return self.rows[-1] * self.columns[1] * k

    def shape(self, dtype: str) -> str:
        """The largest shape for a format, such as ``m16n8k16``."""
        k = self.k[resolve(dtype, self.k, f"format of {self.name}")]
        return f"m{self.rows[-1]}n{self.columns[1]}k{k}"


PARTS = ("tensor_cores", "fp32_lanes", "int32_lanes", "special_lanes")


@cache
def _raw() -> dict[str, Any]:
    return tomllib.loads(_PATH.read_text(encoding="utf-8"))


def _source(name: str) -> Source:
    raw = _raw()["sources"][name]
    seen = raw["seen"].isoformat()
    return Source(raw["title"], raw["where"], seen, raw["confidence"])


@cache
def _instructions() -> dict[str, Instruction]:
    found = {}
    for place, row in enumerate(_raw()["instructions"]):
        low, high, step = row["columns"]
        made = Instruction(
            row["name"],
            tuple(row["targets"]),
            row["threads"],
            row["left"],
            row["right"],
            row["sums"],
            tuple(row["rows"]),
            (low, high, step),
            row.get("units", 1),
            dict(row["k"]),
            _source(row["source"]),
            place,
        )
        found.update(dict.fromkeys(made.targets, made))
    return found


def generations() -> tuple[str, ...]:
    """Generations whose arithmetic is known, oldest first."""
    return tuple(_raw()["arithmetic"])


def arithmetic(generation: str, dtype: str) -> Arithmetic:
    """The rule by which a generation adds products of a format."""
    key = resolve(generation, _raw()["arithmetic"], "generation")
    table = _raw()["arithmetic"][key]
    forms = [name for name in table if name != "source"]
    form = resolve(dtype, forms, f"format of {key} tensor cores")
    row = table[form]
    return Arithmetic(
        key,
        form,
        row["terms"],
        row["fraction"],
        row["result"],
        _source(table["source"]),
    )


def instruction(on: str | Accelerator) -> Instruction:
    """The instruction a device needs for its published matrix rate.

    Parameters
    ----------
    on : str or Accelerator
        A device, its name, or a compute capability such as ``"9.0"``.

    Raises
    ------
    UnknownSpec
        When the table has no instruction for its compute capability.
    UnknownName
        For an unknown device.

    Examples
    --------
    >>> instruction("b200-sxm").name, instruction("12.0").name
    ('tcgen05.mma', 'mma.sync')
    """
    table = _instructions()
    if isinstance(on, str) and on in table:
        return table[on]
    device = hardware.get(on) if isinstance(on, str) else on
    capability = device.compute_capability
    if capability not in table:
        raise UnknownSpec(
            f"{device.key}: no matrix instruction is known for compute capability "
            f"{capability or 'none'!r}; known: {', '.join(table)}"
        )
    return table[capability]


def part_count(on: str | Accelerator, part: str) -> Quantity:
    """How many of a part one compute unit has.

    Parameters
    ----------
    part : str
        ``tensor_cores``, ``fp32_lanes``, ``int32_lanes`` or ``special_lanes`` (results
        a cycle of exponentials, roots and sines).

    Raises
    ------
    UnknownSpec
        When the table does not know that of the device's architecture.
    UnknownName
        For an unknown device or part.

    Examples
    --------
    >>> part_count("h100-sxm", "tensor_cores").value
    4.0
    """
    device = hardware.get(on) if isinstance(on, str) else on
    name = resolve(part, PARTS, "part")
    table = _raw()["parts"]
    exact = f"{device.architecture} {device.compute_capability}"
    found = exact if exact in table else device.architecture
    row = table.get(found, {})
    if name not in row:
        raise UnknownSpec(f"{device.key}: {name} of a unit are unknown")
    entry = row[name]
    if not isinstance(entry, dict):
        entry = {"value": entry, "source": row["source"]}
    label = f"{device.short} {name.replace('_', ' ')} a unit"
    return Quantity(
        entry["value"],
        "1",
        label=label,
        source=_source(entry["source"]),
        kind="spec",
        key=f"{ROWS}/parts/{found}/{name}",
    )
