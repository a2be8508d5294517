"""Numbers of chapter 3, what a gigabyte costs: SRAM, dies, stacks, wafers."""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost import span
from stacklib.cost.dies import Die
from stacklib.cost.memory import array_efficiency, dram_wafer, sram_area, sram_counted
from stacklib.cost.spans import Span
from stacklib.cost.stacks import layer_yield, stack_yield
from stacklib.cost.trade import Trade, counted_ends
from stacklib.quantity import Quantity

from .. import ledger as claims
from .registry import number

NODE = "n5"
PER_GB = "USD/GB"


# -- SRAM ----------------------------------------------------------------------


@cache
def _sram(node: str = NODE) -> Span:
    return cost.sram(node)


@number("price.sram_n5", unit=PER_GB, digits=2)
def sram_n5() -> Quantity:
    """Bare silicon of a gigabyte of SRAM in 5 nm, the middle of its range."""
    return _sram().middle


@number("price.sram_low", unit=PER_GB, digits=2)
def sram_low() -> Quantity:
    """The least it can be: the cheapest wafer, blocks with nothing around them."""
    return _sram().low


@number("price.sram_high", unit=PER_GB, digits=2)
def sram_high() -> Quantity:
    """The most: the dearest wafer, a whole die sold as cache."""
    return _sram().high


@number("price.sram_n7", unit=PER_GB, digits=2)
def sram_n7() -> Quantity:
    """The same in 7 nm, the middle."""
    return _sram("n7").middle


@number("price.sram_n2", unit=PER_GB, digits=2)
def sram_n2() -> Quantity:
    """The same in 2 nm, the middle."""
    return _sram("n2").middle


@number("price.shrink", digits=2, evidence="spec")
def shrink() -> Quantity:
    """Area of an SRAM cell in 7 nm over that in 2 nm."""
    return cost.fact("cell", "n7").high / cost.fact("cell", "n2").high


@number("price.wafer_rise", digits=2, evidence="claimed")
def wafer_rise() -> Quantity:
    """Price of a wafer of 2 nm over one of 7 nm, middle over middle."""
    return span(cost.wafer_price("n2")).middle / span(cost.wafer_price("n7")).middle


@number("price.cell", unit="µm2", digits=2, evidence="spec")
def cell() -> Quantity:
    """Area of a high-density SRAM cell in 5 nm."""
    return cost.fact("cell", NODE).low


@number("price.cells_of_a_gigabyte", unit="mm2", digits=3)
def cells_of_a_gigabyte() -> Quantity:
    """Cells of a gigabyte in 5 nm, side by side, nothing between them."""
    return sram_area(NODE, Quantity(1, label="cells alone")).low


@number("price.fill_low", unit="%", digits=2)
def fill_low() -> Quantity:
    """Share of a die sold as cache that is bit cells."""
    return array_efficiency().low


@number("price.fill_high", unit="%", digits=2)
def fill_high() -> Quantity:
    """Share of a dense SRAM block that is bit cells."""
    return array_efficiency().high


@number("price.wafer_low", unit="USD", digits=3, evidence="claimed")
def wafer_low() -> Quantity:
    """The lowest quote of a wafer of 5 nm."""
    return cost.wafer_price(NODE).low


@number("price.wafer_high", unit="USD", digits=3, evidence="claimed")
def wafer_high() -> Quantity:
    """The highest quote of a wafer of 5 nm."""
    return cost.wafer_price(NODE).high


@number("price.sram_said", unit=PER_GB, digits=1, evidence="claimed")
def sram_said() -> Quantity:
    """What a source document says of a gigabyte of SRAM, at least."""
    return claims.get("tier-sram-cost").quantity().named("SRAM, as claimed")


@number("price.sram_gap", digits=2)
def sram_gap() -> Quantity:
    """That over the silicon in the middle of its range."""
    return sram_said() / sram_n5()


@number("price.cs3_gigabyte", unit=PER_GB, digits=2, evidence="claimed")
def cs3_gigabyte() -> Quantity:
    """Price of a CS-3 over the SRAM of its wafer."""
    system = hardware.get("wse3")
    return system.purchase_price.across(1) / system.memory_capacity


@number("price.cs3_wafer", unit="%", digits=1)
def cs3_wafer() -> Quantity:
    """Share of a CS-3's price that is its wafer, at the dearest quote."""
    system = hardware.get("wse3")
    return cost.wafer_price(NODE).high / system.purchase_price.across(1)


@number("price.sram_ratio", digits=2)
def sram_ratio() -> Quantity:
    """SRAM in 5 nm over DDR5 dies, both to make, middle over middle."""
    return _sram().middle / cost.dram().middle


@number("price.die_megabytes", unit="MB", digits=2)
def die_megabytes() -> Quantity:
    """SRAM on each of the dies that are laid on the wafer."""
    return Quantity(64, "MB", label="SRAM on a die", kind="assumption")


@number("price.sram_rim", unit="%", digits=2, evidence="simulated")
def sram_rim() -> Quantity:
    """What the rim and the streets add to dies of 64 MB in 5 nm, by counting dies."""
    counted = Quantity(sram_counted(NODE, 64, 0.5), PER_GB, label="counted")
    half = Quantity(0.5, label="share that is cells", kind="assumption")
    return counted / cost.sram(NODE, half).middle - 1


@number("price.made_ratio", digits=2)
def made_ratio() -> Quantity:
    """SRAM in 5 nm over HBM 8 high, both to make: middle over middle."""
    return _sram().middle / cost.hbm(8).middle


@number("price.llama_ratio", digits=2)
def llama_ratio() -> Quantity:
    """SRAM in 5 nm, to make, over HBM3E, as sold: middle over middle."""
    return _sram().middle / span(cost.memory_price("hbm3e")).middle


# -- dies ------------------------------------------------------------------------


@cache
def _h100() -> Die:
    return cost.die(hardware.get("h100_sxm").die_area, node=NODE)


@number("price.h100_area", unit="mm2", digits=3, evidence="spec")
def h100_area() -> Quantity:
    """Area of the die of an H100."""
    return _h100().area


@number("price.h100_gross", digits=2, evidence="simulated")
def h100_gross() -> Quantity:
    """Dies of an H100 that a wafer holds, counted on the best grid."""
    return _h100().gross


@number("price.h100_yield_low", unit="%", digits=2)
def h100_yield_low() -> Quantity:
    """Share of them without a defect, at the highest quoted density."""
    return _h100().yields.low


@number("price.h100_yield_high", unit="%", digits=2)
def h100_yield_high() -> Quantity:
    """Share of them without a defect, at the lowest."""
    return _h100().yields.high


@number("price.h100_low", unit="USD", digits=2)
def h100_low() -> Quantity:
    """A good die of an H100, nothing forgiven, at least."""
    return _h100().cost.low


@number("price.h100_high", unit="USD", digits=2)
def h100_high() -> Quantity:
    """The same at most."""
    return _h100().cost.high


@cache
def _spared() -> Span:
    area = cost.fact("area", "b200_die").low
    share = cost.fact("industry", "units_share").low.si
    return cost.die(area, node=NODE, units=80, needed=74, share=share).yields


@number("price.whole_low", unit="%", digits=2)
def whole_low() -> Quantity:
    """Dies of a B200 without any defect, at the highest quoted density."""
    return cost.die(cost.fact("area", "b200_die").low, node=NODE).yields.low


@number("price.spare_low", unit="%", digits=2)
def spare_low() -> Quantity:
    """Dies of a B200 that can be sold when 74 of 80 multiprocessors are enough."""
    return _spared().low


# -- stacks ------------------------------------------------------------------------


@number("price.twelve", unit="%", digits=2)
def twelve() -> Quantity:
    """Stacks of twelve that work when 98 of 100 layers survive."""
    return _at(12, 0.98)


@number("price.sixteen", unit="%", digits=2)
def sixteen() -> Quantity:
    """Stacks of sixteen that work when 98 of 100 layers survive."""
    return _at(16, 0.98)


def _at(height: int, layer: float) -> Quantity:
    share = Quantity(layer, label="layers that survive", kind="assumption")
    return stack_yield(height, die=1.0, bond=share)


@number("price.layer", unit="%", digits=2)
def layer() -> Quantity:
    """The layer yield that the posts take."""
    return Quantity(98, "%", label="layers that survive", kind="assumption")


@number("price.layer_low", unit="%", digits=3)
def layer_low() -> Quantity:
    """Layers that survive, from the worst yield that was let out."""
    return layer_yield().low


@number("price.layer_high", unit="%", digits=3)
def layer_high() -> Quantity:
    """Layers that survive, from the best yield that was let out."""
    return layer_yield().high


@number("price.hbm8_low", unit=PER_GB, digits=2)
def hbm8_low() -> Quantity:
    """A gigabyte of HBM to its maker, 8 high, at least."""
    return cost.hbm(8).low


@number("price.hbm8_high", unit=PER_GB, digits=2)
def hbm8_high() -> Quantity:
    """A gigabyte of HBM to its maker, 8 high, at most."""
    return cost.hbm(8).high


@number("price.hbm8", unit=PER_GB, digits=2)
def hbm8() -> Quantity:
    """The middle."""
    return cost.hbm(8).middle


@number("price.hbm12", unit=PER_GB, digits=2)
def hbm12() -> Quantity:
    """A gigabyte of HBM to its maker, 12 high, the middle."""
    return cost.hbm(12).middle


@number("price.hbm16", unit=PER_GB, digits=2)
def hbm16() -> Quantity:
    """A gigabyte of HBM to its maker, 16 high, the middle."""
    return cost.hbm(16).middle


@number("price.blind12", digits=2)
def blind12() -> Quantity:
    """Cost of a stack of twelve built blind over one of good dies, middles."""
    return cost.hbm(12, flow="blind").middle / cost.hbm(12).middle


@number("price.hbm_sold_low", unit=PER_GB, digits=2, evidence="claimed")
def hbm_sold_low() -> Quantity:
    """The lowest quote of HBM3E."""
    return cost.memory_price("hbm3e").low


@number("price.hbm_sold_high", unit=PER_GB, digits=2, evidence="claimed")
def hbm_sold_high() -> Quantity:
    """The highest quote of HBM3E."""
    return cost.memory_price("hbm3e").high


@number("price.ddr_low", unit=PER_GB, digits=1)
def ddr_low() -> Quantity:
    """A gigabyte of good DDR5 dies to their maker, at least."""
    return cost.dram().low


@number("price.ddr_high", unit=PER_GB, digits=2)
def ddr_high() -> Quantity:
    """A gigabyte of good DDR5 dies to their maker, at most."""
    return cost.dram().high


@number("price.dram_wafer_low", unit="USD", digits=2, evidence="claimed")
def dram_wafer_low() -> Quantity:
    """A DRAM wafer by an old rule of thumb."""
    return cost.fact("wafer", "dram").low


@number("price.dram_wafer_high", unit="USD", digits=2)
def dram_wafer_high() -> Quantity:
    """All that DRAM makers spend in a quarter over the wafers they start."""
    return dram_wafer().high


# -- the trade ---------------------------------------------------------------------


@cache
def _trade() -> Trade:
    return cost.factors()


@number("price.trade_low", digits=2)
def trade_low() -> Quantity:
    """Wafers of HBM for one of DDR5, the best of every factor."""
    return _trade().total.low


@number("price.trade_high", digits=2)
def trade_high() -> Quantity:
    """Wafers of HBM for one of DDR5, the worst of every factor."""
    return _trade().total.high


@number("price.trade", digits=2)
def trade() -> Quantity:
    """Wafers of HBM for one of DDR5, the middle."""
    return _trade().total.middle


@number("price.trade_said", digits=1, evidence="claimed")
def trade_said() -> Quantity:
    """What makers say."""
    return claims.get("hbm-wafer-3to1").quantity().named("wafers, as makers say")


@number("price.larger_low", unit="%", digits=2, evidence="claimed")
def larger_low() -> Quantity:
    """How much larger an HBM die is than a DDR5 die of its process, at least."""
    return cost.fact("larger", "hbm").low - 1


@number("price.larger_high", unit="%", digits=2, evidence="claimed")
def larger_high() -> Quantity:
    """How much larger an HBM die is than a DDR4 die of its process."""
    return cost.fact("larger", "hbm").high - 1


@number("price.rim", unit="%", digits=1, evidence="simulated")
def rim() -> Quantity:
    """Bits lost at the rim because the die is larger, counted, at most."""
    return _trade().rim.high - 1


@number("price.foundry_high", digits=2)
def foundry_high() -> Quantity:
    """The worst of every factor when a foundry makes the base die."""
    return cost.factors(base_on_dram=False).total.high


@number("price.counted_high", digits=2, evidence="simulated")
def counted_high() -> Quantity:
    """The worst case again, by cutting wafers and stacking dies."""
    return counted_ends().high
