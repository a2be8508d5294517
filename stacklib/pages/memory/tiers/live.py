"""Where should it live? A need of bytes, nanoseconds and bytes a second, live.

The cheapest tier that will do, or why none will; and the cheapest mix, where some of
the data is asked for more than the rest.
"""

from __future__ import annotations

from typing import Any

from stacklib import memory
from stacklib.evidence import tiers as priced
from stacklib.memory import Need, Tier
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible

from .figures import tiers_spec

GIGABYTES = (1, 10, 30, 80, 200, 500, 1000, 5000, 12000, 50000)
NANOSECONDS = (10, 30, 100, 400, 700, 1000, 3000, 10000, 100000, 1000000)
RATES = (1, 5, 10, 14, 30, 50, 100, 500, 2000, 10000)
PAGE = 2**21  # bytes that move between tiers together
GROUPS = 24  # enough to see, few enough for a slider
VIEWS = (("sm", "an SM of an H100"), ("core", "a core of its host"))
MARKET = (("before", "before the shortage"), ("shortage", "in the shortage of 2026"))


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
) -> dict[str, Any]:
    """Spec of price against latency with the tier that is chosen.

    Parameters
    ----------
    viewpoint, market : str
        As ``evidence.tiers.seen`` takes them.
    gigabytes, nanoseconds, rate : int
        What is asked: GB, ns and GB/s.

    Returns
    -------
    dict
        A figure spec; ``message`` says why where no tier will do.
    """
    tiers = priced.seen(viewpoint, market)
    need = Need(gigabytes * 1e9, nanoseconds * 1e-9, rate * 1e9)
    size = Quantity(gigabytes, "GB", label="asked", kind="assumption")
    readouts, message = [], None
    try:
        best = memory.cheapest_tier(tiers, need)
        title = f"The cheapest home is {best.name}."
        cost = _price(best) * size
        readouts.append(readout("cost", f"All in {best.name}", cost.named("cost")))
    except Infeasible as why:
        best, title, message = None, "No single tier will do.", str(why)
    readouts += _mixed(tiers, need, size)
    spec = tiers_spec(tiers, title=title)
    if best is not None:
        spec["marks"].append(
            {"kind": "dots", "evidence": "predicted", "name": "chosen", "series": 4,
             "x": [best.latency.to("ns").value], "y": [_price(best).to("USD/GB").value],
             "label_at": "none"}
        )  # fmt: skip
    spec["marks"].append(
        {"kind": "vline", "evidence": "predicted", "name": "what it bears",
         "x": [float(nanoseconds)], "series": 5}
    )  # fmt: skip
    return {**spec, "readouts": readouts, "message": message}


def _price(tier: Tier) -> Quantity:
    assert tier.price is not None
    return tier.price


def _mixed(tiers: list[Tier], need: Need, size: Quantity) -> list[dict[str, Any]]:
    """The cheapest mix of two tiers for Zipf heat, if it is one."""
    pages = memory.zipf_pages(need.capacity, page=PAGE, groups=GROUPS)
    try:
        mix = memory.cheapest_mix(tiers, pages, need, most=2)
    except Infeasible:
        none = Quantity(0, label="mixes that will do")
        return [readout("mix", "Mixes of two that will do", none)]
    names = " and ".join(t.name for t in mix.tiers)
    cost = Quantity(mix.cost, "USD", label="cost of the mix", kind="computed")
    near = Quantity(mix.sizes[0] / pages.bytes, label="share in the nearer")
    return [
        readout("mix", f"Hot and cold, on average: {names}", cost),
        readout("near", f"Of it in {mix.tiers[0].name}", near, "share", unit="%"),
    ]
