"""Numbers of chapter 3, first and last page: registers, and a token's descent."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, memory
from stacklib.memory.ladder import descent
from stacklib.memory.ladder.energy import MOVES, StepEnergy
from stacklib.memory.ladder.rungs import ladder
from stacklib.quantity import Quantity

from .chapter_01_front import CHIPS, CONTEXT, DEVICE, DTYPE, MODEL, trip
from .registry import number

WIDE, SHORT = 128, 1024  # sequences of the larger batch, tokens cached in each


@cache
def passed(level: str, batch: int = 1, rows: int = 16) -> descent.Passage:
    """One level of one of eight H100s in a step of Llama-3-70B."""
    found = descent.descent(
        MODEL, on=DEVICE, dtype=DTYPE, tp=CHIPS, batch=batch, rows=rows,
        context=CONTEXT if batch == 1 else SHORT,
    )  # fmt: skip
    (one,) = [p for p in found if p.level == level]
    return one


def busy(level: str) -> Quantity:
    """Time a level is busy over the time the memory is."""
    share = passed(level).time / passed("HBM").time
    return share.named(f"{level} is busy, share of the memory's time")


@cache
def energy() -> StepEnergy:
    """Joules of the step on eight H100s, by the circuits' account."""
    return memory.decode_energy(
        MODEL, on=DEVICE, dtype=DTYPE, tp=CHIPS, context=CONTEXT
    )


@number("down.registers", unit="MB", digits=3)
def down_registers() -> Quantity:
    """Registers of all multiprocessors of an H100."""
    size = ladder(DEVICE)[0].chip_capacity
    assert size is not None
    return size


@number("down.memory", unit="ms", digits=3)
def down_memory() -> Quantity:
    """Time the memory of each chip is busy for one token."""
    return passed("HBM").time


@number("down.l2", unit="ms", digits=3)
def down_l2() -> Quantity:
    """Time the L2 of each chip is busy for one token."""
    return passed("L2").time


@number("down.l2_share", unit="%", digits=2)
def down_l2_share() -> Quantity:
    """Time the L2 is busy, over that of the memory."""
    return busy("L2")


@number("down.shared_share", unit="%", digits=2)
def down_shared_share() -> Quantity:
    """Time shared memory is busy, over that of the memory."""
    return busy("shared memory")


@number("down.registers_share", unit="%", digits=2)
def down_registers_share() -> Quantity:
    """Time the registers are busy, over that of the memory."""
    return busy("registers")


@number("down.l2_more", unit="%", digits=2)
def down_l2_more() -> Quantity:
    """Bytes from the L2 beyond those that came from memory."""
    one = Quantity(1, label="all that came from memory")
    return passed("L2").bytes / passed("HBM").bytes - one


@number("down.registers_bytes", digits=2)
def down_registers_bytes() -> Quantity:
    """Bytes in and out of registers, for each byte from memory."""
    return passed("registers").bytes / passed("HBM").bytes


@number("down.short", digits=2, evidence="spec")
def down_short() -> Quantity:
    """Rows of a matrix that one mma instruction multiplies."""
    return Quantity(descent.ROWS[0], label="rows of mma.m16n8", kind="constant")


@number("down.tall", digits=2, evidence="spec")
def down_tall() -> Quantity:
    """Rows of a matrix that one wgmma instruction multiplies."""
    return Quantity(descent.ROWS[1], label="rows of wgmma.m64n8", kind="constant")


@number("down.wide", digits=3)
def down_wide() -> Quantity:
    """Sequences of the larger batch."""
    return Quantity(WIDE, label="batch", kind="assumption")


@number("down.wide_context", digits=4)
def down_wide_context() -> Quantity:
    """Tokens cached in each of its sequences."""
    return Quantity(SHORT, "token", label="context", kind="assumption")


@number("down.wide_memory", unit="ms", digits=2)
def down_wide_memory() -> Quantity:
    """Time the memory is busy in a step of the larger batch."""
    return passed("HBM", WIDE).time


@number("down.wide_l2", unit="ms", digits=2)
def down_wide_l2() -> Quantity:
    """Time the L2 is busy in a step of the larger batch, strips of an mma."""
    return passed("L2", WIDE).time


@number("down.wide_l2_tall", unit="ms", digits=2)
def down_wide_l2_tall() -> Quantity:
    """Time the L2 is busy in a step of the larger batch, strips of a wgmma."""
    return passed("L2", WIDE, descent.ROWS[1]).time


@number("down.dram_share", unit="%", digits=2)
def down_dram_share() -> Quantity:
    """Share of the pins' rate that a reading kernel gets, fitted to published ones."""
    return hardware.efficiency_quantity("dram_read")


@number("down.drawn", unit="ms", digits=3, family="C")
def down_drawn() -> Quantity:
    """Time of the token's reads at the rate that kernels get."""
    return passed("HBM").time / hardware.efficiency_quantity("dram_read")


@number("down.joules", unit="J", digits=2)
def down_joules() -> Quantity:
    """Energy of one token on eight H100s, by the circuits' account."""
    return energy().total


@number("down.moving", unit="J", digits=2)
def down_moving() -> Quantity:
    """Energy of moving and holding its bits, by the circuits' account."""
    return (energy().share(*MOVES) * energy().total).named("energy of moving bits")


@number("down.explained", unit="%", digits=2)
def down_explained() -> Quantity:
    """That energy over what the chips may draw in the time of the trip."""
    return energy().total / trip().energy_ceiling


@number("down.tiny_bytes", unit="MB", digits=3)
def down_tiny_bytes() -> Quantity:
    """Bytes of the book's own model in fp32."""
    from stacklib.evidence import tiny_model

    width = Quantity(4, "B", label="bytes of an fp32 weight")
    return tiny_model.parameters("tiny") * width


@number("down.shared_rate", unit="TB/s", digits=3)
def down_shared_rate() -> Quantity:
    """What shared memory hands on in a second, all multiprocessors of an H100."""
    rate = ladder(DEVICE)[1].chip_bandwidth
    assert rate is not None
    return rate


@number("down.shared_one", unit="TB/s", digits=3)
def down_shared_one() -> Quantity:
    """What the shared memory of one multiprocessor of an H100 hands on in a second."""
    rate = ladder(DEVICE)[1].unit_bandwidth
    assert rate is not None
    return rate
