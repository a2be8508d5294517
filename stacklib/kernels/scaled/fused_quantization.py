"""What quantizing costs beside the product it is for, and what fusing it saves.

A product of (M, K) with N columns in FP8 takes ``2 M N K / P``; to quantize its input
to MXFP8, BF16 is read and a byte written, with a byte of scale for 32 numbers: about
``3 M K / BW``. M and K fall out: the share is inverse to N alone. Training needs a
second copy, quantized along the tokens, for the gradient of the weights.

``forward_steps`` counts the bytes of the forward pass of a layer of experts, one kernel
after the other, or with both copies from one read and SwiGLU and quantization in the
epilogue of the first product, which spares the round trip of a BF16 result.
``quantization_run`` does the same work in NumPy and counts every byte.

Left out: what the backward pass keeps or computes again, the router, and launches.

Source of the published figures: Cursor, *1.5x Faster MoE Training on Blackwell with
MXFP8 Kernels Built from Scratch*, cursor.com/blog/kernels, August 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, bytes_per_element, chosen, maximum, quoted
from stacklib.quantity.bounds import whole
from stacklib.quantizers.scheme import SCHEMES
from stacklib.roofline.bound.scaling import share_from_speed_up

SCHEME = SCHEMES["mxfp8_e4m3"]
WIDE = 2  # bytes of BF16
TILE = 128  # rows and columns of a product's output that a block computes
PAIR = chosen(2, "FLOP", label="multiply and add")


def coded(numbers: int) -> int:
    """Bytes of a row of numbers in MXFP8: whole blocks, with their scales."""
    return -(-numbers // SCHEME.block) * (SCHEME.block + 1)


# -- shares of a product's time --------------------------------------------------------


def quantizing_share(
    on: str | Accelerator,
    columns: Any,
    *,
    reads: int = 1,
    copies: int = 1,
    scales: bool = True,
    bandwidth: Quantity | None = None,
) -> Quantity:
    """Time to quantize an input over the time of its product, both at their peaks.

    - ``on``: str or Accelerator; device; its dense FP8 peak and its memory.
    - ``columns``: int or Quantity; n of the product.
    - ``reads``, ``copies``: int; times the BF16 input is read, and quantized copies
      that are written: 1 and 1 for inference, 1 and 2 for training when one kernel
      writes both, 2 and 2 with a kernel each.
    - ``scales``: bool; whether the scales' bytes count; the rule of thumb 3MK leaves
      them out.
    - ``bandwidth``: Quantity, optional; that a kernel reaches; the data sheet's
      without.
    """
    whole(reads=reads, copies=copies)
    chip = hardware.get(on) if isinstance(on, str) else on
    extra = 1 / SCHEME.block if scales else 0
    code = bytes_per_element("fp8") * chosen(1 + extra, label="with its scale")
    moved = (reads * bytes_per_element("bf16") + copies * code).named("bytes moved")
    quantizing = (moved / (bandwidth or chip.memory_bandwidth)).named("quantizing")
    product = (PAIR * columns / chip.peak("fp8")).named("products of an element")
    return (quantizing / product).named("quantizing over the product")


def dequantizing_share(on: str | Accelerator, block: int = SCHEME.block) -> Quantity:
    """Time to scale partial sums on the CUDA cores over the time of the FP8 product.

    Each output is multiplied and added once for each ``block`` products, at the FP32
    peak: ``P8 / (P32 * block)``. With 32, as MXFP8 has it, 0.92 on an H100 and 1.88 on
    a B200; Cursor measured 1.03 and 1.76. Tensor cores that read scales do without.
    """
    whole(block=block)
    chip = hardware.get(on) if isinstance(on, str) else on
    products = chosen(block, label="products that share a scale")
    return (chip.peak("fp8") / chip.peak("fp32") / products).named("scaling share")


# -- bytes of a layer ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel: bytes that must be read and written, bytes asked for, products.

    - ``reads``, ``writes``: each operand and result once.
    - ``asked``: reads before any cache: an operand of a product once for each tile of
      outputs that needs it.
    - ``macs``: multiply-adds of a product, 0 elsewhere.
    """

    name: str
    reads: int
    writes: int
    asked: int
    macs: int = 0

    @property
    def moved(self) -> int:
        """Bytes that cross to memory at least."""
        return self.reads + self.writes


def forward_steps(
    *, tokens: Sequence[int], hidden: int, width: int, fused: bool
) -> tuple[Step, ...]:
    """Kernels of the forward pass of gated experts in MXFP8, with both copies kept.

    - ``tokens``: sequence of int; rows of each expert, zeros allowed.
    - ``hidden``, ``width``: int; sizes of the hidden state and of an expert.
    - ``fused``: bool; both copies from one read, and SwiGLU and quantization in the
      epilogue.
    """
    if not tokens:
        raise ValueError("tokens = (): rows of at least one expert are needed")
    for count in tokens:
        whole(0, tokens=count)
    whole(hidden=hidden, width=width)
    total = sum(tokens)
    wide_in, wide_out = WIDE * total * hidden, WIDE * total * width
    rows_in, rows_out = total * coded(hidden), total * coded(width)
    columns_in, columns_out = (
        sum(coded(n) for n in tokens) * size for size in (hidden, width)
    )
    up = _product("gate and up", tokens, hidden, 2 * width)
    down = _product("down", tokens, width, hidden)
    if fused:
        return (
            Step("quantize both ways", wide_in, rows_in + columns_in, wide_in),
            _ending_in(up, rows_out + columns_out, "gate and up, SwiGLU, quantize"),
            down,
        )
    return (
        Step("quantize", wide_in, rows_in, wide_in),
        Step("transpose and quantize", wide_in, columns_in, wide_in),
        up,
        Step("SwiGLU", 2 * wide_out, wide_out, 2 * wide_out),
        Step("quantize the product", wide_out, rows_out, wide_out),
        Step("transpose and quantize the product", wide_out, columns_out, wide_out),
        down,
    )


def _product(name: str, tokens: Sequence[int], k: int, n: int) -> Step:
    """A grouped product (tokens, k) x (k, n) of coded operands, its result in BF16."""
    strips = [-(-count // TILE) for count in tokens]
    used = sum(count > 0 for count in tokens)
    reads = (sum(tokens) + used * n) * coded(k)
    asked = (sum(tokens) * -(-n // TILE) + sum(strips) * n) * coded(k)
    return Step(name, reads, WIDE * sum(tokens) * n, asked, sum(tokens) * k * n)


def _ending_in(step: Step, writes: int, name: str) -> Step:
    return Step(name, step.reads, writes, step.asked, step.macs)


def forward_time(steps: Sequence[Step], on: str | Accelerator) -> Quantity:
    """Time of kernels one after the other, each at the slower of its two roofs."""
    chip = hardware.get(on) if isinstance(on, str) else on
    total = None
    for step in steps:
        moving = chosen(step.moved, "B", label=step.name) / chip.memory_bandwidth
        computing = chosen(2 * step.macs, "FLOP", label=step.name) / chip.peak("fp8")
        one = maximum(moving, computing).named(step.name)
        total = one if total is None else total + one
    if total is None:
        raise ValueError("steps = (): nothing to time")
    return total.named("forward pass")


# -- what was published ----------------------------------------------------------------


def implied_share() -> float:
    """Share of a step that the layer must have taken, by Amdahl, if only it changed.

    Both passes together became 3.21 times faster and the step 1.5 times: 48 %. The post
    says 53 % of the forward and 27 % of the backward pass, about 36 % of both if one
    takes twice the other; that share would give 1.33. So more than the layer changed.
    """
    before, after = (
        quoted(f"cursor.forward_{end}") + quoted(f"cursor.backward_{end}")
        for end in ("before", "after")
    )
    step = quoted("cursor.tokens_after") / quoted("cursor.tokens_before")
    return float(share_from_speed_up((before / after).si, step.si))
