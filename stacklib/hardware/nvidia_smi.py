"""What nvidia-smi says of a GPU, read into quantities.

Two formats: the tree of ``nvidia-smi -q`` and the table of ``nvidia-smi --query-gpu=...
--format=csv``. Names of fields changed over the years (``Clocks Throttle Reasons`` is
``Clocks Event Reasons`` since driver 535); both are read. What is missing or ``N/A`` is
None, and listed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, UnknownName, chosen, resolve

from .accelerator import Accelerator
from .devices import get, names

GIB = 2**30 / 1e9  # a GB of a card's memory is a GiB
_SAMPLES = Path(__file__).parent / "data" / "nvidia_smi"
_NUMBER = re.compile(r"(-?[\d.]+)\s*([A-Za-z%]*)")
_UNITS = {"MiB": "MiB", "MHz": "MHz", "W": "W", "%": "%", "x": "1", "": "1"}
NOTHING = re.compile(  # what stands in the place of a value that there is not
    r"|\[?(N/A|Not Supported|Not Found|Unknown Error|Insufficient Permissions|"
    r"GPU requires reset|GPU is lost|Requested functionality has been deprecated)\]?"
)

# Bits of clocks_event_reasons.active, NVML API reference, nvmlClocksEventReasons.
REASONS = {
    0x1: "Idle",
    0x2: "Applications Clocks Setting",
    0x4: "SW Power Cap",
    0x8: "HW Slowdown",
    0x10: "Sync Boost",
    0x20: "SW Thermal Slowdown",
    0x40: "HW Thermal Slowdown",
    0x80: "HW Power Brake Slowdown",
    0x100: "Display Clock Setting",
}


class SmiError(ValueError):
    """Text that nvidia-smi does not print; quotes the line."""


@dataclass(frozen=True, slots=True)
class SmiReading:
    """One GPU as nvidia-smi shows it; None where it says nothing."""

    name: str | None = None
    driver: str | None = None
    state: str | None = None
    memory: Quantity | None = None  # bytes
    memory_used: Quantity | None = None  # nvidia-smi counts in MiB
    clock: Quantity | None = None  # of the compute units
    clock_max: Quantity | None = None  # of the memory
    memory_clock: Quantity | None = None  # now
    memory_clock_max: Quantity | None = None  # at most
    power: Quantity | None = None  # drawn
    power_limit: Quantity | None = None  # the limit in force
    power_max: Quantity | None = None  # the highest that may be set
    generation: Quantity | None = None  # PCI Express, now and at most
    generation_max: Quantity | None = None
    lanes: Quantity | None = None
    lanes_max: Quantity | None = None
    busy: Quantity | None = None  # shares of the time in which some kernel ran
    memory_busy: Quantity | None = None  # in which memory was used
    ecc: bool | None = None  # whether errors are corrected
    mig: bool | None = None  # whether the chip is cut into instances
    reasons: tuple[str, ...] | None = None  # what keeps the clock down

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields that the text did not have."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) is None)


def _number(text: str, unit: str, label: str) -> Quantity:
    found = _NUMBER.fullmatch(text.strip())
    if not found or _UNITS.get(found[2], "?") not in (unit, "1"):
        raise SmiError(f"{label}: {text.strip()!r} is not a number of {unit}")
    try:
        value = float(found[1])
    except ValueError:
        raise SmiError(f"{label}: {text.strip()!r} is not a number") from None
    return chosen(value, unit, label=label)


def _switch(text: str) -> bool:
    if text.strip() not in ("Enabled", "Disabled"):
        raise SmiError(f"{text.strip()!r} is neither Enabled nor Disabled")
    return text.strip() == "Enabled"


def _mask(text: str) -> tuple[str, ...]:
    try:
        bits = int(text, 16)
    except ValueError:
        raise SmiError(f"clock event reasons: {text!r} is no hex mask") from None
    return tuple(name for bit, name in REASONS.items() if bits & bit)


def _in(unit: str, label: str) -> Callable[[str], Quantity]:
    return partial(_number, unit=unit, label=label)


# field -> how it is read, its paths in the tree, its names in the table
_FIELDS: dict[str, tuple[Callable[[str], Any], tuple[str, ...], tuple[str, ...]]] = {
    "name": (str.strip, ("Product Name",), ("name", "gpu_name")),
    "driver": (str.strip, ("Driver Version",), ("driver_version",)),
    "state": (str.strip, ("Performance State",), ("pstate",)),
    "memory": (_in("MiB", "memory"), ("FB Memory Usage/Total",), ("memory.total",)),
    "memory_used": (_in("MiB", "memory in use"), ("FB Memory Usage/Used",),
                    ("memory.used",)),
    "clock": (_in("MHz", "clock now"), ("Clocks/SM",),
              ("clocks.current.sm", "clocks.sm")),
    "clock_max": (_in("MHz", "highest clock"), ("Max Clocks/SM",), ("clocks.max.sm",)),
    "memory_clock": (_in("MHz", "memory clock now"), ("Clocks/Memory",),
                     ("clocks.current.memory", "clocks.mem")),
    "memory_clock_max": (_in("MHz", "highest memory clock"), ("Max Clocks/Memory",),
                         ("clocks.max.memory", "clocks.max.mem")),
    "power": (_in("W", "power drawn"),
              ("GPU Power Readings/Average Power Draw",
               "GPU Power Readings/Power Draw", "Power Readings/Power Draw"),
              ("power.draw", "power.draw.average")),
    "power_limit": (_in("W", "power limit"),
                    ("GPU Power Readings/Current Power Limit",
                     "Power Readings/Current Power Limit",
                     "Power Readings/Power Limit"),
                    ("power.limit", "enforced.power.limit")),
    "power_max": (_in("W", "highest power limit"),
                  ("GPU Power Readings/Max Power Limit",
                   "Power Readings/Max Power Limit"), ("power.max_limit",)),
    "generation": (_in("1", "PCIe generation now"),
                   ("PCI/GPU Link Info/PCIe Generation/Current",),
                   ("pcie.link.gen.current", "pcie.link.gen.gpucurrent")),
    "generation_max": (_in("1", "highest PCIe generation"),
                       ("PCI/GPU Link Info/PCIe Generation/Max",),
                       ("pcie.link.gen.max",)),
    "lanes": (_in("1", "PCIe lanes now"), ("PCI/GPU Link Info/Link Width/Current",),
              ("pcie.link.width.current",)),
    "lanes_max": (_in("1", "most PCIe lanes"), ("PCI/GPU Link Info/Link Width/Max",),
                  ("pcie.link.width.max",)),
    "busy": (_in("%", "time with a kernel running"),
             ("Utilization/GPU", "Utilization/Gpu"), ("utilization.gpu",)),
    "memory_busy": (_in("%", "time with memory in use"), ("Utilization/Memory",),
                    ("utilization.memory",)),
    "ecc": (_switch, ("ECC Mode/Current", "Ecc Mode/Current"), ("ecc.mode.current",)),
    "mig": (_switch, ("MIG Mode/Current",), ("mig.mode.current",)),
    "reasons": (_mask, (), ("clocks_event_reasons.active",
                            "clocks_throttle_reasons.active")),
}  # fmt: skip


def read_smi(text: str) -> list[SmiReading]:
    """Every GPU in what nvidia-smi printed.

    Parameters
    ----------
    text : str
        Output of ``nvidia-smi -q``, or of ``--query-gpu=... --format=csv`` with its
        header. Lines that begin with ``#`` are comments.

    Raises
    ------
    SmiError
        For anything else: no GPU, the plain table, a value of the wrong kind.

    Examples
    --------
    >>> reading = read_smi(smi_sample("h100_busy"))[0]
    >>> reading.memory.text("GB"), reading.reasons
    ('85.5 GB', ('SW Power Cap',))
    """
    if not isinstance(text, str):
        raise SmiError(f"{text!r}: the text that nvidia-smi printed is needed")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    full = [line for line in lines if line.strip()]
    if not full:
        raise SmiError("nothing to read: give the output of nvidia-smi -q")
    if any(line.startswith("|") for line in full):
        raise SmiError(
            f"{full[0]!r}: this is the plain table; run nvidia-smi -q, or "
            "--query-gpu=... --format=csv"
        )
    if any(re.match(r"GPU [0-9A-Fa-f]+:", line) for line in full):
        return list(_from_tree(full))
    return _from_table(full)


def _made(found: dict[str, str], *, tree: bool) -> SmiReading:
    values: dict[str, Any] = {}
    for field, (read, paths, columns) in _FIELDS.items():
        for key in paths if tree else columns:
            told = not NOTHING.fullmatch(found.get(key, "").strip())
            if told and field not in values:
                values[field] = read(found[key])
    if tree:
        values["reasons"] = _active(found)
    return SmiReading(**values)


def _active(found: dict[str, str]) -> tuple[str, ...] | None:
    """What keeps the clock down, from the tree; nested reasons by their own name."""
    heads = ("Clocks Event Reasons/", "Clocks Throttle Reasons/")
    mine = {key: value for key, value in found.items() if key.startswith(heads)}
    if not mine:
        return None
    return tuple(key.split("/")[-1] for key, v in mine.items() if v.strip() == "Active")


def _from_tree(lines: list[str]) -> Iterator[SmiReading]:
    common: dict[str, str] = {}
    found: dict[str, str] | None = None
    path: list[tuple[int, str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if re.match(r"GPU [0-9A-Fa-f]+:", line):
            if found is not None:
                yield _made({**common, **found}, tree=True)
            found, path = {}, []
            continue
        key, colon, value = line.strip().partition(" : ")
        path = [(d, k) for d, k in path if d < depth]
        into = common if found is None or depth == 0 else found
        if colon:
            into["/".join([*(k for _, k in path), key.strip()])] = value
        path.append((depth, key.strip()))
    if not found or "Product Name" not in found:
        raise SmiError(f"{lines[-1]!r}: the tree of a GPU ends without a Product Name")
    yield _made({**common, **found}, tree=True)


def _from_table(lines: list[str]) -> list[SmiReading]:
    head, *rows = csv.reader(lines, skipinitialspace=True)
    names = [re.sub(r"\s*\[.*\]$", "", name) for name in head]
    known = {name for _, _, columns in _FIELDS.values() for name in columns}
    if not known & set(names):
        raise SmiError(
            f"{lines[0]!r}: no column that nvidia-smi knows; keep the header"
        )
    if not rows:
        raise SmiError("a header and no GPU under it")
    for row in rows:
        if len(row) != len(names):
            line = ", ".join(row)
            raise SmiError(f"{line!r}: {len(row)} values under {len(names)} columns")
    return [_made(dict(zip(names, row, strict=True)), tree=False) for row in rows]


def named_card(name: str, memory: float | None = None) -> Accelerator:
    """The device of a product's name, as nvidia-smi or lspci prints it.

    - ``memory``: bytes that it has, where two products of one name differ in it
    - raises ``SmiError`` for one that the database lacks, with what is near
    """
    inner = [x for x in re.findall(r"\[([^\]]+)\]", name) if ":" not in x]
    text = inner[0] if inner else name.split(" (rev")[0]
    plain = re.sub(r"\b(NVIDIA|Corporation|GeForce|Generation)\b", " ", text)
    device, last = None, ""
    for asked in (text, plain.strip(), plain.split("/")[0].strip()):
        try:
            device = get(asked)
            break
        except UnknownName as unknown:
            last = str(unknown).splitlines()[-1]
    if device is None:
        raise SmiError(f"{name!r} is no card of the database; {last}")
    stem = re.sub(r"_\d+gb$", "", device.key)
    alike = [key for key in names() if re.fullmatch(rf"{stem}_\d+gb", key)]
    if memory is None and len(alike) > 1 and not re.search(r"\d ?GB", text):
        said = ", ".join(alike)
        raise SmiError(f"{name!r} is one of {said}: add memory.total")
    for one in (device, *map(get, alike)):
        have = GIB * one.memory_capacity.si
        if memory is None or 0.85 * have < memory < 1.1 * have:
            return one
    size = (memory or 0.0) / GIB / 1e9
    raise SmiError(f"{name!r} with {size:.0f} GB is none of the database")


def smi_samples() -> tuple[str, ...]:
    """Names of the sample outputs."""
    return tuple(sorted(path.stem for path in _SAMPLES.glob("*.txt")))


def smi_sample(name: str) -> str:
    """A sample output, written in nvidia-smi's format for this book: no recording.

    Parameters
    ----------
    name : str
        One of ``smi_samples()``.

    Raises
    ------
    UnknownName
        For another name.
    """
    key = resolve(name, smi_samples(), "sample of nvidia-smi")
    return (_SAMPLES / f"{key}.txt").read_text(encoding="utf-8")
