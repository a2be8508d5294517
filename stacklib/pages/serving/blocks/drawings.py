"""The drawing of section 8.3: three tables over one pool of blocks."""

from stacklib.pages.serving import blocks as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["three_tables"]
STEP, SIZE = 12, 4
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
            (chosen(len(live[who]), label=f"tokens of {who}"), " tokens"),
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
        columns=(6, 6),
        words="nobody's",
    )
    inside = d.flow(
        *(
            d.below(d.Words([words]), cells, gap=4, grow=0)
            for words, cells in (
                ("A alone", own[0]),
                ("B alone", own[1]),
                ("C alone", own[2]),
                ("shared", both),
                ("free", free),
            )
        ),
        gap=10,
    )
    words = (
        "one pool: ",
        chosen(page.POOL, label="blocks of the small pool"),
        " blocks of ",
        chosen(SIZE, label="slots of a small block"),
        " tokens",
    )
    return d.draw(
        d.below(
            d.flow(*tables, gap=10, even=True), d.Box("pool", [words], inside), gap=10
        ),
        name="block-tables",
        title="Three tables, one pool: who begins alike reads the same blocks.",
        devices=[page.DEVICE],
    )


def _cells(name: str, blocks: list[int], shared: set[int], role: str) -> d.Cells:
    own = [block for block in blocks if block not in shared]
    return d.Cells(name, len(own), side=(22.0, 12.0), role=role, columns=(3, 3))
