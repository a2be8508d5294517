"""The drawing of section 7.10: the token's time, station by station."""

from typing import Any

from stacklib.pages.quantizers import journey as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["stations"]
DEVICE = "h100_sxm"


def stations() -> d.Drawing:
    """A bar for each way to store the model, as long as its reads take."""
    whole = page.time("BF16", DEVICE)
    zero = chosen(0, "s", "begin of a step")
    rows: list[d.Node] = []
    for station, (_, cache) in page.STATIONS.items():
        told: list[Any] = [f"{station}: ", d.Shown(page.time(station, DEVICE), "ms")]
        if station != "BF16":
            told += [", loses ", d.Shown(page.loss(station), "bit/B", 2)]
        role = "layer-2" if cache == 16 else "layer-4"
        rows.append(
            d.Clip(
                station,
                zero,
                page.time(station, DEVICE),
                whole,
                [tuple(told)],
                role=role,
                grow=0,
            )
        )
    note = d.Words([d.line("eight H100s; lost by the book's own model", role="muted")])
    title = "Each bit less makes the token shorter, and each costs more than the last."
    return d.draw(
        d.below(*rows, note, gap=7), name="q-stations", title=title, devices=[DEVICE]
    )
