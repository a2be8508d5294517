"""What memory costs, drawn: ranges by kind, yields, and wafers of HBM for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import cost, hardware
from stacklib.cost import Span, Trade, span
from stacklib.quantity import Quantity

AREAS = (25, 50, 100, 200, 300, 400, 500, 600, 700, 800, 858)  # mm2
HEIGHTS = tuple(range(1, 17))
LAWS = {
    "Poisson": ("poisson", lambda x: cost.poisson(x)),
    "clustered": ("negative binomial", lambda x: cost.negative_binomial(x, 2.0)),
    "Seeds": ("seeds", lambda x: cost.seeds(x)),
}
# What the source documents say of a gigabyte, USD.
SAID = {"SRAM": (5000, 5000), "HBM": (10, 15), "DDR5": (3, 5), "flash": (0.08, 0.15)}
MADE, SOLD, WRITTEN = 0, 1, 4  # colours: computed, asked on the market, in a document


def _made(name: str, at: Span, row: float) -> list[dict[str, Any]]:
    ends = [at.low.to("USD/GB").value, at.high.to("USD/GB").value]
    return [{"kind": "line", "evidence": "predicted", "name": name, "thick": True,
             "x": ends, "y": [row, row], "series": MADE}]  # fmt: skip


def _told(name: str, ends: Sequence[float], row: float, series: int) -> list[dict]:
    """A diamond at either end and a dotted line between."""
    places = {"x": [float(x) for x in ends], "y": [row, row], "series": series,
              "evidence": "claimed"}  # fmt: skip
    return [{"kind": "line", "name": f"{name}, from to", "label_at": "none", **places},
            {"kind": "dots", "name": name, **places}]  # fmt: skip


def _sold(name: str, at: Span, row: float) -> list[dict[str, Any]]:
    ends = [at.low.to("USD/GB").value, at.high.to("USD/GB").value]
    return _told(name, ends, row, SOLD)


def _written(kind: str, row: float) -> list[dict[str, Any]]:
    return _told(f"{kind}, a document", SAID[kind], row, WRITTEN)


def gigabyte_spec(title: str) -> dict[str, Any]:
    """A gigabyte of each kind of memory: made, sold, and as the documents say.

    Bars are computed from wafers; diamonds stand at the ends of what is asked on the
    market and of what the source documents say.

    Parameters
    ----------
    title : str
        A sentence saying what is seen.
    """
    system = hardware.get("wse3")
    whole = span(system.purchase_price.across(1) / system.memory_capacity)
    rows = [
        _sold("SRAM, in a CS-3", whole, 12), _written("SRAM", 11),
        _made("SRAM in 2 nm", cost.sram("n2"), 10),
        _made("SRAM in 5 nm", cost.sram("n5"), 9),
        _made("SRAM in 7 nm", cost.sram("n7"), 8),
        _written("HBM", 7), _sold("HBM3E, sold", span(cost.memory_price("hbm3e")), 6),
        _made("HBM3E, made", cost.hbm(8), 5),
        _written("DDR5", 4), _sold("DDR5, sold", span(cost.memory_price("rdimm")), 3),
        _made("DDR5, made", cost.dram(), 2),
        _written("flash", 1), _sold("flash, sold", span(cost.memory_price("nvme")), 0),
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Dollars a gigabyte", "scale": "log", "unit": "USD/GB",
              "limits": (0.03, 3e6)},
        "y": {"label": "Kind of memory, dearest on top", "limits": (-0.6, 12.6)},
        "marks": [mark for row in rows for mark in row],
    }  # fmt: skip


def yield_spec(density: Quantity, title: str, wafers: int = 1500) -> dict[str, Any]:
    """Good dies against the area of a die: laws as lines, thrown defects as rings.

    Parameters
    ----------
    density : Quantity
        Defects by area.
    title : str
        A sentence saying what is seen.
    wafers : int
        Thrown at, for each ring.
    """
    marks: list[dict[str, Any]] = []
    for series, (name, (law, told)) in enumerate(LAWS.items()):
        means = [area * 1e-6 * density.si for area in AREAS]
        line = {"kind": "line", "evidence": "predicted", "name": name, "series": series,
                "x": list(AREAS), "y": [100 * told(x) for x in means]}  # fmt: skip
        seen = [
            100 * cost.thrown(law, x, dies=20, wafers=wafers, seed=1)
            for x in means[2::2]
        ]
        rings = {"kind": "dots", "evidence": "simulated", "label_at": "none",
                 "name": f"{name}, thrown", "series": series,
                 "x": list(AREAS[2::2]), "y": seen}  # fmt: skip
        marks += [line, rings]
    return {
        "title": title,
        "x": {"label": "Area of the die (mm2)", "limits": (0, 860)},
        "y": {"label": "Dies without a defect (%)", "unit": "%", "limits": (0, 100)},
        "marks": marks,
    }


def stack_spec(
    layers: Sequence[float], title: str, said: Sequence[tuple[int, float]] = ()
) -> dict[str, Any]:
    """Stacks that work against their height, for shares of layers that survive.

    Parameters
    ----------
    layers : sequence of float
        Share of layers, one line each; rings are stacks built one by one.
    title : str
        A sentence saying what is seen.
    said : sequence of (int, float)
        Height and share of stacks that makers let out.
    """
    marks: list[dict[str, Any]] = []
    nothing = cost.Costs(1.0, 1.0, 1.0, 1.0)
    for series, share in enumerate(layers):
        told = [100 * cost.stack_yield(n, die=1.0, bond=share) for n in HEIGHTS]
        built = [cost.build(n, nothing, die=1.0, bond=share, stacks=3000, seed=n)
                 for n in (4, 8, 12, 16)]  # fmt: skip
        line = {"kind": "line", "evidence": "predicted", "name": f"{100 * share:g} %",
                "series": series, "x": list(HEIGHTS), "y": told}  # fmt: skip
        rings = {"kind": "dots", "evidence": "simulated", "label_at": "none",
                 "name": f"{100 * share:g} %, built", "series": series,
                 "x": [4, 8, 12, 16],
                 "y": [100 * w.works for w in built]}  # fmt: skip
        marks += [line, rings]
    if said:
        marks.append({
            "kind": "dots", "evidence": "claimed", "name": "makers and the press",
            "label_at": "none", "series": 5, "x": [n for n, _ in said],
            "y": [100 * y for _, y in said],
        })  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Dies in the stack", "limits": (1, 16)},
        "y": {"label": "Stacks that work (%)", "unit": "%", "limits": (0, 100)},
        "marks": marks,
    }


def trade_spec(trade: Trade, claimed: float, title: str) -> dict[str, Any]:
    """Wafers of HBM for one of DDR5, factor upon factor, and what makers say.

    Each bar begins where the one above it ends. The last spans the product of all low
    ends and of all high ones.

    Parameters
    ----------
    trade : Trade
        The factors.
    claimed : float
        What makers say.
    title : str
        A sentence saying what is seen.
    """
    marks: list[dict[str, Any]] = []
    reached = 1.0
    for row, (name, factor) in enumerate(trade.parts.items()):
        start, reached = reached, reached * factor.middle.si
        marks.append({"kind": "line", "evidence": "predicted", "name": name,
                      "thick": True, "series": row, "x": [start, reached],
                      "y": [5 - row, 5 - row]})  # fmt: skip
    ends = [trade.total.low.si, trade.total.high.si]
    marks.append({"kind": "line", "evidence": "predicted", "name": "together",
                  "thick": True, "series": 5, "x": ends, "y": [1, 1]})  # fmt: skip
    marks.append({"kind": "dots", "evidence": "claimed", "name": "what makers say",
                  "series": 4, "x": [claimed], "y": [0]})  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Wafers of HBM for one of DDR5", "limits": (1, 4.2)},
        "y": {"label": "Factor upon factor", "limits": (-0.6, 5.6)},
        "marks": marks,
    }
