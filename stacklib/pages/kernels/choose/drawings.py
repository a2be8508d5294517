"""Drawings of section 4.12: a step cut into kernels, and the way to a decision."""

from __future__ import annotations

from stacklib.pages.kernels import choose as page
from stacklib.plots.drawing import (
    Box,
    Clip,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    chain,
    draw,
    line,
)
from stacklib.quantity import chosen

__all__ = ["cut_step", "the_way"]
KNOWN = ("products", "attention", "loss")  # parts whose work is counted


def cut_step() -> Drawing:
    """Parts of the training step as lengths of time: now, and by the roofline."""
    begin, made = chosen(0, "s", label="begin"), []
    most = max(KNOWN, key=lambda part: page.saved(part).si)
    for part in KNOWN:
        made.append(_part(part, begin, lit=part == most))
        begin = (begin + page.time_of(part)).named(f"end of {part}")
    other = (page.whole() - begin).named("all others")
    share = Shown((other / page.whole()).named("share of all others"), "%", 2)
    clip = Clip("all others", begin, page.whole(), page.whole(), "", "muted")
    head = line("all others: ", share, " of the step", bold=True)
    made.append(Box("others", head, clip, role="muted"))
    title = "The longest part is near its roofline; the second has more to give."
    note = Words(
        [line("upper bar: now, in the step's time"), line("lower bar: by the roofline")]
    )
    return draw(below(*made, note, gap=6), name="step-cut", title=title)


def _part(part: str, begin: page.Quantity, *, lit: bool) -> Node:
    end = (begin + page.time_of(part)).named(f"end of {part}")
    least = (begin + page.least(part)).named(f"end of {part} by the roofline")
    head = [
        line(f"{part}: ", Shown(page.share(part), "%", 2), " of the step", bold=lit),
        line("a perfect kernel saves ", Shown(page.saved(part), "%", 2), bold=lit),
    ]
    bars = below(
        Clip(f"{part} now", begin, end, page.whole(), "", "layer-4", high=9),
        Clip(f"{part} least", begin, least, page.whole(), "", "layer-6", high=9),
        gap=2,
    )
    return Box(part, head, bars, role="layer-4", lit=lit)


def the_way() -> Drawing:
    """Profile, share, bound, route: what each step asks."""
    way = chain(
        Box("profile", [line("profile", bold=True), "who has", "the time?"]),
        Box("roofline", [line("roofline", bold=True), "how far", "above it?"]),
        Box(
            "saving",
            [line("saving", bold=True), "share times", "what is above"],
            lit=True,
        ),
        Box("route", [line("route", bold=True), "who can", "write it?"]),
        Box("hours", [line("hours", bold=True), "does it pay,", "or leave it?"]),
    )
    title = "A kernel is chosen by what it saves; the route comes after."
    return draw(way, name="choose-way", title=title)
