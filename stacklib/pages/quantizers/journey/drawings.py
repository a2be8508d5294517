"""The drawing of section 7.10: the token's account, station by station."""

from typing import Any

from stacklib.pages.chain.bars import parts
from stacklib.pages.chain.posts import WEIGHTS
from stacklib.pages.quantizers import journey as page
from stacklib.pages.quantizers.steps import CHIP
from stacklib.plots import drawing as d

__all__ = ["stations"]


def stations() -> d.Drawing:
    """A bar for each way to store the model: its token's account, weights lit."""
    whole = page.whole("bf16", "engine")
    rows: list[d.Node] = []
    for station, (dtype, cache) in page.STATIONS.items():
        found = page.account(dtype, cache)
        time = found.total().named(f"a token, {station}")
        weights = sum(found[name].time for name in WEIGHTS)
        told: tuple[Any, ...] = (
            *(f"{station}: ", d.Shown(time, "ms")),
            *(", weights ", d.Shown(weights.named(f"weights, {station}"), "ms")),
        )
        rows.append(d.Bar(station, parts(found, WEIGHTS), whole, [told]))
    note = d.Words([d.line("eight H100s; lit: reading the weights", role="muted")])
    title = "Each bit less makes the weights shorter, and leaves the rest as it was."
    return d.draw(
        d.below(*rows, note, gap=7), name="q-stations", title=title, devices=[CHIP]
    )
