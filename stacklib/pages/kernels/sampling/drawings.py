"""The drawing of section 4.10: logits through memory, or a winner from each tile."""

import numpy as np

from stacklib.kernels.rows.noise import gumbel
from stacklib.pages.kernels import sampling as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu, model
from stacklib.quantity import bytes_per_element

__all__ = ["through_memory_or_not"]

TILES, EACH, SEED = 4, 8, 5  # drawn: tiles, tokens of each, and the noise


def through_memory_or_not() -> d.Drawing:
    """Three kernels with two arrays between them, and tiles that keep a winner."""
    steps = [("three kernels", _apart()), ("in tiles", _tiles())]
    title = "The draw is the largest of the tiles' largest; no row need be whole."
    return d.draw(steps, name="sampling-tiles", title=title, devices=[page.DEVICE])


def _apart() -> d.Node:
    logits, shares = (page.logits().named(f"{what}, FP32") for what in ("logits", "p"))
    parts = d.chain(
        d.Box("product", d.line("product", bold=True), role=gpu.CHIP),
        d.Box("logits", ["logits", d.Shown(logits, "kB")], role=gpu.STORE, lit=True),
        d.Box("softmax", d.line("softmax", bold=True), role=gpu.CHIP),
        d.Box("shares", ["shares", d.Shown(shares, "kB")], role=gpu.STORE, lit=True),
        d.Box("sampler", d.line("draw", bold=True), role=gpu.CHIP),
        d.Box("token", "token", role=model.TOKEN),
    )
    note = d.Words([d.line("lit: in memory, written and read again", role="muted")])
    return d.below(parts, note, gap=8)


def scores() -> np.ndarray:
    """Logits with noise of the small vocabulary that is drawn."""
    tokens = np.arange(TILES * EACH)
    logits = np.random.default_rng(SEED).standard_normal(len(tokens))
    return np.asarray(logits + gumbel(SEED, tokens))


def _tiles() -> d.Node:
    found = scores().reshape(TILES, EACH)
    best = found.max(axis=1).argmax()
    winners = [int(row.argmax()) for row in found]
    pair = (2 * bytes_per_element("fp32")).named("a score and its token")
    merge = d.Box(
        "merge",
        [d.line("the largest of all", bold=True), (pair, " from each tile and row")],
        role=gpu.STORE,
    )
    token = d.Box("token", "token", role=model.TOKEN, grow=0)
    right = d.flow(merge, then("merge", "token"), token, gap=2)
    kept = [
        d.Edge(f"tokens of tile {at}[{w}]", "merge", arrow="end", lit=at == best)
        for at, w in enumerate(winners)
    ]
    wide, phone = (
        d.joined(d.below(d.right_of(*tiles, gap=6, even=True), right, gap=34), *kept)
        for tiles in (
            [_tile(at, w, at == best, side) for at, w in enumerate(winners)]
            for side in (12.0, 6.0)
        )
    )
    return d.Either(wide, phone)


def _tile(at: int, winner: int, best: bool, side: float) -> d.Node:
    cells = d.Cells(
        f"tokens of tile {at}",
        EACH,
        EACH,
        side=(side, 16.0),
        gap=2.0,
        role=model.TOKEN,
        lit=frozenset({winner}),
        words="logit plus noise for each; the largest is lit",
    )
    words = [d.line(d.Name(word), bold=best) for word in ("logits", "+ noise")]
    return d.Box(f"tile {at}", words, cells, role=gpu.CHIP, lit=best)
