"""Drawing of section 8.13: a token's way with the line, the others, and the invoice."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.pages.serving import journey as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.quantity import Quantity

__all__ = ["way_and_invoice"]
ROWS = {  # of the bill, each with its colour
    "capital": "layer-2",
    "people": "layer-7",
    "power": "layer-4",
    "network": "layer-5",
    "cooling": "layer-3",
    "storage": "layer-6",
}


def way_and_invoice() -> d.Drawing:
    """A request's stations, its time alone and in the fleet, and who is paid."""
    first = page.seen("ttft", rate=0).named("own prompt")
    alone = page.seen("e2e", rate=0).named("an answer alone")
    written = (alone - first).named("own tokens")
    more = {what: page.more(what) for what in ("line", "step", "prompts")}
    told = (alone + more["line"] + more["step"] + more["prompts"]).named("in the fleet")
    stations = d.flow(
        _station("in line", more["line"], {0, 1}, "layer-6"),
        then("in line", "read"),
        _station("read", first, {0, 1, 2, 3, 4}, "layer-4"),
        then("read", "written"),
        _station("written", (told - first - more["line"]).named("written"), {0}),
    )
    own = [
        ("own prompt", first, "layer-4", False),
        ("own tokens", written, "layer-2", False),
    ]
    waits = [
        ("in line", more["line"], "layer-6", True),
        *own,
        ("larger steps", more["step"], "layer-3", True),
        ("prompts of others", more["prompts"], "layer-7", True),
    ]
    title = "The line is short; what a token waits for is prompts of others."
    rows = d.below(
        stations,
        d.Bar("alone", tuple(own), told, _words("alone", alone)),
        d.Bar("in the fleet", tuple(waits), told, _words("in the fleet", told, waits)),
        _invoice(),
        gap=7,
    )
    return d.draw(rows, name="among-way", title=title, devices=[page.DEVICE])


def _station(name: str, time: Quantity, lit: set[int], role: str = "layer-2") -> d.Node:
    unit = "s" if time.si >= 1 else "ms"
    label = [d.line(name, bold=True), (d.Shown(time, unit),)]
    cells = d.Cells(f"slots, {name}", 8, side=8.0, role=role, lit=frozenset(lit))
    return d.Box(name, label, cells, role=role)


def _words(
    name: str, time: Quantity, parts: Sequence[tuple[str, Quantity, str, bool]] = ()
) -> list[tuple[object, ...]]:
    """A bar's time, and below it what is lit in it, a line each."""
    told: list[tuple[object, ...]] = [(f"{name}: ", d.Shown(time, "s"))]
    for words, part, _, lit in parts:
        if lit:
            unit = "s" if part.si >= 1 else "ms"
            told.append((f"{words} ", d.Shown(part, unit)))
    return told


def _invoice() -> d.Node:
    """The bill of an answer, row by row."""
    whole = page.answer()
    parts = tuple((row, page.answer(row), role, True) for row, role in ROWS.items())
    largest = max(ROWS, key=lambda row: page.answer(row).si)
    told = ("invoice of the answer: ", d.Shown(whole, "USD", 2), f"; {largest} ")
    return d.Bar("invoice", parts, whole, [(*told, d.Shown(parts[0][1], "USD", 2))])
