"""Section 3.6: What happens when it no longer fits?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.memory.scratchpad.operations import cyclic_loads
from stacklib.memory.scratchpad.sbuf import SIDE, SbufCase, sbuf_case
from stacklib.memory.tiers.spill import TwoTiers, spilled_time
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    constant,
    counted,
    counting,
    one_of,
)
from stacklib.roofline.work.moving import moving_time

CHIP = "trainium2"
BEFORE, AFTER = 0.96, 0.99  # shares of the SBUF that the claim names
LOOP = 32  # blocks and rounds of the small loop that is run


@cache
def case() -> SbufCase:
    """The product on one core of a Trainium2."""
    return sbuf_case(CHIP, stand(__name__, "ring", 1024, "KiB").to("MiB"))


def loop(policy: str) -> Quantity:
    """Loads of a loop with one block too many, over those with room for all."""
    short, full = (
        counted(cyclic_loads, LOOP, fit, LOOP, policy, label=f"blocks copied in, {fit}")
        for fit in (LOOP - 1, LOOP)
    )
    return short / full


def room_share(ring: Quantity) -> Quantity:
    """Share of the SBUF that a ring leaves for the activations: where the cliff is."""
    sbuf = sbuf_case(CHIP, ring).sbuf
    return ((sbuf - ring) / sbuf).named("room for X over the SBUF")


def ring_of(share: float) -> Quantity:
    """The ring with which the cliff stands at a share of the SBUF."""
    left = chosen(1 - share, label="share of the SBUF left to the ring")
    return (case().sbuf * left).named("ring").to("MiB")


@counting("X copied in at {use:.0%} of the SBUF, {policy}", unit="B")
def loaded(use: float, policy: str, snake: bool = False) -> float:
    """Bytes of activations that are copied in."""
    return case().loaded(use, policy, snake=snake)


def weights() -> Quantity:
    """Bytes of the weights of the example in bf16."""
    side = chosen(SIDE, label="rows and columns of the weights")
    return (side * side * bytes_per_element("bf16")).named("weights").to("MiB")


def core(quantity: Quantity, label: str) -> Quantity:
    """One core's share of what the chip has."""
    return (quantity.across(1) / hardware.get(CHIP).compute_units).named(label)


def hbm() -> Quantity:
    """Memory bandwidth of one core's share."""
    return core(hardware.get(CHIP).memory_bandwidth, "memory bandwidth of a core")


def arithmetic() -> Quantity:
    """Time of the arithmetic at the second point, one core's share of the peak."""
    tokens = counted(case().tokens, AFTER, label="tokens")
    side = chosen(SIDE, label="rows and columns of the weights")
    peak = core(hardware.get(CHIP).peak("bf16"), "peak of a core")
    return (tokens * side * side * constant("multiply_add") / peak).named("arithmetic")


def traffic(policy: str) -> Quantity:
    """Time of weights and activations from memory at the second point."""
    moved = weights().to("B") + loaded(AFTER, policy)
    return moving_time(moved, hbm()).named("weights and X from memory")


def rate(pair: TwoTiers, share: Quantity) -> Quantity:
    """Bytes a second of a step with that share in the far memory, both read at once."""
    step = one_of("GB", "bytes of a step")
    time = spilled_time(step, share, pair.near, pair.far, apart=False)
    return (step / time).named("bytes a second of the step")
