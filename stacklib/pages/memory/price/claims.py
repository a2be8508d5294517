"""Claims on what memory costs to make, to buy, and in a package."""

from __future__ import annotations

from stacklib import cost, hardware
from stacklib.cost import span
from stacklib.cost.assembly import b200
from stacklib.cost.data import Range
from stacklib.cost.spans import Span
from stacklib.cost.stacks import stack_yield
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, chosen, maximum

LAYER = 0.98  # of the layers of a stack, as the posts take it
SHORTAGE = "2026"  # prices from then on are those of another market
STACKS, OF_A_STACK = 8, 24  # stacks of a B200, and GB of one


def _quoted(found: Range, digits: int = 2) -> str:
    """``2.3 to 11 USD/GB (2023-03 to 2026-03)``: a range and the dates it spans."""
    dates = [quote.date for quote in found.quotes]
    when = min(dates) if min(dates) == max(dates) else f"{min(dates)} to {max(dates)}"
    return f"{span(found).text(digits=digits)} ({when})"


@claim("sram-cost-ratio")
def sram_ratio() -> Finding:
    """Silicon against silicon: SRAM in 5 nm over good DDR dies."""
    made, plain = cost.sram("n5"), cost.dram()
    both = made / plain
    return Finding(
        (made.middle / plain.middle).named("SRAM over DRAM, to make"),
        why=f"Held to the low end of its range, silicon against silicon: "
        f"{made.text()} of SRAM in 5 nm over {plain.text()} of DDR5 dies, "
        f"{both.text()} times. Only the dearest SRAM over the cheapest DRAM comes "
        "to the low end; nothing computed here comes near the high end.",
    )


@claim("tier-sram-cost")
def sram_price() -> Finding:
    """Silicon of a gigabyte in 5 nm."""
    made, system = cost.sram("n5"), hardware.get("wse3")
    whole = system.purchase_price.across(1) / system.memory_capacity
    return Finding(
        made.middle,
        why=f"On a die of 5 nm it is {made.text()} of wafer. What is more is paid for "
        "something else: a package for every few megabytes, or the machine around "
        f"them. A gigabyte inside a CS-3 comes to {whole.text('USD/GB', 2)}.",
    )


@claim("hbm-cost-per-gb")
def hbm_price() -> Finding:
    """The dearest quote of HBM3E, beside the claim's upper end."""
    quotes = cost.memory_price("hbm3e")
    return Finding(
        quotes.high.named("HBM3E, dearest quote"),
        why="Held to the upper end of its range. HBM3E is quoted at "
        f"{_quoted(quotes)}, HBM3 at {_quoted(cost.memory_price('hbm3'))}.",
    )


@claim("ddr5-cost-per-gb")
def ddr5_price() -> Finding:
    """Server modules of late 2025, at the end of the years the claim can speak of."""
    quotes = cost.memory_price("rdimm")
    dated = {quote.date: quote.value for quote in quotes.quotes}
    return Finding(
        dated["2025-09"].named("a server module, third quarter of 2025"),
        why="Held to the upper end of its range. Server modules went through it: "
        f"{_quoted(quotes)}. The claim is right of the third quarter of 2025. In "
        f"the winter after, {dated['2025-12'].text()} was asked.",
    )


@claim("hbm-ddr-price-ratio")
def price_ratio() -> Finding:
    """HBM3E in the middle of its quotes over the latest quote of a server module."""
    hbm = span(cost.memory_price("hbm3e")).middle
    modules = [quote.value for quote in cost.memory_price("rdimm").quotes]
    return Finding(
        hbm / modules[-1],
        why=f"Over the latest quote of a server module. Over one of 2023 it is "
        f"{(hbm / modules[0]).text(digits=2)}: the ratio was a market, and the market "
        "left. The document divides the ends of its own ranges.",
    )


@claim("tier-cxl-cost")
def cxl_price() -> Finding:
    """The DDR5 on a CXL card, without the card."""
    modules = cost.memory_price("rdimm")
    return Finding(
        modules.low.named("the DDR5 on it, cheapest quote"),
        why="Held to its low end. A CXL card carries the dies of a DDR5 module and a "
        f"controller, so it costs at least what they do: {_quoted(modules)}. Below "
        "DDR5 it can only be with modules somebody had already.",
    )


@claim("tier-nvme-cost")
def nvme_price() -> Finding:
    """The dearest quote of a flash drive before the shortage of 2026."""
    quotes = cost.memory_price("nvme")
    before = [quote.value for quote in quotes.quotes if quote.date < SHORTAGE]
    return Finding(
        maximum(*before).named("flash drive, dearest quote before 2026"),
        why=f"Held to its upper end. Drives are quoted at {_quoted(quotes)}; before "
        "2026 the dearest is a PCIe 5.0 drive.",
    )


def _memory() -> Quantity:
    return chosen(STACKS, label="stacks") * chosen(OF_A_STACK, "GB", "of a stack")


@claim("b200-cost-total")
def b200_total() -> Finding:
    """Dies from wafers, memory from quotes; packaging and losses from the press."""
    ours, bill = b200(), cost.bill("b200_sxm")
    return Finding(
        ours.total.middle.named("a B200, the middle of what we build up"),
        why=f"Built up from wafers and quotes it is {ours.total.text(digits=2)}; the "
        f"middle is {ours.total.middle.text(digits=2)}. Epoch AI's bill says "
        f"{bill.total.text()}. Losses in assembly and what is left over we take "
        "from that bill.",
    )


@claim("b200-hbm-share")
def b200_share() -> Finding:
    """Memory over total in the published bill, and in ours."""
    bill = cost.bill("b200_sxm")
    return Finding(
        (bill.parts["memory"] / bill.total).named("memory's share"),
        why="In Epoch AI's bill. With dies and memory priced by us the share runs from "
        f"{b200().share('memory').text('%', 2)}.",
    )


@claim("b200-hbm-cost-per-gb")
def b200_memory() -> Finding:
    """Eight stacks at what the press says of a gigabyte of HBM3E."""
    quotes = cost.memory_price("hbm3e")
    priced: Span = span(quotes) * _memory()
    return Finding(
        priced.middle.named("eight stacks, the middle of the quotes"),
        why=f"{STACKS} stacks of {OF_A_STACK} GB at {_quoted(quotes)} "
        f"cost {priced.text(digits=2)}. Made from the wafer up they cost their "
        f"maker {(cost.hbm(8) * _memory()).text(digits=2)}.",
    )


@claim("b200-cost-residual")
def b200_rest() -> Finding:
    """The parts of the bill that are neither dies nor memory."""
    parts = cost.bill("b200_sxm").parts
    rest = {name: q for name, q in parts.items() if name not in ("logic", "memory")}
    listed = ", ".join(f"{n.replace('_', ' ')} {q.text()}" for n, q in rest.items())
    return Finding(
        sum(list(rest.values())[1:], next(iter(rest.values()))).named("the rest"),
        why=f"The post does not say what it is; Epoch AI's bill does: {listed}.",
    )


@claim("hbm-2900-per-gb-vs-001")
def bill_per_gigabyte() -> Finding:
    """Memory of the bill over what eight stacks hold."""
    bill, chip = cost.bill("b200_sxm"), hardware.get("b200_sxm")
    usable = bill.parts["memory"] / chip.memory_capacity
    return Finding(
        bill.parts["memory"] / _memory().named("what the stacks hold"),
        why="The upper end of the other document's range. For each GB that is sold "
        f"rather than built in it is {usable.text('USD/GB')}.",
    )


@claim("hbm-yield-gap")
def yield_gap() -> Finding:
    """What makers let out of stacks over what they let out of dies."""
    eight, twelve = cost.fact("works", "hbm3e"), cost.fact("works", "hbm4")
    stacks = Span(twelve.low, eight.high).named("stacks that work")
    dies = span(cost.fact("works", "dram")).named("DRAM dies that work")
    bond = chosen(LAYER, label="layers that survive")
    twelve_layers = stack_yield(12, die=1.0, bond=bond)
    return Finding(
        (1 - stacks.middle / dies.middle).named("stacks behind dies"),
        why="Held to its low end. The figure is TrendForce's (2024-03-18). Makers and "
        f"press have let out {stacks.text('%')} for stacks, {dies.text('%')} for "
        f"dies. {100 * LAYER:.0f} % a layer over twelve layers would leave "
        f"{twelve_layers.text('%')}.",
    )


@claim("hbm-wafer-3to1")
def wafer_trade() -> Finding:
    """The middle of four published factors, multiplied."""
    trade = cost.factors()
    parts = ", ".join(
        f"{name} {part.text(digits=3)}" for name, part in trade.parts.items()
    )
    return Finding(
        trade.total.middle.named("wafers of HBM for one of DDR5"),
        why=f"Makers say three (Micron, 2025-12-17). From published figures it is "
        f"{trade.total.text()}: {parts}. It takes the worst of each to reach three.",
    )
