"""How much wafer a gigabyte of HBM takes, over a gigabyte of DDR5.

Makers say three. Four things add up to it: the die is larger for the same bits, larger
dies lose more at the rim, one more die lies at the bottom of each stack, and stacking
loses some of them. ``factors`` multiplies what is published; ``count_wafers`` starts
wafers, cuts, tests and stacks, and divides.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from stacklib.quantity import Quantity, assumed, chosen, one_of
from stacklib.quantity.bounds import whole

from .dies import Die
from .making import fact
from .memory import dram_die, hbm_die
from .spans import Span, span
from .yields import check_shares


@dataclass(frozen=True, slots=True)
class Trade:
    """The factors between a gigabyte of DDR5 and one of HBM, in wafer area."""

    larger: Span  # larger die
    rim: Span  # dies lost at the rim
    base: Span  # base die
    stacking: Span  # stacks that fail

    @property
    def parts(self) -> dict[str, Span]:
        """Factor by what causes it, in the order they happen."""
        return {
            "larger die": self.larger,
            "rim of the wafer": self.rim,
            "base die": self.base,
            "stacks that fail": self.stacking,
        }

    @property
    def total(self) -> Span:
        """Their product."""
        whole = self.larger * self.rim * self.base * self.stacking
        return whole.named("wafers of HBM for one of DDR5")


def _rim(
    plain: Die, other: Die, larger: Quantity, gbit: tuple[float, float]
) -> Quantity:
    """Bits on a wafer of plain dies over those on the other, less the larger die."""
    sold = "What is sold of that kind of die."
    bits = assumed(gbit[0], "Gbit", "bits of a plain die", why=sold) / assumed(
        gbit[1], "Gbit", "bits of the other die", why=sold
    )
    return bits * plain.gross / other.gross / larger


def factors(
    *,
    gbit: float = 24,
    ddr_gbit: float = 16,
    process: str = "d1a",
    heights: tuple[int, int] = (12, 8),
    base_on_dram: bool = True,
) -> Trade:
    """The trade from published figures.

    Parameters
    ----------
    gbit, ddr_gbit : float
        Gibibits of an HBM die and of a DDR5 die.
    process : str
        DRAM process of both.
    heights : tuple of int
        The tallest and the lowest stack; a tall one spreads its base die further.
    base_on_dram : bool
        Whether the base die comes from a DRAM wafer, as up to HBM3E; from HBM4 on a
        foundry may make it.

    Raises
    ------
    ValueError, UnknownName
        As ``hbm_die`` raises them.
    """
    larger = span(fact("larger", "hbm"))
    plain, dies = dram_die(ddr_gbit, process), hbm_die(gbit, process)
    ends = zip(dies, (larger.low, larger.high), strict=True)
    rims = [_rim(plain, big, by, (ddr_gbit, gbit)) for big, by in ends]
    one = one_of("1", "base die")
    base = [
        1 + (one if base_on_dram else 0 * one) / chosen(n, label="dies of a stack")
        for n in heights
    ]
    lost = span(one_of("1")) / span(fact("works", "stacking"))
    return Trade(
        larger.named("larger die"),
        span(*rims).named("rim of the wafer"),
        span(*base).named("with its base die"),
        lost.named("for stacks that fail"),
    )


def count_wafers(
    *,
    gross: int,
    ddr_gross: int,
    gbit: float = 24,
    ddr_gbit: float = 16,
    die: float,
    stack: float,
    height: int = 12,
    base_on_dram: bool = True,
    stacks: int = 2000,
    seed: int = 0,
) -> float:
    """The trade by cutting wafers: dies drawn for HBM over dies drawn for DDR5.

    Every die is good with the same chance in both; dead ones are drawn and thrown
    away. Stacks are built from good dies until ``stacks`` of them work, and then DDR5
    dies are drawn until they hold as many gigabytes.
    """
    check_shares(die=die, stack=stack)
    whole(gross=gross, ddr_gross=ddr_gross, height=height, stacks=stacks)
    draw = random.Random(seed)

    def cut(good: int) -> int:
        """Dies drawn until so many are good."""
        drawn = found = 0
        while found < good:
            drawn += 1
            found += draw.random() < die
        return drawn

    working = drawn = 0
    while working < stacks:
        drawn += cut(height + base_on_dram)
        working += draw.random() < stack
    held = working * height * gbit
    plain = cut(round(held / ddr_gbit))
    return (drawn / gross) / (plain / ddr_gross)


def counted_ends(*, stacks: int = 2000, seed: int = 0) -> Span:
    """Both ends of ``factors().total``, by cutting wafers instead of multiplying."""
    plain, dies, works = dram_die(), hbm_die(), fact("works", "stacking")
    share = span(fact("works", "dram")).middle.si
    ends = []
    for big, stack, height in zip(dies, (works.high, works.low), (12, 8), strict=True):
        wafers = count_wafers(
            gross=round(big.gross.si),
            ddr_gross=round(plain.gross.si),
            die=share,
            stack=stack.si,
            height=height,
            stacks=stacks,
            seed=seed,
        )
        ends.append(chosen(wafers, label="wafers counted"))
    return span(*ends)
