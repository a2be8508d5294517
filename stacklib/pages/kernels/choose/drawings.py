"""Drawings of section 4.12: a step cut into kernels, and the way to a decision."""

from stacklib.pages.kernels import choose as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["cut_step", "the_way"]
KNOWN = ("products", "attention", "loss")  # parts whose work is counted


def cut_step() -> d.Drawing:
    """Parts of the training step as lengths of time: now, and by the roofline."""
    begin, made = chosen(0, "s", label="begin"), []
    most = max(KNOWN, key=lambda part: page.saved(part).si)
    for part in KNOWN:
        made.append(_part(part, begin, lit=part == most))
        begin = (begin + page.time_of(part)).named(f"end of {part}")
    other = (page.whole() - begin).named("all others")
    share = d.Shown((other / page.whole()).named("share of all others"), "%", 2)
    clip = d.Clip("all others", begin, page.whole(), page.whole(), "", "muted")
    head = d.line("all others: ", share, " of the step", bold=True)
    made.append(d.Box("others", head, clip, role="muted"))
    title = "The longest part is near its roofline; the second has more to give."
    note = d.Words(
        [
            d.line("upper bar: now, in the step's time"),
            d.line("lower bar: by the roofline"),
        ]
    )
    return d.draw(d.below(*made, note, gap=6), name="step-cut", title=title)


def _part(part: str, begin: page.Quantity, *, lit: bool) -> d.Node:
    end = (begin + page.time_of(part)).named(f"end of {part}")
    least = (begin + page.least(part)).named(f"end of {part} by the roofline")
    head = [
        d.line(
            f"{part}: ", d.Shown(page.share(part), "%", 2), " of the step", bold=lit
        ),
        d.line("a perfect kernel saves ", d.Shown(page.saved(part), "%", 2), bold=lit),
    ]
    bars = d.below(
        d.Clip(f"{part} now", begin, end, page.whole(), "", "layer-4", high=9),
        d.Clip(f"{part} least", begin, least, page.whole(), "", "layer-6", high=9),
        gap=2,
    )
    return d.Box(part, head, bars, role="layer-4", lit=lit)


def the_way() -> d.Drawing:
    """Profile, share, bound, route: what each step asks."""
    way = d.chain(
        d.Box("profile", [d.line("profile", bold=True), "who has", "the time?"]),
        d.Box("roofline", [d.line("roofline", bold=True), "how far", "above it?"]),
        d.Box(
            "saving",
            [d.line("saving", bold=True), "share times", "what is above"],
            lit=True,
        ),
        d.Box("route", [d.line("route", bold=True), "who can", "write it?"]),
        d.Box("hours", [d.line("hours", bold=True), "does it pay,", "or leave it?"]),
    )
    title = "A kernel is chosen by what it saves; the route comes after."
    return d.draw(way, name="choose-way", title=title)
