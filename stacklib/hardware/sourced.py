"""Values of a TOML table that name their source: links, memories, prices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, Source, UnitError, assumed

from .load import SpecError

KEYS = ("value", "unit", "source", "note", "kind", "inconsistent")
KINDS = {"measured": "measured", "claimed": "claimed", "estimate": "assumed"}


@dataclass(frozen=True, slots=True)
class Fields:
    """The values of one entry, what is noted at them, and where they disagree."""

    values: Mapping[str, Quantity | None]
    notes: Mapping[str, str]
    inconsistent: Mapping[str, str]


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as dicts; SpecError names the file when it does not parse."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise SpecError(f"{path.name}: {wrong}") from None


def check_keys(
    raw: Mapping[str, Any], place: str, needed: Sequence[str], optional: Sequence[str]
) -> None:
    """Refuse an entry that lacks a key or has one too many."""
    for key in needed:
        if key not in raw:
            raise SpecError(f"{place}: {key} is missing")
    for key in sorted({*raw} - {*needed, *optional}):
        raise SpecError(f"{place}: unknown key {key!r}")


def read_source(sources: dict[str, Any], name: str, where: str, own: bool) -> Source:
    """One entry of ``[sources]``."""
    if name not in sources:
        raise SpecError(f"{where}: source {name!r} is not in [sources]")
    raw = sources[name]
    try:
        seen = raw["seen"]
        text = seen.isoformat() if isinstance(seen, date) else str(seen)
        return Source(raw["title"], raw["where"], text, raw["confidence"], not own)
    except KeyError as missing:
        raise SpecError(f"{where}: source {name!r} lacks {missing}") from None
    except ValueError as wrong:
        raise SpecError(f"{where}: {wrong}") from None


def _number(value: object, where: str) -> Any:
    """A number as written; ``"128/130"`` is a fraction."""
    if not isinstance(value, str):
        return value
    parts = re.fullmatch(r"(\d+)/(\d+)", value)
    if parts is None or int(parts[2]) == 0:
        raise SpecError(
            f"{where}: {value!r} is no number; write 'unknown' without {{}}"
        )
    return int(parts[1]) / int(parts[2])


def read_value(
    entry: object,
    sources: dict[str, Any],
    inherit: str,
    where: str,
    label: str,
    unit: str,
) -> Quantity:
    """One value as a quantity above zero."""
    if not isinstance(entry, dict):
        raise SpecError(f"{where}: write {{ value = ..., source = ... }} or 'unknown'")
    if set(entry) - set(KEYS):
        raise SpecError(f"{where}: unknown key {sorted(set(entry) - set(KEYS))[0]!r}")
    if "value" not in entry:
        raise SpecError(f"{where}: value is missing")
    if "kind" in entry and entry["kind"] not in KINDS:
        raise SpecError(f"{where}: kind {entry['kind']!r} is not {' or '.join(KINDS)}")
    # A value that names no source has that of the whole entry.
    own = "source" in entry
    source = read_source(sources, entry.get("source", inherit), where, own)
    try:
        value, key = _number(entry["value"], where), where.replace(".toml: ", "/")
        kind = KINDS.get(entry.get("kind", ""), "spec")
        if kind == "assumed":
            why = entry.get("note", f"Nobody measured it for us: {source.title}.")
            q = assumed(
                value, entry.get("unit", ""), label, why=why, source=source, key=key
            )
        else:
            q = Quantity(
                value,
                entry.get("unit", ""),
                label=label,
                source=source,
                kind=kind,
                key=key,
            )
        q.to(unit)
    except UnitError as wrong:
        raise SpecError(f"{where}: {wrong}") from None
    if q.si <= 0:
        raise SpecError(f"{where}: {q.text()} is not above zero; write 'unknown'")
    return q


def read_fields(
    raw: dict[str, Any],
    sources: dict[str, Any],
    inherit: str,
    where: str,
    short: str,
    known: Mapping[str, tuple[str, str]],
    optional: tuple[str, ...] = (),
) -> Fields:
    """The table of values of one entry; every known field is there or "unknown"."""
    values: dict[str, Quantity | None] = {}
    notes: dict[str, str] = {}
    inconsistent: dict[str, str] = {}
    for name, entry in raw.items():
        place = f"{where}.{name}"
        if name not in known:
            raise SpecError(f"{place}: no such field; known: {', '.join(known)}")
        if entry == "unknown":
            values[name] = None
            continue
        unit, words = known[name]
        label = f"{short} {words}"
        values[name] = read_value(entry, sources, inherit, place, label, unit)
        if "note" in entry:
            notes[name] = entry["note"]
        if "inconsistent" in entry:
            inconsistent[name] = entry["inconsistent"]
    absent = [name for name in known if name not in values and name not in optional]
    if absent:
        raise SpecError(f"{where}: {absent[0]} is missing; write 'unknown'")
    return Fields(values, notes, inconsistent)
