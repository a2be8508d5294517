"""Where should it live? A need of bytes, nanoseconds and bytes a second, live.

The cheapest tier that will do, or why none will; and the cheapest mix, where some of
the data is asked for more than the rest.
"""

from __future__ import annotations

from typing import Any

from stacklib import memory
from stacklib.memory import Tier
from stacklib.memory.tiers.mix import cheapest_mix, zipf_pages
from stacklib.memory.tiers.tier import Need
from stacklib.pages.memory.tiers.figures import tiers_spec
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, counted, here
from stacklib.plots.marks import Spec, rule
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible

from . import priced

GIGABYTES = (1, 10, 30, 80, 200, 500, 1000, 5000, 12000, 50000)
NANOSECONDS = (10, 30, 100, 400, 700, 1000, 3000, 10000, 100000, 1000000)
RATES = (1, 5, 10, 14, 30, 50, 100, 500, 2000, 10000)
PAGE = 2**21  # bytes that move between tiers together
GROUPS = 24  # enough to see, few enough for a slider
VIEWS = {"sm": "an SM of an H100", "core": "a core of its host"}
MARKET = {"before": "before the shortage", "shortage": "in the shortage of 2026"}


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    return [
        choices.select("viewpoint", "Seen from", VIEWS, "sm"),
        choices.select("market", "Prices", MARKET, "before"),
        choices.slider("gigabytes", "Gigabytes", GIGABYTES, 500),
        choices.slider("nanoseconds", "Latency it bears (ns)", NANOSECONDS, 10000),
        choices.slider("rate", "Bandwidth it needs (GB/s)", RATES, 10),
    ]


def explore(
    *, viewpoint: str, market: str, gigabytes: int, nanoseconds: int, rate: int
) -> Spec:
    """Price against latency with the tier that is chosen.

    What is asked is in GB, ns and GB/s; the message says why where no tier will do.
    """
    tiers = priced.seen(viewpoint, market)
    need = Need(gigabytes * 1e9, nanoseconds * 1e-9, rate * 1e9)
    size = chosen(gigabytes, "GB", "asked")
    bears = rule("what it bears", "predicted", x=float(nanoseconds), series=5)
    mixed = _mixed(tiers, need, size)
    try:
        best = memory.cheapest_tier(tiers, need)
    except Infeasible as why:
        spec = tiers_spec(tiers, title="No single tier will do.")
        spec["marks"].append(bears)
        return {**spec, "readouts": mixed, "message": str(why)}
    spec = tiers_spec(tiers, title=f"The cheapest home is {best.name}.")
    assert best.price is not None
    ring = here(best.latency.to("ns").value, best.price.to("USD/GB").value)
    cost = readout("cost", f"All in {best.name}", (best.price * size).named("cost"))
    spec["marks"] += [ring, bears]
    return {**spec, "readouts": [cost, *mixed]}


def _mixed(tiers: list[Tier], need: Need, size: Quantity) -> list[dict[str, Any]]:
    """The cheapest mix of two tiers for Zipf heat, if it is one."""
    pages = zipf_pages(need.capacity, page=PAGE, groups=GROUPS)
    try:
        mix = cheapest_mix(tiers, pages, need, most=2)
    except Infeasible:
        none = counted(0, "mixes that will do")
        return [readout("mix", "Mixes of two that will do", none)]
    names = " and ".join(t.name for t in mix.tiers)
    cost = counted(mix.cost, "cost of the mix", "USD")
    near = counted(mix.sizes[0] / pages.bytes, "share in the nearer")
    return [
        readout("mix", f"Hot and cold, on average: {names}", cost),
        readout("near", f"Of it in {mix.tiers[0].name}", near, "share", unit="%"),
    ]
