"""Devices, every field with its source.

``get("h100-sxm")`` finds a device by name, ``names()`` lists them. Fields are
quantities: ``get("h100").memory_bandwidth``. What is not known raises when
asked for and is never a guess.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from stacklib.quantity import UnknownName, resolve
from stacklib.quantity.names import fold

from .accelerator import FIELDS, Accelerator, Peak, UnknownSpec
from .crosscheck import Limit, faults, gaps, limits, residuals
from .factors import (
    efficiency,
    efficiency_names,
    efficiency_override,
    efficiency_quantity,
    efficiency_recorded,
    efficiency_table,
)
from .link_gaps import Gap, link_residuals, memory_residuals, worst_gaps
from .links import LINK_FIELDS, Link, ladder, link, link_names
from .load import SpecError, from_dict, read, words
from .memories import MEMORY_FIELDS, Memory, memory, memory_names
from .microarchitecture import LEVELS, Microarchitecture, microarchitecture
from .nvidia_smi import SmiError, SmiReading, read_smi, smi_sample, smi_samples
from .stacks import (
    BaseDie,
    StackGeneration,
    ViaCount,
    accesses,
    base_dies,
    stack_fact,
    stack_generation,
    stack_generations,
    via_counts,
)
from .survey import Audit, audit, entries
from .this_machine import book_machine

_DATA = Path(__file__).parent / "data" / "accelerators"
_ERRORS = Path(__file__).parent / "data" / "errors.toml"
THIS_MACHINE = "this_machine"


@cache
def names() -> tuple[str, ...]:
    """Keys of all devices, ``this_machine`` last."""
    return (*sorted(p.stem for p in _DATA.glob("*.toml")), THIS_MACHINE)


@cache
def _load(key: str) -> Accelerator:
    if key == THIS_MACHINE:
        return from_dict(book_machine(), THIS_MACHINE)
    return read(_DATA / f"{key}.toml")


def get(name: str) -> Accelerator:
    """The device of this name.

    Case, hyphens and underscores do not matter, and a unique prefix is enough. A
    name that is one of a device's aliases means that device: ``"h100"`` is the SXM
    module, ``"a100"`` the one with 80 GB.

    Raises
    ------
    UnknownName
        Otherwise; the last line of the message lists the candidates.
    SpecError
        When the device's file is incomplete or contradicts itself.

    Examples
    --------
    >>> get("h100-sxm").memory_bandwidth.text()
    '3.35 TB/s'
    """
    return _load(
        _key(name) if isinstance(name, str) else resolve(name, names(), "device")
    )


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    try:
        return resolve(name, names(), "device")
    except UnknownName:
        key = _by_alias().get(fold(name), "")
        if not key:
            raise
        return key


@cache
def _by_alias() -> dict[str, str]:
    """Folded alias -> key, from the heads of the files."""
    found = {}
    for path in _DATA.glob("*.toml"):
        head = path.read_text(encoding="utf-8").split("\n[", 1)[0]
        for alias in tomllib.loads(head).get("aliases", []):
            found[fold(alias)] = path.stem
    return found


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """How far predictions of one family were from published measurements.

    Relative errors ``|predicted / measured - 1|`` at the median and the 90th
    percentile.
    """

    median: float
    p90: float


def error_band(family: str) -> ErrorBand | None:
    """Error quantiles of a prediction family, as ``stacklib validate`` left them.

    None until predictions of that family have been held against published
    measurements; shown as *not yet validated*.
    """
    if not _ERRORS.exists():
        return None
    row = tomllib.loads(_ERRORS.read_text(encoding="utf-8")).get(family)
    return ErrorBand(row["median"], row["p90"]) if row else None


__all__ = [
    "Accelerator",
    "Audit",
    "BaseDie",
    "ErrorBand",
    "FIELDS",
    "Gap",
    "LEVELS",
    "LINK_FIELDS",
    "Limit",
    "Link",
    "MEMORY_FIELDS",
    "Memory",
    "Microarchitecture",
    "Peak",
    "SmiError",
    "SmiReading",
    "SpecError",
    "StackGeneration",
    "THIS_MACHINE",
    "UnknownSpec",
    "ViaCount",
    "accesses",
    "audit",
    "base_dies",
    "efficiency",
    "efficiency_names",
    "efficiency_override",
    "efficiency_quantity",
    "efficiency_recorded",
    "efficiency_table",
    "entries",
    "error_band",
    "faults",
    "from_dict",
    "gaps",
    "get",
    "ladder",
    "limits",
    "link",
    "link_names",
    "link_residuals",
    "memory",
    "memory_names",
    "memory_residuals",
    "microarchitecture",
    "names",
    "read",
    "read_smi",
    "residuals",
    "smi_sample",
    "smi_samples",
    "stack_fact",
    "stack_generation",
    "stack_generations",
    "via_counts",
    "words",
    "worst_gaps",
]
