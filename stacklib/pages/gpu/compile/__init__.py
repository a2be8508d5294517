"""Section 2.4: What does the chip actually run?"""

from __future__ import annotations

from stacklib.quantity import Quantity, Source, one_of

RECORD = Source(
    "NVIDIA nvcc and ptxas 13.0.88, recorded",
    "stacklib/gpu/code/data/compiled/record.json",
    "2026-11-22",
    "measured",
)
TIMED = Source(
    "benchmarks/results/jit_time.json",
    "measured on this machine",
    "2026-11-22",
    "measured",
)


def read(value: float, label: str, unit: str = "") -> Quantity:
    """A count from what NVIDIA's compiler left, as it was recorded."""
    return Quantity(value, unit, label=label, source=RECORD, kind="measured")


def line_bytes() -> Quantity:
    """Of the line of CUDA between the braces that does the work."""
    from stacklib.gpu.code.compiled import source

    [line] = [x for x in source("twice").splitlines() if "dst[i]" in x]
    return read(len(line.strip()), "characters", "B")


def spacing() -> Quantity:
    """Fewest cycles the compiler leaves between an ALU result and its use."""
    from stacklib import gpu
    from stacklib.gpu.code import sass
    from stacklib.gpu.code.compiled import TARGETS, kernels

    rows = [sass.spacing(gpu.compiled(k, t).sass) for k in kernels() for t in TARGETS]
    least = min(r[op] for r in rows for op in ("IMAD", "FADD", "FFMA") if op in r)
    return read(least, "between a result and its use")


def timed(rows: list[dict[str, float]], at: int, field: str = "median_s") -> Quantity:
    """A field of one of the timed kernels, smallest first."""
    size = f"{rows[at]['instructions']} " if field == "median_s" else ""
    return Quantity(
        rows[at][field],
        "s" if size else "",
        label=f"{size}PTX instructions",
        source=TIMED,
        kind="measured",
    )


def wait() -> Quantity:
    """Cycles from the load's issue to that of the sum: an H100's memory."""
    from stacklib import hardware

    return hardware.level("h100-sxm", "dram").known("cycles") / one_of("cycle")
