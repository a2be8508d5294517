"""The drawing of section 10.8: a token in three currencies, on three machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.cost.spans import Span
from stacklib.frontier.waterfall import Event
from stacklib.hardware import THIS_MACHINE, get
from stacklib.pages.chain.bars import ROLES
from stacklib.pages.frontier import journey as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import Size, room_of, said
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.plots.drawing.words import lines
from stacklib.quantity import Quantity

__all__ = ["three_currencies"]
HIGH, STEP = 12.0, 6.0  # points: of a bar, between the strokes of a hatch


@dataclass(frozen=True)
class Fall(d.Node):
    """A bar of a waterfall: where it begins, its low end, and faintly its high end.

    Places are shares of the whole; ``hatched`` is what nothing explains.
    """

    name: str
    begin: float
    low: float
    high: float
    label: Any
    role: str
    hatched: bool = False
    grow: float = 1.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """A bar, its words under it."""
        wide, high = room_of(lines(self.label), narrow)
        return wide, HIGH + 3 + high

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The whole as a trace, the bar upon it."""
        told = lines(self.label)
        bar = Rect(rect.x, rect.y, rect.w, HIGH)
        sheet.add_part((*way, self.name), bar, said(told))
        sheet.rects(Look("muted", 0.12), bar)
        for width, alpha in ((self.high, 0.3), (self.low, 0.85)):
            box = Rect(bar.x + self.begin * bar.w, bar.y, max(width * bar.w, 1.5), HIGH)
            if self.hatched:
                self._hatch(sheet, box)
                break
            sheet.rects(Look(self.role, alpha), box)
        wide, high = room_of(told, sheet.narrow)
        left = min(bar.x + self.begin * bar.w, rect.right - wide)
        sheet.write(told, Rect(left, bar.foot + 3, wide, high), way, "start")

    def _hatch(self, sheet: Sheet, box: Rect) -> None:
        look = Look(edge=self.role, width=0.9)
        sheet.rects(look, box)
        for i in range(int((box.w - HIGH) / STEP) + 1):
            x = box.x + i * STEP
            sheet.path(look, (x, box.foot), (x + HIGH, box.y))


def three_currencies() -> d.Drawing:
    """The waterfalls of two machines that are rented, and of the one that made this."""
    steps = []
    for key in page.MACHINES:
        words = (
            f"{page.TP} x {get(key).short}" if key != THIS_MACHINE else "this machine"
        )
        steps.append((words, _machine(key)))
    title = (
        "Money goes where time goes. Joules go with the bytes, and many have no name."
    )
    devices = [key for key in page.MACHINES if key != THIS_MACHINE]
    return d.draw(steps, name="three-currencies", title=title, devices=devices)


def _machine(key: str) -> d.Node:
    """Each line of the account in time, in joules, in dollars; the gap last."""
    found, short = page.alone(key), get(key).short
    phase, time = found.token, found.time.named(f"a token, {short}")
    heads: list[list[Any]] = [["time", d.Shown(time)], ["joules", "not known"]]
    heads.append(["money", "no price quoted"])
    if phase.ceiling is not None:
        heads[1][1:] = [d.Shown(phase.ceiling, "J"), " at most"]
        paid = page.million(found.dollars, f"a million tokens, {short}")
        heads[2][1:] = [d.Shown(paid, "USD", 2), ", million"]
    names = [[d.line(word, bold=True), tuple(told)] for word, *told in heads]
    rows = [_row("", [d.Words(two, "start") for two in names])]
    at = [0.0, 0.0, 0.0]
    rows += [_line(event, at, key) for event in page.timed(key)]
    if phase.gap is not None and phase.ceiling is not None:
        least, most = phase.gap
        told = [(d.Shown(least, "J"), " to ", d.Shown(most, "J"))]
        share = least.si / phase.ceiling.si
        gap = Fall("the gap", at[1], share, share, told, "ink", hatched=True)
        rows.append(_row("not explained", [d.Nothing(), gap, d.Nothing()]))
    return d.below(*rows, gap=8)


def _row(name: str, three: list[Any], section: str = "") -> d.Node:
    to = f"../{section}.ipynb" if section else ""
    words = d.Words(d.line(name, to=to), align="start")
    wide = d.right_of(words, *three, gap=12, even=True)
    own = d.right_of(*three, gap=8, even=True)
    return d.Either(wide, d.below(words, own, gap=2) if name else own)


def _line(event: Event, at: list[float], key: str) -> d.Node:
    """One line's bars, each where the one before it ended."""
    name, role = ROLES[event.name]
    whole, time = page.alone(key), event.time.named(f"time, {name}")
    share = (time / whole.time).si
    three: list[Any] = [Fall(f"time of {name}", at[0], share, share, [(time,)], role)]
    if event.joules and event.dollars and whole.token.ceiling and whole.dollars:
        drawn = event.joules.named(f"joules, {name}")
        paid = page.million(event.dollars, f"dollars, {name}")
        ends = [(d.Shown(drawn.low, None, 2), " to ", d.Shown(drawn.high, None, 2))]
        shares = _shares(drawn, whole.token.ceiling)
        three.append(Fall(f"joules of {name}", at[1], *shares, ends, role))
        shares = _shares(event.dollars, whole.dollars.high)
        told = [(d.Shown(paid, "USD", 2),)]
        three.append(Fall(f"dollars of {name}", at[2], *shares, told, role))
    for i, one in enumerate(three):
        at[i] += one.high
    return _row(name, three + [d.Nothing()] * (3 - len(three)), event.section)


def _shares(of: Span, whole: Quantity) -> tuple[float, float]:
    return of.low.si / whole.si, of.high.si / whole.si
