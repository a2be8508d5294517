"""Drawings of section 3.5: bands of a tile, what fits an SM, what a wave shares."""

from itertools import islice

from stacklib import hardware
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.fit import fit_tile
from stacklib.memory.tile.tiling import tile_traffic
from stacklib.pages.memory import caches
from stacklib.pages.memory import tiling as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, model
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted

__all__ = ["bands_of_a_tile", "what_a_wave_shares", "what_fits"]

SMALL = 16  # rows and columns of the small product that is drawn
SIDES = (("a tile of one number", 1), ("four by four", 4), ("eight by eight", 8))
ORDERS = (("row by row", 1), ("in low bands", 4), ("in square bands", 12))
TILES = (("a square", 128, 128), ("a rectangle", 128, 256), ("too large", 192, 192))
DEVICE = "h100-sxm"


def bands_of_a_tile() -> d.Drawing:
    """One tile of the result and the two bands that it needs, for three sizes."""
    steps = [(words, _product(words, side)) for words, side in SIDES]
    title = "A tile of the result wants a band of each matrix, and nothing else."
    return d.draw(steps, name="bands-of-a-tile", title=title)


def _square(name: str, lit: frozenset[int], role: str) -> d.Node:
    cells = d.Cells(name, SMALL * SMALL, SMALL, side=7.0, gap=1.3, role=role, lit=lit)
    return d.below(d.Words(d.line(name, bold=True)), cells, gap=3, grow=0)


def _product(words: str, side: int) -> d.Node:
    first = SMALL // 2 if side < SMALL // 2 else 0
    band = range(first, first + side)
    every = range(SMALL)
    rows = frozenset(r * SMALL + c for r in band for c in every)
    columns = frozenset(r * SMALL + c for r in every for c in band)
    whole, edge = chosen(SMALL, label="rows of the small product"), chosen(side)
    edge = edge.named(f"side of the tile, {words}")
    tiles = (whole * whole / (edge * edge)).named(f"tiles, {words}")
    each = (edge * whole * chosen(2, label="bands")).named(f"numbers of both, {words}")
    read = (tiles * each).named(f"numbers read, {words}")
    assert read.si == tile_traffic(SMALL, SMALL, SMALL, side, side) - SMALL * SMALL
    told = d.Box(
        "count",
        [
            (tiles, " tiles"),
            ("each reads ", each),
            d.line("in all ", read, bold=True),
        ],
        role="muted",
        grow=0,
    )
    upper = d.right_of(told, _square("W", columns, model.WEIGHT), gap=12, even=True)
    lower = d.right_of(
        _square("X", rows, model.TOKEN),
        _square("result", rows & columns, gpu.CHIP),
        gap=12,
        even=True,
    )
    return d.below(upper, lower, gap=8)


def what_fits() -> d.Drawing:
    """What a block of one SM holds: steps of its operands, and its sums."""
    steps = [(words, _held(words, a, b)) for words, a, b in TILES]
    title = "The sums fill their part of the registers before the operands fill theirs."
    return d.draw(steps, name="what-fits", title=title, devices=[DEVICE])


def _held(words: str, rows: int, columns: int) -> d.Node:
    tile = fit_tile(DEVICE, rows, columns)
    sides = (("tile_m", rows), ("tile_n", columns))
    down, across = (stand(page, c, n).named(f"side, {words}") for c, n in sides)
    parts = [
        ("shared memory", "operands staged", tile.staged, tile.store.staging),
        ("registers for sums", "sums", tile.sums, tile.store.sums),
    ]
    made: list[d.Node] = []
    begin = chosen(0, "B", "begin")
    for place, what, held, room in parts:
        most = fit_tile(DEVICE, 192, 192).sums if place != "shared memory" else room
        over, room = held.si > room.si, room.named(f"room for {what}")
        most = most.named(f"scale of {what}")
        amount = held.named(f"{what}, {words}")
        clips = d.below(
            d.Clip(
                f"{what} held",
                begin,
                amount,
                most,
                [(f"{what}: ", d.Shown(amount, "KiB"))],
                "layer-6" if over else "layer-4",
                grow=0,
            ),
            d.Clip(
                f"{place}, room",
                begin,
                room,
                most,
                [("room: ", d.Shown(room, "KiB"))],
                gpu.STORE,
                grow=0,
            ),
            gap=5,
        )
        made.append(
            d.Box(place, d.line(place, bold=True), clips, role=gpu.STORE, lit=over)
        )
    head = d.Words(
        [
            d.line(
                "tile of ",
                down,
                " x ",
                across,
                ": ",
                tile.intensity.named(f"intensity, {words}"),
                bold=True,
            )
        ]
    )
    return d.below(head, d.right_of(*made, gap=10, even=True), gap=6)


def what_a_wave_shares() -> d.Drawing:
    """The tiles that run at once in three orders, and the bands that they want."""
    steps = [(words, _wave(words, group)) for words, group in ORDERS]
    title = "Tiles that run at once share bands: the squarer the wave, the fewer."
    return d.draw(steps, name="what-a-wave-shares", title=title, devices=[DEVICE])


def bands_wanted(plan: TiledMatmul, group: int) -> int:
    """Bands of both matrices that the first wave wants."""
    wave = _first(plan, group)
    return len({i for i, _ in wave}) + len({j for _, j in wave})


def _first(plan: TiledMatmul, group: int) -> list[tuple[int, int]]:
    return list(islice(plan.order("grouped", group), caches.units()))


def _wave(words: str, group: int) -> d.Node:
    plan, units = caches.product(), hardware.get(DEVICE).compute_units
    down, across = plan.grid
    wave = _first(plan, group)
    lit = frozenset(i * across + j for i, j in wave)
    rows, columns = frozenset(i for i, _ in wave), frozenset(j for _, j in wave)
    wanted = counted(bands_wanted, plan, group, label=f"bands wanted, {words}")
    alone = (units * chosen(2, label="bands of a tile")).named("bands, tile by tile")
    saved: Quantity = (alone / wanted).named(f"times fewer, {words}")
    made = []
    for wide, high in ((6.2, 3.2), (3.3, 2.6)):
        gap = 0.7
        top = d.Cells(
            "bands of W", across, across, (wide, 9.0), gap, model.WEIGHT, columns
        )
        left = d.Cells("bands of X", down, 1, (9.0, high), gap, model.TOKEN, rows)
        tiles = d.Cells(
            "tiles", down * across, across, (wide, high), gap, gpu.CHIP, lit
        )
        made.append(
            d.below(
                d.right_of(d.Nothing((9.0, 9.0), grow=0), top, gap=6),
                d.right_of(left, tiles, gap=6),
                gap=6,
            )
        )
    told = d.Box(
        "wanted",
        [
            d.line(units, " tiles run at once and want ", wanted, " bands", bold=True),
            (
                "not ",
                alone,
                ", one pair each: ",
                d.Shown(saved, None, 2),
                " times fewer",
            ),
        ],
        role="muted",
    )
    return d.below(d.Either(made[0], made[1]), told, gap=8)
