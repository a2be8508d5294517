"""What this machine says about itself.

Read with the standard library from ``/proc`` and ``/sys`` (Linux) or ``sysctl``
(macOS). A fact that is not found is ``None`` and prints as *unknown*; nothing is
looked up by name and nothing is guessed. Inside a virtual machine these files
describe what the hypervisor shows, which can be less than the chip has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .host_spec import book_machine, host_spec, store_machine

__all__ = [
    "CacheLevel",
    "Machine",
    "book_machine",
    "busy_seconds",
    "host_spec",
    "read_machine",
    "store_machine",
    "usable_cores",
]

SIMD = ("sse2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni",
        "amx_tile", "amx_bf16", "neon", "asimd", "sve", "sve2", "sme")  # fmt: skip
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True)
class CacheLevel:
    """One cache as one core sees it: its size and how many CPUs share it."""

    level: int
    kind: str  # "data" or "unified"
    bytes: int
    shared_by: int | None


@dataclass(frozen=True)
class Machine:
    """Facts found on this machine; ``None`` where the system does not say."""

    cpu: str | None  # name the processor reports
    logical_cores: int | None
    physical_cores: int | None
    usable_cores: int
    caches: tuple[CacheLevel, ...]  # data and unified caches, smallest level first
    memory_bytes: int | None  # total memory of the machine
    simd: tuple[str, ...]  # vector extensions found, of those named in ``SIMD``
    clock_hz: float | None
    system: str  # operating system and architecture
    read_from: Mapping[str, str]  # where each fact was read

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready dict in which what was not found reads ``"unknown"``."""
        facts = {k: "unknown" if v is None else v for k, v in vars(self).items()}
        facts["caches"] = [vars(c) for c in self.caches]
        facts["simd"], facts["read_from"] = list(self.simd), dict(self.read_from)
        return facts

    def text(self) -> str:
        """One line for people: ``AMD EPYC, 2 cores, L1 48 KiB, ..., 23.5 GiB``."""
        cores = self.physical_cores or self.logical_cores
        caches = [f"L{c.level} {_binary(c.bytes)}" for c in self.caches]
        memory = _binary(self.memory_bytes) if self.memory_bytes else "memory unknown"
        parts = [self.cpu or "unknown CPU", f"{cores or 'unknown'} cores"]
        return ", ".join([*parts, *caches, memory])


def read_machine(root: str | Path = "/") -> Machine:
    """Read the machine we run on."""
    import platform  # here, as these cost a start more than the rest of the room

    if platform.system() == "Darwin" and Path(root) == Path("/"):
        return _from_sysctl(_sysctl())
    # ``root`` is where proc and sys are mounted; tests point it at a planted tree.
    return _from_linux(Path(root))


def _from_linux(root: Path) -> Machine:
    cpuinfo = _read(root / "proc/cpuinfo")
    clock, clock_from = _clock(root, cpuinfo)
    caches = _caches(root)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", _read(root / "proc/meminfo"), re.M)
    found = {
        "cpu": _cpu_name(cpuinfo),
        "logical_cores": len(re.findall(r"^processor\s*:", cpuinfo, re.M)) or None,
        "physical_cores": _physical_cores(cpuinfo),
        "caches": caches,
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "simd": _simd(cpuinfo),
        "clock_hz": clock,
    }
    where = dict.fromkeys(
        ("cpu", "logical_cores", "physical_cores", "simd"), "/proc/cpuinfo"
    )
    where |= {"caches": "/sys/devices/system/cpu/cpu0/cache", "clock_hz": clock_from}
    where |= {"memory_bytes": "/proc/meminfo MemTotal"}
    return _machine(found, where)


def _machine(found: dict[str, Any], where: dict[str, str]) -> Machine:
    import platform

    known = {name: place for name, place in where.items() if found[name]}
    known["usable_cores"] = "scheduler affinity"
    system = f"{platform.system()} {platform.machine()}"
    return Machine(**found, usable_cores=usable_cores(), system=system, read_from=known)


def usable_cores() -> int:
    """CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def busy_seconds(root: str | Path = "/") -> float | None:
    """CPU seconds all processes have used since boot; None where not told."""
    first = _read(Path(root) / "proc/stat").split("\n")[0].split()
    if len(first) < 8 or first[0] != "cpu":
        return None
    user, nice, system, _idle, _wait, irq, softirq = map(int, first[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _field(cpuinfo: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*:\s*(.+)$", cpuinfo, re.M)
    return found[1].strip() if found else None


def _cpu_name(cpuinfo: str) -> str | None:
    # Arm kernels often give no model name; `unknown` then, not a part number.
    return _field(cpuinfo, "model name") or _field(cpuinfo, "Model")


def _physical_cores(cpuinfo: str) -> int | None:
    blocks = re.split(r"\n\s*\n", cpuinfo)
    ids = {(_field(b, "physical id"), _field(b, "core id")) for b in blocks}
    ids = {pair for pair in ids if None not in pair}
    return len(ids) or None


def _simd(cpuinfo: str) -> tuple[str, ...]:
    flags = _field(cpuinfo, "flags") or _field(cpuinfo, "Features") or ""
    return tuple(name for name in SIMD if name in flags.split())


def _clock(root: Path, cpuinfo: str) -> tuple[float | None, str]:
    rated = _read(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    if rated.strip().isdigit():
        return int(rated) * 1e3, "cpufreq cpuinfo_max_freq (rated maximum)"
    shown = _field(cpuinfo, "cpu MHz")
    place = "/proc/cpuinfo cpu MHz (shown now; the boost clock can be higher)"
    return (float(shown) * 1e6, place) if shown else (None, place)


def _caches(root: Path) -> tuple[CacheLevel, ...]:
    folders = sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*"))
    levels = [_cache(folder) for folder in folders]
    return tuple(sorted((c for c in levels if c), key=lambda c: c.level))


def _cache(folder: Path) -> CacheLevel | None:
    level, kind, size, shared = (
        _read(folder / name).strip()
        for name in ("level", "type", "size", "shared_cpu_list")
    )
    parsed = re.fullmatch(r"(\d+)([KMG]?)", size)
    if kind == "Instruction" or not level.isdigit() or not parsed:
        return None
    size_bytes = int(parsed[1]) * BINARY.get(parsed[2], 1)
    return CacheLevel(int(level), kind.lower(), size_bytes, _cpu_list(shared))


def _cpu_list(text: str) -> int | None:
    """Length of a kernel CPU list: ``0-3,8`` is 5."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        return None
    ranges = [part.split("-") for part in text.split(",")]
    return sum(int(r[-1]) - int(r[0]) + 1 for r in ranges)


def _sysctl() -> dict[str, str]:
    import subprocess

    try:
        out = subprocess.run(
            ["sysctl", "hw", "machdep.cpu"], capture_output=True, text=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    pairs = (line.partition(": ") for line in out.splitlines())
    return {name: value.strip() for name, _, value in pairs if value}


def _from_sysctl(values: Mapping[str, str]) -> Machine:
    def number(*names: str) -> int | None:
        found = (values.get(n, "") for n in names)
        return next((int(v) for v in found if v.isdigit() and int(v)), None)

    sizes = {
        1: number("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"),
        2: number("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
        3: number("hw.l3cachesize"),
    }
    flags = " ".join(n for n, v in values.items() if v == "1").lower()
    flags += " " + values.get("machdep.cpu.features", "").lower()
    found = {
        "cpu": values.get("machdep.cpu.brand_string"),
        "logical_cores": number("hw.logicalcpu"),
        "physical_cores": number("hw.physicalcpu"),
        "caches": tuple(
            CacheLevel(level, "data" if level == 1 else "unified", size, None)
            for level, size in sizes.items()
            if size
        ),
        "memory_bytes": number("hw.memsize"),
        "simd": tuple(n for n in SIMD if re.search(rf"\b{n}\b|\.{n}\b", flags)),
        "clock_hz": number("hw.cpufrequency_max", "hw.cpufrequency"),
    }
    return _machine(found, dict.fromkeys(found, "sysctl"))


def _binary(size: int) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 2**10:.3g} KiB"
