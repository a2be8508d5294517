"""Drawings of section 6.1: a link as lanes and directions; from a node to a row."""

from __future__ import annotations

from stacklib import hardware
from stacklib.pages.interconnect import links as page
from stacklib.plots.drawing import (
    Box,
    Drawing,
    Node,
    Pipe,
    Shown,
    below,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.quantity import Quantity, chosen

__all__ = ["lanes_and_directions", "node_to_row"]

KEY, PORT = "nvlink4", "ib_ndr"
NODES, RACKS = 4, 8  # of a rack, of a row, as drawn
DOWN = (True, True)


def lanes_and_directions() -> Drawing:
    """A link of an H100 to a switch chip, and what is counted of it."""
    link = hardware.link(KEY)
    rate, data = link.lane_rate, page.lane_data(KEY)
    scene = below(
        flow(
            _direction("GPU sends", "switch receives", rate),
            _direction("switch sends", "GPU receives", rate),
            even=True,
        ),
        then("one direction", "a lane", down=DOWN),
        _sums(rate, data),
        gap=6,
    )
    title = "A lane goes one way. What a data sheet prints may count both."
    return draw(scene, name="link-lanes", title=title)


def _direction(start: str, end: str, rate: Quantity) -> Node:
    """Two lanes from one end of a link to the other."""
    lanes = below(
        *(
            Pipe(
                start,
                end,
                rate,
                rate.named("widest lane") * 2.5,
                [],
                down=(False, False),
                least=40.0,
            )
            for _ in range(int(hardware.link(KEY).lanes.si))
        ),
        gap=2,
    )
    first = Box(start, start, role=gpu.CHIP, grow=0)
    last = Box(end, end, role=machine.LINKS, grow=0)
    told = [
        line("one direction of a link", bold=True),
        ("two lanes of ", Shown(rate, "Gbit/s", 4)),
    ]
    return Box(f"{start}, link", told, right_of(first, lanes, last, gap=2))


def _sums(rate: Quantity, data: Quantity) -> Node:
    link = hardware.link(KEY)
    steps = [
        ("a lane", "after its code", Shown(data, "Gbit/s"), False),
        ("a link", "two lanes, in bytes", Shown(link.link_bandwidth, "GB/s"), False),
        ("a GPU", "all its links, one way", Shown(link.per_direction, "GB/s"), True),
        ("in print", "both ways, summed", Shown(link.bidirectional, "GB/s"), False),
    ]
    nodes: list[Node] = []
    before = ""
    for name, words, value, lit in steps:
        if before:
            nodes.append(then(before, name))
        label = [line(name, bold=True), words, (value,)]
        nodes.append(Box(name, label, role=machine.LINKS, lit=lit))
        before = name
    return flow(*nodes, gap=2)


def node_to_row() -> Drawing:
    """Eight GPUs and their switches, four such nodes, eight such racks."""
    device = hardware.get(page.DEVICE)
    inside = hardware.link(KEY).per_direction
    port = hardware.link(PORT).per_direction
    gpus = chosen(page.TP, label="GPUs of a node")
    nodes = chosen(NODES, label="nodes of a rack, drawn")
    racks = chosen(RACKS, label="racks of a row, drawn")
    node = (gpus * port).named("out of a node, one direction")
    rack = (nodes * node).named("out of a rack, one direction")
    scene = flow(
        _node(inside, port, rack),
        _out("node", "rack", node, rack, "a node"),
        _rack((gpus * nodes).named("GPUs of a rack, drawn")),
        _out("rack", "row", rack, rack, "a rack"),
        _row((gpus * nodes * racks).named("GPUs of a row, drawn")),
        gap=2,
    )
    title = "Widths are bandwidth in one direction: a GPU's way out is thin."
    return draw(scene, name="link-row", title=title, devices=[device.key])


def _out(start: str, end: str, rate: Quantity, full: Quantity, of: str) -> Pipe:
    label = [Shown(rate, "GB/s"), of, "each way"]
    return Pipe(start, end, rate, full, label, both=True, role=machine.LINKS)


def _node(inside: Quantity, port: Quantity, full: Quantity) -> Node:
    """Boards between their switches and their ports."""
    gpus = chosen(page.TP, label="GPUs of a node")
    switches = Box("switch chips", "switch chips", role=machine.LINKS)
    ports = Box("network ports", "network ports", role=machine.LINKS, lit=True)
    scene = below(
        switches,
        _wire("switch chips", inside, full),
        machine.boards(gpus),
        _wire("network ports", port, full),
        ports,
        gap=0,
    )
    told = [line("node", bold=True), (gpus, " GPUs")]
    return Box("node", told, scene, role=machine.NODE)


def _wire(end: str, rate: Quantity, full: Quantity) -> Pipe:
    label = [Shown(rate, "GB/s"), "a GPU, each way"]
    return Pipe("boards", end, rate, full, label, both=True, down=DOWN)


def _rack(gpus: Quantity) -> Node:
    leaf = Box("leaf switches", "leaf switches", role=machine.LINKS)
    told = [line("rack", bold=True), (gpus, " GPUs")]
    return Box("rack", told, below(machine.nodes(NODES), leaf), role="muted")


def _row(gpus: Quantity) -> Node:
    spine = Box("spine switches", "spine switches", role=machine.LINKS)
    racks = [Box(f"rack {n}", None, role="muted", room=(18, 30)) for n in range(RACKS)]
    told = [line("row", bold=True), (gpus, " GPUs")]
    return Box("row", told, below(right_of(*racks, gap=3), spine), role="muted")
