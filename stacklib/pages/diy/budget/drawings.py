"""The drawing of section 9.1: what three budgets hold, and how fast it comes out."""

from __future__ import annotations

from stacklib.pages.diy import budget as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import counted

__all__ = ["what_a_budget_holds"]
TALL = 0.9  # points a gigabyte


def what_a_budget_holds() -> d.Drawing:
    """Each machine's memory, as high as it is large, and the way out of it."""
    full = max(map(page.bandwidth, page.BUDGETS), key=lambda rate: rate.si)
    title = "Each budget buys memory and a way out of it; tokens take the way out."
    scene = d.grid([_machine(budget, full) for budget in page.BUDGETS], (3, 1), gap=10)
    return d.draw(scene, name="what-a-budget-holds", title=title)


def _machine(budget: int, full: page.Quantity) -> d.Node:
    paid = stand(page, "budget", budget, "USD").named("budget")
    card = page.hardware.get(page.machine(budget).gpus[0].device)
    many = counted(len, page.machine(budget).gpus, label=f"cards for {budget} USD")
    memory, rate = page.memory(budget), page.bandwidth(budget)
    each, out = card.memory_capacity, card.memory_bandwidth
    held, works = f"memory for {budget}", f"cards for {budget}"
    size = (0.0, TALL * memory.to("GB").value)
    told = [
        d.line(d.Shown(paid, "USD", 4), bold=True),
        d.line(d.Name(page.name(page.machine(budget)))),
        d.line(page.pace(budget)),
    ]
    return d.below(
        d.Box(
            held,
            [d.line(many, " x ", each, bold=True)],
            role="layer-2",
            room=size,
            grow=0.0,
        ),
        d.Pipe(
            held, works, rate, full, [(many, " x ", out)], down=(True, True), least=44.0
        ),
        d.Box(works, told, role="layer-3", grow=0.0),
        gap=0,
    )
