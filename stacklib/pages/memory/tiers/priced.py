"""Tiers of memory with their prices, which come from another room and another day."""

from __future__ import annotations

from stacklib import cost, memory
from stacklib.memory.tiers.seen import tiers_from
from stacklib.quantity import Quantity

MARKETS = ("before", "shortage")
SRAM_NODE = "n5"


def sram_price() -> Quantity:
    """USD a byte of SRAM as bare silicon in 5 nm, in the middle of what wafers cost.

    No yield loss, no test, no package, nobody's margin (`cost.sram`).
    """
    return cost.sram(SRAM_NODE).middle.named("SRAM, its silicon")


def prices(market: str = "before") -> dict[str, Quantity]:
    """USD a byte by kind of tier, as ``memory.tiers.seen.tiers_from`` takes them.

    CXL memory is priced as the DDR5 in it, so its controller and link are free here:
    nobody quotes a module.
    """
    if market not in MARKETS:
        raise ValueError(f"market {market!r}: one of {', '.join(MARKETS)}")
    calm = market == "before"
    ddr5 = cost.memory_price("ddr5" if calm else "ddr5_spot").low
    flash = cost.memory_price("nvme")
    return {
        "sram": sram_price(),
        "hbm": cost.memory_price("hbm3").low,
        "ddr5": ddr5,
        "cxl": ddr5,
        "nvme": flash.low if calm else flash.high,
    }


def seen(viewpoint: str, market: str = "before") -> list[memory.Tier]:
    """The five tiers with their prices."""
    return tiers_from(viewpoint, prices=prices(market))
