"""Drawing of section 6.3: a cube mesh, and what its chips hold after a step."""

from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH
from stacklib.pages.interconnect import best as page
from stacklib.pages.interconnect.collectives.drawings import held
from stacklib.plots import drawing as d
from stacklib.quantity import counting

__all__ = ["cube_mesh"]

NAMES = "ABCDEFGH"
CHIP = "layer-3"


@counting("cables of a chip, cube mesh")
def cables(chip: int) -> int:
    """Cables of one chip of the board."""
    return sum(count for pair, count in CUBE_MESH.items() if chip in pair)


def _near(chip: int) -> str:
    """Neighbours by name, those with two cables first."""
    found = {}
    for pair, count in CUBE_MESH.items():
        if chip in pair:
            found[sum(pair) - chip] = count
    order = sorted(found, key=lambda one: (-found[one], one))
    return " ".join(NAMES[one] + "'" * (found[one] - 1) for one in order)


def _chip(chip: int, mask: int, told: str, busy: bool) -> d.Box:
    name = f"chip {NAMES[chip]}"
    cells = d.Cells(
        f"parts in {name}",
        len(NAMES),
        side=(13.0, 13.0),
        gap=2.0,
        role=CHIP,
        lit=frozenset(at for at in range(len(NAMES)) if mask >> at & 1),
        words="a cell for each chip, lit where its part is in the sum",
    )
    words = [d.line(name, bold=True), d.line(told)]
    return d.Box(name, words, cells if busy else None, role=CHIP, lit=busy)


def _frame(after: int) -> d.Node:
    """All chips after some steps of the schedule of whole arrays that was found."""
    made = page.schedule(page.CUBE, 1)
    state = held(made)[after]
    sends = made.by_step()[after - 1] if after else ()
    boxes: list[d.Node] = []
    for chip in range(len(NAMES)):
        came = sorted(s.source for s in sends if s.destination == chip)
        adds = any(s.reduce for s in sends if s.destination == chip)
        names = " ".join(NAMES[one] for one in came)
        told = _near(chip) if not after else f"{'adds' if adds else 'copies'} {names}"
        if after and not came:
            told = "keeps its sum"
        boxes.append(_chip(chip, state[chip][0], told, bool(came)))
    wires = cables(0)
    foot = (
        d.line("who each is joined to, a dash for a second cable; ", wires, " cables")
        if not after
        else d.line("lit: chips whose parts are in the sum", role="muted")
    )
    return d.below(d.grid(boxes, (4, 2)), d.Words([foot]), gap=6)


def cube_mesh() -> d.Drawing:
    """The board, and the sums on it step by step."""
    frames = [
        (words, _frame(at)) for at, words in enumerate(("the board", "first step"))
    ]
    title = "Partners swap first; then each side of the board, all joined, adds up."
    return d.draw(frames, name="best-cube-mesh", title=title)
