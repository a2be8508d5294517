"""Drawings of section 1.6: a step whose part shrinks, and chips that must agree."""

from stacklib.pages.roofline import scaling as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.journey.token_journey import journey

__all__ = ["a_part_shrinks", "chips_that_agree"]


def a_part_shrinks() -> d.Drawing:
    """The step as one, before; with the layer faster; with the layer free."""
    share, gain = page.layer_share(), page.layer_gain()
    rest = (1 - share).named("share of everything else")
    zero = (0 * share).named("nothing")
    cases = [
        ("before", share),
        ("the layer as fast as reported", (share / gain).named("layer, faster")),
        ("the layer for nothing", zero),
    ]
    rows: list[d.Node] = []
    for words, part in cases:
        whole = (rest + part).named(f"the step, {words}")
        speed = (1 / whole).named(f"speed-up, {words}")
        told = (words, ": ", speed, " times as fast") if rows else (words,)
        rows.append(d.Words([d.line(*told, bold=True)]))
        rows.append(_row(f"rest, {words}", zero, rest, "everything else ", "muted"))
        if part.si:
            rows.append(_row(f"layer, {words}", rest, whole, "the layer ", "layer-4"))
    title = "A part that shrinks uncovers the rest; the rest does not move."
    return d.draw(d.below(*rows, gap=8), name="scaling-part", title=title)


def _row(name: str, begin: Quantity, end: Quantity, words: str, role: str) -> d.Clip:
    took = (end - begin).named(f"share of the old step: {name}")
    one = chosen(1, label="the old step")
    label = [(words, d.Shown(took, "%", 2))]
    return d.Clip(name, begin, end, one, label, role=role, grow=0)


def reading_and_exchange(chips: int) -> tuple[Quantity, Quantity]:
    """Time of a token's reads, and of its exchanges, on so many H100s."""
    trip = journey(page.MODEL, on=page.DEVICE, dtype="bf16", tp=chips, context=4096)
    parts = [e.all("time") for e in trip.events if e.what.startswith("the chips add")]
    known = [time for time in parts if time is not None]
    return trip.step.t_memory, sum(known[1:], known[0]).named("time of all exchanges")


def chips_that_agree() -> d.Drawing:
    """Two, four and eight chips: reading is shared out, the exchange is not."""
    whole = sum(reading_and_exchange(2)[1:], reading_and_exchange(2)[0])
    rows: list[d.Node] = []
    for chips in (2, 4, page.SERVING["tp"]):
        many = chosen(chips, label="chips")
        reads, says = reading_and_exchange(chips)
        zero = chosen(0, "s", "begin")
        reads = reads.named(f"time of the reads on {chips} chips")
        says = says.named(f"time of the exchanges of {chips} chips")
        both = (reads + says).named(f"both on {chips} chips")
        label = [("read ", d.Shown(reads, "ms"))]
        told = [("add up ", d.Shown(says, "µs"))]
        inside = d.below(
            d.Clip(
                f"reads of {chips}", zero, reads, whole, label, role="layer-2", grow=0
            ),
            d.Clip(
                f"adds of {chips}", reads, both, whole, told, role="layer-5", grow=0
            ),
            gap=4,
        )
        rows.append(d.Box(f"{chips} chips", d.line(many, " chips", bold=True), inside))
    title = "More chips share out the reading; what they must tell one another stays."
    scene = d.below(*rows, gap=8)
    return d.draw(scene, name="scaling-chips", title=title, devices=["h100-sxm"])
