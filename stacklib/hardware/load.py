"""Reading a device's TOML: every value with a source, nothing left to guess."""

from __future__ import annotations

import math
import tomllib
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stacklib.quantity import DTYPES, Quantity, Source, UnitError

from .accelerator import FIELDS, Accelerator, Peak

TEXTS = ("key", "name", "short", "vendor", "kind", "process", "memory_type")
KINDS = ("gpu", "tpu", "cpu")


class SpecError(ValueError):
    """A spec file that cannot be trusted; the message names file and field."""


def _source(raw: dict[str, Any], where: str, inherited: bool) -> Source:
    try:
        seen = raw["seen"]
        text = seen.isoformat() if isinstance(seen, date) else str(seen)
        return Source(raw["title"], raw["where"], text, raw["confidence"], inherited)
    except KeyError as missing:
        raise SpecError(f"{where}: source lacks {missing}") from None
    except ValueError as wrong:
        raise SpecError(f"{where}: {wrong}") from None


def _value(
    entry: dict[str, Any],
    sources: dict[str, Any],
    where: str,
    label: str,
    unit: str,
) -> Quantity:
    """One field as a Quantity of the dimension of ``unit``."""
    known = {"value", "unit", "source", "note", "kind", "per_unit_per_cycle",
             "accumulate", "clock", "sparse_factor"}  # fmt: skip
    if set(entry) - known:
        raise SpecError(f"{where}: unknown key {sorted(set(entry) - known)[0]!r}")
    name = entry.get("source", "device")
    if name not in sources:
        raise SpecError(f"{where}: source {name!r} is not in [sources]")
    source = _source(sources[name], where, inherited="source" not in entry)
    kind = "measured" if entry.get("kind") == "measured" else "spec"
    text = entry.get("unit", "")
    scoped = text if not text or label == "rate per pin" else _scope(text)
    try:
        q = Quantity(entry["value"], scoped, label=label, source=source, kind=kind)
        q.to(unit)
    except KeyError:
        raise SpecError(f"{where}: value is missing") from None
    except UnitError as wrong:
        raise SpecError(f"{where}: {wrong}") from None
    if q.si <= 0:
        raise SpecError(f"{where}: {q.text()} is not above zero; write 'unknown'")
    return q


def _scope(unit: str) -> str:
    """Rates, capacities, powers and prices of a device are those of one chip."""
    head = unit.split()[0]
    countless = head.endswith("Hz") or head.startswith("mm")
    return unit if countless else f"{unit} per_chip"


def _refuse_todo(raw: Any, where: str) -> None:
    if isinstance(raw, dict):
        for key, value in raw.items():
            _refuse_todo(value, f"{where}.{key}")
    elif isinstance(raw, str) and "TODO" in raw:
        raise SpecError(f"{where} is still TODO: fill it, or write 'unknown'")


def _peak(raw: dict[str, Any], sources: dict, where: str, name: str, key: str) -> Peak:
    operation = DTYPES[name].operation
    if "dense" not in raw.get("unit", "").split():
        raise SpecError(f"{where}: unit must say dense, as in 'T{operation}/s dense'")
    label = f"{key} {name} peak"
    rate = _value(raw, sources, where, label, f"{operation}/s")
    per_cycle = None
    if "per_unit_per_cycle" in raw:
        per_cycle = Quantity(
            raw["per_unit_per_cycle"],
            f"{operation}/cycle dense",
            label=f"{name} operations per unit and cycle",
            source=rate.source,
            kind="spec",
        )
    factor = raw.get("sparse_factor", 1)
    if not isinstance(factor, (int, float)) or not 1 <= factor <= 4:
        raise SpecError(f"{where}: sparse_factor {factor!r} is not between 1 and 4")
    clock = raw.get("clock", "tensor_clock")
    if clock not in ("clock", "tensor_clock"):
        raise SpecError(f"{where}: clock {clock!r} is not clock or tensor_clock")
    accumulate, note = raw.get("accumulate", ""), raw.get("note", "")
    return Peak(rate, per_cycle, clock, accumulate, float(factor), note)


def from_dict(raw: dict[str, Any], where: str) -> Accelerator:
    """An Accelerator from parsed TOML.

    Parameters
    ----------
    raw : dict
        The file's tables: texts, ``sources``, ``fields`` and ``peak``.
    where : str
        File name, for messages.

    Raises
    ------
    SpecError
        For a missing or unknown key, a value without source, a wrong unit, a
        value not above zero, or a stub still holding TODO.
    """
    _refuse_todo(raw, where)
    missing = [k for k in (*TEXTS, "year", "sources", "fields", "peak") if k not in raw]
    if missing:
        raise SpecError(f"{where}: {missing[0]} is missing")
    if raw["kind"] not in KINDS:
        raise SpecError(f"{where}: kind {raw['kind']!r} is not one of {KINDS}")
    if "device" not in raw["sources"]:
        raise SpecError(f"{where}: [sources.device] is missing")
    fields: dict[str, Quantity | None] = {}
    notes: dict[str, str] = {}
    for name, entry in raw["fields"].items():
        place = f"{where}: {name}"
        if name not in FIELDS:
            raise SpecError(f"{place}: no such field; known: {', '.join(FIELDS)}")
        if entry == "unknown":
            fields[name] = None
            continue
        if not isinstance(entry, dict):
            raise SpecError(f"{place}: write {{ value = ..., source = ... }}")
        unit, words = FIELDS[name]
        fields[name] = _value(
            entry, raw["sources"], place, f"{raw['short']} {words}", unit
        )
        if "note" in entry:
            notes[name] = entry["note"]
    absent = [name for name in FIELDS if name not in fields]
    if absent:
        raise SpecError(f"{where}: {absent[0]} is missing; write 'unknown'")
    bad = [name for name in raw["peak"] if name not in DTYPES]
    if bad:
        raise SpecError(f"{where}: peak.{bad[0]} is no number format")
    peaks = {
        name: _peak(entry, raw["sources"], f"{where}: peak.{name}", name, raw["short"])
        for name, entry in raw["peak"].items()
    }
    texts = {name: raw[name] for name in TEXTS}
    return Accelerator(
        **texts,
        year=raw["year"],
        fields=MappingProxyType(fields),
        peaks=MappingProxyType(peaks),
        notes=MappingProxyType(notes),
    )


def read(path: Path) -> Accelerator:
    """The device in one TOML file, whose name must be its key.

    Parameters
    ----------
    path : Path
        For example ``data/accelerators/h100_sxm.toml``.

    Raises
    ------
    SpecError
        For TOML that does not parse, a key that is not the file's name, and all
        that ``from_dict`` refuses.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise SpecError(f"{path.name}: {wrong}") from None
    if raw.get("key") != path.stem:
        raise SpecError(f"{path.name}: key {raw.get('key')!r} is not the file's name")
    return from_dict(raw, path.name)


def residuals(device: Accelerator) -> dict[str, float]:
    """Relative gaps between published figures that physics ties together.

    Parameters
    ----------
    device : Accelerator
        Any device of the database.

    Returns
    -------
    dict
        ``"pins x rate"`` against the memory bandwidth and, for each format,
        ``"<format>: units x clock x rate"`` against the published peak. A pair
        with an unknown side is left out.

    Raises
    ------
    SpecError
        When a gap is not finite.
    """
    gaps: dict[str, float] = {}
    f = device.fields
    pins, rate, bandwidth = (
        f["memory_pins"],
        f["memory_pin_rate"],
        f["memory_bandwidth"],
    )
    if pins is not None and rate is not None and bandwidth is not None:
        gaps["pins x rate"] = (pins * rate).to("B/s").si / bandwidth.si - 1
    for name, peak in device.peaks.items():
        clock, units = f[peak.clock], f["compute_units"]
        if peak.per_unit_per_cycle is None or clock is None or units is None:
            continue
        built = units * peak.per_unit_per_cycle * clock
        gaps[f"{name}: units x clock x rate"] = built.si / peak.rate.si - 1
    if not all(math.isfinite(g) for g in gaps.values()):
        raise SpecError(f"{device.key}: a residual is not finite")
    return gaps
