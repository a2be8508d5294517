"""Drawings of section 4.4: buffers in turns, and the next eight tiles."""

from dataclasses import dataclass

from stacklib.kernels.schedule.feed import feed_events
from stacklib.pages.kernels import feed as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import Size, room_of
from stacklib.plots.drawing.parts import gpu, model
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.plots.drawing.words import Line, lines
from stacklib.quantity import chosen, counted

__all__ = ["buffers_in_turns", "next_tiles"]
SHOWN = 6600.0  # cycles that are drawn
HIGH = 15.0
Span = tuple[float, float, str, float]  # from, to, role, how strong
DOWN, ACROSS = 16, 16  # tiles of the result that are drawn


@dataclass(frozen=True)
class Lane(d.Node):
    """What one part does over time: spans on a trace, words over it."""

    name: str
    spans: tuple[Span, ...]
    whole: float
    label: str
    grow: float = 0.0
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its words."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """Words and the trace."""
        wide, high = room_of(self.lines, narrow)
        return max(wide, 120.0), high + HIGH + 2

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The words, the trace, the spans upon it."""
        _, high = room_of(self.lines, sheet.narrow)
        sheet.write(self.lines, Rect(rect.x, rect.y, rect.w, high), way, "start")
        bar = Rect(rect.x, rect.y + high + 1, rect.w, HIGH)
        sheet.add_part((*way, self.name), bar, self.label)
        sheet.rects(Look("muted", 0.12), bar)
        for start, end, role, alpha in self.spans:
            if start < self.whole:
                left = bar.x + bar.w * start / self.whole
                right = bar.x + bar.w * min(end, self.whole) / self.whole
                cut = min(1.2, (right - left) / 4)
                part = Rect(left, bar.y, right - left - cut, bar.h)
                sheet.rects(Look(role, alpha), part)


def buffers_in_turns() -> d.Drawing:
    """What stands in each buffer over time, and when the tensor cores multiply."""
    told = {"one buffer": 1, "two": 2, "three": 3}
    steps = [(words, _turns(count)) for words, count in told.items()]
    title = (
        "A buffer is loaded, waits for its turn, and is read; with three of them the "
        "tensor cores find the next step ready."
    )
    return d.draw(steps, name="buffers-in-turns", title=title, devices=["h100-sxm"])


def _turns(count: int) -> d.Node:
    events = feed_events(page.feed(count), 8)
    loads, products = events.of("load"), events.of("multiply")
    own: list[list[Span]] = [[] for _ in range(count)]
    for at, (load, work) in enumerate(zip(loads, products, strict=True)):
        own[at % count] += [
            (load.start, load.there, "layer-2", 0.75),
            (load.there, work.start, "layer-2", 0.25),
            (work.start, work.end, gpu.CHIP, 0.8),
        ]
    lanes: list[d.Node] = [
        Lane(f"buffer {name}", tuple(spans), SHOWN, f"buffer {name}")
        for name, spans in zip("ABC", own, strict=False)
    ]
    worked = tuple((w.start, w.end, gpu.CHIP, 0.95) for w in products)
    lanes.append(Lane("tensor cores", worked, SHOWN, "tensor cores"))
    key = d.flow(
        _key("loads on their way", "layer-2", 0.75),
        _key("full, waits", "layer-2", 0.25),
        _key("read by the tensor cores", gpu.CHIP, 0.8),
        gap=10,
    )
    said = d.Words(
        [
            d.line(
                "tensor cores busy in ",
                d.Shown(page.busy(count), "%"),
                " of a long loop's cycles",
                bold=True,
            )
        ]
    )
    return d.below(*lanes, key, said, gap=6)


def _key(words: str, role: str, alpha: float) -> Lane:
    return Lane(f"key: {words}", ((0.0, 1.0, role, alpha),), 6.0, words, grow=1.0)


def next_tiles() -> d.Drawing:
    """Eight blocks in three orders, and the bands of A and B that they read."""
    steps = [(words, _order(words, group)) for words, group in page.GROUPS.items()]
    title = "Eight blocks that lie in a square read fewer bytes than eight in a row."
    return d.draw(steps, name="next-tiles", title=title)


def _order(words: str, group: int) -> d.Node:
    down, across = page.bands(group)
    lit = frozenset(r * ACROSS + c for r in range(down) for c in range(across))
    rows, columns = frozenset(range(down)), frozenset(range(across))
    made = []
    for wide, high in ((19.0, 9.0), (12.0, 7.0)):
        gap = 1.0
        top = d.Cells(
            "bands of B", ACROSS, ACROSS, (wide, 14.0), gap, model.WEIGHT, columns
        )
        left = d.Cells("bands of A", DOWN, 1, (14.0, high), gap, model.TOKEN, rows)
        tiles = d.Cells(
            "tiles of C", DOWN * ACROSS, ACROSS, (wide, high), gap, gpu.CHIP, lit
        )
        made.append(
            d.below(
                d.right_of(d.Nothing((14.0, 14.0), grow=0), top, gap=6),
                d.right_of(left, tiles, gap=6),
                gap=6,
            )
        )
    blocks = chosen(page.BLOCKS, label="blocks that start together")
    a, b = (
        counted(page.bands, group, take=f"[{at}]", label=f"bands of {of}, {words}")
        for at, of in enumerate("AB")
    )
    told = d.Box(
        "read",
        [
            d.line(words, bold=True),
            (blocks, " tiles want ", a, " of A, left, and ", b, " of B, above"),
            d.line(page.bytes_read(group), " for all of them", bold=True),
        ],
        role="muted",
    )
    return d.below(d.Either(made[0], made[1]), told, gap=8)
