"""A product on a card of tiles.

level: derive
project: P9.6

Tenstorrent's cards are a grid of cores, each with its own memory and links to its four
neighbours. Multiply matrices cut into tiles, `m` x `k` tiles by `k` x `n`, on `rows` x
`cols` cores that divide `m` and `n`: each core makes its block of `m / rows` by
`n / cols` tiles of the result. Memory is at the left edge for the first matrix and at
the upper edge for the second. A tile goes from core to core, a link at a time.

- `fetched(m, n, k, rows, cols, shared)`: tiles that leave memory. Not `shared`: each
  core fetches each tile that its block needs, once. `shared`: a tile leaves memory
  once, and the cores of its row, or of its column, pass it on.
- `links(m, n, k, rows, cols, shared)`: links that tiles cross between cores, in all.
  The core at the edge has a tile from memory without crossing a link.
- `done(read, work, tiles, slots)`: cycles of a kernel on one core. A reader puts pairs
  of tiles into a circular buffer of `slots` places, `read` cycles each; the arithmetic
  takes one out when it has finished with it, after `work` cycles. The reader begins a
  pair when a place is free. `tiles` pairs pass.

hint: Draw a row of cores. Alone, the last one's tile crosses all links before it, and
so does every other one's; passed on, each link is crossed once. For the buffer write
down when pair i begins: two things must have happened.
"""

from collections import Counter

from stacklib.grading import expect
from stacklib.kernels.schedule.pipeline import Stage, pipeline

# ---- your answer ----


def fetched(m, n, k, rows, cols, shared):
    """Tiles out of memory."""
    return m * k * (1 if shared else cols) + k * n * (1 if shared else rows)


def links(m, n, k, rows, cols, shared):
    """Links crossed, by both matrices."""
    across = cols - 1 if shared else cols * (cols - 1) // 2
    down = rows - 1 if shared else rows * (rows - 1) // 2
    return m * k * across + k * n * down


def done(read, work, tiles, slots):
    """Cycles until the last pair is multiplied."""
    there, out = [], []
    for i in range(tiles):
        free = out[i - slots] if i >= slots else 0
        there.append(max(there[-1] if there else 0, free) + read)
        out.append(max(out[-1] if out else 0, there[i]) + work)
    return out[-1]


# ---- tests ----


def walked(m, n, k, rows, cols, shared):
    """Tiles and links, core by core."""
    tiles, crossed = 0, Counter()
    for many, far, lines in ((m * k // rows, cols, rows), (k * n // cols, rows, cols)):
        for line in range(lines):
            for core in range(far):
                tiles += many if core == 0 or not shared else 0
                first = core - 1 if shared and core else 0
                for at in range(first, core):
                    crossed[line, at] += many
    return tiles, sum(crossed.values())


GRIDS = [
    {"m": m, "n": n, "k": k, "rows": r, "cols": c, "shared": shared}
    for m, n, k, r, c in ((4, 6, 5, 2, 3), (10, 12, 8, 10, 12), (3, 3, 1, 1, 3))
    for shared in (False, True)
]


def test_fetched():
    def right(**case):
        return walked(**case)[0]

    told = {
        "A tile of the first matrix serves a row of cores: one for each column.": (
            lambda m, n, k, rows, cols, shared: (
                m * k * (1 if shared else rows) + k * n * (1 if shared else cols)
            )
        ),
        "Shared, a tile leaves memory once, not once for every core.": (
            lambda m, n, k, rows, cols, shared: m * k * cols + k * n * rows
        ),
    }
    expect.function_matches(fetched, right, GRIDS, rel=1e-9, mistakes=told)


def test_links():
    def right(**case):
        return walked(**case)[1]

    told = {
        "Alone, the tile of core c crosses c links: add them up.": (
            lambda m, n, k, rows, cols, shared: m * k * (cols - 1) + k * n * (rows - 1)
        ),
        "The core at the edge has its tile without a link.": (
            lambda m, n, k, rows, cols, shared: (
                m * k * (cols if shared else cols * (cols + 1) // 2)
                + k * n * (rows if shared else rows * (rows + 1) // 2)
            )
        ),
    }
    expect.function_matches(links, right, GRIDS, rel=1e-9, mistakes=told)


def stepped(read, work, tiles, slots):
    stages = [Stage("reader", read, "reader"), Stage("compute", work, "compute")]
    return pipeline(stages, tiles, buffers=slots).time


def test_done():
    cases = [
        {"read": r, "work": w, "tiles": t, "slots": s}
        for r, w in ((119, 32), (30, 32), (7, 7))
        for t, s in ((1, 1), (9, 1), (9, 2), (20, 4))
    ]
    told = {
        "With one place reader and arithmetic take turns.": (
            lambda read, work, tiles, slots: (tiles - 1) * max(read, work) + read + work
        ),
        "With two places one is filled while the other is used.": (
            lambda read, work, tiles, slots: tiles * (read + work)
        ),
    }
    expect.function_matches(done, stepped, cases, unit="cycle", rel=1e-9, mistakes=told)
