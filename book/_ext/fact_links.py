"""Links and memories: tables of all, and links as a ladder on one log axis."""

import math
from collections.abc import Mapping

from fact_html import Cell, Column, Row, Sheet, escape, sift

from stacklib import hardware
from stacklib.hardware.links import Link
from stacklib.hardware.memories import Memory
from stacklib.quantity import Quantity
from stacklib.quantity.units import format_number

CATEGORIES = {
    "die-to-die": "between dies",
    "scaleup": "between devices",
    "coherent": "between processors, coherent",
    "host": "to the host",
    "network": "network, a port",
    "storage": "storage",
    "switch": "switches, all ports",
}
LINK_COLUMNS = (
    Column("name", "Link"),
    Column("category", "Where", menu=True),
    Column("year", "Year", number=True, menu=True),
    Column("per_direction", "One direction", "GB/s"),
    Column("bidirectional", "Both directions", "GB/s"),
    Column("links", "Links", number=True),
    Column("lanes", "Lanes a link", number=True),
    Column("lane_rate", "A lane", "Gbit/s"),
    Column("encoding", "Coding"),
    Column("encoding_efficiency", "Left by coding", "%"),
    Column("latency", "Latency", "ns"),
    Column("energy", "Energy", "pJ/bit"),
    Column("achieved", "Achieved", "GB/s"),
)
MEMORY_COLUMNS = (
    Column("name", "Memory"),
    Column("part", "Figures of a", menu=True),
    Column("year", "Year", number=True, menu=True),
    Column("bandwidth", "Bandwidth", "GB/s"),
    Column("pins", "Data pins", number=True),
    Column("pin_rate", "A pin", "Gbit/s"),
    Column("heights", "Stack heights"),
    Column("capacity", "Capacity", "GB"),
    Column("latency", "Latency", "ns"),
    Column("energy", "Energy", "pJ/bit"),
)


def links() -> list[Link]:
    """All links, by category and the fastest first; unknown speed last."""
    found = [hardware.link(name) for name in hardware.link_names()]
    places = list(CATEGORIES)
    return sorted(found, key=lambda a: (places.index(a.category), -_speed(a)))


def _speed(link: Link) -> float:
    value = link.fields["per_direction"]
    return -1.0 if value is None else value.si


def link_table(sheet: Sheet) -> str:
    """All links, to sort and sift."""
    rows = [_link_row(link) for link in links()]
    return sift("links", f"{len(rows)} links and switches", LINK_COLUMNS, rows, sheet)


def _link_row(link: Link) -> Row:
    own = {
        "name": link.name,
        "category": CATEGORIES[link.category],
        "year": link.year,
        "encoding": link.encoding,
    }
    return Row(link.key, _cells(LINK_COLUMNS, own, link.fields), link.key)


def _cells(
    columns: tuple[Column, ...],
    own: Mapping[str, object],
    fields: Mapping[str, Quantity | None],
) -> list[Cell]:
    """Cells in the columns' order; a field that the thing cannot have is no cell."""
    return [
        Cell(own[c.key])
        if c.key in own
        else Cell(fields.get(c.key), absent="unknown" if c.key in fields else "–")
        for c in columns
    ]


def memory_table(sheet: Sheet) -> str:
    """All memories, to sort and sift."""
    found = [hardware.memory(name) for name in hardware.memory_names()]
    rows = [_memory_row(memory) for memory in found]
    caption = f"{len(rows)} memories"
    return sift("memories", caption, MEMORY_COLUMNS, rows, sheet)


def _memory_row(memory: Memory) -> Row:
    heights = ", ".join(map(str, memory.heights)) or "–"
    own = {
        "name": memory.name,
        "part": memory.part,
        "year": memory.year,
        "heights": heights,
    }
    return Row(memory.key, _cells(MEMORY_COLUMNS, own, memory.fields), memory.key)


# ---- the ladder ----


def ladder(sheet: Sheet) -> str:
    """Every link of known speed, one direction, by category on one log axis."""
    known = [link for link in links() if link.fields["per_direction"] is not None]
    speeds = [link.per_direction.to("GB/s").value for link in known]
    low = math.floor(math.log10(min(speeds)))
    high = math.ceil(math.log10(max(speeds)))
    alone = [link for link in known if link.category != "switch"]
    slow, fast = (f(alone, key=_speed) for f in (min, max))
    grown = format_number(_speed(fast) / _speed(slow), 2)
    title = f"From {slow.short} to {fast.short} one direction grows {grown} times."
    parts = []
    for category, words in CATEGORIES.items():
        here = [link for link in known if link.category == category]
        if here:
            rows = "\n".join(_rung(link, low, high, sheet) for link in here)
            parts.append(f"<h4>{escape(words)}</h4>\n{_axis(low, high)}{rows}")
    return (
        f'<figure class="st-figure st-ladder" id="fig-ladder" '
        f'style="--decades: {high - low}"><figcaption>{escape(title)}</figcaption>\n'
        f"<div>{''.join(parts)}</div></figure>\n"
    )


def _part(speed: float, low: int, high: int) -> float:
    """Where a speed in GB/s stands on the axis, in percent."""
    return 100 * (math.log10(speed) - low) / (high - low)


def _axis(low: int, high: int) -> str:
    """Decades, named above the rungs."""
    marks = "".join(
        f'<span style="left: {_part(10.0**n, low, high):.2f}%">'
        f"{escape(Quantity(10.0**n, 'GB/s').to('B/s').text())}</span>"
        for n in range(low, high + 1)
    )
    return (
        '<div class="st-ladder-row" aria-hidden="true"><span></span>'
        f'<div class="st-ladder-track st-ladder-axis">{marks}</div></div>\n'
    )


def _rung(link: Link, low: int, high: int, sheet: Sheet) -> str:
    """One link: its name, a bar to its speed, the speed."""
    speed = link.per_direction
    part = _part(speed.to("GB/s").value, low, high)
    about = "≈" if speed.kind == "assumed" else ""
    shown = sheet.number(f"ladder.{link.key}", speed, about + speed.text(digits=3))
    return (
        f'<div class="st-ladder-row"><span>{escape(link.short)}</span>'
        f'<div class="st-ladder-track"><span class="st-ladder-bar" '
        f'style="width: {part:.2f}%"></span><span class="st-ladder-value" '
        f'style="left: {part:.2f}%">{shown}</span></div></div>'
    )
