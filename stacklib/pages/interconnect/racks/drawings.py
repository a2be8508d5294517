"""The drawing of section 6.6: two wirings of a rack whose ports add up."""

from string import ascii_uppercase

from stacklib import hardware
from stacklib.pages.figures_of import claimed
from stacklib.pages.interconnect import racks as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, quoted

__all__ = ["a_switch_chip", "two_wirings"]

HIGH = 74.0  # points between the rows, which the wires cross
SHOWN = 4  # GPUs and switch chips that are drawn of each wiring
TRAY = 4  # GPUs
CROSSED = 36  # pairs of wires from four to four that cross


def two_wirings() -> d.Drawing:
    """A link to every switch chip, and all links to one; a few of each are drawn."""
    rack = page.RACKS["NVL72"]
    wide = hardware.link("nvlink5").link_bandwidth
    full = hardware.link("nvlink5").per_direction
    scene = d.flow(
        _wiring(
            "spread",
            [
                d.line(d.Name("NVL72"), ": a link to each chip", bold=True),
                (
                    stand(page, "chips", rack.chips).named("switch chips of an NVL72"),
                    " chips of ",
                    stand(page, "ports", rack.ports).named("ports of a switch chip"),
                    " ports",
                ),
                ("a wire: ", d.Shown(wide, "GB/s"), " each way"),
            ],
            ["GPU 0", "GPU 1", "...", "GPU 71"],
            ["chip 0", "chip 1", "...", "chip 17"],
            tuple((a, b) for a in range(SHOWN) for b in range(SHOWN)),
            wide,
        ),
        _wiring(
            "packed",
            [
                d.line("the post: all links to one", bold=True),
                (
                    quoted("post_planes.planes"),
                    " planes of ",
                    claimed("nvswitch-chip-ports"),
                    " ports",
                ),
                ("a wire: ", d.Shown(full, "GB/s"), " each way"),
            ],
            ["GPU 0", "GPU 7", "GPU 8", "GPU 71"],
            ["plane 0", "plane 1", "...", "plane 8"],
            ((0, 0), (1, 0), (2, 1), (3, 3)),
            full,
        ),
        gap=14,
        even=True,
    )
    title = "Both wirings use every port. Only one of them is a rack."
    return d.draw(scene, name="rack-wirings", title=title, devices=["gb200"])


def _wiring(
    name: str,
    told: list[object],
    above: list[str],
    under: list[str],
    pairs: tuple[tuple[int, int], ...],
    rate: Quantity,
) -> d.Node:
    full = (hardware.link("nvlink5").per_direction * 3).named("widest wire")
    first = {b for a, b in pairs if a == 0}
    lit = {a for a, b in pairs if b in first}
    gpus = [
        d.Box(f"GPU: {word}, {name}", _short(word), role=gpu.CHIP, lit=at in lit)
        for at, word in enumerate(above)
    ]
    chips = [
        d.Box(
            f"switch: {word}, {name}", _short(word), role=machine.LINKS, lit=at in first
        )
        for at, word in enumerate(under)
    ]
    wires = [
        d.Edge(
            gpus[a].name,
            chips[b].name,
            rate=rate,
            full=full,
            lit=a == 0,
            ports=("foot", "top"),
            straight=True,
            role="layer-2" if not a else "muted",
        )
        for a, b in pairs
    ]
    words = d.Words([d.line("lit: joined with the first GPU", role="muted")])
    rows = d.below(
        d.right_of(*gpus, even=True), d.right_of(*chips, even=True), gap=HIGH
    )
    inside = d.below(d.joined(rows, *wires, crossings=CROSSED), words, gap=6)
    return d.Box(name, told, inside, role="muted")


def _short(word: str) -> list[object]:
    """A word a line, so that a phone has room."""
    return [d.line(d.Name(part)) for part in word.split()]


def a_switch_chip() -> d.Drawing:
    """One of the chips, and the GPUs of all trays around it: a link from each."""
    rack, link = page.RACKS["NVL72"], hardware.link("nvlink5").link_bandwidth
    trays, edges = [], []
    for name in ascii_uppercase[: rack.gpus // TRAY]:
        tray = f"tray {name}"
        trays.append(d.Cells(tray, TRAY, 2, side=9.0, role=gpu.CHIP, words="of GPUs"))
        edges.append(d.Edge(tray, "switch chip", strands=TRAY, straight=True))
    told = [
        d.line("a switch chip", bold=True),
        (stand(page, "ports", rack.ports).named("ports of the chip, drawn"), " ports"),
        (d.Shown(link, "GB/s"), " each way"),
    ]
    chip = d.Box("switch chip", told, role=machine.LINKS, lit=True, grow=0)
    spots = d.ring(*trays).spots[0]
    placed = (*zip(trays, spots, strict=True), (chip, (0.5, 0.5)))
    foot = [
        (
            "trays of ",
            stand(page, "gpus", TRAY).named("GPUs of a tray"),
            " GPUs, a link from each GPU;",
        ),
        (
            "a rack has ",
            stand(page, "chips", rack.chips).named("such chips of a rack"),
            " such chips",
        ),
    ]
    scene = d.below(d.joined(d.board(*placed, gap=8.0), *edges), d.Words(foot), gap=10)
    title = "A switch chip meets every GPU of its rack, each over a link of its own."
    return d.draw(scene, name="rack-chip", title=title, devices=["gb200"])
