"""Claims on angles in eight bits, and on a chip that multiplies bytes."""

import math

from stacklib import hardware, models
from stacklib.accelerators.products.byte_matmul import slips
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, ceil, counted, quoted
from stacklib.quantizers import Format, LogFormat

MODEL = "llama-2-7b"  # heads of 128 numbers, 64 pairs, and the first RoPE's base
BASE = quoted("roformer.base")
SAMPLE = quoted("post_bayer.sample")
BITS = 8
NOISE = 1e-12  # of a ratio of doubles: what their own rounding leaves


def _head() -> Quantity:
    return models.get(MODEL).size("head_dim", "head size")


def ladder(base: float, head: int) -> list[float]:
    """Angle per position of each pair of a head."""
    return [base ** (-2 * pair / head) for pair in range(head // 2)]


def decades(base: float, head: int) -> float:
    """Powers of ten between the fastest pair and the slowest."""
    speeds = ladder(base, head)
    return math.log10(speeds[0] / speeds[-1])


def spread_step(base: float, head: int) -> float:
    """Step of a grid whose codes reach from the fastest pair to the slowest."""
    speeds = ladder(base, head)
    return math.log(speeds[0] / speeds[-1]) / ((1 << BITS) - 1)


def dividing_step(base: float, head: int) -> float:
    """The ladder's own step, over the most that keeps every code in the bits."""
    pairs = head // 2
    return math.log(base) / pairs / (((1 << BITS) - 1) // (pairs - 1))


def worst_error(base: float, head: int, step: float) -> float:
    """Largest relative error of a ladder on a log grid; zero within doubles' own."""
    form = LogFormat(BITS, step)
    speeds = ladder(base, head)
    worst = max(abs(form.decode(form.encode(speed)) / speed - 1) for speed in speeds)
    return worst if worst > NOISE else 0.0


def on_spread_grid(base: float, head: int) -> float:
    """Largest relative error on the grid that the ladder's ends define."""
    return worst_error(base, head, spread_step(base, head))


def on_dividing_grid(base: float, head: int) -> float:
    """Largest relative error on the grid whose step divides the ladder's."""
    return worst_error(base, head, dividing_step(base, head))


def lost(base: float, head: int) -> int:
    """Pairs that a linear grid of as many bits rounds to zero."""
    codes = (1 << BITS) - 1
    return sum(round(speed * codes) == 0 for speed in ladder(base, head))


def first_turn(base: float, head: int) -> float:
    """Position at which some pair is a full turn off on the grid of the ends."""
    form = LogFormat(BITS, spread_step(base, head))
    errors = [abs(form.decode(form.encode(s)) - s) for s in ladder(base, head)]
    return 2 * math.pi / max(errors)


def code_bits(name: str) -> int:
    """Bits of a code of a format."""
    return Format(name).bits


@claim("rope-8bit-angles")
def angles() -> Finding:
    """Codes of eight bits."""
    codes = len(Format("int8").values)
    return Finding(
        counted(len, Format("int8").values, label="codes of eight bits"),
        why=f"One is {2 * math.pi / codes:.3g} rad.",
    )


@claim("rope-log-decades")
def decades_of_rope() -> Finding:
    """Fastest over slowest pair of a head of 128 with the first base."""
    span = counted(decades, BASE, _head(), label="decades of RoPE's ladder")
    wide = decades(500_000, int(_head().si))
    return Finding(
        span,
        why=f"From {_head().si / 2:.0f} pairs and the base of the paper. A larger base "
        f"spans more: half a million, {wide:.2f}.",
    )


@claim("rope-log8-fits")
def log_grid() -> Finding:
    """Largest relative error of the ladder on a log grid of 256 steps."""
    base, head = int(BASE.si), int(_head().si)
    return Finding.depends(
        "the grid's step divides the ladder's",
        computed=counted(on_spread_grid, BASE, _head(), label="error on a log grid"),
        why="The ladder is uniform in the logarithm, but eight bits between its ends "
        f"are not a multiple of its steps. An error in a speed grows with the "
        f"position: a pair is a full turn off after {first_turn(base, head):.0f} "
        f"positions. A linear grid of eight bits sends {lost(base, head)} of "
        f"{head // 2} speeds to zero. On steps of the ladder's own the error is "
        f"{on_dividing_grid(base, head):g}.",
    )


@claim("ai5-bayer-bits")
def lanes() -> Finding:
    """Bits of a sample over the bits of a multiplier's operand, rounded up."""
    lane = counted(code_bits, "int8", unit="bit", label="bits of a lane")
    return Finding(
        ceil(SAMPLE / lane).named("lanes"),
        why=f"The upper lane holds {(SAMPLE - lane).si:.0f} bits of "
        f"{lane.si:.0f}. Two passes of eight bits give the product exactly.",
    )


MUSK = "Source: Elon Musk at the All-In Summit, September 2025, transcript"


@claim("byte-split-mac")
def exact() -> Finding:
    """Products that differ, of those of every wide operand with every byte."""
    return Finding(
        counted(slips, label="products that differ"),
        why="Compared over all pairs of operands. The low byte has no sign, the sum of "
        "a product takes 24 bits, and a product of 16 by 16 would take four passes.",
    )


@claim("ai5-tops")
def operations() -> Finding:
    """Tesla publishes none."""
    return Finding.cited(
        "Source: teslamagz.com, Tesla teases AI5 chip, which prints the range. Tesla "
        "publishes no sheet; the document counts AI4 at a fifth of it, where our row "
        f"of AI4 has {hardware.get('tesla-ai4').peak('int8').text()} a chip."
    )


def bandwidth() -> Quantity:
    """AI4's memory bandwidth, as many times as AI5's maker says."""
    old = hardware.get("tesla-ai4").memory_bandwidth
    return (old * quoted("ai5.bandwidth")).named("memory bandwidth deduced for AI5")


def capacity() -> Quantity:
    """AI4's memory, as many times as AI5's maker says."""
    old = hardware.get("tesla-ai4").memory_capacity
    return (old * quoted("ai5.memory")).named("memory deduced for AI5")


@claim("ai5-hbm3")
def memory() -> Finding:
    """Bandwidth of as many stacks of HBM3 as hold that much."""
    hbm = hardware.memory("hbm3")
    stacks = ceil(capacity() / hbm.capacity).named("stacks for the capacity")
    return Finding(
        (stacks * hbm.bandwidth).named("bandwidth of those stacks"),
        why=f"The figures are AI4's times those announced: {capacity().text()} and "
        f"{bandwidth().text()}. Stacks of HBM3 that hold as much would be faster, and "
        f"a photograph shows {quoted('ai5.packages').text()} packages of common DRAM.",
    )


@claim("ai5-40x-over-ai4")
def forty() -> Finding:
    """The factor that its maker gives beside that of raw compute."""
    return Finding(
        quoted("ai5.further"),
        why="Its maker says so of AI4's worst operation, the softmax: a best case, and "
        "no workload. The two factors multiply to the announced one.",
    )


@claim("ai5-softmax-steps")
def softmax() -> Finding:
    """An interview."""
    return Finding.cited(
        f"{MUSK}: about forty steps in emulation on AI4, a few natively on AI5."
    )
