"""Published measurements: a CSV of thirteen columns, read strictly.

A fault of the file (a column that is missing, added or repeated) is an error. A
fault of a row is kept with the row, and refused with its reason when the row is
predicted: one bad line neither stops the others nor becomes a number.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

COLUMNS = (
    "id",
    "family",
    "system",
    "software",
    "model_or_kernel",
    "config",
    "metric",
    "value",
    "unit",
    "source",
    "source_date",
    "confidence",
    "notes",
)
FAMILIES = {
    "A": "matrix products",
    "B": "attention kernels",
    "C": "bandwidth and latency",
    "D": "collectives",
    "E": "LLM inference",
    "F": "training",
    "G": "quantization quality",
    "H": "serving systems",
    "I": "silicon, cost, energy",
    "J": "accelerators, power, DIY",
    "K": "series of kernels",
}
SERIES = "K"  # of no fit: what a replayed kernel is held to
_NEEDED = ("id", "family", "metric", "value", "unit")
# Fields of a Measurement in the order of COLUMNS, without the value.
_FIELDS = (
    "id",
    "family",
    "system",
    "software",
    "subject",
    "settings",
    "metric",
    "unit",
    "source",
    "date",
    "confidence",
    "notes",
)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LOST = re.compile("[\udc80-\udcff\ufffd]")  # bytes that were not UTF-8

T = TypeVar("T")


class MeasurementError(ValueError):
    """A file of measurements that cannot be read; names file, line or column."""


class Refusal(ValueError):
    """Why a row is not predicted: what was asked, and what would be needed."""


def number(text: str) -> float:
    """A finite number in plain decimal notation."""
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


@lru_cache(maxsize=65536)
def read_config(text: str) -> tuple[Mapping[str, str | bool], str]:
    """The settings of a row, and what is wrong with them (empty when nothing is)."""
    config: dict[str, str | bool] = {}
    fault = ""
    for part in filter(None, (p.strip() for p in text.split(";"))):
        key, equals, value = (p.strip() for p in part.partition("="))
        held: str | bool = value if equals else True
        if not key:
            fault = fault or f"config {part!r} has no key"
        elif config.setdefault(key, held) != held:
            fault = fault or f"config gives {key!r} twice: {config[key]!r}, {held!r}"
    return MappingProxyType(config), fault


@dataclass(frozen=True)
class Measurement:
    """One published result."""

    id: str
    family: str
    system: str
    software: str
    subject: str  # column ``model_or_kernel``
    settings: str  # column ``config`` as written; ``config`` is the same as a mapping
    metric: str
    value: float  # in ``unit``; nan where the row has a fault
    unit: str
    source: str
    date: str
    confidence: str
    notes: str
    fault: str = ""  # why this row cannot be used; empty for a sound one

    @cached_property
    def config(self) -> Mapping[str, str | bool]:
        """Settings by name; a bare word maps to True."""
        return read_config(self.settings)[0]

    def text(self, key: str, default: str | None = None) -> str:
        """A setting as text."""
        return self._read(key, default, str, "a value")

    def number(self, key: str, default: float | None = None) -> float:
        """A setting as a finite number."""
        return self._read(key, default, number, "a number")

    def integer(self, key: str, default: int | None = None, least: int = 1) -> int:
        """A setting as a whole number."""
        other = None if default is None else float(default)
        value = self._read(key, other, number, "a whole number")
        if value != int(value) or value < least:
            raise Refusal(f"config {key}={value:g}: a whole number from {least} on")
        return int(value)

    def has(self, word: str) -> bool:
        """Whether a bare word stands among the settings, in any case."""
        folded = word.lower()
        return any(v is True and k.lower() == folded for k, v in self.config.items())

    def _read(
        self, key: str, default: T | None, convert: Callable[[str], T], kind: str
    ) -> T:
        held = self.config.get(key)
        if held is None:
            if default is None:
                raise Refusal(f"config does not give {key!r}")
            return default
        try:
            if held is True or held == "":
                raise ValueError("no value")
            return convert(str(held))
        except ValueError:
            shown = "" if held is True else held
            raise Refusal(f"config {key}={shown!r}: {kind} is needed") from None


def _columns(header: list[str], name: str) -> list[int]:
    """Where each of COLUMNS stands in the file."""
    cells = [cell.strip() for cell in header]
    for column in COLUMNS:
        if column not in cells:
            raise MeasurementError(
                f"{name}: column {column!r} is missing; needed: {', '.join(COLUMNS)}"
            )
    for i, cell in enumerate(cells):
        if cell not in COLUMNS:
            raise MeasurementError(f"{name}: unknown column {cell!r}; remove it")
        if cell in cells[:i]:
            raise MeasurementError(f"{name}: column {cell!r} appears twice")
    return [cells.index(column) for column in COLUMNS]


def _fault(cells: list[str]) -> str:
    """What is wrong with the cells of one row, in the order of COLUMNS."""
    if any(_LOST.search(cell) for cell in cells):
        return "the row holds bytes that are not UTF-8"
    for column in _NEEDED:
        if not cells[COLUMNS.index(column)]:
            return f"{column} is empty"
    if cells[1] not in FAMILIES:
        return f"unknown family {cells[1]!r}; known: {' '.join(FAMILIES)}"
    try:
        if number(cells[7]) <= 0:
            return f"value {cells[7]!r} is not above zero: there is no ratio to it"
    except ValueError as wrong:
        return f"value {wrong}"
    return read_config(cells[5])[1]


def _row(cells: list[str], order: list[int], line: int) -> Measurement:
    fault = ""
    if len(cells) != len(order):
        fault = f"line {line} has {len(cells)} cells, not {len(order)}"
        cells = (cells + [""] * len(order))[: len(order)]
    cells = [cells[i].strip() for i in order]
    fault = fault or _fault(cells)
    cells = [_LOST.sub("\ufffd", cell) for cell in cells]
    cells[0] = cells[0] or f"line {line}"
    value = math.nan if fault else number(cells[7])
    texts = dict(zip(_FIELDS, cells[:7] + cells[8:], strict=True))
    return Measurement(value=value, fault=fault, **texts)


def _rows(path: Path) -> Iterator[Measurement]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        if not header:
            raise MeasurementError(f"{path.name} is empty: not even a header")
        order = _columns([_LOST.sub("\ufffd", cell) for cell in header], path.name)
        seen: set[str] = set()
        line = reader.line_num
        for cells in reader:
            if not cells:  # a blank line
                line = reader.line_num
                continue
            row = _row(cells, order, line + 1)
            line = reader.line_num
            if row.id in seen and not row.fault:
                row = replace(row, value=math.nan, fault="this id came before")
            seen.add(row.id)
            yield row


def read(path: str | Path) -> list[Measurement]:
    """Every row of a file of measurements, sound or with its fault."""
    path = Path(path)
    try:
        return list(_rows(path))
    except OSError as wrong:
        raise MeasurementError(f"{path}: {wrong.strerror or wrong}") from None
    except (csv.Error, UnicodeError) as wrong:
        raise MeasurementError(f"{path.name}: not a CSV file: {wrong}") from None


@cache
def _data(name: str) -> tuple[Measurement, ...]:
    return tuple(read(Path(str(files("stacklib.evidence") / "data" / name))))


@cache
def public() -> tuple[Measurement, ...]:
    """What the book started from: ``data/measurements.csv`` without its series."""
    return tuple(r for r in _data("measurements.csv") if r.family != SERIES)


@cache
def series() -> tuple[Measurement, ...]:
    """Kernels of one job by one author on one device: ``data/measurements.csv``.

    No fit sees them.
    """
    return tuple(r for r in _data("measurements.csv") if r.family == SERIES)


def found() -> tuple[Measurement, ...]:
    """Measurements found since: ``data/measurements_found.csv``."""
    return _data("measurements_found.csv")


def shapes() -> tuple[Measurement, ...]:
    """Products, attention, collectives of other shapes, formats and engines.

    ``data/measurements_shapes.csv``: grids of one benchmark on seven devices.
    """
    return _data("measurements_shapes.csv")


def fitted() -> tuple[Measurement, ...]:
    """All that a calibration may see: public rows, those found since, other shapes."""
    return public() + found() + shapes()


def unseen() -> tuple[Measurement, ...]:
    """Measurements of sources that no fit has seen: ``data/measurements_unseen.csv``.

    They try factors as a reader's own rows do, and bands are made of them as well.
    """
    return _data("measurements_unseen.csv")


def last() -> tuple[Measurement, ...]:
    """Measurements that came last: ``data/measurements_last.csv``.

    They try the bands as they are printed, and make none until others do that.
    """
    return _data("measurements_last.csv")


def left_out() -> tuple[Measurement, ...]:
    """Measurements of devices that no fit has seen: a last test, never an input.

    ``data/measurements_left_out.csv``; none of its devices is among ``fitted``.
    """
    return _data("measurements_left_out.csv")
