"""The drawing of section 4.10: logits through memory, or a winner from each tile."""

from __future__ import annotations

import numpy as np

from stacklib.kernels.rows.noise import gumbel
from stacklib.kernels.rows.sampling_time import PAIR
from stacklib.pages.kernels import sampling as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Name,
    Node,
    Shown,
    Words,
    below,
    chain,
    draw,
    flow,
    grid,
    line,
)
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu, model
from stacklib.quantity import chosen

__all__ = ["through_memory_or_not"]

TILES, EACH, SEED = 4, 8, 5  # drawn: tiles, tokens of each, and the noise


def through_memory_or_not() -> Drawing:
    """Three kernels with two arrays between them, and tiles that keep a winner."""
    steps = [("three kernels", _apart()), ("in tiles", _tiles())]
    title = "The draw is the largest of the tiles' largest; no row need be whole."
    return draw(steps, name="sampling-tiles", title=title, devices=[page.DEVICE])


def _apart() -> Node:
    logits, shares = (page.logits().named(f"{what}, FP32") for what in ("logits", "p"))
    parts = chain(
        Box("product", line("product", bold=True), role=gpu.CHIP),
        Box("logits", ["logits", Shown(logits, "kB")], role=gpu.STORE, lit=True),
        Box("softmax", line("softmax", bold=True), role=gpu.CHIP),
        Box("shares", ["shares", Shown(shares, "kB")], role=gpu.STORE, lit=True),
        Box("sampler", line("draw", bold=True), role=gpu.CHIP),
        Box("token", "token", role=model.TOKEN),
    )
    note = Words([line("lit: in memory, written and read again", role="muted")])
    return below(parts, note, gap=8)


def scores() -> np.ndarray:
    """Logits with noise of the small vocabulary that is drawn."""
    tokens = np.arange(TILES * EACH)
    logits = np.random.default_rng(SEED).standard_normal(len(tokens))
    return np.asarray(logits + gumbel(SEED, tokens))


def _tiles() -> Node:
    found = scores().reshape(TILES, EACH)
    best = found.max(axis=1).argmax()
    tiles = [_tile(at, int(row.argmax()), at == best) for at, row in enumerate(found)]
    pair = chosen(PAIR, "B", label="a score and its token")
    merge = Box(
        "merge",
        [line("the largest of all", bold=True), (pair, " from each tile and row")],
        role=gpu.STORE,
    )
    token = Box("token", "token", role=model.TOKEN, grow=0)
    right = flow(merge, then("merge", "token"), token, gap=2)
    return below(grid(tiles, (4, 2)), right, gap=10)


def _tile(at: int, winner: int, best: bool) -> Node:
    cells = Cells(
        f"tokens of tile {at}",
        EACH,
        EACH,
        side=(12.0, 16.0),
        gap=2.0,
        role=model.TOKEN,
        lit=frozenset({winner}),
        words="logit plus noise for each; the largest is lit",
    )
    words = [line(Name("logits + noise"), bold=best)]
    return Box(f"tile {at}", words, cells, role=gpu.CHIP, lit=best)
