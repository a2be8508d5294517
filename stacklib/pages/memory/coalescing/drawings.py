"""Drawings of section 3.2: words, sectors and lines that one load of a warp moves."""

from collections.abc import Sequence
from itertools import pairwise

from stacklib.hardware.warp_rules import rule
from stacklib.pages.memory.coalescing import moved
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, bytes_per_element, chosen

__all__ = ["lanes_to_sectors", "layouts", "wider_outward"]

WIDTH = bytes_per_element("fp32").named("bytes of an fp32 number")
FIELDS = chosen(7, label="fields of a particle")
WARP, SECTOR, LINE = (round(rule(n).si) for n in ("lanes", "sector", "line"))
WORDS = round(WIDTH.si)
LEAST = 13  # lines that are drawn
STEPS = (
    ("neighbours", 1, 0),
    ("one off", 1, 1),
    ("every second", 2, 0),
    ("a column", 32, 0),
)


def words_map(wanted: Sequence[int]) -> d.Node:
    """Words of the first lines, in their sectors: wanted, moved, left alone.

    Below them room for as many lines as lanes: each step is as high.
    """
    rows = max(max(wanted) // (LINE // WORDS) + 1, LEAST)
    per, across = SECTOR // WORDS, LINE // SECTOR
    touched = {w // per for w in wanted}
    sides = ((13.5, 5.5), (7.0, 5.0))
    made: list[d.Node] = []
    for side in sides:
        columns = []
        for k in range(across):
            mine = [(r * across + k) * per + i for r in range(rows) for i in range(per)]
            lit = frozenset(i for i, w in enumerate(mine) if w in wanted)
            idle = frozenset(i for i, w in enumerate(mine) if w // per not in touched)
            columns.append(
                d.Cells(
                    f"sectors {'ABCD'[k]} of the lines",
                    rows * per,
                    per,
                    side=side,
                    gap=1.2,
                    role=gpu.STORE,
                    lit=lit,
                    dark=idle,
                )
            )
        drawn = d.right_of(*(d.below(c, grow=0) for c in columns), gap=6, grow=0)
        left = d.Nothing((10.0, (WARP - rows) * (side[1] + 1.2)), grow=0)
        made.append(d.below(drawn, left, gap=0))
    return d.Either(made[0], made[1])


def lanes_to_sectors() -> d.Drawing:
    """One load of a warp at five strides: what is wanted and what moves with it."""
    steps = [(words, _request(words, by, first)) for words, by, first in STEPS]
    title = (
        "A sector moves whole: what no lane of the warp wants of it travels all the "
        "same."
    )
    return d.draw(steps, name="lanes-to-sectors", title=title)


def _request(words: str, by: int, first: int) -> d.Node:
    stride = chosen(by, label=f"stride, {words}")
    start = (chosen(first, label=f"first number, {words}") * WIDTH).named("first byte")
    found = moved(stride * WIDTH, first=start).named(f"sectors moved, {words}")
    asked = (rule("lanes") * WIDTH).named("bytes that the lanes want")
    through = (found * rule("sector")).named(f"bytes moved, {words}")
    warp = d.Box(
        "warp",
        [d.line("a warp: ", rule("lanes"), " lanes, ", asked, " wanted", bold=True)],
        gpu.warp("lanes", frozenset(range(WARP))),
        grow=0,
    )
    memory = d.Box(
        "memory",
        [(found, " sectors move: ", d.Shown(through, "B", 4))],
        words_map([first + by * lane for lane in range(WARP)]),
        role=gpu.STORE,
    )
    pipe = d.Pipe(
        "memory",
        "warp",
        through,
        (rule("lanes") * rule("sector")).named("a sector per lane"),
        (d.Shown(through, "B", 4), " move"),
        down=(True, True),
        least=30.0,
    )
    legend = d.Words("bright: wanted; pale: moved with it; faint: stays")
    return d.below(memory, pipe, warp, legend, gap=2)


def layouts() -> d.Drawing:
    """The same particles stored in two orders; the same field is read of both."""
    fields = round(FIELDS.si)
    told = []
    for words, by in (("array of structures", fields), ("structure of arrays", 1)):
        found = moved(chosen(by, label=f"stride, {words}") * WIDTH)
        found = found.named(f"sectors moved, {words}")
        order = "particle by particle" if by > 1 else "field by field"
        label = [d.line(words, bold=True), order, (found, " sectors move")]
        wanted = [by * lane for lane in range(WARP)]
        told.append(d.Box(words, label, _small(wanted, fields), role=gpu.STORE))
    title = "The order in memory decides how many sectors one field of it costs."
    return d.draw(d.flow(*told, gap=10, even=True), name="two-layouts", title=title)


def _small(wanted: Sequence[int], rows: int) -> d.Node:
    """As the map of a request, for half the width."""
    per, across = SECTOR // WORDS, LINE // SECTOR
    touched = {w // per for w in wanted}
    columns = []
    for k in range(across):
        mine = [(r * across + k) * per + i for r in range(rows) for i in range(per)]
        columns.append(
            d.Cells(
                f"sectors {'ABCD'[k]}",
                rows * per,
                per,
                side=(6.6, 11.0),
                gap=1.2,
                role=gpu.STORE,
                lit=frozenset(i for i, w in enumerate(mine) if w in wanted),
                dark=frozenset(
                    i for i, w in enumerate(mine) if w // per not in touched
                ),
            )
        )
    return d.right_of(*(d.below(c, grow=0) for c in columns), gap=5, grow=0)


def wider_outward() -> d.Drawing:
    """One strided load on its way from memory: each level moves pieces of its own."""
    lanes = rule("lanes")
    column = (chosen(32, label="stride") * WIDTH).named("step")
    sizes = {
        "HBM": moved(column, "fetch") * rule("fetch"),
        "L2": moved(column) * rule("sector"),
        "SM": lanes * WIDTH,
    }
    rates = {k: v.to("B").named(f"bytes out of {k}") for k, v in sizes.items()}
    full: Quantity = rates["HBM"]
    pieces = {"HBM": "fetch", "L2": "sector"}
    nodes: list[d.Node] = []
    order = ("HBM", "L2", "SM", "registers")
    for name, after in pairwise(order):
        piece = (
            (rule(pieces[name]), " per lane") if name in pieces else (WIDTH, " each")
        )
        head = [d.line(name, bold=True), piece]
        role = gpu.CHIP if name == "SM" else gpu.STORE
        nodes.append(d.Box(name, head, role=role, lit=name == "HBM"))
        label = (d.Shown(rates[name], "B", 4),)
        nodes.append(d.Pipe(name, after, rates[name], full, label, least=54.0))
    nodes.append(
        d.Box(
            "registers",
            [d.line("registers", bold=True), (lanes, " lanes")],
            role=gpu.STORE,
        )
    )
    title = "The further out, the larger the pieces: a column costs HBM the most."
    return d.draw(d.flow(*nodes, gap=0), name="wider-outward", title=title)
