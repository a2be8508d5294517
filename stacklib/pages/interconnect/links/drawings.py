"""Drawings of section 6.1: a link as lanes and directions; from a node to a row."""

from stacklib import hardware
from stacklib.pages.interconnect import links as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.quantity import Quantity, chosen

__all__ = ["lanes_and_directions", "node_to_row"]

KEY, PORT = "nvlink4", "ib_ndr"
NODES, RACKS = 4, 8  # of a rack, of a row, as drawn
DOWN = (True, True)


def lanes_and_directions() -> d.Drawing:
    """A link of an H100 to a switch chip, and what is counted of it."""
    link = hardware.link(KEY)
    rate, data = link.lane_rate, page.lane_data(KEY)
    scene = d.below(
        d.flow(
            _direction("GPU sends", "switch receives", rate),
            _direction("switch sends", "GPU receives", rate),
            even=True,
        ),
        then("one direction", "a lane", down=DOWN),
        _sums(rate, data),
        gap=6,
    )
    title = "A lane goes one way. What a data sheet prints may count both."
    return d.draw(scene, name="link-lanes", title=title)


def _direction(start: str, end: str, rate: Quantity) -> d.Node:
    """Two lanes from one end of a link to the other."""
    lanes = d.below(
        *(
            d.Pipe(
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
    first = d.Box(start, start, role=gpu.CHIP, grow=0)
    last = d.Box(end, end, role=machine.LINKS, grow=0)
    told = [
        d.line("one direction of a link", bold=True),
        ("two lanes of ", d.Shown(rate, "Gbit/s", 4)),
    ]
    return d.Box(f"{start}, link", told, d.right_of(first, lanes, last, gap=2))


def _sums(rate: Quantity, data: Quantity) -> d.Node:
    link = hardware.link(KEY)
    steps = [
        ("a lane", "after its code", d.Shown(data, "Gbit/s"), False),
        ("a link", "two lanes, in bytes", d.Shown(link.link_bandwidth, "GB/s"), False),
        ("a GPU", "all its links, one way", d.Shown(link.per_direction, "GB/s"), True),
        ("in print", "both ways, summed", d.Shown(link.bidirectional, "GB/s"), False),
    ]
    nodes: list[d.Node] = []
    before = ""
    for name, words, value, lit in steps:
        if before:
            nodes.append(then(before, name))
        label = [d.line(name, bold=True), words, (value,)]
        nodes.append(d.Box(name, label, role=machine.LINKS, lit=lit))
        before = name
    return d.flow(*nodes, gap=2)


def node_to_row() -> d.Drawing:
    """Eight GPUs and their switches, four such nodes, eight such racks."""
    device = hardware.get(page.DEVICE)
    inside = hardware.link(KEY).per_direction
    port = hardware.link(PORT).per_direction
    gpus = chosen(page.TP, label="GPUs of a node")
    nodes = chosen(NODES, label="nodes of a rack, drawn")
    racks = chosen(RACKS, label="racks of a row, drawn")
    node = (gpus * port).named("out of a node, one direction")
    rack = (nodes * node).named("out of a rack, one direction")
    scene = d.flow(
        _node(inside, port, rack),
        _out("node", "rack", node, rack, "a node"),
        _rack((gpus * nodes).named("GPUs of a rack, drawn")),
        _out("rack", "row", rack, rack, "a rack"),
        _row((gpus * nodes * racks).named("GPUs of a row, drawn")),
        gap=2,
    )
    title = "Widths are bandwidth in one direction: a GPU's way out is thin."
    return d.draw(scene, name="link-row", title=title, devices=[device.key])


def _out(start: str, end: str, rate: Quantity, full: Quantity, of: str) -> d.Pipe:
    label = [d.Shown(rate, "GB/s"), of, "each way"]
    return d.Pipe(start, end, rate, full, label, both=True, role=machine.LINKS)


def _node(inside: Quantity, port: Quantity, full: Quantity) -> d.Node:
    """Boards between their switches and their ports."""
    gpus = chosen(page.TP, label="GPUs of a node")
    switches = d.Box("switch chips", "switch chips", role=machine.LINKS)
    ports = d.Box("network ports", "network ports", role=machine.LINKS, lit=True)
    scene = d.below(
        switches,
        _wire("switch chips", inside, full),
        machine.boards(gpus),
        _wire("network ports", port, full),
        ports,
        gap=0,
    )
    told = [d.line("node", bold=True), (gpus, " GPUs")]
    return d.Box("node", told, scene, role=machine.NODE)


def _wire(end: str, rate: Quantity, full: Quantity) -> d.Pipe:
    label = [d.Shown(rate, "GB/s"), "a GPU, each way"]
    return d.Pipe("boards", end, rate, full, label, both=True, down=DOWN)


def _rack(gpus: Quantity) -> d.Node:
    leaf = d.Box("leaf switches", "leaf switches", role=machine.LINKS)
    told = [d.line("rack", bold=True), (gpus, " GPUs")]
    return d.Box("rack", told, d.below(machine.nodes(NODES), leaf), role="muted")


def _row(gpus: Quantity) -> d.Node:
    spine = d.Box("spine switches", "spine switches", role=machine.LINKS)
    racks = [
        d.Box(f"rack {n}", None, role="muted", room=(18, 30)) for n in range(RACKS)
    ]
    told = [d.line("row", bold=True), (gpus, " GPUs")]
    return d.Box("row", told, d.below(d.right_of(*racks, gap=3), spine), role="muted")
