"""From the chip outwards: board, node, rack."""

from __future__ import annotations

from stacklib.hardware import Accelerator, get, link
from stacklib.quantity import Quantity, chosen

from ..marks import Opened, Pipe
from ..nodes import Box, Node
from ..parts import machine
from ..picture import Drawing, draw
from ..relate import below, flow, right_of
from ..words import line


def chip_to_rack(
    on: str | Accelerator,
    nodes: int = 4,
    network: str = "ib_ndr",
    name: str = "chip-to-rack",
) -> Drawing:
    """A board, the node that its switches make, and a rack of such nodes.

    ``nodes`` is how many stand in the rack, ``network`` the link between them, one for
    each chip.
    """
    device = get(on) if isinstance(on, str) else on
    scene = flow(
        _rack(device, nodes, network),
        Opened(f"nodes[{nodes - 1}]", "node"),
        _node(device),
        Opened("node", "board"),
        machine.board(device),
        gap=0,
    )
    title = (
        "Every step away from the chip, there is more memory and less bandwidth to it."
    )
    return draw(scene, name=name, title=title, devices=[device.key])


def _node(device: Accelerator) -> Node:
    """The chips of one domain, each joined to its switches and to the host."""
    domain, full = device.link_domain, device.link
    held = (device.memory_capacity * domain).named(f"memory of {domain.text()} chips")
    told = [line("node", bold=True), (domain, " GPUs, ", held)]
    switch, host = (
        Box(words, words, role=machine.LINKS) for words in ("switches", "host")
    )
    inside = below(
        right_of(switch, host, even=True),
        right_of(
            _wire("switches", device.link, full),
            _wire("host", device.host_link, full),
            even=True,
        ),
        machine.boards(domain),
        gap=0,
    )
    return Box("node", told, inside, role=machine.NODE)


def _wire(end: str, rate: Quantity, full: Quantity) -> Pipe:
    label = [rate, "per GPU"]
    return Pipe(
        "boards",
        end,
        rate,
        full,
        label,
        both=True,
        down=(True, True),
        role=machine.LINKS,
    )


def _rack(device: Accelerator, nodes: int, network: str) -> Node:
    """Nodes upon each other, and what of the network each chip has."""
    many = chosen(nodes, label="nodes of the rack")
    rate = link(network).per_direction
    all_of = device.memory_capacity * device.link_domain * many
    told = [
        line("rack", bold=True),
        (many, " nodes"),
        all_of.named(f"memory of {many.text()} nodes"),
        "network",
        (rate, " per GPU"),
    ]
    return Box("rack", told, machine.nodes(nodes, frozenset({nodes - 1})), role="muted")
