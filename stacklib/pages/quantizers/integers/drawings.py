"""The drawing of section 7.2: an outlier channel, and whose scale it sets."""

from stacklib.pages.quantizers import integers as page
from stacklib.plots import drawing as d

__all__ = ["whose_scale"]
TOKENS, CHANNELS, LARGE = 8, 16, 5  # drawn, and the channel that is large


def whose_scale() -> d.Drawing:
    """Inputs of a layer: tokens down, channels across; three ways to share."""
    column = {token * CHANNELS + LARGE for token in range(TOKENS)}
    told = {
        "one for the tensor": ("layer-6", set(range(TOKENS * CHANNELS))),
        "one for each token": (
            "layer-3",
            {LARGE // CHANNELS + i for i in range(CHANNELS)},
        ),
        "one for each channel": ("layer-4", column),
    }
    parts = [_grid(way, role, lit) for way, (role, lit) in told.items()]
    title = "A large channel sets the scale of all who share with it."
    note = d.Words([d.line("lit: the numbers that share one scale", role="muted")])
    return d.draw(
        d.below(d.flow(*parts, gap=12, even=True), note), name="q-scale", title=title
    )


def _grid(way: str, role: str, lit: set[int]) -> d.Node:
    cells = d.Cells(
        f"inputs, {way}",
        TOKENS * CHANNELS,
        CHANNELS,
        side=(8.0, 8.0),
        gap=1.5,
        role=role,
        lit=frozenset(lit),
        words="tokens down, channels across",
    )
    large = d.Cells(
        f"the large channel, {way}",
        CHANNELS,
        CHANNELS,
        side=(8.0, 5.0),
        gap=1.5,
        role="layer-6",
        lit=frozenset({LARGE}),
        dark=frozenset(range(CHANNELS)) - {LARGE},
        words="the channel that is large",
    )
    off = d.Shown(page.off(way, outliers=True), "%", 2)
    label = [d.line(way, bold=True), ("product off by ", off)]
    return d.Box(way, label, d.below(large, cells, gap=4, grow=0), role=role)
