"""Drawings of section 6.10: the way of an RDMA write; a ring and its counters."""

from typing import Any

from stacklib import hardware
from stacklib.interconnect.queues import ring as queue
from stacklib.pages.interconnect import rdma as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts.gpu import CHIP, STORE
from stacklib.quantity import Quantity

__all__ = ["ring_and_bell", "way_of_a_write"]

HOST, PORT, WIRE = "layer-5", "layer-4", "layer-2"
COUNTERS = (58.0, 78.0)  # room of the counters at one slot
SLOTS, START, COUNT = 16, 13, 5  # the elements of a warp go over the ring's end


# Of each step the hops that are used, by their ends, and what goes over them.
STARTS = {
    "a proxy thread starts it": (
        "proxy",
        ("A/GPU A/PCIe", "A/PCIe A/CPU", "A/CPU A/PCIe", "A/PCIe A/NIC"),
        "the GPU leaves a request in host memory, a thread",
        "of the CPU finds it, makes the element and rings",
    ),
    "the GPU starts it": (
        "gpu",
        ("A/GPU A/PCIe", "A/PCIe A/NIC"),
        "the GPU writes the element into its own memory",
        "and rings; the NIC fetches it over PCIe",
    ),
}
BYTES = (
    *("A/GPU A/PCIe", "A/PCIe A/NIC", "A/NIC switches"),
    *("switches B/NIC", "B/NIC B/PCIe", "B/PCIe B/GPU"),
)


def way_of_a_write() -> d.Drawing:
    """Two nodes; lit, what starts a message, and the way of its bytes."""
    steps = []
    for words, (start, hops, *told) in STARTS.items():
        time = d.Shown(page.start_time(start), "µs")
        head = d.line("until the NIC knows: ", time, bold=True)
        steps.append((words, d.below(_nodes(hops), d.Words([head, *told]), gap=10)))
    bytes_ = [
        d.line("the bytes: ", d.Shown(page.rest(), "µs"), bold=True),
        "the NIC reads them from GPU memory, and they end in",
        "the memory of the far GPU: no CPU, no host memory",
    ]
    steps.append(
        ("the bytes, in both", d.below(_nodes(BYTES), d.Words(bytes_), gap=10))
    )
    title = "The bytes go the same way. What differs is how the port comes to know."
    return d.draw(steps, name="rdma-way", title=title)


def _nodes(hops: tuple[str, ...]) -> d.Node:
    """Both nodes and the switches between their NICs."""
    used = [tuple(hop.split()) for hop in hops]
    pcie, port = hardware.link(page.BUS).per_direction, page.port_rate()
    full = (pcie * 5).named("widest band")

    def edge(one: str, other: str, rate: Quantity) -> d.Edge:
        there, back = (one, other) in used, (other, one) in used
        ends = (other, one) if back and not there else (one, other)
        arrow = "both" if there and back else "end" if there or back else ""
        lit = bool(arrow)
        return d.Edge(*ends, rate=rate, full=full, arrow=arrow, lit=lit, role=WIRE)

    inner = [edge(f"{n}/PCIe", f"{n}/{x}", pcie) for n in "AB" for x in ("CPU", "GPU")]
    inner += [edge(f"{n}/PCIe", f"{n}/NIC", pcie) for n in "AB"]
    outer = [edge(f"{n}/NIC", "switches", port) for n in "AB"]
    on = {end for hop in used for end in hop}
    switches = d.Box(
        "switches",
        [d.line("switches", bold=True), d.Shown(port, "GB/s")],
        role="layer-6",
        lit="switches" in on,
        grow=0,
    )
    scene = d.flow(_node("A", on), switches, _node("B", on), gap=34)
    return d.joined(scene, *inner, *outer)


def _node(name: str, on: set[str]) -> d.Box:
    """CPU, GPU and NIC on a PCIe switch; the NIC on the side of the network."""

    def part(what: str, told: str, role: str) -> d.Box:
        words = [d.line(what, bold=True), told]
        return d.Box(what, words, role=role, lit=f"{name}/{what}" in on, grow=0)

    spots = {"CPU": (0, 0), "PCIe": (0.45, 0.5), "GPU": (0, 1), "NIC": (1, 0.5)}
    parts = {
        "CPU": part("CPU", "host memory", HOST),
        "PCIe": part("PCIe", "switch", "layer-6"),
        "GPU": part("GPU", "its memory", CHIP),
        "NIC": part("NIC", "the port", PORT),
    }
    flip = name == "B"
    placed = [
        (parts[what], (1 - x if flip else x, y)) for what, (x, y) in spots.items()
    ]
    label = d.line(f"node {name}", bold=True)
    return d.Box(name, label, d.board(*placed, gap=22.0), role="layer-1")


def ring_and_bell() -> d.Drawing:
    """Slots of a ring as a warp's elements are reserved, written, rung for, sent."""
    steps: list[tuple[str, d.Node]] = []
    ring = queue.reserve(queue.empty(SLOTS, START), COUNT)
    steps.append(("reserved", _ring(ring, "given out, nothing written", "")))
    for index in range(START, ring.reserved):
        ring, _ = queue.fill(ring, index)
    ring, _ = queue.publish(ring, START, COUNT)
    told = "written, the port knows nothing"
    steps.append(("written", _ring(ring, told, "writes")))
    ring, _ = queue.bell(ring, ring.ready)
    told = "the port may read up to the doorbell"
    steps.append(("rung", _ring(ring, told, "rings the doorbell")))
    while ring.sent < ring.rung:
        ring, _ = queue.send(ring)
    told = "the port has read them, the slots are free"
    steps.append(("sent", _ring(ring, told, "reads")))
    title = (
        "Each counter follows the one before it, around the ring, and never passes it."
    )
    return d.draw(steps, name="rdma-ring", title=title)


def _ring(ring: queue.Ring, words: str, does: str) -> d.Node:
    """The slots in a ring; inside it the counters, each group at the slot it is at."""
    slots = [f"slot {i}" for i in range(SLOTS)]
    boxes = []
    for index, entry in enumerate(ring.slots):
        held = entry >= ring.sent
        given = (index - ring.sent) % SLOTS < ring.reserved - ring.sent
        role = STORE if held else CHIP if given else "muted"
        boxes.append(
            d.Box(slots[index], None, role=role, lit=held, room=(24.0, 16.0), grow=0)
        )
    at: dict[int, list[str]] = {}
    for counter in ("sent", "rung", "ready", "reserved"):
        at.setdefault(ring.place(getattr(ring, counter)), []).append(counter)
    counters = [
        d.Box(" and ".join(names), list(names), role=HOST, grow=0, room=COUNTERS)
        for names in at.values()
    ]
    inside = [(0.36, 0.45), (0.64, 0.45)][-len(at) :]
    spots = [(x, 0.08 + y * 0.92) for x, y in d.ring(*boxes).spots[0]]
    spots = [(0.14 + x * 0.72, y) for x, y in spots]
    gpu, port = d.Box("GPU", role=CHIP, grow=0), d.Box("port", role=PORT, grow=0)
    placed = [
        *zip(boxes, spots, strict=True),
        *zip(counters, inside, strict=True),
        (gpu, (0.0, 0.5)),
        (port, (1.0, 0.5)),
    ]
    edges = [
        *d.around_ring(slots, role="muted", words="next"),
        *(
            d.Edge(box.name, slots[place], arrow="end", role=HOST)
            for box, place in zip(counters, at, strict=True)
        ),
        _step("GPU", slots[3 * SLOTS // 4], "writes", does),
        _step(slots[SLOTS // 4], "port", "reads", does),
        _step(
            "GPU", "port", "rings the doorbell", does, ports=("top", "top"), lane=106.0
        ),
    ]
    scene = d.joined(d.board(*placed, gap=7.0), *edges, margin=(0.0, 16.0))
    return d.below(d.Words([d.line(words, bold=True)]), scene, gap=4)


def _step(start: str, end: str, what: str, now: str, **given: Any) -> d.Edge:
    """What GPU and port do to the ring and to each other, lit where they do."""
    label = what if "top" in given.get("ports", ()) else None
    return d.Edge(start, end, label, arrow="end", role=PORT, lit=what == now, **given)
