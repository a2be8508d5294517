"""Drawing of section 8.12: a machine, what an hour of it costs, and who shares that."""

from stacklib.cost.tokens import CAPITAL, COOLING, POWER
from stacklib.pages.serving import price as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["an_hour_and_who_shares_it"]
ROLES = {
    CAPITAL: ("the chips", "layer-1"),
    POWER: ("power", "layer-3"),
    COOLING: ("cooling", "layer-3"),
    "storage": ("drives", "layer-2"),
    "network": ("network", "layer-5"),
    "people": ("building and people", "layer-7"),
}
READERS = {1: "one reader", 8: "eight", page.TOGETHER: "sixty-four"}


def an_hour_and_who_shares_it() -> d.Drawing:
    """The six rows of an hour, cheapest quotes; below, readers who share it."""
    hour = page.bill().hourly
    lows = {name: row.low.named(ROLES[name][0]) for name, row in hour.items()}
    first, *rest = lows.values()
    whole = sum(rest, first).named("an hour at the cheapest quotes")
    parts = [
        d.Clip(name, at, end, whole, told, role=ROLES[name][1], grow=0)
        for name, at, end, told in _rows(lows)
    ]
    head = d.Words(
        [d.line("an hour of the machine: ", d.Shown(whole, "USD/h", 3), bold=True)]
    )
    shared = d.flow(*(_shared(count) for count in READERS), gap=10, even=True)
    title = "An hour costs the same whoever is served; the more share it, the cheaper."
    scene = d.below(head, *parts, shared, gap=8)
    return d.draw(scene, name="bill-stack", title=title, devices=[page.DEVICE])


def _rows(lows: dict[str, Quantity]) -> list[tuple[str, Quantity, Quantity, list]]:
    """Each row with where it begins and ends on the line of dollars."""
    at, found = chosen(0, "USD/h", label="begin"), []
    for name, part in lows.items():
        end = (at + part).named(f"after {name}")
        told = [(f"{ROLES[name][0]}: ", d.Shown(part, "USD/h", 2))]
        found.append((name, at, end, told))
        at = end
    return found


def _shared(count: int) -> d.Node:
    """The readers of a step as cells, and what a million tokens then cost."""
    price = page.dollars(page.bill(count).total.low, f"a million, {count} readers")
    cells = d.Cells(
        f"{count} at once",
        count,
        16,
        side=6.0,
        gap=1.0,
        role="layer-6",
        words="a cell for each conversation of a step",
    )
    told = [d.line(READERS[count], bold=True), (d.Shown(price, "USD", 2), " a million")]
    return d.Box(READERS[count], told, cells, role="layer-6")
