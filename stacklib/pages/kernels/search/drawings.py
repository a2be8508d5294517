"""The drawing of section 4.11: the loop of a search, and where four look next."""

from stacklib.pages.kernels import search as page
from stacklib.plots import drawing as d

__all__ = ["the_loop"]
SIDE = len(page.SPACE["tile_n"])  # tiles across and down, of one ``tile_m``
HERE, MOTHER, FATHER = (4, 3), (1, 6), (6, 2)  # rows and columns of tiles that were met


def the_loop() -> d.Drawing:
    """Propose, compile, measure, keep; and where each method proposes from."""
    loop = d.chain(
        d.Box(
            "propose",
            [d.line("propose", bold=True), "a tile"],
            lit=True,
            role="layer-4",
        ),
        d.Box("compile", "compile"),
        d.Box("measure", "measure"),
        d.Box("keep", ["keep the faster,", "and propose again"]),
    )
    again = (
        d.Edge("keep", "propose", arrow="end", ports=(side, side), role="muted")
        for side in ("top", "right")
    )
    wide, phone = (
        d.joined(loop, edge, margin=room)
        for edge, room in zip(again, ((0.0, 18.0), (20.0, 0.0)), strict=True)
    )
    every = {(row, column) for row in range(SIDE) for column in range(SIDE)}
    row, column = HERE
    around = {
        (row + 1, column),
        (row - 1, column),
        (row, column + 1),
        (row, column - 1),
    }
    crossed = {(r, c) for r in (MOTHER[0], FATHER[0]) for c in (MOTHER[1], FATHER[1])}
    ways = [
        _way("random", every, set(), "anywhere"),
        _way("hill-climb", around, {HERE}, "one step from the best"),
        _way(
            "evolutionary", _near(crossed), {MOTHER, FATHER}, "a cross of two good ones"
        ),
        _way("guided", {(row, column + 1)}, {HERE}, "where the profile points"),
    ]
    told = d.Box(
        "next", d.line("where the next tile may lie", bold=True), d.grid(ways, (4, 2))
    )
    note = d.Words(
        [d.line("full: proposed from; tinted: may be proposed", role="muted")]
    )
    title = "Four searches differ in where the next tile may lie, and in nothing else."
    scene = d.below(d.Either(wide, phone), d.Opened("propose", "next"), told, note)
    return d.draw(scene, name="search-loop", title=title)


def _near(places: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Places and their neighbours: children are crossed, then mutated."""
    steps = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    return {(r + a, c + b) for r, c in places for a, b in steps}


def _way(
    method: str, may: set[tuple[int, int]], known: set[tuple[int, int]], words: str
) -> d.Node:
    def at(places: set[tuple[int, int]]) -> frozenset[int]:
        return frozenset(row * SIDE + column for row, column in places)

    every = frozenset(range(SIDE * SIDE))
    cells = d.Cells(
        f"tiles, {method}",
        SIDE * SIDE,
        SIDE,
        side=9.0,
        gap=1.5,
        role="layer-4",
        lit=at(known),
        dark=every - at(may) - at(known),
        words=words,
    )
    return d.Box(method, [d.line(method, bold=True), *_folded(words)], cells)


def _folded(words: str) -> list[str]:
    """Two lines of about the same length."""
    parts = words.split()
    cut = (len(parts) + 1) // 2
    return [" ".join(parts[:cut]), " ".join(parts[cut:]) or "at all"]
