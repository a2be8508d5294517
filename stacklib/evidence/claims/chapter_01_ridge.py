"""Chapter 1: where the ridge lies, and on which side of it a kernel falls."""

from __future__ import annotations

from stacklib import hardware, roofline
from stacklib.quantity import Quantity, maximum

from .judge import Finding, check

SIDE = 4096  # of the square product the claims speak of
HIGH_END = ("h100_sxm", "h200_sxm", "b200_sxm")
# LayerNorm, for each element of a row: the sum, its square, the sum of squares;
# minus the mean, times one over the deviation; scale; shift.
LAYERNORM = {
    "sum for the mean": 1,
    "subtract the mean": 1,
    "square": 1,
    "sum for the variance": 1,
    "divide by the deviation": 1,
    "scale": 1,
    "shift": 1,
}
LAYERNORM_BARE = 5  # without scale and shift


def _h100_ridge() -> Quantity:
    return roofline.ridge("h100_sxm", "bf16")


@check("h100-ridge-295")
def h100_ridge() -> Finding:
    """Dense BF16 peak over memory bandwidth."""
    chip = hardware.get("h100_sxm")
    return Finding(
        roofline.ridge(chip, "bf16"),
        why=f"{chip.peak('bf16'):.4 TFLOP/s} in dense BF16 over "
        f"{chip.memory_bandwidth}.",
    )


@check("ridge-point-300")
def ridge_point() -> Finding:
    """The ridge of the chip the tensor cores of the claim sit on."""
    return Finding(
        _h100_ridge(),
        why=(
            "Right for dense 16-bit arithmetic on an H100. In FP8 the same chip needs "
            f"{roofline.ridge('h100_sxm', 'fp8')}; a B200 in BF16 "
            f"{roofline.ridge('b200_sxm', 'bf16')}."
        ),
    )


@check("h100-need-300")
def h100_need() -> Finding:
    """Dense BF16 peak over memory bandwidth, rounded up by the document."""
    return Finding(_h100_ridge(), why="The ridge of an H100 in dense BF16.")


@check("breakeven-300-500")
def breakeven() -> Finding:
    """The highest dense BF16 ridge among high-end GPUs, the reading kindest to it."""
    points = [roofline.ridge(key, "bf16") for key in HIGH_END]
    listed = ", ".join(
        f"{hardware.get(key).short} {point.si:.0f}"
        for key, point in zip(HIGH_END, points, strict=True)
    )
    return Finding(
        maximum(*points).named("highest BF16 ridge"),
        why=(
            f"Held to the middle of its range. In FLOP/B the dense BF16 ridges are "
            f"{listed}: the low end is right, nothing reaches the high end. FP8 does: "
            f"{roofline.ridge('h200_sxm', 'fp8')} on an H200, "
            f"{roofline.ridge('h100_sxm', 'fp8')} on an H100."
        ),
    )


@check("matmul-ai-1365")
def square_matmul_intensity() -> Finding:
    """Each of three matrices moved once."""
    work = roofline.matmul(m=SIDE, n=SIDE, k=SIDE, dtype="fp16")
    return Finding(work.intensity, why="With perfect reuse: each matrix moved once.")


@check("matmul-flops-2mnk")
def matmul_operations() -> Finding:
    """Multiplications and additions of every output, counted apart."""
    m, n, k = (Quantity(SIDE, label=size, kind="assumption") for size in "mnk")
    multiplications = (m * n * k).named("multiplications")
    additions = (m * n * (k - 1)).named("additions")
    operations = (multiplications + additions) * Quantity(1, "FLOP", label="each")
    per_mac = operations / (m * n * k * Quantity(1, "MAC", label="multiply-add"))
    return Finding(
        per_mac,
        why=(
            "Each output needs k multiplications and k - 1 additions, so the count is "
            "one addition an output short of 2mnk; hardware does that one too."
        ),
    )


def layernorm_intensity(
    per_element: Quantity, reads: int, rows: int = SIDE, width: int = SIDE
) -> Quantity:
    """Operations a byte of LayerNorm over FP16 rows.

    The output is written once and scale and shift are read once for all rows;
    the handful of operations a row (one root, two divisions) is left out.

    Parameters
    ----------
    per_element : Quantity
        Operations for each element, in FLOP.
    reads : int
        How many times a row comes from memory.
    rows, width : int
        Shape of the input.
    """
    each = Quantity(2, "B", label="bytes per FP16 number")
    count = Quantity(rows, label="rows", kind="assumption")
    size = Quantity(width, label="row width", kind="assumption")
    passes = Quantity(reads, label="reads of the input", kind="assumption")
    elements = (count * size).named("elements")
    moved = (elements * (passes + 1) + 2 * size) * each
    return (per_element * elements / moved.named("bytes moved")).named("intensity")


def _full_layernorm() -> Quantity:
    steps = [Quantity(n, "FLOP", label=step, kind="assumption")
             for step, n in LAYERNORM.items()]  # fmt: skip
    return layernorm_intensity(
        sum(steps[1:], steps[0]).named("FLOP per element"), reads=1
    )


@check("layernorm-ai-083")
def layernorm_fp16() -> Finding:
    """One read and one write of each number, every operation counted."""
    bare = Quantity(LAYERNORM_BARE, "FLOP", label="FLOP per element", kind="assumption")
    ours = _full_layernorm()
    return Finding(
        ours,
        why=(
            f"A fused kernel keeps the row on chip: it reads once, writes once, and "
            f"does {len(LAYERNORM)} operations an element ({', '.join(LAYERNORM)}). "
            f"Kept to {LAYERNORM_BARE} operations it has "
            f"{layernorm_intensity(bare, reads=1)}. The conclusion stands either way: "
            f"the ridge is at {_h100_ridge()}."
        ),
        condition=(
            f"the row is read from memory twice and only {LAYERNORM_BARE} operations "
            "an element are counted, without scale and shift"
        ),
        then=layernorm_intensity(bare, reads=2),
    )


@check("layernorm-memory-bound")
def layernorm_memory_bound() -> Finding:
    """Not a number: the distance to the ridge is, and is given."""
    below = _h100_ridge() / _full_layernorm()
    return Finding(
        None,
        why=(
            f"Not a number, so no ratio judges it. By our count its intensity is "
            f"{_full_layernorm()}, a factor of {below:.2} below the ridge of an H100 "
            "in BF16: memory-bound by a wide margin. To settle 'severely': a "
            "threshold, or a measured kernel and the share of bandwidth it reaches."
        ),
        verdict="open",
    )


@check("matmul-small-bound")
def matmul_bound() -> Finding:
    """Not a number: the side at which a square product crosses the ridge is."""
    each = Quantity(2, "B", label="bytes per BF16 number")
    operations = Quantity(2, "FLOP", label="FLOP per multiply-add")
    # 2 s^3 operations over 3 s^2 numbers: the intensity is 2 s / (3 x bytes).
    side = _h100_ridge() * 3 * each / operations
    return Finding(
        None,
        why=(
            f"Not a number: 'big' names no size. With each matrix moved once, a square "
            f"BF16 product on an H100 crosses the ridge at a side of {side:.3}; of "
            f"side {SIDE:,} it is compute-bound, of side 512 not. To settle it: the "
            "size meant."
        ),
        verdict="open",
    )
