"""Section 2.4: What does the chip actually run?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import gpu, hardware
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    counted,
    counting,
    one_of,
    recorded,
)

RECORD = "stacklib/gpu/code/data/compiled/record.json"
TIMED = "benchmarks/results/jit_time.json"


def read(things: Sequence[Any], label: str, unit: str = "") -> Quantity:
    """How many of a thing NVIDIA's compiler left, counted in its recorded text."""
    return counted(len, things, unit=unit, label=label)


def made(field: str, label: str, unit: str = "") -> Quantity:
    """A count from the listings of `twice` for an H100."""
    return counted(gpu.compiled, "twice", "sm_90", take=field, unit=unit, label=label)


def held_by_each() -> Quantity:
    """Registers of an H100's SM for each thread that it can hold."""
    chip = hardware.get("h100-sxm")
    return (
        chip.registers_per_unit / bytes_per_element("fp32") / chip.max_threads_per_unit
    )


def reported(kernel: str, field: str, label: str, unit: str = "") -> Quantity:
    """What the assembler reported of a kernel for an H100."""
    return recorded(
        RECORD, f"kernels/{kernel}/sass/sm_90", field, unit=unit, label=label
    )


@counting("FP32 instructions")
def fp32_instructions() -> int:
    """Instructions of `twice` that compute with the data."""
    return gpu.compiled("twice", "sm_90").sass.groups()["fp32"]


def line_bytes() -> Quantity:
    """Of the line of CUDA between the braces that does the work."""
    from stacklib.gpu.code.compiled import source

    [line] = [x for x in source("twice").splitlines() if "dst[i]" in x]
    return read(line.strip(), "characters", "B")


@counting("between a result and its use")
def spacing() -> int:
    """Fewest cycles the compiler leaves between an ALU result and its use."""
    from stacklib.gpu.code import sass
    from stacklib.gpu.code.compiled import TARGETS, kernels

    rows = [sass.spacing(gpu.compiled(k, t).sass) for k in kernels() for t in TARGETS]
    return min(r[op] for r in rows for op in ("IMAD", "FADD", "FFMA") if op in r)


def timed(rows: list[dict[str, Any]], at: int, field: str = "median_s") -> Quantity:
    """A field of one of the timed kernels, smallest first."""
    row, unit = rows[at], "s" if field.endswith("_s") else ""
    words = f"{row['instructions']} " if unit else ""
    label = f"{words}PTX instructions"
    return recorded(TIMED, row["id"], field, unit=unit, label=label)


def wait() -> Quantity:
    """Cycles from the load's issue to that of the sum: an H100's memory."""
    from stacklib import hardware

    return hardware.level("h100-sxm", "dram").known("cycles") / one_of("cycle")
