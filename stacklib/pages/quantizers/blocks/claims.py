"""Claims on how many numbers share a scale, and on the grids between the scales."""

import itertools
import math
from functools import cache
from typing import Any

import numpy as np

from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, counted, quoted
from stacklib.quantizers import SCHEMES, Format, dequantize, quantize


def overhead(scheme: str) -> float:
    """Bits of scale a number."""
    row = SCHEMES[scheme]
    return row.scale_bits / row.block


@claim("deepgemm-scaling-act")
@claim("dsv3-block-128")
def activation_tile() -> Finding:
    """As DeepSeek documents it: a scale for each token and 128 channels."""
    return Finding(
        quoted("deepseek_v3_weights.channels"),
        why="A row of one token, in the recipe that DeepGEMM implements. Its scale "
        f"in FP32 adds {overhead('fp8_1x128'):g} bits to each number.",
    )


@claim("deepgemm-scaling-weight")
def weight_tile() -> Finding:
    """Rows of the documented block, which has as many columns."""
    return Finding(
        quoted("deepseek_v3_weights.rows"),
        why=f"Its scale in FP32 adds {overhead('fp8_128x128'):.2g} bits to a weight.",
    )


@claim("mxfp8-block-32")
def mx_block() -> Finding:
    """As the format's documentation has it."""
    row = SCHEMES["mxfp8_e4m3"]
    return Finding(
        quoted("transformer_engine.mxfp8_block"),
        why=f"A byte of scale for {row.block} numbers: {row.bits:g} bits each, in "
        f"{row.source}.",
    )


# -- do finer blocks lose less? ----------------------------------------------------

ROWS, COLUMNS = 128, 1024
DRAWN = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "Laplace": lambda random, shape: random.laplace(size=shape),
    "Student's t with 3 degrees": lambda random, shape: random.standard_t(3, shape),
}


@cache
def drawn(name: str) -> Any:
    """Numbers of a distribution, in fp32."""
    random = np.random.default_rng(7)
    return DRAWN[name](random, (ROWS, COLUMNS)).astype(np.float32)


def decibels(x: Any, back: Any) -> float:
    """Signal over error, in squares."""
    error = np.square(x - back, dtype=np.float64).sum()
    return 10 * math.log10(np.square(x, dtype=np.float64).sum() / error)


@cache
def signal_to_error(name: str, scheme: str) -> float:
    """What a scheme keeps of a distribution, in dB."""
    x = drawn(name)
    return decibels(x, dequantize(quantize(x, scheme)))


@cache
def with_exact_scales(name: str, block: int) -> float:
    """The same in FP8 with a scale in FP32 for each block of a size, in dB."""
    form, x = Format("e4m3fn"), drawn(name)
    rows = x.reshape(-1, block)
    scale = np.abs(rows).max(axis=1, keepdims=True) / np.float32(form.largest)
    back = form.decode(form.encode(rows / scale, saturate=True)) * scale
    return decibels(x, back.reshape(x.shape))


@claim("mxfp8-finer-better")
def finer_blocks() -> Finding:
    """32 numbers and a power of two against 128 and a scale in FP32."""
    fine, coarse = SCHEMES["mxfp8_e4m3"].block, SCHEMES["fp8_1x128"].block
    sizes = [
        with_exact_scales(name, fine) - with_exact_scales(name, coarse)
        for name in DRAWN
    ]
    shipped = [
        signal_to_error(name, "mxfp8_e4m3") - signal_to_error(name, "fp8_1x128")
        for name in DRAWN
    ]
    return Finding.depends(
        "the scales of both are kept as finely",
        f"Source: {SCHEMES['mxfp8_e4m3'].source}, which calls the finer one more "
        f"precise. With scales in FP32, {fine} numbers instead of "
        f"{coarse} gain {min(sizes):.1f} to {max(sizes):.1f} dB on {', '.join(DRAWN)}. "
        f"But MXFP8's scale is a power of two, rounded down by the standard, and with "
        f"it {fine} numbers lose {-max(shipped):.1f} to {-min(shipped):.1f} dB against "
        f"{coarse} with a scale in FP32.",
    )


# -- four bits -----------------------------------------------------------------------


def bits_of(scheme: str) -> float:
    """Bits of a number in a long row, scales counted."""
    return SCHEMES[scheme].bits


def code_bits(name: str) -> int:
    """Bits of a code of a format."""
    return Format(name).bits


def _bits(scheme: str) -> Quantity:
    return counted(bits_of, scheme, unit="bit", label=f"bits of {scheme}")


@claim("fp4-2x-weights")
def weights_per_byte() -> Finding:
    """Plain FP8 over NVFP4, and MXFP8 over MXFP4."""
    plain = counted(code_bits, "e4m3fn", unit="bit", label="bits of FP8")
    return Finding(
        (plain / _bits("nvfp4")).named("FP8 over NVFP4"),
        to=(_bits("mxfp8_e4m3") / _bits("mxfp4")).named("MXFP8 over MXFP4"),
        why=f"Scales are bytes too: {bits_of('nvfp4'):g} bits a number in NVFP4, "
        f"{bits_of('mxfp4'):g} in MXFP4, {bits_of('mxfp8_e4m3'):g} in MXFP8.",
    )


def steps(name: str) -> list[float]:
    """Distances of neighbours on a format's grid, scaled to end at one."""
    values = [value / Format(name).largest for value in Format(name).values]
    return [high - low for low, high in itertools.pairwise(values)]


def within(name: str, share: float) -> int:
    """Numbers of a format of at most this share of its largest."""
    form = Format(name)
    return sum(abs(value) <= share * form.largest for value in form.values)


@claim("nf4-4bit")
def levels() -> Finding:
    """Numbers of the grid."""
    told = steps("nf4")
    nvfp4 = set(Format("e2m1").values)
    shared = [
        value
        for value in Format("nf4").values
        if value * Format("e2m1").largest in nvfp4
    ]
    return Finding.true(
        computed=counted(len, Format("nf4").values, label="numbers of NF4"),
        why=f"Quantiles of a normal distribution: steps from {min(told):.2g} to "
        f"{max(told):.2g} of the largest. Scaled to one end it shares {len(shared)} "
        f"numbers with the grid of NVFP4, "
        f"{', '.join(f'{value:g}' for value in shared)}.",
    )


@claim("nvfp4-normal-float")
def not_normal_float() -> Finding:
    """Which grid NVFP4 uses, by its definition."""
    row = SCHEMES["nvfp4"]
    positive = [value for value in Format("e2m1").values if value >= 0]
    return Finding.false(
        f"Source: {row.source}. NV is NVIDIA. Its numbers are "
        f"{', '.join(f'{value:g}' for value in positive)} and their negatives, times a "
        f"scale in E4M3 for {row.block} of them and one in FP32 for the tensor. NF4, "
        f"NormalFloat, is the grid of QLoRA: {len(Format('nf4').values)} quantiles of "
        "a normal distribution. NVFP4 assumes no distribution."
    )


@claim("nvfp4-dense-near-zero")
def near_zero() -> Finding:
    """Least step over the largest number, on both grids."""
    float_step, whole_step = min(steps("e2m1")), min(steps("int4"))
    inner = 1 / 4
    return Finding.true(
        f"Source: {SCHEMES['mxfp4'].source}, for the numbers of E2M1. Scaled to end "
        f"at one, its least step is {float_step:.2g} and INT4's {whole_step:.2g}; "
        f"{within('e2m1', inner)} of its numbers lie in the inner quarter, of INT4's "
        f"{within('int4', inner)}. As for every floating-point format: no normal "
        "distribution is assumed."
    )
