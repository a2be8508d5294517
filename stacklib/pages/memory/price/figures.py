"""What memory costs, drawn: ranges by kind, yields, and wafers of HBM for one."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib import cost, hardware
from stacklib.cost import span
from stacklib.cost.spans import Span
from stacklib.cost.stacks import Costs, build, stack_yield
from stacklib.cost.trade import Trade
from stacklib.cost.yields import negative_binomial, seeds, thrown
from stacklib.evidence import ledger
from stacklib.plots.marks import (
    Mark,
    Spec,
    across,
    axis,
    bar,
    chart,
    diamonds,
    dots,
    line,
    rows,
)
from stacklib.quantity import Quantity

AREAS = (25, 50, 100, 200, 300, 400, 500, 600, 700, 800, 858)  # mm2
HEIGHTS = tuple(range(1, 17))
BUILT = (4, 8, 12, 16)  # heights of stacks built one by one
LAWS = {
    "Poisson": ("poisson", lambda x: cost.poisson(x)),
    "clustered": ("negative binomial", lambda x: negative_binomial(x, 2.0)),
    "Seeds": ("seeds", lambda x: seeds(x)),
}
SAID = {  # what the source documents say of a gigabyte
    "SRAM": "tier-sram-cost",
    "HBM": "hbm-cost-per-gb",
    "DDR5": "ddr5-cost-per-gb",
    "flash": "tier-nvme-cost",
}
MADE, SOLD, WRITTEN = 0, 1, 4  # colours: computed, asked on the market, in a document


def _ends(at: Span) -> tuple[float, float]:
    return at.low.to("USD/GB").value, at.high.to("USD/GB").value


def _made(name: str, at: Span, row: float) -> list[Mark]:
    return [bar(*_ends(at), row, name, "predicted", series=MADE)]


def _told(name: str, ends: Sequence[Quantity], row: float, series: int) -> list[Mark]:
    """A diamond at either end."""
    x = rows(ends, "USD/GB", evidence="claimed")
    return [diamonds(x, [row] * len(x), name, series=series)]


def _sold(name: str, at: Span, row: float) -> list[Mark]:
    return _told(name, (at.low, at.high), row, SOLD)


def _written(kind: str, row: float) -> list[Mark]:
    claim = ledger.get(SAID[kind])
    ends = [claim.quantity(end) for end in claim.ends or (None, None)]
    return _told(f"{kind}, a document", ends, row, WRITTEN)


def gigabyte_spec(title: str) -> Spec:
    """A gigabyte of each kind of memory: made, sold, and as the documents say.

    Bars are computed from wafers; diamonds stand at the ends of what is asked on the
    market and of what the source documents say.
    """
    system = hardware.get("wse3")
    whole = span(system.purchase_price.across(1) / system.memory_capacity)
    shown = [
        _sold("SRAM, in a CS-3", whole, 12),
        _written("SRAM", 11),
        _made("SRAM in 2 nm", cost.sram("n2"), 10),
        _made("SRAM in 5 nm", cost.sram("n5"), 9),
        _made("SRAM in 7 nm", cost.sram("n7"), 8),
        _written("HBM", 7),
        _sold("HBM3E, sold", span(cost.memory_price("hbm3e")), 6),
        _made("HBM3E, made", cost.hbm(8), 5),
        _written("DDR5", 4),
        _sold("DDR5, sold", span(cost.memory_price("rdimm")), 3),
        _made("DDR5, made", cost.dram(), 2),
        _written("flash", 1),
        _sold("flash, sold", span(cost.memory_price("nvme")), 0),
    ]
    span_x = (0.03, 3e6)
    return chart(
        title,
        x=axis("Dollars a gigabyte", log=True, unit="USD/GB", limits=span_x),
        y=axis("Kind of memory, dearest on top", ticks=(), limits=across(len(shown))),
        marks=[mark for row in shown for mark in row],
    )


def yield_spec(density: Quantity, title: str, wafers: int = 1500) -> Spec:
    """Good dies against the area of a die: laws as lines, thrown defects beside."""
    marks: list[Mark] = []
    means = [area * 1e-6 * density.si for area in AREAS]
    for i, (name, (law, told)) in enumerate(LAWS.items()):
        seen = [
            100 * thrown(law, x, dies=20, wafers=wafers, seed=1) for x in means[2::2]
        ]
        marks += [
            line(AREAS, [100 * told(x) for x in means], name, "predicted", series=i),
            dots(
                AREAS[2::2], seen, f"{name}, thrown", "simulated", at="none", series=i
            ),
        ]
    return chart(
        title,
        x=axis("Area of the die (mm²)", limits=(0, 860)),
        y=axis("Dies without a defect (%)", unit="%", limits=(0, 100)),
        marks=marks,
    )


def _stacks(share: float, series: int) -> list[Mark]:
    """Closed form and stacks built, for a share of layers that survive."""
    free = Costs(1.0, 1.0, 1.0, 1.0)
    told = [100 * stack_yield(n, die=1.0, bond=share) for n in HEIGHTS]
    made = [
        100 * build(n, free, die=1.0, bond=share, stacks=3000, seed=n).works
        for n in BUILT
    ]
    name = f"{100 * share:g} %"
    return [
        line(HEIGHTS, told, name, "predicted", series=series),
        dots(BUILT, made, f"{name}, built", "simulated", at="none", series=series),
    ]


def stack_spec(
    layers: Sequence[float], title: str, said: Sequence[tuple[int, Quantity]] = ()
) -> Spec:
    """Stacks that work against their height, a line for each share of layers.

    Beside it stacks built one by one; ``said``, height and share that makers let out.
    """
    marks = [mark for i, share in enumerate(layers) for mark in _stacks(share, i)]
    if said:
        x = [n for n, _ in said]
        y = rows((share for _, share in said), "%", evidence="claimed")
        marks.append(diamonds(x, y, "makers and the press", at="none", series=5))
    return chart(
        title,
        x=axis("Dies in the stack", limits=(1, 16)),
        y=axis("Stacks that work (%)", unit="%", limits=(0, 100)),
        marks=marks,
    )


def trade_spec(trade: Trade, claimed: Quantity, title: str) -> Spec:
    """Wafers of HBM for one of DDR5, factor upon factor, and what makers say.

    Each bar begins where the one above it ends. The last spans the product of all low
    ends and of all high ones.
    """
    marks: list[Mark] = []
    reached = 1.0
    for i, (name, factor) in enumerate(trade.parts.items()):
        start, reached = reached, reached * factor.middle.si
        marks.append(bar(start, reached, 5 - i, name, "predicted", series=i))
    low, high = trade.total.low.si, trade.total.high.si
    marks.append(bar(low, high, 1, "together", "predicted", series=5))
    said = rows([claimed], evidence="claimed")
    return chart(
        title,
        x=axis("Wafers of HBM for one of DDR5", limits=(1, 4.2)),
        y=axis("Factor upon factor", ticks=(), limits=(-0.6, 5.6)),
        marks=[*marks, diamonds(said, [0], "what makers say", series=4)],
    )
