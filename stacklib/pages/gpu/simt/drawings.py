"""Drawings of section 2.2: lanes at a branch, and a tile that is read too early."""

from stacklib.plots import drawing as d
from stacklib.quantity import chosen, counted

__all__ = ["a_tile_read_too_early", "lanes_at_a_branch"]
LANES = frozenset(range(32))
ALIKE = 4  # lanes in a row that take the same path
TAKEN = frozenset(i for i in LANES if i // ALIKE % 2 == 0)
SIDE = 8  # of the tile that is drawn


def lanes_at_a_branch() -> d.Drawing:
    """A warp of 32 lanes whose neighbours take different paths."""
    steps = [
        ("load", _warp("dst = src[i]", LANES)),
        ("if", _warp("if even: dst = 2 * dst + 1", TAKEN)),
        ("else", _warp("else: dst = 3 * dst - 1", LANES - TAKEN)),
        ("store", _warp("out[i] = dst", LANES)),
    ]
    title = "Both sides of a branch are issued; each with the lanes that took it."
    return d.draw(steps, name="simt-branch", title=title, devices=["h100-sxm"])


def _warp(text: str, lit: frozenset[int]) -> d.Node:
    active = counted(len, sorted(lit), label="active lanes")
    waits = counted(len, sorted(LANES - lit), label="lanes that wait")
    code = d.Box("instruction", d.line(d.Name(text), bold=True), role="layer-6")
    lanes = d.Cells(
        "lanes",
        32,
        (32, 16),
        side=(14.0, 20.0),
        gap=3.0,
        role="layer-3",
        lit=lit,
        dark=LANES - lit,
        words="active lanes are lit",
    )
    warp = d.Box("warp", d.line("one warp, one instruction"), lanes, role="layer-3")
    said = d.Box("account", [(active, " active, ", waits, " wait")], role="muted")
    return d.below(code, warp, said, gap=7)


def a_tile_read_too_early() -> d.Drawing:
    """A tile in shared memory: written by rows, read down a column."""
    steps = [
        ("without a barrier", _tile(3, early=True)),
        ("after the barrier", _tile(SIDE, early=False)),
    ]
    title = "Only a barrier says that the rows of other warps are there."
    return d.draw(steps, name="simt-race", title=title, devices=["h100-sxm"])


def _tile(written: int, early: bool) -> d.Node:
    rows = chosen(written, label="rows written")
    whole = chosen(SIDE, label="rows of the tile drawn")
    full = frozenset(range(written * SIDE))
    tile = d.Cells(
        "tile",
        SIDE * SIDE,
        SIDE,
        side=14.0,
        gap=3.0,
        role="layer-2",
        lit=full,
        dark=frozenset(range(SIDE * SIDE)) - full,
        words="rows that have been written are lit",
    )
    writers = d.Box(
        "writers",
        [
            d.line("each warp writes a row", bold=True),
            (rows, " of ", whole, " are there"),
        ],
        role="layer-3",
    )
    wrong = ["reads a column", "of rows that are not there"]
    right = ["reads a column", "that is complete"]
    reader = d.Box(
        "reader",
        [d.line("one warp", bold=True), *(wrong if early else right)],
        role="layer-6" if early else "layer-4",
        lit=early,
    )
    store = d.Box(
        "shared memory", d.line("shared memory", bold=True), tile, role="layer-2"
    )
    return d.flow(writers, store, reader, gap=10)
