"""Section 7.6: When does a shorter weight make a faster token?

A step is chapter 1's, with the operand told in which the products run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stacklib import gpu, models
from stacklib.models.weights.kept import numbers_in
from stacklib.pages.quantizers import steps
from stacklib.pages.quantizers.steps import CHIP, CHIPS, MODEL
from stacklib.quantity import Quantity, chosen, counted, recorded, stamp
from stacklib.roofline import Work, bound_on, fit_memory, matmul
from stacklib.roofline.bound.decode import FAMILY, decode_work
from stacklib.roofline.work.bounds import Bound
from stacklib.roofline.work.fit import Fit

if TYPE_CHECKING:
    from stacklib.evidence.measurements import Measurement
    from stacklib.evidence.runs import Run

SHORT = steps.CONTEXT


@dataclass(frozen=True, slots=True)
class Way:
    """Matrices of the layers in one format, multiplied as another."""

    words: str
    dtype: str
    peak: str


# torchao's groups of 128 with a scale in fp16; DeepSeek-V3's tiles; NVFP4
WAYS = {
    "bf16": Way("BF16", "bf16", "bf16"),
    "w8a8": Way("W8A8, FP8", "fp8_128x128", "fp8"),
    "w4a16": Way("W4A16, INT4", "int4_g128", "bf16"),
    "w4a8": Way("W4A8, INT4", "int4_g128", "fp8"),
    "w4a4": Way("W4A4, NVFP4", "nvfp4", "fp4"),
}


def numbers_of(part: str) -> Quantity:
    """Weights that a token reads: ``matrices`` of the layers, or the output ``head``.

    The norms are with the head, in bf16. The input embedding is a table; a token reads
    one row of it.
    """
    dtype = WAYS["w4a16"].dtype
    held = {"matrices": dtype, "head": "bf16"}[part]
    given = models.get(MODEL), dtype, held, 1
    return counted(numbers_in, *given, label=f"weights of the {part}")


def cached(context: int, batch: int) -> Quantity:
    """Bytes of the caches of all sequences, in bf16."""
    each = models.get(MODEL).kv_bytes(context, "bf16")
    return (each * chosen(batch, label="sequences of a step")).named("caches")


def work(way: str, context: int = SHORT, batch: int = 1) -> Work:
    """Bytes and operations of a step; head and cache stay in bf16."""
    held, case = WAYS[way], {"tp": CHIPS, "batch": batch, "context": context}
    shape, runs = models.get(MODEL), held.peak
    return decode_work(shape, dtype=held.dtype, kv_dtype="bf16", runs_in=runs, **case)


def bound(way: str, context: int = SHORT, batch: int = 1, device: str = CHIP) -> Bound:
    """Time of a step's bytes, and of its operations, on eight chips.

    ``LookupError`` on a device that has no products in the format of the way.
    """
    return bound_on(work(way, context, batch), device, chips=CHIPS)


def peak(way: str, device: str = CHIP) -> Quantity:
    """Dense peak of the format in which a way multiplies; LookupError without one."""
    return gpu.peak_of(device, WAYS[way].peak).built


def kept() -> Quantity:
    """Time in which one step reads what stays in bf16: the head, and a cache."""
    head, cache = (steps.line(x).time for x in (steps.HEAD, steps.CACHE))
    both: Quantity = head + cache
    return both.named("time of head and cache")


def step(
    way: str, context: int = SHORT, batch: int = 1, device: str = CHIP
) -> Quantity:
    """Time of a step: its bytes or its products, whichever takes longer."""
    found = bound(way, context, batch, device).time
    return stamp(found, FAMILY).named(f"step, {WAYS[way].words}")


def gain(
    way: str, context: int = SHORT, batch: int = 1, device: str = CHIP
) -> Quantity:
    """How many times as many tokens a second as in bf16."""
    wide = step("bf16", context, batch, device)
    found = wide / step(way, context, batch, device)
    return found.named(f"{WAYS[way].words} over BF16, {batch} x {context}, {device}")


def fit(way: str, context: int, batch: int, device: str = CHIP) -> Fit:
    """Whether weights, the input embedding among them, and caches fit."""
    case = {"tp": CHIPS, "batch": batch, "context": context}
    return fit_memory(MODEL, on=device, dtype=WAYS[way].dtype, kv_dtype="bf16", **case)


def claimed_gain(equal_bits: bool = False) -> Quantity:
    """What a guide says of a Blackwell over a V100, in all or with equal bits."""
    from stacklib.evidence import ledger

    name = "real-compute-5x" if equal_bits else "blackwell-30x-v100"
    return ledger.get(name).quantity()


# -- published products ----------------------------------------------------------------

A100 = "NVIDIA A100-SXM4-80GB"
PUBLISHED = {
    "bfloat16": "BF16",
    "int8_wo": "W8A16",
    "int4_wo": "W4A16",
    "sq": "W8A8, INT8",
}
ROWS, OUTPUTS, INPUTS = 8192, 12_288, 4096


def row(dtype: str, m: int) -> Measurement:
    """The published run of a product on an A100: ``m`` rows times a matrix."""
    from stacklib.evidence import measurements

    want = {"m": str(m), "n": str(OUTPUTS), "k": str(INPUTS), "dtype": dtype}
    for found in measurements.public():
        if (found.family, found.system, found.metric) == ("A", A100, "latency") and all(
            found.config.get(key) == value for key, value in want.items()
        ):
            return found
    raise ValueError(f"no published product of {m} rows in {dtype}")


def published(dtype: str, m: int) -> Quantity:
    """Its time."""
    from stacklib.pages.figures_of import measured

    found = measured(row(dtype, m).id)
    return found.named(f"product of {m} rows, {PUBLISHED[dtype]}, measured")


def reached(dtype: str, m: int = ROWS) -> Quantity:
    """Its rate."""
    work = matmul(m=m, n=OUTPUTS, k=INPUTS).operations.named(
        "operations of the product"
    )
    return (work / published(dtype, m)).named(f"rate, {PUBLISHED[dtype]}, {m} rows")


# -- this machine ----------------------------------------------------------------------


def ran(rows: int = 16_384) -> list[Run]:
    """Products of a matrix in memory and a vector, predicted and measured."""
    from stacklib.evidence import runs

    return [run for run in runs.load("quantized_gemv") if run.case["rows"] == rows]


def run_of(kernel: str, rows: int = 16_384) -> Run:
    """One of them."""
    return next(run for run in ran(rows) if run.case["kernel"] == kernel)


def columns(run: Run) -> Quantity:
    """Columns of its matrix."""
    file = "benchmarks/results/quantized_gemv.json"
    return recorded(file, run.id, "cols", label="columns")


def faster(by: str, kind: str) -> Quantity:
    """Measured gain of a width over fp32 of the same maker."""
    name = f"{by}, {kind} over fp32, measured"
    ratio = run_of(f"{by}-fp32").measured / run_of(f"{by}-{kind}").measured
    return ratio.named(name)
