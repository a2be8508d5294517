"""Drawing of section 8.6: where a block may go, arrows as wide as their bandwidths."""

from stacklib import hardware
from stacklib.pages.serving import tiers as page
from stacklib.plots import drawing as d

__all__ = ["where_a_cache_may_go"]
WORDS = {
    "host": ("host memory", "GB", "layer-2"),
    "cxl": ("CXL memory", "TB", "layer-2"),
    "drive": ("a drive", "TB", "layer-5"),
}


def where_a_cache_may_go() -> d.Drawing:
    """A chip's memory, what lies below it, and the rail to another server."""
    link = hardware.link("ib-ndr")
    port = link.link_bandwidth.across(1)
    full = page.tiers()["host"].bandwidth
    own = page.memory()
    told = [
        d.line("a chip's own memory", bold=True),
        (
            d.Shown(own.capacity.named("the chip's memory"), "GB"),
            ", read at ",
            d.Shown(own.bandwidth.named("its bandwidth"), "TB/s"),
        ),
    ]
    hbm = d.Box("HBM", told, role="layer-4", lit=True)
    ways: list[d.Node] = []
    for key, (words, unit, role) in WORDS.items():
        tier = page.tiers()[key]
        rate = tier.bandwidth.named(f"way to {words}")
        pipe = d.Pipe(
            "HBM",
            words,
            rate,
            full,
            [(d.Shown(rate, "GB/s", 3),)],
            down=(True, True),
            both=True,
            least=46.0,
        )
        held = d.Shown(tier.capacity.named(f"room of {words}"), unit, 2)
        box = d.Box(words, [d.line(words, bold=True), ("room for ", held)], role=role)
        ways.append(d.below(pipe, box, gap=0))
    rate = port.named("one rail")
    rail = d.Pipe(
        "HBM",
        "another server",
        rate,
        full,
        [(d.Shown(rate, "GB/s", 3),)],
        down=(True, True),
        both=True,
        least=46.0,
    )
    other = d.Box(
        "another server",
        [d.line("another server", bold=True), "a rail for each chip"],
        role="layer-6",
    )
    ways.append(d.below(rail, other, gap=0))
    title = "What does not fit goes down a link, and each is narrower than the memory."
    return d.draw(
        d.below(hbm, d.flow(*ways, gap=10, even=True), gap=0),
        name="kv-tiers",
        title=title,
        devices=[page.DEVICE],
    )
