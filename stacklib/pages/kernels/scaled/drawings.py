"""Drawing of section 4.8: scales beside their blocks, and packed for the hardware."""

from stacklib.kernels.scaled.scale_layout import scale_offset
from stacklib.pages.kernels import scaled as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import model
from stacklib.quantity import chosen, counted, one_of
from stacklib.quantity.stored import stored

__all__ = ["packed_scales"]
TOLD = {"one row": (5,), "one lane": (5, 37, 69, 101)}


def packed_scales() -> d.Drawing:
    """A tile's rows and blocks, its scales, and where they lie when packed."""
    steps = [(words, _tile(words, rows)) for words, rows in TOLD.items()]
    title = (
        "Four rows that lie a quarter of a tile apart share a lane of sixteen bytes."
    )
    return d.draw(steps, name="packed-scales", title=title, devices=["b200-sxm"])


def _tile(words: str, rows: tuple[int, ...]) -> d.Node:
    blocks, whole = range(page.BLOCKS), round(page.tile().value)
    wide = page.offset(1).named("bytes")
    lit = frozenset(row * page.BLOCKS + block for row in rows for block in blocks)
    numbers = d.Cells(
        "blocks of numbers",
        whole,
        page.BLOCKS,
        side=(34.0, 1.7),
        gap=0.5,
        role=model.TOKEN,
        lit=lit,
        words="rows down, a cell a block",
    )
    scales = d.Cells(
        "their scales",
        whole,
        page.BLOCKS,
        side=(7.0, 1.7),
        gap=0.5,
        role="layer-6",
        lit=lit,
        words="a byte a block",
    )
    places = [scale_offset(row, block, page.BLOCKS) for row in rows for block in blocks]
    packed = d.Cells(
        "packed scales",
        whole,
        round(wide.si),
        side=(8.0, 7.0),
        gap=1.2,
        role="layer-6",
        lit=frozenset(places),
        words="a row a lane of sixteen bytes",
    )
    block = counted(stored, "mxfp8", take="block", label="a block")
    down = page.tile() / chosen(page.BLOCKS, "B", label="a row")
    lanes = (page.tile() / (wide * one_of("B"))).named("lanes")
    left = d.Box(
        "as they are quantized",
        [
            d.line("numbers and scales", bold=True),
            (down.named("rows"), " rows, blocks of ", block),
        ],
        flow_pair(numbers, scales),
        role="muted",
    )
    right = d.Box(
        "as they are read",
        [d.line("packed", bold=True), (lanes, " lanes of ", wide, " bytes")],
        packed,
        role="muted",
    )
    told: list[object] = ["first bytes of the rows that are lit: "]
    for at, row in enumerate(rows):
        told += [", "] if at else []
        told += [page.offset(row)]
    note = d.Box("offsets", [tuple(told)], role="muted", grow=0)
    return d.below(d.flow(left, right, gap=12), note, gap=8)


def flow_pair(numbers: d.Node, scales: d.Node) -> d.Node:
    """Numbers, and their scales right beside them on both canvases."""
    from stacklib.plots.drawing import right_of

    return right_of(numbers, scales, gap=8, grow=0)
