"""The drawing of section 10.7: a forecast, its outcome, the square between them."""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.pages.frontier import bets as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import Size, centred, room_of
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.plots.drawing.words import Line, lines
from stacklib.quantity import Quantity

__all__ = ["squares"]
ROLES = {"book": "layer-5", "naive": "layer-3"}
LONG = (190.0, 116.0)  # of the scale from false to true, wide and phone
ROW, DOT = 17.0, 7.0


@dataclass(frozen=True)
class Squared(d.Node):
    """A scale from false to true, a dot where a forecast is, what it lost as area."""

    name: str
    says: Quantity
    true: bool
    role: str
    grow: float = 0.0
    stretch: bool = False

    @property
    def ends(self) -> tuple[tuple[Line, ...], ...]:
        """What stands over each end of the scale."""
        return lines("false"), lines("true")

    def size(self, narrow: bool) -> Size:
        """The scale, its words, and a square of any side under it."""
        return LONG[narrow] + DOT, ROW + DOT + LONG[narrow] + room_of((), narrow)[1]

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The square first; the scale, its dot and the outcome's end upon it."""
        mine, long = centred(rect, self.size(sheet.narrow)), LONG[sheet.narrow]
        left, y = mine.x + DOT / 2, mine.y + ROW + DOT / 2
        dot, end = (left + long * share for share in (self.says.si, float(self.true)))
        side = abs(dot - end)
        sheet.add_part((*way, self.name), mine, "a scale, a dot and a square")
        look = Look(self.role, 0.4, self.role, 0.9)
        sheet.rects(look, Rect(min(dot, end), y, side, side))
        sheet.path(Look(edge="ink", width=1.2), (left, y), (left + long, y))
        for x, shade in ((dot, self.role), (end, "ink")):
            sheet.rects(
                Look(shade, radius=DOT / 2), Rect(x - DOT / 2, y - DOT / 2, DOT, DOT)
            )
        over = Rect(mine.x, mine.y, mine.w, ROW - 4)
        for words, align in zip(self.ends, ("start", "end"), strict=True):
            sheet.write(words, over, (*way, self.name), align)


def squares() -> d.Drawing:
    """Two forecasts with planted outcomes, the book's and the naive one."""
    rows = [
        [_forecast(id, word == "true", who) for who in ROLES]
        for id, word in page.PLANTED.items()
    ]
    title = "What a forecast loses is the square between what it said and what came."
    return d.draw(
        d.grid([part for row in rows for part in row], (2, 2), gap=12),
        name="forecast-squares",
        title=title,
    )


def _forecast(id: str, true: bool, who: str) -> d.Node:
    says = page.given(id, "probability" if who == "book" else "naive")
    short = {page.RENT: "cheap H100s", page.EXPERTS: "DeepSeek"}[id]
    lost = page.lost(id, page.PLANTED[id], who)
    told = [
        d.line(f"{short}, {who}", bold=True),
        ("says ", d.Shown(says, "%", 2), ", came out " + ("true" if true else "false")),
        ("loses ", d.Shown(lost)),
    ]
    name = f"{id}, {who}"
    return d.Box(name, told, Squared(f"scale of {name}", says, true, ROLES[who]))
