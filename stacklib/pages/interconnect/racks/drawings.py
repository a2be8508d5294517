"""The drawing of section 6.6: two wirings of a rack whose ports add up."""

from dataclasses import dataclass

from stacklib import hardware
from stacklib.pages.interconnect import racks as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import GAP, Size
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.quantity import chosen

__all__ = ["two_wirings"]

HIGH = 74.0  # points between the rows, which the wires cross
SHOWN = 4  # GPUs and switch chips that are drawn of each wiring


@dataclass(frozen=True)
class Wires(d.Node):
    """Straight wires from a row of boxes above to a row below, both evenly spaced.

    ``pairs`` are places in the two rows; the lit ones are drawn thicker.
    """

    name: str
    above: int
    under: int
    pairs: tuple[tuple[int, int], ...]
    words: str
    lit: int = 0  # the box above whose wires are lit
    grow: float = 0.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """Room for the wires."""
        return 80.0, HIGH

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """A line for each pair."""
        sheet.add_part((*way, self.name), rect, self.words)
        for one, other in self.pairs:
            mine = one == self.lit
            role, width = ("layer-2", 2.4) if mine else ("muted", 0.9)
            ends = (
                (_middle(rect, one, self.above), rect.y),
                (_middle(rect, other, self.under), rect.foot),
            )
            sheet.path(Look(edge=role, width=width), *ends)


def _middle(rect: Rect, at: int, of: int) -> float:
    """Where the box at a place of an even row has its middle."""
    step = (rect.w + GAP) / of
    return rect.x + step * at + (step - GAP) / 2


def two_wirings() -> d.Drawing:
    """A link to every switch chip, and all links to one; a few of each are drawn."""
    rack, post = page.RACKS["NVL72"], page.POST
    wide = hardware.link("nvlink5").link_bandwidth
    full = hardware.link("nvlink5").per_direction
    scene = d.flow(
        _wiring(
            "spread",
            [
                d.line(d.Name("NVL72"), ": a link to each chip", bold=True),
                (
                    chosen(rack.chips, label="switch chips of an NVL72"),
                    " chips of ",
                    chosen(rack.ports, label="ports of a switch chip"),
                    " ports",
                ),
                ("a wire: ", d.Shown(wide, "GB/s"), " each way"),
            ],
            ["GPU 0", "GPU 1", "...", "GPU 71"],
            ["chip 0", "chip 1", "...", "chip 17"],
            tuple((a, b) for a in range(SHOWN) for b in range(SHOWN)),
        ),
        _wiring(
            "packed",
            [
                d.line("the post: all links to one", bold=True),
                (
                    chosen(post.chips, label="planes of the post"),
                    " planes of ",
                    chosen(post.ports, label="ports of a plane"),
                    " ports",
                ),
                ("a wire: ", d.Shown(full, "GB/s"), " each way"),
            ],
            ["GPU 0", "GPU 7", "GPU 8", "GPU 71"],
            ["plane 0", "plane 1", "...", "plane 8"],
            ((0, 0), (1, 0), (2, 1), (3, 3)),
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
) -> d.Node:
    joined = {b for a, b in pairs if a == 0}
    lit = {a for a, b in pairs if b in joined}
    gpus = [
        d.Box(f"GPU: {word}, {name}", _short(word), role=gpu.CHIP, lit=at in lit)
        for at, word in enumerate(above)
    ]
    chips = [
        d.Box(
            f"switch: {word}, {name}",
            _short(word),
            role=machine.LINKS,
            lit=at in joined,
        )
        for at, word in enumerate(under)
    ]
    wires = Wires(f"wires, {name}", len(above), len(under), pairs, f"wires {name}")
    words = d.Words([d.line("lit: joined with the first GPU", role="muted")])
    rows = d.below(
        d.right_of(*gpus, even=True), wires, d.right_of(*chips, even=True), gap=0
    )
    inside = d.below(rows, words, gap=6)
    return d.Box(name, told, inside, role="muted")


def _short(word: str) -> list[object]:
    """A word a line, so that a phone has room."""
    return [d.line(d.Name(part)) for part in word.split()]
