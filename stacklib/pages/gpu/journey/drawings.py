"""Drawings of section 2.8: what is busy for one token, and one column of eight."""

from stacklib.pages.gpu import journey as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen, one_of

__all__ = ["one_column_of_eight", "parts_busy"]
PARTS = {
    "memory": ("memory bus", "layer-2"),
    "issue slots": ("issue slots of all schedulers", "layer-6"),
    "fp32 lanes": ("FP lanes, if they multiply", "layer-3"),
    "tensor cores": ("tensor cores, if they multiply", "layer-3"),
}


def parts_busy() -> d.Drawing:
    """The parts of one chip on the line of time of one token."""
    whole, begin = page.slots("memory").time, chosen(0, "s", "begin")
    clips: list[d.Node] = []
    for part, (words, role) in PARTS.items():
        time, share = page.slots(part).time, page.busy(part)
        told = (f"{words}: ", d.Shown(time, "ms"), ", ", d.Shown(share, "%", 2))
        clips.append(d.Clip(words, begin, time, whole, [told], role=role, grow=0))
    title = "While one token is read, nothing else on the chip has much to do."
    return d.draw(
        d.below(*clips, gap=12), name="slots-busy", title=title, devices=[page.DEVICE]
    )


def one_column_of_eight() -> d.Drawing:
    """A tensor core's product: a tile of weights, and as many columns as readers."""
    title = "A tensor core multiplies eight columns; one reader fills one of them."
    steps = [
        ("one reader", _product(one_of("", "readers"))),
        ("eight readers", _product(page.columns().named("readers"))),
    ]
    return d.draw(steps, name="slots-columns", title=title, devices=[page.DEVICE])


def _product(readers: Quantity) -> d.Node:
    columns = page.columns()
    wide = round(columns.si)
    mine = frozenset(r * wide + c for r in range(16) for c in range(round(readers.si)))
    zeros = frozenset(range(16 * wide)) - mine
    weights = d.Cells("weights", 256, 16, side=9.0, gap=1.5, role="layer-2")
    tokens = d.Cells(
        "tokens", 16 * wide, wide, 9.0, 1.5, "layer-4", lit=mine, dark=zeros
    )
    told = (readers, " with a token, rest zeros")
    left = d.Box("tile", [d.line("a tile of weights", bold=True), "read once"], weights)
    right = d.Box(
        "columns",
        [d.line(columns, " columns", bold=True), told],
        tokens,
        role="layer-4",
    )
    return d.flow(left, d.Words("×", grow=0), right)
