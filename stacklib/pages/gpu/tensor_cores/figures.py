"""Tensor cores that are fed: loads above, products below, in cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stacklib.gpu.tensor.tile_feed import Feed, Step
from stacklib.plots.marks import Mark, Spec, axis, bar, chart


def feed_spec(
    rows: Sequence[tuple[Feed, Sequence[Step]]],
    *,
    title: str,
    names: Sequence[str],
    end: float,
) -> Spec:
    """Tensor cores fed in several ways, up to cycle ``end``: loads above, products
    below, of feeds and what ``run_feed`` made of them."""
    marks: list[Mark] = []
    top = 3 * len(rows)
    for number, (feed, ran) in enumerate(rows):
        base = top - 3 * number
        marks += _fed(feed, ran, base, end)
    middles = [top - 3 * number - 1.5 for number in range(len(rows))]
    return chart(
        title,
        x=axis("Cycle", limits=[0, end]),
        y=axis("Way of feeding", ticks=middles, names=names, limits=[0.3, top - 0.3]),
        marks=marks,
    )


def _fed(feed: Feed, ran: Sequence[Step], base: float, end: float) -> Iterator[Mark]:
    latency = float(getattr(feed.latency, "si", feed.latency))
    for step in ran:
        loading, working = (step.load, step.there - latency), (step.start, step.end)
        for kind, (start, stop) in enumerate((loading, working)):
            if start < end:
                yield _piece(start, min(stop, end), kind, base - 1 - kind)


def _piece(start: float, stop: float, kind: int, row: float) -> Mark:
    name, series = (("loads", 1), ("products", 0))[kind]
    gap = min(40.0, (stop - start) / 4)  # so that neighbours can be told apart
    start, stop = start + gap, stop - gap
    return bar(start, stop, row, name, "simulated", at="key", series=series)
