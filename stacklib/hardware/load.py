"""Reading a device's TOML: every value with a source, nothing left to guess."""

from __future__ import annotations

import math
import re
import tomllib
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stacklib.quantity import DTYPES, Quantity, Source, UnitError

from .accelerator import ACCUMULATORS, FIELDS, RARE, Accelerator, Peak

TEXTS = (
    "key",
    "name",
    "short",
    "vendor",
    "kind",
    "architecture",
    "compute_capability",
    "process",
    "memory_type",
)
KINDS = ("gpu", "tpu", "cpu", "asic")
OPTIONAL = ("aliases", "link_key", "host_link_key")
TABLES = ("sources", "fields", "peak")


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
    known = {
        "value",
        "unit",
        "source",
        "note",
        "kind",
        "inconsistent",
        "per_unit_per_cycle",
        "accumulate",
        "clock",
        "sparse_factor",
    }
    if set(entry) - known:
        raise SpecError(f"{where}: unknown key {sorted(set(entry) - known)[0]!r}")
    name = entry.get("source", "device")
    if name not in sources:
        raise SpecError(f"{where}: source {name!r} is not in [sources]")
    source = _source(sources[name], where, inherited="source" not in entry)
    kind = "measured" if entry.get("kind") == "measured" else "spec"
    if unit.startswith("USD") and source.confidence == "secondary":
        kind = "claimed"  # what others ask for it, not what the maker prints
    text = entry.get("unit", "")
    scoped = text if not text or label == "rate per pin" else _scope(text)
    try:
        key = record_key(where)
        q = Quantity(
            entry["value"], scoped, label=label, source=source, kind=kind, key=key
        )
        q.to(unit)
    except KeyError:
        raise SpecError(f"{where}: value is missing") from None
    except UnitError as wrong:
        raise SpecError(f"{where}: {wrong}") from None
    if q.si <= 0:
        raise SpecError(f"{where}: {q.text()} is not above zero; write 'unknown'")
    return q


def record_key(where: str) -> str:
    """The key of a value: ``h100-sxm.memory_bandwidth``, ``nvlink/nvlink-4.lanes``."""
    file, _, place = where.partition(": ")
    stem = file.removesuffix(".toml")
    device = "." not in place.removeprefix("peak.")
    return f"{stem.replace('_', '-')}.{place}" if device else f"{stem}/{place}"


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


def _texts(raw: dict[str, Any], where: str) -> dict[str, Any]:
    """Names and words of a device; the optional ones have a default."""
    unknown = sorted(set(raw) - {*TEXTS, *OPTIONAL, *TABLES, "year"})
    if unknown:
        raise SpecError(f"{where}: unknown key {unknown[0]!r}")
    aliases = raw.get("aliases", [])
    texts = {name: raw[name] for name in TEXTS}
    texts |= {name: raw.get(name, "") for name in ("link_key", "host_link_key")}
    for name, text in (*texts.items(), *(("aliases", a) for a in aliases)):
        if not isinstance(text, str):
            raise SpecError(f"{where}: {name} {text!r} is not a text")
    for alias in aliases:
        if alias != " ".join(words(alias)) or not alias:
            raise SpecError(f"{where}: alias {alias!r}: write {words(alias)} in words")
    if raw["kind"] not in KINDS:
        raise SpecError(f"{where}: kind {raw['kind']!r} is not one of {KINDS}")
    if not isinstance(raw["year"], int):
        raise SpecError(f"{where}: year {raw['year']!r} is not a whole number")
    return texts | {"year": raw["year"], "aliases": tuple(aliases)}


def words(text: str) -> list[str]:
    """Lower-case runs of letters and digits of a name."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _peak_dtype(key: str, where: str) -> str:
    """The number format of a peak's key, ``"fp16"`` of ``"fp16/fp16"``."""
    name, slash, accumulator = key.partition("/")
    if name not in DTYPES:
        raise SpecError(f"{where}: peak.{key} is no number format")
    if slash and accumulator not in ACCUMULATORS:
        raise SpecError(f"{where}: peak.{key}: no accumulator {accumulator!r}")
    return name


def _peak(raw: dict[str, Any], sources: dict, where: str, name: str, key: str) -> Peak:
    operation = DTYPES[_peak_dtype(name, where)].operation
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
            key=f"{rate.key}.per_unit_per_cycle",
        )
    factor = raw.get("sparse_factor", 1)
    if not isinstance(factor, (int, float)) or not 1 <= factor < math.inf:
        raise SpecError(f"{where}: sparse_factor {factor!r} is not a number >= 1")
    clock = raw.get("clock", "tensor_clock")
    if clock not in ("clock", "tensor_clock"):
        raise SpecError(f"{where}: clock {clock!r} is not clock or tensor_clock")
    accumulate, note = raw.get("accumulate", ""), raw.get("note", "")
    return Peak(rate, per_cycle, clock, accumulate, float(factor), note)


def _told(fields: dict[str, Any], where: str) -> dict[str, Any]:
    """Every field of a file; ``unknown = [...]`` names many that no source tells."""
    told = dict(fields)
    for name in told.pop("unknown", ()):
        if name in told:
            raise SpecError(f"{where}: {name} is unknown, and stands there again")
        told[name] = "unknown"
    return told


def from_dict(raw: dict[str, Any], where: str) -> Accelerator:
    """An Accelerator from parsed TOML."""
    _refuse_todo(raw, where)
    missing = [k for k in (*TEXTS, "year", "sources", "fields", "peak") if k not in raw]
    if missing:
        raise SpecError(f"{where}: {missing[0]} is missing")
    texts = _texts(raw, where)
    if "device" not in raw["sources"]:
        raise SpecError(f"{where}: [sources.device] is missing")
    fields: dict[str, Quantity | None] = {}
    notes: dict[str, str] = {}
    inconsistent: dict[str, str] = {}
    for name, entry in _told(raw["fields"], where).items():
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
        if "inconsistent" in entry:
            inconsistent[name] = entry["inconsistent"]
    fields = dict.fromkeys(RARE) | {n: fields[n] for n in FIELDS if n in fields}
    absent = [name for name in FIELDS if name not in fields]
    if absent:
        raise SpecError(f"{where}: {absent[0]} is missing; write 'unknown'")
    peaks = {
        name: _peak(entry, raw["sources"], f"{where}: peak.{name}", name, raw["short"])
        for name, entry in raw["peak"].items()
    }
    for name, entry in raw["peak"].items():
        if "inconsistent" in entry:
            inconsistent[f"peak.{name}"] = entry["inconsistent"]
    return Accelerator(
        **texts,
        fields=MappingProxyType(fields),
        peaks=MappingProxyType(peaks),
        notes=MappingProxyType(notes),
        inconsistent=MappingProxyType(inconsistent),
    )


def read(path: Path) -> Accelerator:
    """The device in one TOML file, whose name must be its key."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise SpecError(f"{path.name}: {wrong}") from None
    if raw.get("key") != path.stem:
        raise SpecError(f"{path.name}: key {raw.get('key')!r} is not the file's name")
    return from_dict(raw, path.name)
