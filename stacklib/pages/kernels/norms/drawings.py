"""Drawings of section 4.3: lanes beyond a row, and a row's sum as a tree."""

from stacklib.hardware.warp_rules import rule
from stacklib.kernels.rows.norms import unmasked_variance
from stacklib.pages.kernels import norms as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, model
from stacklib.plots.live.parts import stand
from stacklib.quantity import counted

__all__ = ["lanes_beyond_a_row", "sum_as_a_tree"]

EACH = 32  # lanes that a drawn cell stands for
SIDE = 20.0  # of a cell of the tree
APART = 22.0  # of the row's cells
LEAVES = 8  # numbers of the row that is summed in the drawing


def lanes_beyond_a_row() -> d.Drawing:
    """A row of 768 in 1,024 lanes: loaded, centred, and centred with a mask."""
    inside, lanes = page.SMALL // EACH, int(page.lanes().si) // EACH
    pad = frozenset(range(inside, lanes))
    wrong, right = (
        counted(
            unmasked_variance, 1, mean, page.SMALL, page.lanes(), label=f"variance {m}"
        )
        for mean, m in ((1, "as printed"), (0, "with the mask"))
    )
    parts = [
        _lanes("loaded", lanes, pad, False, ["the mask fills the rest with zeros"]),
        _lanes(
            "mean taken off",
            lanes,
            pad,
            True,
            ["the rest holds minus the mean", ("variance ", d.Shown(wrong, None, 4))],
        ),
        _lanes(
            "masked again",
            lanes,
            pad,
            False,
            ["the rest is zero as before", ("variance ", d.Shown(right, None, 4))],
        ),
    ]
    each = rule("lanes").named("lanes of a cell")
    row = stand(page, "columns", page.SMALL).named("numbers of the row")
    head = d.Words(
        [
            d.line("a row of ", row, " in ", page.lanes(), " lanes", bold=True),
            d.line("one cell is ", each, " lanes", role="muted"),
        ]
    )
    title = "Lanes beyond the row are harmless until the mean is taken off them."
    return d.draw(d.below(head, *parts, gap=9), name="norm-lanes", title=title)


def _lanes(
    name: str, lanes: int, pad: frozenset[int], bad: bool, told: list[object]
) -> d.Node:
    own = d.Cells(
        f"numbers, {name}",
        lanes - len(pad),
        (lanes - len(pad), 12),
        side=(11.0, 16.0),
        gap=2.0,
        role=model.TOKEN,
        words="lanes that hold the row",
    )
    rest = d.Cells(
        f"beyond, {name}",
        len(pad),
        (len(pad), 4),
        side=(11.0, 16.0),
        gap=2.0,
        role="layer-6" if bad else "muted",
        lit=frozenset(range(len(pad))) if bad else frozenset(),
        dark=frozenset() if bad else frozenset(range(len(pad))),
        words="lanes beyond the row" + (", lit: they count" if bad else ""),
    )
    cells = d.right_of(own, rest, gap=8, grow=0)
    role = "layer-6" if bad else "layer-3"
    words = d.Words([d.line(name, bold=True), *told], align="start", grow=1)
    return d.Box(name, None, d.flow(cells, words, gap=12), role=role, lit=False)


def sum_as_a_tree() -> d.Drawing:
    """Eight numbers summed: levels down, sums across, and the same for a row."""
    levels, width = [], LEAVES
    while width >= 1:
        levels.append(width)
        width //= 2
    rows = [_level(at, count) for at, count in enumerate(levels)]
    sums = [
        d.Edge(f"{_name(at, levels[at])}[{i}]", f"{_name(at + 1, width)}[{i // 2}]")
        for at, width in enumerate(levels[1:])
        for i in range(2 * width)
    ]
    work = page.told("reduce", "work", LEAVES, "sums of the drawn tree")
    deep = page.told("reduce", "depth", LEAVES, "levels of the drawn tree")
    told = d.Box(
        "account",
        [
            d.line("drawn: ", work, " sums, ", deep, " steps", bold=True),
            ("a row of ", page.hidden("numbers of a row"), ":"),
            (page.serial(), " sums, ", page.levels(), " steps"),
        ],
        role="muted",
        grow=0,
    )
    net = d.joined(d.below(*rows, gap=24), *sums)
    tree = d.Box("tree", None, net, role="layer-3")
    title = "A sum as a tree: the same additions, few of them one after the other."
    return d.draw(d.flow(tree, told, gap=12), name="norm-tree", title=title)


def _level(at: int, count: int) -> d.Node:
    return d.Cells(
        _name(at, count),
        count,
        side=(SIDE, SIDE),
        gap=2**at * (SIDE + APART) - SIDE,  # each below the middle of its two
        role=model.TOKEN if not at else gpu.CHIP,
        lit=frozenset(range(count)) if count == 1 else frozenset(),
        words="each is the sum of two above it" if at else "the row",
    )


def _name(at: int, count: int) -> str:
    return "numbers" if not at else "the sum" if count == 1 else f"step {at}"
