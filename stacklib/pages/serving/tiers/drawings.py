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
OTHER = "another server"


def where_a_cache_may_go() -> d.Drawing:
    """A chip's memory, what hangs on it, and the rail to another server."""
    own, rates, places = page.memory(), {}, []
    for key, (words, unit, role) in WORDS.items():
        tier = page.tiers()[key]
        rates[words] = tier.bandwidth.named(f"way to {words}")
        held = d.Shown(tier.capacity.named(f"room of {words}"), unit, 2)
        told = [d.line(words, bold=True), ("room for ", held)]
        places.append(d.Box(words, told, role=role))
    rates[OTHER] = hardware.link("ib-ndr").link_bandwidth.across(1).named("one rail")
    told = [d.line(OTHER, bold=True), "a rail for each chip"]
    places.append(d.Box(OTHER, told, role="layer-6"))
    told = [
        d.line("a chip's own memory", bold=True),
        (d.Shown(own.capacity.named("the chip's memory"), "GB"), ", read at"),
        (d.Shown(own.bandwidth.named("its bandwidth"), "TB/s"),),
    ]
    hbm = d.Box("HBM", told, role="layer-4", lit=True)
    full = rates["host memory"]
    edges = [
        d.Edge(
            "HBM",
            words,
            rate=rate,
            full=full,
            arrow="both",
            label=(d.Shown(rate, "GB/s", 3),),
            role="layer-2",
        )
        for words, rate in rates.items()
    ]
    wide = d.below(hbm, d.right_of(*places, gap=10, even=True), gap=60)
    phone = d.right_of(hbm, d.below(*places, gap=16), gap=78)
    title = "What does not fit goes down a link, and each is narrower than the memory."
    scene = d.Either(d.joined(wide, *edges), d.joined(phone, *edges))
    return d.draw(scene, name="kv-tiers", title=title, devices=[page.DEVICE])
