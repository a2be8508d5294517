"""Claims on what memory costs to make, to buy, and in a package."""

from stacklib import cost, hardware
from stacklib.cost import span
from stacklib.cost.assembly import b200
from stacklib.cost.data import Range
from stacklib.cost.spans import Span
from stacklib.cost.stacks import stack_yield
from stacklib.evidence import Finding, claim
from stacklib.hardware import stack_generation
from stacklib.quantity import Quantity, chosen, maximum, minimum, quoted

from ..hbm.claims import height, printed_gb

LAYER = 0.98  # of the layers of a stack, as the posts take it
SHORTAGE = "2026"  # prices from then on are those of another market


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
        why=f"Silicon against silicon: {made.text()} of SRAM in 5 nm over "
        f"{plain.text()} of DDR5 dies, {both.text()} times. Only the dearest "
        "SRAM over the cheapest DRAM comes to the low end; nothing computed here "
        "comes near the high end.",
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
    """The cheapest and the dearest quote of HBM3E."""
    quotes = cost.memory_price("hbm3e")
    return Finding(
        quotes.low.named("HBM3E, cheapest quote"),
        to=quotes.high.named("HBM3E, dearest quote"),
        why="HBM3E is quoted at "
        f"{_quoted(quotes)}, HBM3 at {_quoted(cost.memory_price('hbm3'))}.",
    )


@claim("ddr5-cost-per-gb")
def ddr5_price() -> Finding:
    """Server modules, the cheapest and the dearest quote before the shortage."""
    low, high = _before_shortage("rdimm")
    return Finding(
        low.named("a server module, cheapest quote before 2026"),
        to=high.named("a server module, dearest quote before 2026"),
        why="Server modules went through its range: "
        f"{_quoted(cost.memory_price('rdimm'))}.",
    )


@claim("hbm-ddr-price-ratio")
def price_ratio() -> Finding:
    """Middle over middle of the document's own two ranges."""
    hbm, ddr5 = (
        quoted(f"memory_essay.{kind}_low") + quoted(f"memory_essay.{kind}_high")
        for kind in ("hbm_price", "ddr5_price")
    )
    market = span(cost.memory_price("hbm3e")).middle
    modules = cost.memory_price("rdimm").quotes
    first, last = modules[0], modules[-1]
    return Finding(
        (hbm / ddr5).named("HBM over DDR5, middles"),
        why="The middle of HBM3E's quotes is "
        f"{market / first.value:.2} times a server module of {first.date} and "
        f"{market / last.value:.2} times one of {last.date}: the ratio was a market, "
        "and the market left.",
    )


@claim("tier-cxl-cost")
def cxl_price() -> Finding:
    """No quote of a card was found, only what its DRAM costs."""
    modules = cost.memory_price("rdimm")
    return Finding.open(
        "A CXL card carries the dies of a DDR5 module and a "
        f"controller, so it costs at least what they do: {_quoted(modules)}. Below "
        "DDR5 it can only be with modules somebody had already. To settle it: a dated "
        "quote of a card beside one of the modules on it."
    )


@claim("tier-nvme-cost")
def nvme_price() -> Finding:
    """The cheapest and the dearest quote of a flash drive before the shortage."""
    low, high = _before_shortage("nvme")
    return Finding(
        low.named("flash drive, cheapest quote before 2026"),
        to=high.named("flash drive, dearest quote before 2026"),
        why=f"Drives are quoted at {_quoted(cost.memory_price('nvme'))}; before 2026 "
        "the dearest is a PCIe 5.0 drive.",
    )


def _before_shortage(kind: str) -> tuple[Quantity, Quantity]:
    """Cheapest and dearest quote from before the shortage."""
    quotes = cost.memory_price(kind).quotes
    before = [quote.value for quote in quotes if quote.date < SHORTAGE]
    return minimum(*before), maximum(*before)


def _memory() -> Quantity:
    """What the dies of a B200's stacks hold."""
    die = stack_generation("hbm3e").memory.die_capacity
    stacks = hardware.get("b200_sxm").memory_stacks
    return printed_gb(stacks, height("b200-sxm"), die)


@claim("b200-cost-total")
def b200_total() -> Finding:
    """By the published bill, and with dies and memory priced by us."""
    ours, bill = b200(), cost.bill("b200_sxm")
    return Finding.cited(
        f"Source: Epoch AI's bill of a B200, {bill.total}. Built up from wafers and "
        f"quotes it is {ours.total.text(digits=2)}, with losses in assembly and what "
        "is left over from that bill."
    )


@claim("b200-hbm-share")
def b200_share() -> Finding:
    """By the published bill, and with dies and memory priced by us."""
    bill = cost.bill("b200_sxm")
    return Finding.cited(
        f"Source: Epoch AI's bill of a B200, {bill.parts['memory']} of {bill.total}. "
        "With dies and memory priced by us the share runs from "
        f"{b200().share('memory').text('%', 2)}."
    )


@claim("b200-hbm-cost-per-gb")
def b200_memory() -> Finding:
    """By the published bill, and at what the press says of a gigabyte of HBM3E."""
    quotes, bill = cost.memory_price("hbm3e"), cost.bill("b200_sxm")
    priced: Span = span(quotes) * _memory()
    return Finding.cited(
        f"Source: Epoch AI's bill of a B200, {bill.parts['memory']} of memory. "
        f"{_memory():GB} in eight stacks at {_quoted(quotes)} "
        f"cost {priced.text(digits=2)}. Made from the wafer up they cost their "
        f"maker {(cost.hbm(8) * _memory()).text(digits=2)}."
    )


@claim("b200-cost-residual")
def b200_rest() -> Finding:
    """The parts of the bill that are neither dies nor memory."""
    parts = cost.bill("b200_sxm").parts
    rest = {name: q for name, q in parts.items() if name not in ("logic", "memory")}
    listed = ", ".join(f"{n.replace('_', ' ')} {q.text()}" for n, q in rest.items())
    return Finding.true(
        why=f"The post does not say what it is. Source: Epoch AI's bill: {listed}.",
    )


@claim("hbm-2900-per-gb-vs-001")
def bill_per_gigabyte() -> Finding:
    """Memory of the bill over what eight stacks hold."""
    bill, chip = cost.bill("b200_sxm"), hardware.get("b200_sxm")
    usable = bill.parts["memory"] / chip.memory_capacity
    return Finding.true(
        computed=(bill.parts["memory"] / _memory()).to("USD/GB").named("a gigabyte"),
        why="The upper end of the other document's range. For each GB that is sold "
        f"rather than built in it is {usable.text('USD/GB')}.",
    )


@claim("hbm-yield-gap")
def yield_gap() -> Finding:
    """What makers let out of stacks over what they let out of dies."""
    eight, twelve = cost.fact("works", "hbm3e"), cost.fact("works", "hbm4")
    stacks = Span(twelve.low, eight.high).named("stacks that work")
    short, tall = span(eight).middle, span(twelve).middle
    dies = span(cost.fact("works", "dram")).named("DRAM dies that work")
    bond = chosen(LAYER, label="layers that survive")
    twelve_layers = stack_yield(12, die=1.0, bond=bond)
    eight_behind, twelve_behind = (1 - n / dies.middle for n in (short, tall))
    return Finding.cited(
        "Source: TrendForce, 2024-03-18: HBM's yield, TSV and packaging included, is "
        "20 to 30 % lower than DDR5's. Makers and press have let out "
        f"{stacks.text('%')} for stacks, {dies.text('%')} for dies; the middles are "
        f"{eight_behind:.2 %} apart for stacks 8 high, {twelve_behind:.2 %} for 12 "
        f"high. {100 * LAYER:.0f} % a layer over twelve layers would leave "
        f"{twelve_layers.text('%')}."
    )


@claim("hbm-wafer-3to1")
def wafer_trade() -> Finding:
    """What a maker says, beside four published factors, multiplied."""
    trade = cost.factors()
    parts = ", ".join(
        f"{name} {part.text(digits=3)}" for name, part in trade.parts.items()
    )
    return Finding.cited(
        "Source: Micron, 2025-12-17: three to one. From published figures it is "
        f"{trade.total.text()}: {parts}. It takes the worst of each to reach three."
    )
