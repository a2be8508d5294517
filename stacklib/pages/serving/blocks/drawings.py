"""The drawing of section 8.3: three tables over one pool of blocks."""

from typing import Any

from stacklib.pages.serving import blocks as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import chosen, counted

__all__ = ["three_tables"]
STEP, SIZE = 12, page.chain.posts.DRAWN
ROLES = {"A": "layer-2", "B": "layer-4", "C": "layer-6"}


def three_tables() -> d.Drawing:
    """Who owns which block of a small pool, after twelve steps of the live figure."""
    pool, live, _ = page.replay(STEP, SIZE)
    shared = {block for block in range(page.POOL) if len(pool.table(block).owners) > 1}
    tables = []
    for who, role in ROLES.items():
        blocks = live[who].blocks
        told = [
            d.line(f"table of {who}", bold=True),
            (counted(len, live[who], label=f"tokens of {who}"), " tokens"),
        ]
        lit = {n for n, block in enumerate(blocks) if block in shared}
        entries = d.Cells(
            f"entries of {who}",
            len(blocks),
            side=(22.0, 12.0),
            role=role,
            lit=frozenset(lit),
            words="a block's number each; lit where it is shared",
        )
        tables.append(d.Box(f"table of {who}", told, entries, role=role))
    own = [
        _cells(f"blocks of {who} alone", live[who].blocks, shared, role)
        for who, role in ROLES.items()
    ]
    both = d.Cells(
        "shared blocks",
        len(shared),
        side=(22.0, 12.0),
        role="layer-3",
        lit=frozenset(range(len(shared))),
        words="read by two or three tables",
    )
    free = d.Cells(
        "free blocks",
        pool.stats().free,
        side=(22.0, 12.0),
        role="muted",
        columns=(6, 3),
        words="nobody's",
    )
    groups = {"A alone": own[0], "shared": both, "B alone": own[1], "C alone": own[2]}
    parts = [
        d.below(cells, d.Words([word]), gap=4, grow=0)
        for word, cells in (groups | {"free": free}).items()
    ]
    whole = chosen(page.POOL, label="blocks of the small pool")
    size = stand(page, "size", SIZE).named("slots of a small block")
    words = ("one pool: ", whole, " blocks of ", size, " tokens")

    def edges(*ports: str) -> list[d.Edge]:
        look: Any = {"arrow": "end", "straight": True, "ports": ports, "full": whole}
        found = []
        for (who, role), mine in zip(ROLES.items(), own, strict=True):
            many = len(shared & set(live[who].blocks))
            for cells, count in ((mine, mine.count), (both, many)):
                rate = chosen(count, label="blocks")
                ends = f"entries of {who}", cells.name
                found.append(d.Edge(*ends, rate=rate, role=role, **look))
        return found

    wide = d.below(
        d.right_of(*tables, gap=10, even=True),
        d.Box("pool", [], d.below(d.right_of(*parts, gap=30), d.Words([words]))),
        gap=48,
    )
    pool_ = d.Box("pool", [], d.below(*parts, d.Words([words[:2], words[2:]]), gap=14))
    left = (d.with_(table, grow=0) for table in tables)
    phone = d.right_of(d.below(*left, d.Nothing(), gap=14), pool_, gap=30)
    return d.draw(
        d.Either(
            d.joined(wide, *edges("foot", "top"), crossings=1),
            d.joined(phone, *edges("right", "left"), crossings=1),
        ),
        name="block-tables",
        title="Three tables, one pool: who begins alike reads the same blocks.",
        devices=[page.DEVICE],
    )


def _cells(name: str, blocks: list[int], shared: set[int], role: str) -> d.Cells:
    own = [block for block in blocks if block not in shared]
    return d.Cells(name, len(own), side=(22.0, 12.0), role=role, columns=(3, 3))
