"""Drawings of section 3.4: a set, the stack of LRU, and what blocks share at once."""

from stacklib import hardware, models
from stacklib.memory.cache.replacement import misses
from stacklib.pages.memory import caches as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import chosen, counted

__all__ = ["blocks_at_once", "set_of_a_cache", "stack_of_lru"]

TRACE = "ABACBADCAB"
ROOMS = (("room for two", 2), ("room for three", 3), ("room for four", 4))


def set_of_a_cache() -> d.Drawing:
    """How an address finds its line."""
    return scenes.cache_set(page.DEVICE, name="caches-set")


def stacks() -> list[list[str]]:
    """Lines by how lately they were used, as each access finds them."""
    found, now = [], list[str]()
    for key in TRACE:
        found.append([*now])
        now = [key, *(other for other in now if other != key)]
    return found


def stack_of_lru() -> d.Drawing:
    """Ten accesses, and under each the lines by how lately they were used."""
    steps = [(words, _accesses(words, room)) for words, room in ROOMS]
    title = (
        "A line found at place d of the stack is a hit in every cache with more than "
        "d lines."
    )
    return d.draw(steps, name="stack-of-lru", title=title)


def _accesses(words: str, room: int) -> d.Node:
    deepest, found = len(set(TRACE)), stacks()
    held = chosen(room, label=f"lines, {words}")
    count = counted(len, TRACE, label="accesses")
    missed = counted(misses, TRACE, room, "lru", label=f"misses, {words}")
    hit = (count - missed).named(f"hits, {words}")
    inside = [_row(depth, found) for depth in range(room)]
    beyond = [_row(depth, found) for depth in range(room, deepest)]
    parts: list[d.Node] = [
        d.Box(
            "accesses",
            d.line("accesses, one after the other", bold=True),
            d.right_of(*(d.Words(d.line(key, bold=True)) for key in TRACE), even=True),
            role="layer-4",
        ),
        d.Box(
            "cache",
            d.line("lines held, the latest on top: ", held, "; hits: ", hit, bold=True),
            d.below(*inside, gap=3),
            role=gpu.STORE,
        ),
    ]
    if beyond:
        parts.append(
            d.Box("gone", "gone already", d.below(*beyond, gap=3), role="muted")
        )
    return d.below(*parts, gap=5)


def _row(depth: int, found: list[list[str]]) -> d.Node:
    """What stands at one place of the stack, access by access."""
    made: list[d.Node] = []
    for at, (key, stack) in enumerate(zip(TRACE, found, strict=True)):
        mine = stack[depth] if depth < len(stack) else ""
        if not mine:
            made.append(d.Nothing())
        elif mine == key:
            name = f"{key} found at access {at}"
            made.append(d.Box(name, d.line(mine, bold=True), role="layer-4", lit=True))
        else:
            made.append(d.Words(mine))
    return d.right_of(*made, gap=4, even=True)


def blocks_at_once() -> d.Drawing:
    """Which blocks of attention run together, and what keys and values they want."""
    plan = page.attention()
    steps = [
        ("group by group", _wave("group by group", plan.group)),
        ("all heads abreast", _wave("all heads abreast", plan.heads)),
    ]
    title = "The same blocks in another order want more than the L2 holds."
    return d.draw(steps, name="blocks-at-once", title=title, devices=[page.DEVICE])


def spread_over(abreast: int) -> int:
    """Groups that a wave is spread over."""
    return abreast // page.attention().group


def _wave(words: str, abreast: int) -> d.Node:
    chip = hardware.get(page.DEVICE)
    groups = models.get(page.MODEL).size("kv_heads", "groups of heads")
    rows, tiles = round(groups.si), page.TOKENS // page.TILE
    many = spread_over(abreast)
    deep = page.units() // abreast
    lit = frozenset(row * tiles + at for row in range(many) for at in range(deep))
    cells = [
        d.Cells(
            "blocks",
            rows * tiles,
            tiles,
            side=side,
            gap=0.6,
            role=gpu.CHIP,
            lit=lit,
            words="those of one wave lit",
        )
        for side in ((4.5, 11.0), (1.8, 9.0))
    ]
    group = counted(
        page.attention, take="kv_bytes", unit="B", label="keys and values of a group"
    )
    every = group * groups
    spread = counted(spread_over, abreast, label=f"groups, {words}")
    wanted = (group * spread).named(f"keys and values wanted, {words}")
    begin = chosen(0, "B", "begin")
    layer = d.Box(
        "attention",
        [
            d.line("blocks of one layer: a row per group of heads", bold=True),
            (chip.compute_units, " of them run at once, lit"),
        ],
        d.Either(cells[0], cells[1]),
    )
    clips = [
        d.Clip(
            "wanted",
            begin,
            wanted,
            every,
            _bar("they want ", wanted),
            "layer-4",
            grow=0,
        ),
        d.Clip(
            "L2",
            begin,
            chip.l2_capacity,
            every,
            _bar("L2 holds ", chip.l2_capacity),
            gpu.STORE,
        ),
    ]
    return d.below(layer, *clips, gap=9)


def _bar(words: str, size: object) -> list[object]:
    return [(words, d.Shown(size, "MiB", 2))]  # type: ignore[arg-type]
