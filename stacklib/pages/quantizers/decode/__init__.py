"""Section 7.6: When does a shorter weight make a faster token?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stacklib import gpu, hardware, models
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted, maximum

if TYPE_CHECKING:
    from stacklib.evidence.measurements import Measurement
    from stacklib.evidence.runs import Run

MODEL, CHIP, CHIPS = "llama-3-70b", "h100_sxm", 8
SHORT, LONG = 4096, 32_768


@dataclass(frozen=True, slots=True)
class Way:
    """Weights in so many bits, scales counted, multiplied as another format."""

    words: str
    bits: float
    peak: str


# torchao's groups of 128 with a scale in fp16; DeepSeek-V3's tiles; NVFP4
WAYS = {
    "bf16": Way("BF16", 16, "bf16"),
    "w8a8": Way("W8A8, FP8", 8 + 32 / 128**2, "fp8"),
    "w4a16": Way("W4A16, INT4", 4 + 16 / 128, "bf16"),
    "w4a8": Way("W4A8, INT4", 4 + 16 / 128, "fp8"),
    "w4a4": Way("W4A4, NVFP4", 4.5, "fp4"),
}


def numbers_of(part: str) -> Quantity:
    """Weights that a token reads: ``matrices`` of the layers, or the output ``head``.

    The input embedding is a table; a token reads one row of it.
    """
    model = models.get(MODEL)
    head = model.size("vocab", "vocabulary") * model.size("hidden", "hidden size")
    if part == "head":
        return head.named("weights of the output head")
    return (model.parameters - head - head).named("weights of the layers")


def weights(way: str) -> Quantity:
    """Bytes of all weights that a token reads; the head stays in bf16."""
    bits = chosen(WAYS[way].bits, "bit", label=f"bits of a weight, {WAYS[way].words}")
    layers = (numbers_of("matrices") * bits).to("B")
    head = (numbers_of("head") * bytes_per_element("bf16")).to("B")
    return (layers + head).named(f"weights, {WAYS[way].words}")


def cached(context: int, batch: int) -> Quantity:
    """Bytes of the caches of all sequences, in bf16."""
    each = models.get(MODEL).kv_bytes(context, "bf16")
    return (each * chosen(batch, label="sequences of a step")).named("caches")


def moved(way: str, context: int = SHORT, batch: int = 1) -> Quantity:
    """Bytes of a step."""
    return (weights(way) + cached(context, batch)).named(f"bytes, {WAYS[way].words}")


def peak(way: str, device: str = CHIP) -> Quantity:
    """Dense peak of the format in which a way multiplies; LookupError without one."""
    return gpu.peak_of(device, WAYS[way].peak).built


def times(
    way: str, context: int = SHORT, batch: int = 1, device: str = CHIP
) -> tuple[Quantity, Quantity]:
    """Time of a step's bytes, and of its multiply-adds, on eight chips."""
    chips = chosen(CHIPS, label="chips")
    bandwidth = hardware.get(device).memory_bandwidth * chips
    return (
        (moved(way, context, batch) / bandwidth).named("time of the bytes"),
        (work(batch) / (peak(way, device) * chips)).named("time of the products"),
    )


def kept(device: str = CHIP) -> Quantity:
    """Time in which one step reads what stays in bf16: the head, and a cache."""
    head = (numbers_of("head") * bytes_per_element("bf16")).to("B")
    bandwidth = hardware.get(device).memory_bandwidth * chosen(CHIPS, label="chips")
    return ((head + cached(SHORT, 1)) / bandwidth).named("time of head and cache")


def work(batch: int) -> Quantity:
    """Operations of a step."""
    every = numbers_of("matrices") + numbers_of("head")
    each = chosen(2 * batch, "FLOP", label="operations of a weight in a step")
    return (every * each).named("operations of a step")


def step(
    way: str, context: int = SHORT, batch: int = 1, device: str = CHIP
) -> Quantity:
    """Time of a step: its bytes or its products, whichever takes longer."""
    return maximum(*times(way, context, batch, device)).named(
        f"step, {WAYS[way].words}"
    )


def gain(
    way: str, context: int = SHORT, batch: int = 1, device: str = CHIP
) -> Quantity:
    """How many times as many tokens a second as in bf16."""
    wide = step("bf16", context, batch, device)
    found = wide / step(way, context, batch, device)
    return found.named(f"{WAYS[way].words} over BF16, {batch} x {context}, {device}")


def room(device: str = CHIP) -> Quantity:
    """Memory of eight chips."""
    chips = chosen(CHIPS, label="chips")
    return (hardware.get(device).memory_capacity * chips).named("memory of the chips")


def fits(way: str, context: int, batch: int, device: str = CHIP) -> bool:
    """Whether weights, the input embedding among them, and caches fit."""
    table = (numbers_of("head") * bytes_per_element("bf16")).to("B")
    return (moved(way, context, batch) + table).si <= room(device).si


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


def _seconds(dtype: str, m: int) -> float:
    return float(row(dtype, m).value) / 1e3


def published(dtype: str, m: int) -> Quantity:
    """Its time."""
    label = f"product of {m} rows, {PUBLISHED[dtype]}, measured"
    return counted(_seconds, dtype, m, unit="s", label=label)


def reached(dtype: str, m: int = ROWS) -> Quantity:
    """Its rate."""
    work = chosen(2 * m * OUTPUTS * INPUTS, "FLOP", label="operations of the product")
    return (work / published(dtype, m)).named(f"rate, {PUBLISHED[dtype]}, {m} rows")


# -- this machine ----------------------------------------------------------------------


def ran(rows: int = 16_384) -> list[Run]:
    """Products of a matrix in memory and a vector, predicted and measured."""
    from stacklib.evidence import runs

    return [run for run in runs.load("quantized_gemv") if run.case["rows"] == rows]


def run_of(kernel: str, rows: int = 16_384) -> Run:
    """One of them."""
    return next(run for run in ran(rows) if run.case["kernel"] == kernel)


def faster(by: str, kind: str) -> Quantity:
    """Measured gain of a width over fp32 of the same maker."""
    name = f"{by}, {kind} over fp32, measured"
    ratio = run_of(f"{by}-fp32").measured / run_of(f"{by}-{kind}").measured
    return ratio.named(name)
