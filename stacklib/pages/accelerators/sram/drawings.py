"""The drawing of section 5.4: a model cut over SRAM chips, and what is left beside."""

from __future__ import annotations

from stacklib.pages.accelerators import sram as page
from stacklib.plots import drawing as d
from stacklib.quantity import counted

__all__ = ["model_on_chips"]
WEIGHTS, CACHE = "layer-4", "layer-2"
ROWS, LAYER = 5, range(40, 44)  # rows of chips; those of a layer, in the last of them


def model_on_chips() -> d.Drawing:
    """Layers from left to right over all chips; one stage opened, one GPU beside."""
    found = page.plan()
    many = page.chips(page.FIRST)
    layers = counted(page.plan, take="stages", label="layers in turn")
    each = (many / layers).named("chips of a layer")
    rows = [_chips(number, found.chips) for number in range(ROWS)]
    last = f"chips, row {ROWS - 1}"
    told = [
        d.line(many, " chips, ", d.Shown(found.have, "GB"), bold=True),
        ("a token passes ", layers, " layers in turn; those of one are lit"),
    ]
    machine = d.Box("the machine", told, d.below(*rows, gap=2), role="muted")
    size = found.device.memory_capacity
    stage = d.Box(
        "a layer's chips",
        [
            d.line("a layer: ", each, " chips", bold=True),
            (d.Shown(size, "MB"), " and ", found.device.memory_bandwidth, " each"),
        ],
        role=WEIGHTS,
        lit=True,
    )
    left = d.Box(
        "left for the cache",
        [
            d.line("beside the weights", bold=True),
            (d.Shown(found.free, "GB"), " for all conversations"),
        ],
        role=CACHE,
    )
    scene = d.below(
        machine,
        d.Opened((f"{last}[{LAYER[0]}]", f"{last}[{LAYER[-1]}]"), "a layer's chips"),
        d.flow(stage, left),
        gap=4,
    )
    title = "A model in SRAM: each layer is read where it lies, on few of many chips."
    return d.draw(scene, name="model-on-chips", title=title, devices=[page.FIRST])


def _chips(row: int, chips: int) -> d.Node:
    """A row of the machine's chips; the last one has a layer lit."""
    lit = frozenset(LAYER) if row == ROWS - 1 else frozenset()
    count, size = chips // ROWS, (62, 31)
    name = f"chips, row {row}"
    return d.Cells(name, count, size, 7.5, 1.5, WEIGHTS, lit)
