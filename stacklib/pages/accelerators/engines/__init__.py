"""Section 5.5: What if you fill the scratchpad yourself?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.accelerators.scratchpad.engines import Instruction, Overlap, engines
from stacklib.accelerators.scratchpad.sparsity import bits_per_weight, sparse_gain
from stacklib.accelerators.sram.placed import placed_account
from stacklib.memory.scratchpad.sbuf import SbufCase, sbuf_case
from stacklib.quantity import Quantity, chosen, counted, counting

CHIP, CHIPS = "trainium2", 8
MODEL = "llama-3-70b"
KEYS, TILES = 2048, 16
NEARLY, FULL = 0.96, 0.99
ENGINES = {
    "tensor": ("products,", "transposes"),
    "vector": ("maxima,", "sums"),
    "scalar": ("exp,", "copies"),
    "gpsimd": ("what is", "left"),
}

# -- the store -------------------------------------------------------------------------


@cache
def case() -> SbufCase:
    """A product whose activations stay in the SBUF, on one core."""
    return sbuf_case(CHIP)


@counting("bytes copied in at {use:.0%} of the SBUF, {policy}", unit="B")
def copied(use: float, policy: str = "lru") -> int:
    """Bytes of activations that are copied into the SBUF over the whole product."""
    return case().loaded(use, policy)


def spilled(use: float, policy: str = "lru") -> Quantity:
    """The same in megabytes."""
    return copied(use, policy).to("MB")


@counting("bytes of the activations at {use:.0%} of the SBUF", unit="B", shown="MB")
def wanted(use: float) -> int:
    """Bytes of activations that each round of the product wants."""
    return case().blocks * case().block_bytes(use)


def partitions() -> Quantity:
    """Rows of the SBUF, and numbers that an engine takes in a cycle."""
    return counted(len, range(case().partitions), label="partitions")


def rounds() -> Quantity:
    """Panels of the weights: times that all activations are wanted."""
    return counted(len, range(case().rounds), label="panels of the weights")


# -- the engines -----------------------------------------------------------------------


def attention() -> list[Instruction]:
    """One tile of attention, 128 queries against 2,048 keys, as AWS's version 7."""
    # A quarter of the keys at a time: a bank of the PSUM holds no more sums.
    part: dict[str, Any] = {"columns": KEYS // 4, "pieces": 4}
    rows = [
        Instruction("scores", "tensor", dtype="fp32", needs=(), **part),
        Instruction("maximum", "vector", **part),
        Instruction("exponentials", "scalar", **part),
        Instruction("transpose", "tensor", **part),
        Instruction("copy", "scalar", **part),
        Instruction("values", "tensor", **part),
        Instruction("divide", "vector", 128),
        Instruction("store", "dma", 128, dtype="fp32"),
    ]
    return rows


@cache
def run(buffers: int | None = None) -> Overlap:
    """All tiles of 2,048 queries on one core."""
    return engines(attention(), CHIP, tiles=TILES, buffers=buffers)


@counting("attention, all tiles, {what}", unit="s")
def took(what: str, buffers: int | None = None) -> float:
    """Seconds of all tiles: ``sum``, ``most``, ``time``."""
    return float(getattr(run(buffers), what))


def spent(what: str, buffers: int | None = None) -> Quantity:
    """The same in microseconds."""
    return took(what, buffers).to("us")


def busy(engine: str) -> Quantity:
    """Work of one engine over all tiles."""
    return counted(worked, engine, unit="s", label=f"work of {engine}").to("us")


def worked(engine: str) -> float:
    """Seconds that an engine works over all tiles."""
    return TILES * run().work[engine]


def gain() -> Quantity:
    """How much sooner side by side than one after another."""
    return (spent("sum") / spent("time")).named("sum over side by side")


# -- sparsity --------------------------------------------------------------------------


def sparse(covered: float, bound: str = "compute", bits: int = 16) -> Quantity:
    """What 2:4 weights gain over a step of which these products are a share."""
    share = chosen(covered, label="share of the step")
    return counted(sparse_gain, share, bits, bound, label=f"gain of 2:4, {bound}")


def stored(bits: int) -> Quantity:
    """Bits of a weight, stored 2:4 with its place."""
    return counted(bits_per_weight, bits, unit="bit", label="bits of a 2:4 weight")


# -- the token -------------------------------------------------------------------------


def token() -> Quantity:
    """A token on eight Trainium 2: bytes and arithmetic alone, cut as the H100s are."""
    made = placed_account(MODEL, CHIP, "bf16", chips=CHIPS, stages=1)
    return made.total().named("token on eight Trainium 2").to("ms")
