"""A record of BuildCores' OpenDB (JSON, ODC-By) as fields of the catalogue.

The records know sizes, sockets and plugs. They do not know to how many lanes a slot is
wired, whether it hangs on the chipset, or what shares its lanes: those stay *unknown*.
A record that contradicts itself, and plugs that are nought all over, tell nothing
either. Repository: github.com/buildcores/buildcores-open-db.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stacklib.hardware.sourced import read_toml
from stacklib.quantity import resolve

from .data import DATA

Record = Mapping[str, Any]
Fields = dict[str, Any]
READERS: dict[str, dict[str, Any]] = read_toml(DATA / "opendb.toml")
LEAST = 16  # GB of memory that a machine addresses; some records write terabytes


def from_opendb(record: Record, kind: str) -> tuple[str, Fields]:
    """Name and known fields of a part, from a record of its kind.

    Raises ValueError for what is no record, or one of another kind.
    """
    found = resolve(kind, READERS, "kind of record", exact=True)
    name = _at(record, "metadata.name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError("no record of OpenDB: it has no metadata with a name")
    table = READERS[found]
    if table["mark"] not in record:
        raise ValueError(f"{name}: no record of a {found}; it has no {table['mark']!r}")
    told = {f: _told(record, *row) for f, row in table.items() if f != "mark"}
    if (told.get("max_memory") or LEAST) < LEAST:
        del told["max_memory"]
    told |= MORE.get(found, lambda _: {})(record)
    return name.strip(), {f: v for f, v in told.items() if v not in (None, ())}


def _at(record: Any, place: str) -> Any:
    """What stands at ``memory.slots``; None where there is nothing."""
    for key in place.split("."):
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


def _told(record: Record, place: str, sort: str | float) -> Any:
    """A text, a list of texts, or a number above zero; they write 0 for unknown."""
    value = _at(record, place)
    if sort == "text":
        return (value.strip() or None) if isinstance(value, str) else None
    if sort == "list":
        every = value if isinstance(value, list) else []
        return [one for one in every if isinstance(one, str)] or None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and 0 < value <= float(sort) else None


def _count(record: Record, place: str) -> int:
    """How many there are; nought where it does not say."""
    return int(_told(record, place, 64) or 0)


def _gpu(record: Record) -> Fields:
    at = "power_connectors."
    wide = _count(record, at + "pcie_12VHPWR") + _count(record, at + "pcie_12V_2x6")
    narrow = _count(record, at + "pcie_8_pin")
    if not (wide or narrow) or _count(record, at + "pcie_6_pin"):
        return dict.fromkeys(("plugs_16", "plugs_8", "plugs_eps"), "unknown")
    return {"plugs_16": wide, "plugs_8": narrow, "plugs_eps": 0}


def _psu(record: Record) -> Fields:
    names = {
        "plugs_16": "pcie_12vhpwr",
        "plugs_8": "pcie_6_plus_2_pin",
        "plugs_eps": "eps_8_pin",
    }
    counts = {f: _count(record, f"connectors.{name}") for f, name in names.items()}
    words = _told(record, "efficiency_rating", "text") or ""
    level = re.search("gold|platinum|titanium", words, re.I)
    every = counts if counts["plugs_eps"] else {}  # every supply has one
    return {"level": level[0].lower() if level else None, **every}


def _board(record: Record) -> Fields:
    power = _told(record, "power_connectors.cpu_power", "list") or []
    return {"plugs_eps": sum(plug.startswith("8") for plug in power) or None}


def _cpu(record: Record) -> Fields:
    model = _told(record, "specifications.integratedGraphics.model", "text")
    return {"graphics": model != "None" if model else None}


def _memory(record: Record) -> Fields:
    field = {"Registered": "RDIMM", "Unbuffered": "UDIMM"}
    module = field.get(_told(record, "registered", "text") or "")
    said = re.search(r"\bR-?DIMM|Registered", record["metadata"]["name"], re.I)
    return {"module": module if bool(said) == (module == "RDIMM") else None}


def _cooler(record: Record) -> Fields:
    if record.get("water_cooled"):
        return {"radiator": _told(record, "radiator_size", 1000)}
    return {"height": _told(record, "height", 500), "radiator": 0}


def _storage(record: Record) -> Fields:
    bus = _told(record, "interface", "text") or ""
    plug = next((p for p in ("M.2", "U.2", "SATA") if bus.startswith(p)), None)
    link = re.search(r"PCIe (\d)\.\d x(\d)", bus, re.I)
    generation, lanes = map(int, link.groups()) if link else (None, None)
    return {"plug": plug, "generation": generation, "lanes": lanes}


# kind of part -> what a place in a record alone does not tell
MORE: dict[str, Callable[[Record], Fields]] = {
    "gpu": _gpu,
    "cpu": _cpu,
    "board": _board,
    "memory": _memory,
    "psu": _psu,
    "storage": _storage,
    "cooler": _cooler,
}
