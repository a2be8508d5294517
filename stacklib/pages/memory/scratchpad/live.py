"""A scratchpad that fills up, live: bytes copied in by how full it is."""

from __future__ import annotations

from typing import Any

from stacklib.memory.scratchpad.sbuf import SbufCase, sbuf_case
from stacklib.pages.memory.scratchpad.figures import POLICIES, cliff_spec
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Spec
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.quantity.times import in_times

CHIPS = ("trainium2", "trainium3")
USES = range(88, 109)
RINGS = (256, 512, 1024, 2048, 4096)
ORDERS = {"same": "always forwards", "snake": "there and back"}


def controls() -> list[dict[str, Any]]:
    """Menus and slider of ``explore``."""
    return [
        choices.select("device", "Device", choices.short(CHIPS), CHIPS[0]),
        choices.select("order", "Each panel goes through X", ORDERS, "same"),
        choices.slider("use", "X over the SBUF (%)", USES, 99),
        choices.slider("ring", "Ring of the weights (KiB)", RINGS, 1024),
    ]


def explore(*, device: str, order: str, use: int, ring: int) -> Spec:
    """Bytes copied in against the percent of the SBUF that X takes.

    ``snake`` turns round after every panel. What the ring takes, X has not.
    """
    snake = order == "snake"
    case = sbuf_case(device, chosen(ring, "KiB", "ring the weights pass through"))
    loads = {
        p: chosen(case.loaded(use / 100, p, snake=snake), "B", f"X copied in, {p}")
        for p in POLICIES
    }
    spec = cliff_spec(case, title=_title(case, use, loads), snake=snake)
    spec["marks"].append(
        here([use] * len(loads), [q.to("MB").value for q in loads.values()])
    )
    spec["y"]["limits"] = [20, 1500]
    tokens = chosen(case.tokens(use / 100), "", "tokens")
    said = [
        readout(p, POLICIES[p].capitalize(), q, unit="MB") for p, q in loads.items()
    ]
    return {**spec, "readouts": [readout("tokens", "Tokens", tokens, digits=4), *said]}


def _title(case: SbufCase, use: int, loads: dict[str, Quantity]) -> str:
    if use / 100 * case.sbuf.si <= case.managed:
        return f"At {use} % of the SBUF everything is loaded once."
    ratio = loads["lru"].si / loads["belady"].si
    copies = in_times(ratio, "times as much as|as much as|times less than")
    return f"At {use} % of the SBUF, LRU copies {copies} Belady."
