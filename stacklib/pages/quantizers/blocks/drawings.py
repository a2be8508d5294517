"""Drawings of section 7.3: blocks in memory, and the two levels of NVFP4."""

from stacklib.pages.quantizers import blocks as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen
from stacklib.quantizers.scheme import fact

__all__ = ["bytes_of_blocks", "two_levels"]
NUMBERS = 64
SIDE = (13.0, 18.0)  # of a byte


def bytes_of_blocks() -> d.Drawing:
    """The same numbers in both formats of four bits, byte by byte."""
    mx = [_run(f"block {n}", 1, 16) for n in (1, 2)]
    nv = [_run("blocks of NVFP4", 4, 32)]
    title = "A scale of a byte before its numbers, two of them to a byte."
    rows = d.below(_format("mxfp4", mx), _format("nvfp4", nv), gap=12)
    return d.draw(rows, name="q-block-bytes", title=title)


def _run(name: str, scales: int, codes: int) -> d.Node:
    scale = d.Cells(
        f"scales, {name}",
        scales,
        side=SIDE,
        role="layer-6",
        words="a byte each",
    )
    code = d.Cells(
        f"codes, {name}",
        codes,
        (codes, 16),
        side=SIDE,
        role="layer-4",
        words="two numbers to a byte",
    )
    return d.right_of(scale, code, gap=4, grow=0)


def _format(scheme: str, runs: list[d.Node]) -> d.Box:
    block = fact(scheme, "block", label=f"numbers of a block, {scheme}")
    drawn = d.Shown(chosen(NUMBERS, label="numbers drawn"))
    told = [
        d.line(
            scheme.upper(), ": ", d.Shown(page.bits(scheme), "bit"), " each", bold=True
        ),
        (
            d.Shown(page.packed(scheme), "B"),
            " for ",
            drawn,
            " numbers, a scale for every ",
            block,
        ),
    ]
    return d.Box(scheme, told, d.flow(*runs, gap=8), role="layer-3")


def two_levels() -> d.Drawing:
    """Of a number in NVFP4: three factors, and who shares each."""
    ends = [
        fact(name, "largest", label=f"largest number of {name}, NVFP4")
        for name in ("e4m3fn", "e2m1")
    ]
    block = fact("nvfp4", "block", label="numbers of a block, nvfp4")
    tensor = d.Box(
        "scale of the tensor",
        [d.line("one scale for the tensor", bold=True), "in FP32"],
        d.Cells("one", 1, side=(16.0, 14.0), role="layer-2", lit=frozenset({0})),
        role="layer-2",
    )
    scales = d.Cells(
        "scales of blocks", 16, side=(16.0, 14.0), role="layer-6", lit=frozenset({5})
    )
    codes = d.Cells(
        "numbers of a block", 16, side=(16.0, 14.0), role="layer-4", lit=frozenset({9})
    )
    middle = d.Box(
        "E4M3",
        [d.line("a scale for each block", bold=True), ("in E4M3, up to ", ends[0])],
        scales,
        role="layer-6",
    )
    inner = d.Box(
        "E2M1",
        [
            d.line("a code for each number", bold=True),
            ("in E2M1, up to ", ends[1], ", ", block, " to a block"),
        ],
        codes,
        role="layer-4",
    )
    note = d.Words([d.line("a number is the product of all three", role="muted")])
    title = "The second level keeps the scales of blocks inside E4M3."
    scene = d.below(
        tensor,
        d.Opened("one[0]", "E4M3"),
        middle,
        d.Opened("scales of blocks[5]", "E2M1"),
        inner,
        note,
        gap=2,
    )
    return d.draw(scene, name="q-nvfp4", title=title)
