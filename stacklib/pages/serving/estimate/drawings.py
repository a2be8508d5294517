"""The drawing of section 8.2: two steps, each part as wide as its bytes."""

from __future__ import annotations

from stacklib.pages.serving import estimate as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity

__all__ = ["two_steps"]
WEIGHTS, CACHE = "layer-2", "layer-4"


def two_steps() -> d.Drawing:
    """One reading of the weights, and a cache for each conversation."""
    whole = page.weights(page.CROWD) + page.cache(page.CROWD)
    steps = [_step(batch, whole) for batch in (1, page.CROWD)]
    title = "The weights are read once for everyone, a cache for each."
    scene = d.below(*steps, gap=10)
    return d.draw(scene, name="serving-steps", title=title)


def _step(batch: int, whole: Quantity) -> d.Node:
    """What a step reads, and what comes out."""
    many = stand(page, "batch", batch).named("conversations in the step")
    weights, cache = page.weights(batch), page.cache(batch)
    parts = (("weights", weights, WEIGHTS, True), ("caches", cache, CACHE, True))
    head = d.line("a step of ", many, bold=True)
    told = d.line(
        "weights ",
        d.Shown(weights.named(f"weights, a step of {batch}"), "GB"),
        ", caches ",
        d.Shown(cache.named(f"caches, a step of {batch}"), "GB"),
    )
    bar = d.Bar(f"a step of {batch}", parts, whole, [head, told], 22.0)
    made = d.Cells(f"tokens out of a step of {batch}", batch, (64, 32), 5.0)
    return d.below(bar, made, gap=4)
