"""Numbers of chapter 2, the compiler: PTX, machine code, and what they cost."""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.evidence import results
from stacklib.gpu.code import sass
from stacklib.gpu.code.compiled import TARGETS, kernels, ptx_text, record
from stacklib.gpu.code.ptx import parse
from stacklib.gpu.issue.occupancy import REGISTERS
from stacklib.quantity import Quantity, Source

from .registry import number

PTXAS = "NVIDIA nvcc and ptxas 13.0.88, recorded in stacklib/gpu/code/data/compiled"


def _read(value: float, label: str, unit: str = "1") -> Quantity:
    source = Source(PTXAS, "record.json", "2026-11-22", "measured")
    return Quantity(value, unit, label=label, source=source)


@cache
def _spacing() -> int:
    rows = [sass.spacing(gpu.compiled(k, t).sass) for k in kernels() for t in TARGETS]
    return min(row[op] for row in rows for op in ("IMAD", "FADD", "FFMA") if op in row)


@number("compile.useful", digits=3, evidence="measured")
def useful() -> Quantity:
    """Machine instructions of `twice` on Hopper, padding left out."""
    return _read(len(gpu.compiled("twice").sass.useful), "machine instructions")


@number("compile.useful_a100", digits=3, evidence="measured")
def useful_a100() -> Quantity:
    """Machine instructions of `twice` on Ampere."""
    return _read(len(gpu.compiled("twice", "sm_80").sass.useful), "on sm_80")


@number("compile.ptx", digits=3, evidence="measured")
def ptx() -> Quantity:
    """PTX instructions of `twice`."""
    return _read(len(gpu.compiled("twice").ptx.code), "PTX instructions")


@number("compile.arithmetic", digits=2, evidence="measured")
def arithmetic() -> Quantity:
    """Of those, instructions that compute with the data."""
    return _read(gpu.compiled("twice").sass.groups()["fp32"], "FP32 instructions")


@number("compile.share", unit="%", digits=2, evidence="measured")
def share() -> Quantity:
    """Machine instructions of `twice` that compute with the data."""
    return arithmetic() / useful()


@number("compile.instruction_bytes", unit="B", digits=2, evidence="spec")
def instruction_bytes() -> Quantity:
    """Bytes of a machine instruction since Volta."""
    return Quantity(sass.BYTES, "B", label="an instruction", kind="constant")


@number("compile.size", unit="B", digits=3, evidence="measured")
def size() -> Quantity:
    """Machine code of `twice` on Hopper, padding counted."""
    every = _read(len(gpu.compiled("twice").sass.code), "instructions and padding")
    return every * instruction_bytes()


@number("compile.source_bytes", unit="B", digits=3, evidence="measured")
def source_bytes() -> Quantity:
    """Of the line of CUDA between the braces that does the work."""
    [line] = [x for x in gpu.compiled("twice").source.splitlines() if "dst[i]" in x]
    return _read(len(line.strip()), "characters", "B")


@number("compile.guard_skips", digits=2, evidence="measured")
def guard_skips() -> Quantity:
    """PTX instructions a thread beyond the end executes."""
    found = parse(ptx_text("twice"))
    return _read(found.count({"entry": 1, "BB0_2": 1}), "executed beyond the end")


@number("compile.kernels", digits=2, evidence="measured")
def kernel_count() -> Quantity:
    """Kernels that are recorded."""
    return _read(len(kernels()), "kernels")


@number("compile.listings", digits=3, evidence="measured")
def listings() -> Quantity:
    """Listings of machine code: kernels times architectures."""
    return _read(len(kernels()) * len(TARGETS), "listings")


@number("compile.spacing", digits=2, evidence="measured")
def spacing() -> Quantity:
    """Fewest cycles the compiler leaves between an ALU result and its use."""
    return _read(_spacing(), "between a result and its use")


@number("compile.barriers", digits=2, evidence="spec")
def barriers() -> Quantity:
    """Barriers of a warp for results of unknown latency."""
    return Quantity(6, label="barriers a warp", kind="constant")


@number("compile.hidden_registers", digits=2, evidence="measured")
def hidden_registers() -> Quantity:
    """Registers that the assembler reports and the code does not name."""
    made = gpu.compiled("twice")
    told, named = (_read(n, label) for n, label in (
        (made.registers, "reported"), (made.sass.registers, "named")))  # fmt: skip
    return told - named


@number("compile.registers", digits=2, evidence="measured")
def registers() -> Quantity:
    """Registers a thread of `transpose` on Hopper, as the assembler reports."""
    return _read(gpu.compiled("transpose").registers, "registers a thread")


@number("compile.shared", unit="B", digits=4, evidence="measured")
def shared() -> Quantity:
    """Shared memory a block of `transpose`."""
    return _read(gpu.compiled("transpose").shared_bytes, "shared memory", "B")


@number("compile.refused", digits=2, evidence="measured")
def refused() -> Quantity:
    """Targets, of those tried, whose assembler refuses wgmma."""
    known = record()["probes"]["wgmma.mma_async"]
    no = sum(not gpu.accepted("wgmma.mma_async", t).accepted for t in known)
    return _read(no, "targets that refuse wgmma")


@number("compile.tried", digits=2, evidence="measured")
def tried() -> Quantity:
    """Targets on which each instruction was tried."""
    return _read(len(record()["probes"]["wgmma.mma_async"]), "targets tried")


@cache
def _times() -> list[dict[str, float]]:
    found = results.load("jit_time")
    if found is None:
        raise results.ResultError("jit_time.json: not measured here")
    rows: list[dict[str, float]] = found["rows"]
    return rows


def _time(index: int, field: str = "median_s") -> Quantity:
    source = Source("benchmarks/results/jit_time.json", "measured on this machine",
                    "2026-11-22", "measured")  # fmt: skip
    row = _times()[index]
    return Quantity(row[field], "s", label=f"{row['instructions']} PTX instructions",
                    source=source)  # fmt: skip


@number("compile.jit_small", digits=2, evidence="measured")
def jit_small() -> Quantity:
    """`ptxas` on the smallest kernel, the whole process."""
    return _time(0)


@number("compile.jit_large", digits=2, evidence="measured")
def jit_large() -> Quantity:
    """`ptxas` on the largest kernel that was timed."""
    return _time(-1)


@number("compile.jit_instructions", digits=4, evidence="measured")
def jit_instructions() -> Quantity:
    """PTX instructions of the largest kernel that was timed."""
    return _read(_times()[-1]["instructions"], "PTX instructions")


@number("compile.jit_told", unit="ms", digits=2)
def jit_told() -> Quantity:
    """What the line that was predicted gives for the largest kernel."""
    start = Quantity(30, "ms", label="start of the process", kind="assumption")
    each = Quantity(20, "us", label="an instruction", kind="assumption")
    return start + each * _read(_times()[-1]["instructions"], "instructions")


@number("compile.jit_growth", digits=2, evidence="measured")
def jit_growth() -> Quantity:
    """How many times longer for the last step in size."""
    return _time(-1) / _time(-2)


@number("compile.jit_step", digits=2, evidence="measured")
def jit_step() -> Quantity:
    """How many times larger the kernel was."""
    last, before = (
        _read(_times()[i]["instructions"], "instructions") for i in (-1, -2)
    )
    return last / before


@number("compile.free_registers", digits=2, evidence="spec")
def free_registers() -> Quantity:
    """Registers of a unit for each thread that it can hold."""
    held = Quantity(REGISTERS, label="registers of a unit", kind="constant")
    return held / hardware.get("h100-sxm").max_threads_per_unit


@number("compile.claim_low", unit="ms", digits=3, evidence="claimed")
def claim_low() -> Quantity:
    """The least that a source document gives JIT compilation."""
    return Quantity(100, "ms", label="claimed, low end", kind="assumption")


@number("compile.claim_high", unit="ms", digits=3, evidence="claimed")
def claim_high() -> Quantity:
    """The most that a source document gives JIT compilation."""
    return Quantity(500, "ms", label="claimed, high end", kind="assumption")
