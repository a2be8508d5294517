"""The drawings of section 5.6: packets with slots, and one program issued five ways."""

from __future__ import annotations

from stacklib.accelerators import organise
from stacklib.accelerators.packets.organisations import ORGANISATIONS, TILE
from stacklib.pages.accelerators import packets as page
from stacklib.plots import drawing as d

__all__ = ["five_ways", "six_packets"]

ROLES = {
    "load": "layer-2",
    "store": "layer-2",
    "scalar": "layer-6",
    "branch": "layer-6",
    "vector": "layer-4",
    "tensor": "layer-3",
}
FEEDS = (("load,", "store"), ("load,", "store"), ("branch",), ("branch,", "tensor"))
NAMES = ("load x", "load w", "product", "load b", "add", "max", "store", "next p")
TOLD = dict(enumerate((*NAMES, "branch")))


def six_packets() -> d.Drawing:
    """A column a slot, a row a packet; slots that are empty stay pale."""
    head = d.right_of(
        *(
            d.Box(f"slot {at}", [d.line(word) for word in words], role="muted")
            for at, words in enumerate(FEEDS)
        ),
        even=True,
        gap=5,
    )
    rows = [
        d.right_of(*(_slot(cycle, slot, packet) for slot in range(4)), even=True, gap=5)
        for cycle, packet in enumerate(page.GOOD)
    ]
    title = "A packet is issued whole: what depends on a result waits for the next."
    return d.draw(d.below(head, *rows, gap=5), name="packets-slots", title=title)


def _slot(cycle: int, slot: int, packet: dict[int, int]) -> d.Node:
    name = f"packet {cycle}, slot {slot}"
    if slot not in packet:
        return d.Box(name, [d.line("")], role="muted")
    at = packet[slot]
    words = [d.line(TOLD[at], bold=True)]
    return d.Box(name, words, role=ROLES[TILE[at].unit], lit=True)


def five_ways() -> d.Drawing:
    """For each organisation the cycles in which something issues."""
    title = "The same program, told to five kinds of chip."
    boxes = [_organisation(name) for name in ORGANISATIONS]
    return d.draw(d.grid(boxes, (2, 1)), name="packets-five", title=title)


def _organisation(name: str) -> d.Node:
    ran = organise(name)
    one = ran.organisation
    last = int(page.ran("nvidia", "cycles").si)
    units = dict.fromkeys(row.unit for row in TILE) if name == "trainium" else {"": 0}
    streams = [
        d.Cells(
            f"{name} {unit}".strip(),
            last,
            side=(12.0, 8.0),
            gap=1.5,
            role=ROLES.get(unit, "layer-5"),
            lit=frozenset(
                start
                for start, row in zip(ran.starts, TILE, strict=True)
                if unit in ("", row.unit)
            ),
            words=f"cycles in which {unit or 'something'} issues",
        )
        for unit in units
    ]
    fetched = page.ran(name, "issued")
    words = [
        d.line(one.maker, bold=True),
        d.line("streams: ", one.streams),
        d.line("waits by ", one.waits),
        (d.Shown(fetched), " fetched, ", d.Shown(page.ran(name, "cycles")), " cycles"),
    ]
    return d.Box(f"box of {name}", words, d.below(*streams, gap=3), role="muted")
