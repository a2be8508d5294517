"""Drawings of section 6.10: the way of an RDMA write; a ring and its counters."""

from stacklib.interconnect.queues.queue import Queue
from stacklib.pages.interconnect import rdma as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts.gpu import CHIP, STORE

__all__ = ["ring_and_bell", "way_of_a_write"]

HOST, PORT, DOWN = "layer-5", "layer-4", (True, True)
SLOTS = 16


def way_of_a_write() -> d.Drawing:
    """What a message passes, started by a proxy thread or by the GPU itself."""
    steps = [
        ("a proxy thread starts it", _way("proxy", _by_proxy())),
        ("the GPU starts it", _way("gpu", _by_gpu())),
    ]
    title = "The bytes go the same way. What differs is how the port comes to know."
    return d.draw(steps, name="rdma-way", title=title)


def _by_proxy() -> d.Node:
    return d.chain(
        _stop("GPU", "leaves a request", CHIP),
        _stop("host memory", "holds it", STORE),
        _stop("CPU thread", "makes the element", HOST, lit=True),
        _stop("doorbell", "comes with it", PORT),
    )


def _by_gpu() -> d.Node:
    return d.chain(
        _stop("GPU", "writes the element", CHIP, lit=True),
        _stop("ring", "in its own memory", STORE),
        _stop("doorbell", "says: look", PORT),
        _stop("fetch", "port reads the ring", PORT),
    )


def _way(start: str, first: d.Node) -> d.Node:
    told = d.Shown(page.start_time(start), "µs")
    shared = d.chain(
        _stop("port", "reads GPU memory", PORT),
        _stop("switches", "pass it on", "layer-6"),
        _stop("far port", "writes", PORT),
        _stop("far GPU memory", "has it", STORE),
    )
    return d.below(
        d.Box("start", [d.line("until the port knows: ", told, bold=True)], first),
        then("start", "bytes", down=DOWN),
        d.Box(
            "bytes",
            [d.line("the bytes: ", d.Shown(page.rest(), "µs"), bold=True)],
            shared,
            role="muted",
        ),
        gap=2,
    )


def _stop(name: str, does: str, role: str, lit: bool = False) -> d.Box:
    return d.Box(name, [d.line(name, bold=True), does], role=role, lit=lit)


def ring_and_bell() -> d.Drawing:
    """Slots of a ring as a warp's elements are reserved, written, rung for, sent."""
    queue, steps = Queue(SLOTS), list[tuple[str, d.Node]]()
    base = queue.reserve(4)
    steps.append(("reserved", _ring(queue, "given out, nothing written")))
    for index in range(base, base + 4):
        queue.write(index, b"")
    queue.publish(base, 4)
    steps.append(("written", _ring(queue, "written, the port knows nothing")))
    queue.ring_bell(base + 4)
    steps.append(("rung", _ring(queue, "the port may read up to the doorbell")))
    title = "Each counter follows the one before it, and never overtakes it."
    return d.draw(steps, name="rdma-ring", title=title)


def _ring(queue: Queue, words: str) -> d.Node:
    ring = queue.ring
    held = frozenset(i for i, entry in enumerate(ring.slots) if entry >= ring.sent)
    places = frozenset(range(ring.sent, ring.reserved)) - held
    rows: list[d.Node] = [d.Words([d.line(words, bold=True)])]
    slots = d.Cells(
        "slots of the ring",
        SLOTS,
        (SLOTS, SLOTS),
        side=(15.0, 20.0),
        role=STORE,
        lit=held,
        dark=frozenset(range(SLOTS)) - held - places,
        words="lit where an element stands",
    )
    rows.append(slots)
    for name, upto, role in (
        ("reserved", ring.reserved, CHIP),
        ("ready", ring.ready, CHIP),
        ("doorbell", ring.rung, PORT),
    ):
        lit = frozenset(range(ring.sent, upto))
        bar = d.Cells(
            name,
            SLOTS,
            (SLOTS, SLOTS),
            side=(15.0, 6.0),
            role=role,
            lit=lit,
            dark=frozenset(range(SLOTS)) - lit,
            words=f"lit as far as {name} has come",
        )
        rows += [d.Words([d.line(name, role="muted")]), bar]
    return d.below(*rows, gap=4)
