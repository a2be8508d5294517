"""A scratchpad that fills up, live: bytes copied in by how full it is."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.memory.scratchpad.sbuf import SbufCase, sbuf_case
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

from .figures import POLICIES, cliff_spec

CHIPS = ("trainium2", "trainium3")
USES = tuple(range(88, 109))
ORDERS = (("same", "always forwards"), ("snake", "there and back"))


def controls() -> list[dict[str, Any]]:
    """Menus and slider of ``explore``."""
    chips = [[key, hardware.get(key).short] for key in CHIPS]
    return [
        choices.select("device", "Device", chips, CHIPS[0]),
        choices.select("order", "Each panel goes through X", ORDERS, "same"),
        choices.slider("use", "X over the SBUF (%)", USES, 99),
    ]


def explore(*, device: str, order: str, use: int) -> dict[str, Any]:
    """Spec of bytes copied in against the share of the SBUF that X takes.

    Parameters
    ----------
    device : str
        Key of the device.
    order : str
        ``same``, or ``snake`` to turn round after every panel.
    use : int
        Percent of the SBUF.

    Returns
    -------
    dict
        A figure spec.
    """
    case, snake = sbuf_case(device), order == "snake"
    loads = {p: _loaded(case, use, p, snake) for p in POLICIES}
    spec = cliff_spec(case, title=_title(case, use, loads), snake=snake)
    spec["marks"].append(
        {"kind": "dots", "evidence": "predicted", "name": "chosen",
         "x": [use] * len(loads), "y": [q.to("MB").value for q in loads.values()],
         "series": 4, "this_machine": False, "label_at": "none"}
    )  # fmt: skip
    spec["y"]["limits"] = [20, 1500]
    tokens = Quantity(case.tokens(use / 100), label="tokens", kind="assumption")
    return {
        **spec,
        "readouts": [
            readout("tokens", "Tokens", tokens, digits=4),
            *(readout(p, POLICIES[p].capitalize(), q, unit="MB")
              for p, q in loads.items()),
        ],
        "message": None,
    }  # fmt: skip


def _loaded(case: SbufCase, use: int, policy: str, snake: bool) -> Quantity:
    loaded = case.loaded(use / 100, policy, snake=snake)
    return Quantity(loaded, "B", label=f"X copied in, {policy}", kind="assumption")


def _title(case: SbufCase, use: int, loads: dict[str, Quantity]) -> str:
    if use / 100 * case.sbuf.si <= case.managed:
        return f"At {use} % of the SBUF everything is loaded once."
    ratio = loads["lru"].si / loads["belady"].si
    return f"At {use} % of the SBUF, LRU copies {ratio:.2g} times what Belady copies."
