"""The drawing of section 8.7: a draft, a rejection, and blocks that go back."""

from __future__ import annotations

from typing import Any

from stacklib.pages.chain.posts import DRAWN as BLOCK
from stacklib.pages.serving import speculation as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import chosen

__all__ = ["a_rejection"]
KEPT, READ = 1, 7  # of the drafted tokens, and tokens before them
SMALL, LARGE, TEXT = "layer-4", "layer-2", "layer-6"


def a_rejection() -> d.Drawing:
    """Four tokens are drafted, one is kept, and a block of the cache is free again."""
    title = "What is rejected leaves the text, and its blocks leave the cache."
    parts = d.below(_writes(), _cache(), gap=14)
    return d.draw(parts, name="s-speculation-rejection", title=title, devices=[])


def _tokens(name: str, count: int, role: str, words: str, **of: Any) -> d.Node:
    return d.Cells(name, count, role=role, side=(18.0, 12.0), gap=3, words=words, **of)


def _writes() -> d.Node:
    drafted = page.DRAFTED
    length = stand(page, "drafted", drafted).named("drafted tokens")
    rows = (length + 1).named("rows of a pass")
    gone = frozenset(range(KEPT + 1, drafted))
    return d.chain(
        d.Box(
            "small model",
            [
                d.line("a small model writes", bold=True),
                (length, " tokens, in ", length, " steps"),
            ],
            _tokens("drafted", drafted, SMALL, "drafted tokens"),
            role=SMALL,
        ),
        d.Box(
            "large model",
            [d.line("the large one checks", bold=True), (rows, " rows, in one pass")],
            _tokens("rows", drafted + 1, LARGE, "rows of the pass"),
            role=LARGE,
        ),
        d.Box(
            "text",
            [d.line("the text goes on", bold=True), "one kept, one drawn again"],
            d.right_of(
                _tokens("kept", KEPT, SMALL, "kept", lit=frozenset({0})),
                _tokens("drawn again", 1, LARGE, "drawn again", lit=frozenset({0})),
                _tokens(
                    "dropped",
                    len(gone),
                    SMALL,
                    "dropped",
                    dark=frozenset(range(len(gone))),
                ),
                gap=3,
                grow=0,
            ),
            role=TEXT,
        ),
    )


def _cache() -> d.Node:
    size = chosen(BLOCK, label="tokens of a drawn block")
    most = READ + page.DRAFTED
    return d.flow(
        _blocks("while it is checked", most, ["blocks of ", size, " tokens"]),
        _blocks("after", READ + KEPT, ["the last one is free"]),
        gap=14,
        even=True,
    )


def _blocks(when: str, held: int, words: list) -> d.Node:
    total = -(-(READ + page.DRAFTED) // BLOCK)
    blocks = []
    for number in range(total):
        first = number * BLOCK
        full = [n for n in range(BLOCK) if first + n < held]
        drafts = frozenset(n for n in full if first + n >= READ)
        empty = frozenset(range(BLOCK)) - frozenset(full)
        name = f"block {number + 1}, {when}"
        cells = d.Cells(
            f"tokens of {name}",
            BLOCK,
            side=(13.0, 10.0),
            gap=2,
            role=SMALL if drafts else TEXT,
            lit=drafts,
            dark=empty,
            words="tokens in the cache",
        )
        free = not full
        blocks.append(d.Box(name, None, cells, role="muted" if free else TEXT, grow=0))
    told = [d.line(f"the large model's cache, {when}", bold=True), tuple(words)]
    return d.Box(when, told, d.right_of(*blocks, gap=6, grow=0), role="muted")
