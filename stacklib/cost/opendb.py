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

from stacklib.quantity import resolve

Record = Mapping[str, Any]
Fields = dict[str, Any]


def from_opendb(record: Record, kind: str) -> tuple[str, Fields]:
    """Name and known fields of a part, from a record of its kind.

    Raises ValueError for what is no record, or one of another kind.
    """
    found = resolve(kind, READERS, "kind of record", exact=True)
    told = record.get("metadata") if isinstance(record, Mapping) else None
    name = told.get("name") if isinstance(told, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        raise ValueError("no record of OpenDB: it has no metadata with a name")
    mark, read = READERS[found]
    if mark not in record:
        raise ValueError(f"{name}: no record of a {found}; it has no {mark!r}")
    return name.strip(), {f: v for f, v in read(record).items() if v not in (None, ())}


def _number(record: Record, field: str, most: float = 1e6) -> float | None:
    """A number above zero that may be true; those records write 0 for unknown."""
    value = record.get(field)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if 0 < value <= most else None


def _text(record: Record, field: str) -> str | None:
    value = record.get(field)
    return value.strip() if isinstance(value, str) and value.strip() else None


def _list(record: Record, field: str) -> list[str] | None:
    value = record.get(field)
    texts = [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
    return texts or None


def _count(record: Record, field: str) -> int:
    """How many there are; nought where it does not say."""
    return int(_number(record, field, 64) or 0)


def _part(record: Record, field: str) -> Record:
    value = record.get(field)
    return value if isinstance(value, Mapping) else {}


def _gpu(record: Record) -> Fields:
    plugs = _part(record, "power_connectors")
    wide = _count(plugs, "pcie_12VHPWR") + _count(plugs, "pcie_12V_2x6")
    narrow = _count(plugs, "pcie_8_pin")
    told = bool(wide or narrow) and not _count(plugs, "pcie_6_pin")
    return {
        "length": _number(record, "length", 1000),
        "slots": _number(record, "total_slot_width", 5),  # some write millimetres
        "plugs_16": wide if told else "unknown",
        "plugs_8": narrow if told else "unknown",
        "plugs_eps": 0 if told else "unknown",
    }


def _psu(record: Record) -> Fields:
    plugs = _part(record, "connectors")
    names = {
        "plugs_16": "pcie_12vhpwr",
        "plugs_8": "pcie_6_plus_2_pin",
        "plugs_eps": "eps_8_pin",
    }
    counts = {field: _count(plugs, name) for field, name in names.items()}
    level = re.search(
        r"gold|platinum|titanium", _text(record, "efficiency_rating") or "", re.I
    )
    return {
        "watts": _number(record, "wattage", 5000),
        "form": _text(record, "form_factor"),
        "length": _number(record, "length", 500),
        "level": level[0].lower() if level else None,
        **(counts if counts["plugs_eps"] else {}),  # every supply has one
    }


def _case(record: Record) -> Fields:
    return {
        "boards": _list(record, "supported_motherboard_form_factors"),
        "length": _number(record, "max_video_card_length", 1500),
        "height": _number(record, "max_cpu_cooler_height", 500),
        "slots": _number(record, "expansion_slots", 30),
        "psus": _list(record, "supported_power_supply_form_factors"),
    }


def _board(record: Record) -> Fields:
    memory, disks = _part(record, "memory"), _part(record, "storage_devices")
    power = _list(_part(record, "power_connectors"), "cpu_power") or []
    most = _number(memory, "max")
    return {
        "socket": _text(record, "socket"),
        "form": _text(record, "form_factor"),
        "memory": _text(memory, "ram_type"),
        "dimms": _number(memory, "slots", 64),
        "max_memory": most if most and most >= 16 else None,  # some write terabytes
        "sata": _number(disks, "sata_6_gb_s", 64),
        "plugs_eps": sum(plug.startswith("8") for plug in power) or None,
    }


def _cpu(record: Record) -> Fields:
    told = _part(record, "specifications")
    memory, graphics = _part(told, "memory"), _part(told, "integratedGraphics")
    most, model = _number(memory, "maxSupport"), _text(graphics, "model")
    return {
        "socket": _text(record, "socket"),
        "memory": _list(memory, "types"),
        "channels": _number(memory, "channels", 16),
        "max_memory": most if most and most >= 16 else None,
        "power": _number(told, "tdp", 1000),
        "graphics": model != "None" if model else None,
    }


def _memory(record: Record) -> Fields:
    kit, name = _part(record, "modules"), record["metadata"]["name"]
    field = {"Registered": "RDIMM", "Unbuffered": "UDIMM"}
    module = field.get(_text(record, "registered") or "")
    said = bool(re.search(r"\bR-?DIMM|Registered", name, re.I))
    return {
        "type": _text(record, "ram_type"),
        "module": module if said == (module == "RDIMM") else None,
        "modules": _number(kit, "quantity", 64),
        "capacity": _number(kit, "capacity_gb", 1024),
        "speed": _number(record, "speed", 20000),
    }


def _cooler(record: Record) -> Fields:
    wet = record.get("water_cooled")
    return {
        "sockets": _list(record, "cpu_sockets"),
        "height": None if wet else _number(record, "height", 500),
        "radiator": _number(record, "radiator_size", 1000) if wet else 0,
        "noise": _number(record, "max_noise_level", 120),
    }


def _storage(record: Record) -> Fields:
    bus = _text(record, "interface") or ""
    plug = next((p for p in ("M.2", "U.2", "SATA") if bus.startswith(p)), None)
    link = re.search(r"PCIe (\d)\.\d x(\d)", bus, re.I)
    return {
        "capacity": _number(record, "capacity"),
        "plug": plug,
        "generation": int(link[1]) if link else None,
        "lanes": int(link[2]) if link else None,
    }


# kind of part -> a field that only its records have, and how they are read
READERS: dict[str, tuple[str, Callable[[Record], Fields]]] = {
    "gpu": ("chipset_manufacturer", _gpu),
    "cpu": ("coreFamily", _cpu),
    "board": ("pcie_slots", _board),
    "memory": ("ram_type", _memory),
    "psu": ("wattage", _psu),
    "storage": ("storage_type", _storage),
    "case": ("max_video_card_length", _case),
    "cooler": ("cpu_sockets", _cooler),
}
