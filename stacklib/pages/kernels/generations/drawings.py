"""Drawings of section 4.6: a tile's cycles by unit, and two warp groups in turns."""

from dataclasses import dataclass

from stacklib import hardware
from stacklib.kernels.schedule.pipeline import Event
from stacklib.pages.kernels import generations as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import Size
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.plots.drawing.words import Line
from stacklib.plots.drawing.words import lines as read_lines
from stacklib.quantity import chosen

__all__ = ["cycles_of_a_tile", "groups_in_turns"]
UNITS = {
    "products": ("both products", "layer-3"),
    "exponentials": ("exponentials", "layer-6"),
    "FP32": ("FP32 lanes, the rest", "layer-4"),
}
ROLES = ("layer-3", "layer-4")  # of the groups
START, SPAN = 6, 2.06  # the tile that the window begins with, and its periods


def cycles_of_a_tile() -> d.Drawing:
    """For how long a tile keeps each unit of an SM busy, on four chips."""
    chips = [_chip(key) for key in (page.A100, page.H100, page.B200, "b300_sxm")]
    title = (
        "From chip to chip products take half the cycles; exponentials take as many "
        "as before, until the B300."
    )
    note = d.Words(
        [("cycles of an SM, for a tile of ", page.exponentials(), " scores")]
    )
    picture = d.below(d.flow(*chips, gap=12, even=True), note)
    return d.draw(
        picture, name="tile-cycles", title=title, devices=[page.A100, page.H100]
    )


def _chip(key: str) -> d.Node:
    device = hardware.get(key)
    whole = page.cycles("products", page.A100)
    zero = chosen(0, label="the start")
    clips: list[d.Node] = []
    for part, (words, role) in UNITS.items():
        busy = page.cycles(part, key)
        told = [words, d.line(d.Shown(busy, None, 4), bold=True)]
        name = f"{part} of {device.short}"
        clips.append(d.Clip(name, zero, busy, whole, told, role=role, grow=0))
    return d.Box(
        f"SM of {device.short}", d.line(device, bold=True), d.below(*clips, gap=9)
    )


@dataclass(frozen=True)
class Track(d.Node):
    """A unit's time: what it does and for whom, one bar an event."""

    name: str
    spans: tuple[tuple[float, float, int, str], ...]  # from, to (shares), group, word
    high: float = 26.0
    grow: float = 1.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """As high as given, as wide as there is room."""
        return 200.0, self.high

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The unit's time as a trace, the events upon it."""
        told = ", ".join(f"{word} of group {'AB'[g]}" for *_, g, word in self.spans)
        sheet.add_part((*way, self.name), rect, told)
        sheet.rects(Look("muted", 0.12), rect)
        for first, last, group, word in self.spans:
            wide = rect.w * (last - first)
            box = Rect(rect.x + rect.w * first, rect.y, max(wide - 1.5, 1.0), rect.h)
            sheet.rects(Look("paper"), box)
            sheet.rects(Look(ROLES[group], 0.42, ROLES[group], 0.9, radius=2.0), box)
            words: tuple[Line, ...] = read_lines(f"{word} {'AB'[group]}")
            if words[0].wide(sheet.size) < box.w - 3:
                sheet.write(words, box, (*way, self.name), "middle")


def groups_in_turns() -> d.Drawing:
    """One warp group, then two, on the tensor cores and the exponential units."""
    steps = [("one warp group", _turns(1)), ("two in turns", _turns(2))]
    title = "While one group takes its exponentials, the other multiplies."
    return d.draw(steps, name="groups-in-turns", title=title, devices=[page.H100])


def _turns(count: int) -> d.Node:
    found = page.groups(count)
    begin = found.timeline.of("QK 0")[START].start
    span = SPAN * max(page.groups(n).pace for n in (1, 2))
    tracks: list[d.Node] = []
    for unit, words in (("tensor", "tensor cores"), ("exp", "exponential units")):
        events = [e for e in found.timeline.events if e.unit == unit]
        name = f"{words}, {count} {'group' if count == 1 else 'groups'}"
        tracks.append(
            d.below(
                d.Words(d.line(words, bold=True), align="start"),
                Track(name, tuple(_spans(events, begin, span))),
                gap=3,
            )
        )
    busy = d.Words(
        [
            (
                "the tensor cores multiply in ",
                d.Shown(page.busy(count), "%"),
                " of the time",
            )
        ]
    )
    return d.below(*tracks, busy, gap=8)


def _spans(
    events: list[Event], begin: float, span: float
) -> list[tuple[float, float, int, str]]:
    """What lies in a window, as shares of it."""
    found = []
    for event in sorted(events, key=lambda e: e.start):
        first, last = ((t - begin) / span for t in (event.start, event.end))
        if last > 1e-9 and first < 1 - 1e-9:
            word, group = event.stage.split()
            found.append((max(first, 0.0), min(last, 1.0), int(group), word))
    return found
