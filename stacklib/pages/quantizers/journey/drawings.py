"""The drawing of section 7.10: the token's time, station by station."""

from typing import Any

from stacklib.pages.quantizers import journey as page
from stacklib.pages.quantizers.steps import CHIP
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["stations"]


def stations() -> d.Drawing:
    """A bar for each way to store the model, as long as its reads take."""
    whole = page.step("BF16").time
    zero = chosen(0, "s", "begin of a step")
    rows: list[d.Node] = []
    for station, (_, cache) in page.STATIONS.items():
        time = page.step(station).time
        told: list[Any] = [f"{station}: ", d.Shown(time, "ms")]
        role = "layer-2" if cache == 16 else "layer-4"
        clip = d.Clip(station, zero, time, whole, [tuple(told)], role=role, grow=0)
        rows.append(clip)
    note = d.Words([d.line("eight H100s", role="muted")])
    title = "A token is as long as its bytes: each bit less makes it shorter."
    return d.draw(
        d.below(*rows, note, gap=7), name="q-stations", title=title, devices=[CHIP]
    )
