"""Section 5.7: sixteen bits through eight, and a ladder of speeds in a byte."""

from __future__ import annotations

from stacklib import hardware, models
from stacklib.accelerators.products import byte_matmul, voxels
from stacklib.accelerators.products.demosaic import (
    KERNELS,
    SAMPLE_BITS,
    demosaic,
    squares,
)
from stacklib.pages.accelerators.bytes import claims
from stacklib.quantity import Quantity, ceil, chosen, counted, one_of, quoted, recorded
from stacklib.quantizers import Format, LogFormat
from stacklib.quantizers.scheme import fact

BASE, BITS = claims.BASE, claims.BITS
NARROW = 8  # bits of an operand of the multiplier
TOKEN = "llama-3-70b"


def head() -> Quantity:
    """Numbers of a head of attention."""
    return models.get(claims.MODEL).size("head_dim", "head size")


def pairs() -> Quantity:
    """Pairs of a head that turn."""
    return (head() / 2).named("pairs of a head")


def step() -> Quantity:
    """Step of the grid whose codes reach from the fastest pair to the slowest."""
    return counted(claims.spread_step, BASE, head(), label="step between the ends")


def worst() -> Quantity:
    """Largest relative error of such a grid: half a step, from the logarithm back."""
    return counted(half_a_step, BASE, head(), label="half a step")


def half_a_step(base: float, size: int) -> float:
    """The same for a base of RoPE and a size of a head."""
    return LogFormat(BITS, claims.spread_step(base, size)).worst_ratio


def found_error() -> Quantity:
    """Largest relative error of the ladder on that grid."""
    return counted(claims.on_spread_grid, BASE, head(), label="ladder on that grid")


def own_codes() -> Quantity:
    """Codes from one pair to the next on the grid whose step divides the ladder's."""
    first, then = (counted(code, BASE, head(), pair) for pair in (0, 1))
    return (then - first).named("codes between pairs")


def last_code() -> Quantity:
    """Code of the slowest pair on that grid."""
    return counted(code, BASE, head(), -1, label="code of the slowest pair")


def code(base: float, size: int, pair: int) -> int:
    """Code of a pair's speed on the grid whose step divides the ladder's."""
    form = LogFormat(BITS, claims.dividing_step(base, size))
    return int(form.encode(claims.ladder(base, size)[pair]))


def first_turn() -> Quantity:
    """Position at which some pair is a full turn off, on the grid of the ends."""
    return counted(claims.first_turn, BASE, head(), label="position of a full turn")


def lost() -> Quantity:
    """Pairs that a linear grid of as many bits sends to zero."""
    return counted(claims.lost, BASE, head(), label="speeds that become zero")


def decades() -> Quantity:
    """Powers of ten between the fastest pair and the slowest."""
    return counted(claims.decades, BASE, head(), label="decades of RoPE's ladder")


def off_at(position: int) -> Quantity:
    """Turns by which the worst pair is off at a position."""
    turned = chosen(position, label="position") / first_turn()
    return turned.named(f"turns off at {position}")


def llama(name: str) -> Quantity:
    """The token's own model: its head's size, its layers, its base."""
    if name == "base":
        return quoted("llama3.rope_base")
    if name == "layers":
        return models.get(TOKEN).size("layers", "layers")
    return models.get(TOKEN).size("head_dim", "head size")


def llama_lost() -> Quantity:
    """Pairs of a head of the token's model that a linear byte sends to zero."""
    return counted(
        claims.lost, llama("base"), llama("head"), label="speeds lost, Llama 3"
    )


def turned() -> Quantity:
    """Multiplications that turn one token's queries and keys, four a pair."""
    model = models.get(TOKEN)
    heads = model.size("heads", "query heads") + model.size("kv_heads", "KV heads")
    numbers = heads * llama("head") * llama("layers")
    each = chosen(2, label="multiplications of each number of a pair")
    return (numbers * each).named("multiplications that turn a token")


# -- products through bytes ------------------------------------------------------------


def all_pairs() -> Quantity:
    """Pairs of operands: every one of their products is that of wide arithmetic."""
    differing = counted(byte_matmul.slips, label="products that differ")
    if differing.si:
        raise ValueError(f"{differing.si:.0f} products differ")
    byte = counted(len, Format("int8").values, label="numbers of a byte")
    return (byte * byte * byte).named("products of 16 by 8 bits")


def by_gates() -> Quantity:
    """Products of the synthesised netlist that are those of wide arithmetic."""
    return recorded("benchmarks/results/rtl_gates.json", "byte-split", "equal")


def differing() -> Quantity:
    """Share of products that are wrong if the low byte is taken as signed."""
    return counted(byte_matmul.sign_slips, label="wrong with a signed low byte")


def passes(bits: int, other: int = NARROW) -> Quantity:
    """Products of bytes in one of so many bits by so many."""
    one, two = chosen(bits, label="bits of one"), chosen(other, label="of the other")
    label = f"passes of {bits} by {other} bits"
    return counted(byte_matmul.passes, one, two, label=label)


def accumulator(terms: int) -> Quantity:
    """Bits of a sum of so many products."""
    given = chosen(terms, label="products of a sum")
    label = f"bits of a sum of {terms}"
    return counted(byte_matmul.accumulator_bits, given, unit="bit", label=label)


def lanes() -> Quantity:
    """Passes of a multiplier of bytes that a sample of a camera needs."""
    lane = fact("int8", "bits", "bit", label="bits of a byte")
    return ceil(claims.SAMPLE / lane).named("lanes of a sample")


def picture() -> Quantity:
    """Products of bytes that colour a square of four samples: four kernels, two bytes.

    The planes of a drawn picture equal those of wide arithmetic.
    """
    return counted(demosaiced, label="products of bytes for a square")


def demosaiced() -> int:
    """Multiplications of a square, of a picture whose planes are compared."""
    import numpy as np

    raw = np.random.default_rng(5).integers(0, 1 << SAMPLE_BITS, (64, 96))
    samples = squares(raw)
    kernels = np.array([list(kernel) for kernel in KERNELS.values()]).T
    direct = (samples @ kernels).T.reshape(len(KERNELS), 32, 48)
    planes = demosaic(raw)
    if any(
        not np.array_equal(planes[k], d) for k, d in zip(KERNELS, direct, strict=True)
    ):
        raise ValueError("the planes differ from those of wide arithmetic")
    return byte_matmul.byte_split_matmul(samples, kernels).multiplies // len(samples)


# -- places that ask -------------------------------------------------------------------

BOX = {"length": 80, "width": 80, "height": 8}  # around the car, metres, supposed


def box(way: str) -> Quantity:
    """A side of the space that is asked about."""
    return chosen(BOX[way], "m", label=f"{way} of the space around a car")


def queries(size: str = "side") -> Quantity:
    """Voxels of that space, at a side that Tesla's application names."""
    side = quoted(f"tesla_voxel.{size}").to("m")
    return counted(voxels.voxels, *map(box, BOX), side, label=f"voxels, {size}")


def features() -> Quantity:
    """Features of all cameras."""
    return (quoted("tesla_day.rows") * quoted("tesla_day.columns")).named("features")


def asked(size: str = "side") -> Quantity:
    """Products of bytes if every voxel asks every feature."""
    deep = quoted("tesla_day.channels")
    given = queries(size), features(), deep, deep
    return counted(voxels.voxel_products, *given, label=f"products of bytes, {size}")


def asking(chip: str = "ai4", size: str = "side") -> Quantity:
    """Time of those at the peak of AI4, or at AI5's as a multiple of it."""
    peak = hardware.get("tesla-ai4").peak("int8").across(1)
    if chip == "ai5":
        peak = peak * quoted("ai5.compute")
    done = (2 * asked(size) * one_of("OP")).retag("dense").retag("per_chip")
    return (done / peak).named(f"time of all queries, {chip.upper()}, {size}")
