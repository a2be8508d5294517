"""Section 4.8: What does a scale cost on its way to the tensor core?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.kernels.scaled.fused_quantization import (
    dequantizing_share,
    forward_steps,
    forward_time,
    quantizing_share,
)
from stacklib.pages.kernels import feed
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    one_of,
    quoted,
)
from stacklib.roofline.bound import gemm
from stacklib.roofline.work.moving import memory_time, moving_time
from stacklib.roofline.work.products import Product

from ...figures_of import measured, row
from . import claims

# The live figure imports this page in a browser: what needs NumPy is imported where it
# is called.

HOPPER, BLACKWELL = feed.DEVICE, claims.B200
COLUMNS = 2048  # of the product whose inputs are quantized
SCALE, BLOCK = 4, 128  # bytes of a scale of DeepGEMM, and numbers that share it

# -- making it -------------------------------------------------------------------------


def share(columns: int = COLUMNS, *, reads: int = 1, copies: int = 1) -> Quantity:
    """Quantizing an input over the product of it, on a B200."""
    n = chosen(columns, label="columns of the product")
    return quantizing_share(BLACKWELL, n, reads=reads, copies=copies)


PAIR = (2 * one_of("FLOP")).named("multiply and add")


def moved() -> Quantity:
    """Bytes read and written to quantize a number to MXFP8."""
    code = bytes_per_element("fp8")
    scale = code / 32  # a byte for 32 numbers
    return (bytes_per_element("bf16") + code + scale).named("moved for a number")


def quantizing_of_one() -> Quantity:
    """Time to quantize one number at a B200's bandwidth."""
    return memory_time(moved(), BLACKWELL).named("quantizing a number")


def product_of_one() -> Quantity:
    """Time of a number's products at a B200's FP8 peak."""
    n = chosen(COLUMNS, label="columns of the product")
    peak = hardware.get(BLACKWELL).peak("fp8").across(1)
    return (PAIR * n / peak).named("products of a number")


def rule_of_thumb() -> Quantity:
    """The share as Cursor's post has it: three bytes, and a bandwidth in round."""
    said = chosen(8, "TB/s per_chip", label="bandwidth, rounded")
    n = chosen(COLUMNS, label="columns of the product")
    return quantizing_share(BLACKWELL, n, scales=False, bandwidth=said)


EXPERTS = {"tokens": (1024,) * 32, "hidden": 7168, "width": 2048}


def layer(fused: bool) -> tuple[Any, ...]:
    """Kernels of a layer of DeepSeek-V3's experts, ``EXPERTS``."""
    return forward_steps(**EXPERTS, fused=fused)  # type: ignore[arg-type]


def layer_time(fused: bool) -> Quantity:
    """Its forward pass on a B200, each kernel at its roof."""
    word = "fused" if fused else "one after the other"
    return forward_time(layer(fused), BLACKWELL).named(f"forward pass, {word}")


def layer_bytes(fused: bool) -> Quantity:
    """Bytes that its kernels move."""
    moved = [step.moved for step in layer(fused)]
    return counted(sum, moved, unit="B", label=f"bytes of {len(moved)} kernels")


def told(name: str) -> tuple[Quantity, Quantity]:
    """A figure of Cursor's post before and after, as quoted."""
    return claims.both(name)


def told_gain(name: str) -> Quantity:
    """Before over after, of a time."""
    before, after = told(name)
    return (before / after).named(f"{name}: gain")


# -- laying it -------------------------------------------------------------------------

BLOCKS = 4  # of a row of a tile of scales


def tile() -> Quantity:
    """Bytes of a tile of packed scales: what one scale is padded to."""
    import numpy as np

    from stacklib.kernels.scaled.scale_layout import pack_scales

    one: Any = np.zeros((1, 1), np.uint8)
    return counted(pack_scales, one, unit="B", take="size", label="bytes of a tile")


def offset(row_: int, block: int = 0) -> Quantity:
    """Where the scale of a row's block lies in its packed tile."""
    from stacklib.kernels.scaled.scale_layout import scale_offset

    return counted(
        scale_offset, row_, block, BLOCKS, label=f"byte of row {row_}, block {block}"
    )


@cache
def layout_agrees() -> tuple[bool, bool]:
    """Whether packing comes back, and the packed scales give the reference product."""
    import numpy as np

    from stacklib.kernels.scaled import scale_layout as layout
    from stacklib.quantizers import quantize

    rng = np.random.default_rng(14)
    a, b = (
        quantize(rng.standard_normal((m, 96)).astype(np.float32), "mxfp8_e4m3")
        for m in (130, 5)
    )
    packed = [layout.pack_scales(q.scales.reshape(len(q.codes), -1)) for q in (a, b)]
    back = layout.unpack_scales(packed[0], 130, 3)
    same = np.array_equal(back, a.scales.reshape(130, -1))
    looked_up = layout.product_of_packed(a, b, *packed)
    reference = layout.block_scaled_product(a, b)
    return bool(same), bool(np.array_equal(looked_up, reference))


# -- multiplying it in -----------------------------------------------------------------

K, INTERVALS = 4096, (32, 64, 128, 256, 512, 1024, 2048, 4096)


@cache
def operands() -> tuple[Any, Any]:
    """Positive numbers of E4M3, 16 rows by k and k by 16 columns."""
    import numpy as np

    from stacklib.quantizers import Format

    form, rng = Format("e4m3fn"), np.random.default_rng(15)
    found = (rng.uniform(0, 1, s) for s in ((16, K), (K, 16)))
    left, right = (form.decode(form.encode(x)).astype(np.float64) for x in found)
    return left, right


def lost(every: int) -> float:
    """Share of a sum that the emulated unit loses, promoted every so many products."""
    from stacklib.gpu.tensor.tensor_core import promoted

    left, right = operands()
    exact = left @ right
    return float(-((promoted(left, right, every=every) - exact) / exact).mean())


def foretold(every: int) -> float:
    """The same by formula, from the histograms of the numbers."""
    from stacklib.kernels.scaled.promotion import summing_error

    left, right = operands()
    drift = summing_error(left, right, every).drift * (K // every)
    return float(-drift / (left @ right).mean())


def loss(every: int, *, by_formula: bool = False) -> Quantity:
    """Either of the two with its derivation."""
    way, word = (foretold, "formula") if by_formula else (lost, "unit")
    return counted(way, every, label=f"lost, every {every}, by {word}")


def on_cores(every: int, device: str = HOPPER) -> Quantity:
    """Time of a promotion's multiply-adds over that of the products."""
    return dequantizing_share(device, every)


def told_on_cores(device: str) -> Quantity:
    """What Cursor measured of scaling each 32 products on the CUDA cores."""
    return quoted(f"cursor.scaling_{device}")


@cache
def fractions_agree() -> bool:
    """Whether the unit and exact fractions give the same bits, on a few outputs."""
    import numpy as np

    from stacklib.kernels.scaled.promotion import output_in_fractions, scaled_product
    from stacklib.quantizers import quantize

    rng = np.random.default_rng(16)
    a, b = (rng.standard_normal((n, 300)).astype(np.float32) for n in (3, 4))
    one, two = quantize(a, "fp8_1x128"), quantize(b, "fp8_128x128")
    found = scaled_product(one, two)
    exact = [[output_in_fractions(one, two, i, j) for j in range(4)] for i in range(3)]
    return bool(np.array_equal(found, np.array(exact, np.float32)))


# -- the prompt ------------------------------------------------------------------------


@cache
def prompt_times() -> dict[str, float]:
    """Seconds of the prompt's products in FP8 with scales, and of quantizing apart."""
    device, layers = hardware.get(HOPPER), models.get(feed.MODEL).layers
    chip = gemm.chip_of(device, "fp8")
    rate = chip.bandwidth * hardware.efficiency("dram_gemm")
    total = dict.fromkeys(("peak", "product", "quantize"), 0.0)
    for work in feed.prompt(dtype="fp8"):
        left, right = 1 + SCALE / BLOCK, 1 + SCALE / BLOCK**2
        scaled = Product(
            *(work.m, work.n, work.k, "fp8", left, right, 2.0), promote=2 / BLOCK
        )
        found = gemm.gemm_time(scaled, device)
        moved = work.m * work.k * (2 + left)
        total["peak"] += layers * work.operations / chip.peak
        total["product"] += layers * found.time
        total["quantize"] += layers * (moving_time(moved, rate) + found.launch)
    return total


def prompt_time(what: str) -> float:
    """One of these times, in seconds."""
    return prompt_times()[what]


def spent(what: str) -> Quantity:
    """The same as a quantity; what the product model predicts are the products."""
    label, family = f"prompt in FP8, {what}", "A" if what == "product" else ""
    return counted(prompt_time, what, unit="s", label=label, family=family)


PUBLISHED = ("A-0025", "A-0033", "A-0035", "A-0027", "A-0031")


@cache
def predicted() -> dict[str, float]:
    """DeepGEMM's published products as the product model predicts them."""
    from stacklib.evidence import validate

    found = validate.validate([row(key) for key in PUBLISHED]).predicted
    return {one.row.id: float(one.predicted or 0) for one in found}


def rate_of(key: str) -> float:
    """The rate of one of them, in the row's own unit."""
    return predicted()[key]


def beside() -> list[dict[str, Any]]:
    """DeepGEMM's products of 4,096 rows, predicted and published."""
    rows = []
    for key in PUBLISHED:
        config = row(key).config
        told = measured(key)
        how = {"unit": told.unit, "family": "A"}
        rate = counted(rate_of, key, label=f"{key}, predicted", **how)
        rows.append(
            {
                "columns": int(config["n"]),
                "shared": int(config["k"]),
                "predicted": rate,
                "published": told,
                "ratio": (rate / told).named("predicted over published"),
            }
        )
    return rows
