"""Drawings of section 4.5: tiles over the scores, and a row's state tile by tile."""

from stacklib.pages.kernels import attention as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, model
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted, counting

__all__ = ["row_in_tiles", "tiles_of_scores"]
ACROSS, ROW, COLUMN = 8, 2, 5  # tiles drawn a side, and the one under way
SIDE, THIN, GAP = 13.0, 8.0, 2.0
SCORES: tuple[float, ...] = (1.0, 3.0, 2.0, 5.0, 4.0, 1.0)
VALUES: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
PART = 2  # keys of a tile


# -- where the scores are --------------------------------------------------------------


def tiles_of_scores() -> d.Drawing:
    """One head by three kernels, and in tiles."""
    steps = [
        ("three kernels", _way("three kernels", page.asked(), written=True)),
        ("in tiles", _way("in tiles", page.in_tiles(), written=False)),
    ]
    title = "In tiles one tile of the scores exists at a time, and none is written."
    return d.draw(steps, name="tiles-of-scores", title=title, devices=[page.DEVICE])


def _way(words: str, moved: Quantity, *, written: bool) -> d.Node:
    asked = d.Pipe(
        "global memory",
        "SM",
        moved,
        page.asked(),
        [d.line(moved, bold=True)],
        both=True,
        least=60.0,
    )
    return d.flow(_memory(words, written), asked, _chip(words, written), gap=8)


def _memory(words: str, written: bool) -> d.Node:
    """Queries down, keys and values across, the scores between them."""
    every = frozenset(range(ACROSS * ACROSS))
    square = d.Cells(
        "scores",
        ACROSS * ACROSS,
        ACROSS,
        SIDE,
        GAP,
        "layer-6",
        every if written else frozenset(),
        frozenset() if written else every,
        words="written and read again" if written else "never written",
    )
    seen = frozenset(range(ACROSS)) if written else frozenset({COLUMN})
    mine = frozenset(range(ACROSS)) if written else frozenset({ROW})
    keys, values = (
        d.Cells(name, ACROSS, ACROSS, (SIDE, THIN), GAP, model.WEIGHT, seen)
        for name in ("K", "V")
    )
    queries, out = (
        d.Cells(name, ACROSS, 1, (THIN, SIDE), GAP, model.TOKEN, mine)
        for name in ("Q", "O")
    )

    def across(name: str, cells: d.Cells) -> d.Node:
        return d.right_of(d.Words(name), cells, d.Nothing((16.0, THIN), grow=0), gap=6)

    return d.Box(
        "global memory",
        [d.line("global memory", bold=True), (d.Shown(page.matrix()), " of scores")]
        if written
        else [d.line("global memory", bold=True), "no scores"],
        d.below(
            across("K", keys),
            across("V", values),
            d.right_of(d.Words("Q"), queries, square, out, d.Words("O"), gap=6),
            gap=5,
        ),
        role=gpu.STORE,
    )


def _chip(words: str, written: bool) -> d.Node:
    """What stays on the chip while a tile of queries is under way."""
    tile = (page.operand() / page.passes()).named("tile of an operand")
    each = bytes_per_element("fp32")
    scores = (page.rows() * page.rows() * each).named("tile of scores, fp32")
    lit, after = not written, "written" if written else "used up"
    held = [
        d.Box(
            "tile of Q",
            ["a tile of Q" if written else "a tile of Q, kept", d.Shown(tile)],
            role=model.TOKEN,
            lit=lit,
        ),
        d.Box(
            "tiles of K and V",
            ["a tile of K, a tile of V", (d.Shown(tile), " each")],
            role=model.WEIGHT,
        ),
        d.Box(
            "tile of scores",
            [f"a tile of scores, {after}", d.Shown(scores)],
            role="layer-6",
        ),
    ]
    state = ["maximum, sum and", "output of each row, kept"]
    if written:
        state = ["nothing is kept from", "one kernel to the next"]
    held.append(d.Box("state", state, role=model.TOKEN, lit=lit))
    return d.Box("SM", d.line("an SM", bold=True), d.below(*held, gap=5), role=gpu.CHIP)


# -- a row, tile by tile ---------------------------------------------------------------


def state(at: int, what: str) -> float:
    """A number of the row's state after a tile."""
    return page.steps(SCORES, VALUES, PART)[at][what]


def row_in_tiles() -> d.Drawing:
    """Three tiles of keys: maximum, factor, sum, output."""
    boxes = [_after(at) for at in range(len(SCORES) // PART)]
    end = d.Words(
        [d.line("the softmax of the whole row gives ", d.Shown(whole(), None, 4))]
    )
    title = "A row carries three numbers from tile to tile, and ends at its softmax."
    return d.draw(
        d.below(d.flow(*boxes, gap=10, even=True), end),
        name="row-in-tiles",
        title=title,
    )


@counting("by the softmax of the whole row")
def whole() -> float:
    """The output of the row with all its keys in one tile."""
    (last,) = page.steps(SCORES, VALUES, len(SCORES))
    return last["output"]


def _after(at: int) -> d.Node:
    tile = ("first", "second", "third")[at]

    def of(what: str) -> d.Shown:
        return d.Shown(counted(state, at, what, label=f"{what}, {tile} tile"), None, 4)

    cut = slice(at * PART, (at + 1) * PART)
    told = zip(SCORES[cut], VALUES[cut], strict=True)
    given = [
        ("score ", chosen(s, label="score"), ", value ", chosen(v, label="value"))
        for s, v in told
    ]
    new = at and state(at, "max") > state(at - 1, "max")
    shrink = ("what was there × ", of("factor")) if at else "nothing was there"
    inside = d.below(
        d.Box(f"scores {tile}", given, role=model.WEIGHT),
        d.Box(
            f"maximum {tile}", [("maximum ", of("max"))], role="layer-6", lit=bool(new)
        ),
        d.Box(f"factor {tile}", [shrink], role="layer-6" if new else "muted"),
        d.Box(f"sum {tile}", [("sum ", of("sum"))], role=model.TOKEN),
        d.Box(f"output {tile}", [("output ", of("output"))], role=model.TOKEN),
        gap=4,
    )
    return d.Box(f"{tile} tile", d.line(f"{tile} tile of keys", bold=True), inside)
