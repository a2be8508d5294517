"""Where a text may still stand in a drawing, and which texts lie on one another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.text import Text

SLACK = 1.5  # points that two texts may share: ascents and descents are rarely full
EDGE = 1.0  # points that a text may reach over the frame
PEN = RendererAgg(1, 1, 72)  # texts are measured with it, nothing is drawn

Box = tuple[float, float, float, float]  # left, low, right, high


def overlap(a: Box, b: Box, slack: float = 0.0) -> bool:
    """Whether two boxes share more than ``slack`` both ways."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return min(wide, high) > slack


def inside(box: Box, frame: Box, slack: float = 0.0) -> bool:
    """Whether a box lies in a frame, but for ``slack``."""
    low = box[0] >= frame[0] - slack and box[1] >= frame[1] - slack
    return low and box[2] <= frame[2] + slack and box[3] <= frame[3] + slack


class Room:
    """The texts placed so far in a frame that each has to stay in."""

    def __init__(self, frame: Box) -> None:
        self.frame = frame
        self.taken: list[Box] = []

    def pick(self, boxes: Sequence[Box], cost: Callable[[Box], float]) -> int:
        """Index of the cheapest box that is free, first come first; it is taken."""

        def price(i: int) -> tuple[float, int]:
            shut = not inside(boxes[i], self.frame)
            hit = sum(overlap(boxes[i], other) for other in self.taken)
            return 1000.0 * (shut + hit) + cost(boxes[i]), i

        best = min(range(len(boxes)), key=price)
        self.taken.append(boxes[best])
        return best


def _texts(ax: Axes) -> Iterator[Text]:
    """Every text that is drawn: ticks within the limits, labels, names."""
    yield from (*ax.texts, *ax.figure.texts, ax.xaxis.label)
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for at, text in zip(
            axis.get_majorticklocs(), axis.get_ticklabels(), strict=True
        ):
            if low <= at <= high:
                yield text


def boxes(ax: Axes) -> list[tuple[str, Box]]:
    """Every text of the drawing and where it stands, in points."""
    ax.apply_aspect()
    ax.xaxis.get_tightbbox(PEN)  # puts its label in place
    found = []
    for text in _texts(ax):
        if text.get_text().strip():
            box = text.get_window_extent(PEN)
            found.append((text.get_text(), (box.x0, box.y0, box.x1, box.y1)))
    return found


def faults(boxes: Iterable[tuple[str, Box]], frame: Box) -> list[str]:
    """A sentence for every two texts that touch, and for every one that is cut."""
    listed = list(boxes)
    cut = [
        f"{t!r} is cut by the frame" for t, b in listed if not inside(b, frame, EDGE)
    ]
    pairs = itertools.combinations(listed, 2)
    return cut + [
        f"{a!r} lies on {b!r}" for (a, p), (b, q) in pairs if overlap(p, q, SLACK)
    ]


def axis_of(ax: Axes) -> Box:
    """The strip along the horizontal axis in which no text stands."""
    x0, x1, y0 = (float(at) for at in (ax.bbox.x0, ax.bbox.x1, ax.bbox.y0))
    return x0, y0 - 2.0, x1, y0 + 2.0


def frame_of(ax: Axes) -> Box:
    """The whole canvas, in points."""
    return 0.0, 0.0, float(ax.figure.bbox.width), float(ax.figure.bbox.height)
