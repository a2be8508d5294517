"""Drawing of section 8.9: the same four machines as one pool and as two."""

from stacklib import hardware
from stacklib.pages.serving import pools as page
from stacklib.plots import drawing as d

__all__ = ["one_pool_and_two"]


def one_pool_and_two() -> d.Drawing:
    """Four machines that do both; three that read, and one that writes."""
    told = [d.line("one pool: each reads and writes", bold=True), _worst(page.ONE)]
    router = d.Box("router", role="muted", grow=0)
    machines = _machines("ABCD", "layer-6")
    scene = d.below(router, d.right_of(*machines, even=True), gap=26)
    edges = (_asked("one pool", machine) for machine in machines)
    one = d.Box("one pool", told, d.joined(scene, *edges), role="layer-6")
    title = "In one pool prompts stand in the way of answers; in two, caches move."
    both = d.flow(one, _two(), gap=16, even=True)
    return d.draw(both, name="pools-two", title=title, devices=[page.DEVICE])


def _two() -> d.Node:
    """Machines that read, and the caches' way from each to the one that writes."""
    rails, memory = page.link(), hardware.get(page.DEVICE).memory_bandwidth.across(1)
    (writer,) = _machines("D", "layer-6")
    told = [d.line("one writes", bold=True), _worst(page.BEST)]
    writer = d.with_(writer, label=told, lit=True)
    readers = _machines("ABC", "layer-4")
    rate = rails.named("rails of a machine")
    to = f"two pools/{writer.name}"
    ways = [
        d.Edge(f"two pools/{box.name}", to, rate=rate, full=memory, arrow="end")
        for box in readers
    ]
    told = [
        d.line("two pools: three read a prompt", bold=True),
        ("each in ", page.reading()),
        ("and send its cache at ", d.Shown(rails.named("eight rails"), "GB/s", 3)),
        ("which takes ", d.Shown(page.crossing(), "ms", 3)),
    ]
    router = d.Box("router", role="muted", grow=0)
    scene = d.below(router, d.right_of(*readers, even=True), writer, gap=26)
    inside = d.joined(scene, *(_asked("two pools", box) for box in readers), *ways)
    return d.Box("two pools", told, inside, role="layer-4")


def _asked(pool: str, machine: d.Box) -> d.Edge:
    """A prompt on its way to a machine."""
    return d.Edge(f"{pool}/router", f"{pool}/{machine.name}", arrow="end", role="muted")


def _worst(layout: str) -> tuple[str, d.Shown]:
    """The 99th percentile of the times between tokens."""
    return "between two tokens, at the worst ", d.Shown(page.waited(layout), "ms", 3)


def _machines(names: str, role: str) -> list[d.Box]:
    """A box for each machine of eight chips."""
    chips = (d.Cells(f"chips of {name}", 8, 4, side=7.0, role=role) for name in names)
    named = zip(names, chips, strict=True)
    return [d.Box(f"machine {name}", None, cells, role) for name, cells in named]
