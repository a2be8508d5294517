"""Drawing of section 6.3: a cube mesh, and what its chips hold after a step."""

from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH
from stacklib.pages.interconnect import best as page
from stacklib.pages.interconnect.collectives.drawings import held
from stacklib.plots import drawing as d
from stacklib.quantity import counting

__all__ = ["cube_mesh"]

NAMES = "ABCDEFGH"
CHIP, WIRE = "layer-3", "layer-2"
# Of each chip on the wide canvas; on a phone the board is turned.
SPOTS = [(0, 0), (0.3, 0), (0.3, 1), (0, 1), (1, 0), (0.7, 0), (0.7, 1), (1, 1)]


@counting("cables of a chip, cube mesh")
def cables(chip: int) -> int:
    """Cables of one chip of the board."""
    return sum(count for pair, count in CUBE_MESH.items() if chip in pair)


@counting("cables of the board, cube mesh")
def all_cables() -> int:
    """Cables of all chips together, each counted once."""
    return sum(CUBE_MESH.values())


def _chip(chip: int, mask: int, busy: bool) -> d.Box:
    name = f"chip {NAMES[chip]}"
    cells = d.Cells(
        f"parts in {name}",
        len(NAMES),
        4,
        side=(13.0, 11.0),
        gap=2.0,
        role=CHIP,
        lit=frozenset(at for at in range(len(NAMES)) if mask >> at & 1),
        words="a cell for each chip, lit where its part is in the sum",
    )
    return d.Box(name, d.line(name, bold=True), cells, role=CHIP, lit=busy, grow=0)


def _frame(after: int) -> d.Node:
    """All chips after some steps of the schedule of whole arrays that was found."""
    made = page.schedule(page.CUBE, 1)
    sends = made.by_step()[after - 1] if after else ()
    used = {frozenset((s.source, s.destination)) for s in sends}
    masks = [row[0] for row in held(made)[after]]
    board = d.Either(_board(masks, used, False), _board(masks, used, True))
    wires = d.line(all_cables(), " cables, ", cables(0), " of each chip", bold=True)
    foot = d.line("lit: chips in the sum, cables in use", role="muted")
    return d.below(board, d.Words([wires, foot]), gap=8)


def _board(masks: list[int], used: set[frozenset[int]], phone: bool) -> d.Node:
    """Two sides of four chips; the outer partners are joined around the inner ones."""
    busy = frozenset().union(*used)
    chips = [_chip(chip, mask, chip in busy) for chip, mask in enumerate(masks)]
    spots = [spot[::-1] for spot in SPOTS] if phone else SPOTS
    rounds = ("left", "right") if phone else ("top", "foot")
    edges = []
    for (one, other), count in CUBE_MESH.items():
        side = rounds[one == 3] if (one, other) in ((0, 4), (3, 7)) else ""
        lit = frozenset((one, other)) in used
        edges.append(
            d.Edge(
                chips[one].name,
                chips[other].name,
                arrow="both" if lit else "",
                ports=(side, side),
                strands=count,
                role=WIRE,
                lit=lit,
                words="two cables" if count > 1 else "a cable",
            )
        )
    placed = d.board(*zip(chips, spots, strict=True), gap=44.0)
    return d.joined(
        placed, *edges, crossings=2, margin=20.0
    )  # of each side's diagonals


def cube_mesh() -> d.Drawing:
    """The board, and the sums on it step by step."""
    names = ("the board", "first step", "second step")
    frames = [(words, _frame(at)) for at, words in enumerate(names)]
    title = "Partners swap first; then each side of the board, all joined, adds up."
    return d.draw(frames, name="best-cube-mesh", title=title)
