"""Boards that are built, and the ring on them that everyone uses.

``BOARDS`` are by name: real ones of eight chips, and small ones on which every schedule
can be tried. Wires of a mesh, a torus and a ring join two chips; of a switch and of a
PCIe tree they are ports, which all sends of a chip share.
"""

from __future__ import annotations

from collections.abc import Callable

from stacklib.interconnect.networks.links import Link
from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import KNOWN, all_reduce
from stacklib.interconnect.schedules.algorithms_ring import ring_gather, ring_scatter
from stacklib.interconnect.schedules.compose import then
from stacklib.interconnect.schedules.schedule import Schedule, Send

from .board import Board, board_of

UNIT = 1.0  # B/s of a cable: a step of one chunk then takes its bytes in seconds


def ring_of(ranks: int) -> Topology:
    """Chips in a circle, each joined to the next by a cable of both directions."""
    circle = ((at, (at + 1) % ranks) for at in range(ranks))
    pairs = {(min(a, b), max(a, b)): 1 for a, b in circle}
    return Topology.nvlink_mesh(ranks, pairs, link=UNIT)


def line_of(ranks: int) -> Topology:
    """Chips in a row."""
    return Topology.nvlink_mesh(
        ranks, {(at, at + 1): 1 for at in range(ranks - 1)}, link=UNIT
    )


def star_of(ranks: int) -> Topology:
    """Chips around the first one."""
    return Topology.nvlink_mesh(
        ranks, {(0, at): 1 for at in range(1, ranks)}, link=UNIT
    )


def pcie_tree(ranks: int) -> Topology:
    """Half of the chips below a switch each; one cable joins the switches."""
    joined = [(at, ranks + at // (ranks // 2)) for at in range(ranks)]
    joined.append((ranks, ranks + 1))
    links = [Link(*pair, UNIT) for one in joined for pair in (one, one[::-1])]
    return Topology(f"PCIe tree of {ranks}", ranks, ranks + 2, tuple(links))


def switch_of(ranks: int) -> Topology:
    """Chips with one port each to a switch."""
    return Topology.nvswitch(ranks, 1, links=1, link=UNIT)


BOARDS: dict[str, Callable[[], Topology]] = {
    "line of 4": lambda: line_of(4),
    "star of 4": lambda: star_of(4),
    "ring of 4": lambda: ring_of(4),
    "mesh of 4": lambda: Topology.nvlink_mesh(4, link=UNIT),
    "PCIe tree of 4": lambda: pcie_tree(4),
    "ring of 8": lambda: ring_of(8),
    "torus 2 x 2 x 2": lambda: Topology.torus((2, 2, 2), link=UNIT),
    "cube mesh (DGX-1)": lambda: Topology.nvlink_mesh(8, CUBE_MESH, link=UNIT),
    "mesh of 8": lambda: Topology.nvlink_mesh(8, link=UNIT),
    "switch of 8": lambda: switch_of(8),
    "PCIe tree of 8": lambda: pcie_tree(8),
}


def named(name: str) -> Board:
    """A board of ``BOARDS``."""
    return board_of(BOARDS[name](), name)


def circle(board: Board) -> list[int]:
    """Chips in an order in which each has a way to the next, and the last to the first.

    - empty where there is none.
    """

    def longer(path: list[int]) -> list[int]:
        if len(path) == board.ranks:
            return path if (path[-1], path[0]) in board.ways else []
        for one in range(board.ranks):
            if one not in path and (path[-1], one) in board.ways:
                if found := longer([*path, one]):
                    return found
        return []

    return longer([0])


def ring_on(board: Board) -> Schedule | None:
    """The ring along a circle of a board; None where the board has no circle."""
    order = circle(board)
    if not order:
        return None
    parts = [[at] for at in range(board.ranks)]
    rows = then(ring_scatter(order, parts), ring_gather(order, parts))
    sends = tuple(map(Send._make, rows))
    return Schedule("all_reduce", "ring", board.ranks, board.ranks, sends)


def fitting(board: Board, chunks: int) -> Schedule | None:
    """The known algorithm of fewest steps that a board's wires carry as it is."""
    made = [ring_on(board)]
    for name in KNOWN["all_reduce"]:
        one = all_reduce(board.ranks, name)
        made.append(one if not one.switches else None)
    fits = [s for s in made if s and s.chunks == chunks and not board.overfull(s)]
    return min(fits, key=lambda one: one.steps, default=None)
