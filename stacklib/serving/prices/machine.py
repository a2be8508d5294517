"""A machine to serve on, with what it costs: each row from quotes with their dates.

Chips are what buyers are said to pay, new. A range of quotes ends where a card is sold
alone and where a server's price is divided by its chips, so its high end has the host
in it. Drives, network, facility and staff are those of a cluster of H100 servers. The
board's power is the least that a chip draws; at most, its share of a whole server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import cost, hardware
from stacklib.cost.spans import Given, Span, span
from stacklib.cost.tokens import TokenBill
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, chosen, quoted, resolve
from stacklib.quantity.bounds import whole

GPUS = 8  # of a server of the cluster's kind
CLUSTER = 2048  # GPUs of the cluster whose switches are counted
CABLES = 2  # a GPU of it: one to its switch, one on
BOUGHT = ("purchase", "launch", "used")  # what is taken first where nothing is said


@dataclass(frozen=True, slots=True)
class Machine:
    """Chips and what they cost, as one machine."""

    name: str
    chips: int
    capital: Span  # dollars, of all chips; so are the next three
    storage: Span
    network: Span
    people: Span  # facility and operation
    power: Span  # W
    pue: Span
    rent: Span | None  # dollars an hour for all chips; None where nobody quotes it
    dates: tuple[str, str]  # of the first and the last quote of what chips cost

    @property
    def costs(self) -> dict[str, Given]:
        """What it costs, as ``cost.token`` and ``cost.break_even`` name it."""
        rows = ("capital", "power", "pue", "storage", "network", "people")
        # the plant that cools is the facility's
        return {"cooling": 0} | {name: getattr(self, name) for name in rows}

    def bill(
        self,
        tokens_per_s: Given,
        *,
        utilisation: Given = 1.0,
        years: Given = 5.0,
        price_of_power: Given | None = None,
    ) -> TokenBill:
        """The six rows of a million tokens on it, as ``cost.token`` computes them."""
        use = {"utilisation": utilisation, "years": years}
        more: Any = self.costs | use | {"price_of_power": price_of_power}
        return cost.token(tokens_per_s, **more)


def machine(
    on: str | Accelerator, chips: int = GPUS, bought: str | None = None
) -> Machine:
    """Chips of one kind with their part of a cluster.

    - ``on``: a device that somebody quotes a price of
    - ``bought``: ``"purchase"`` (new), ``"launch"`` or ``"used"``: of older hardware;
      default the first of them that has quotes
    - raises ``ValueError`` where nobody quotes one, ``UnknownName`` for another kind
    """
    whole(chips=chips)
    device = hardware.get(on) if isinstance(on, str) else on
    ways = BOUGHT if bought is None else (resolve(bought, BOUGHT, "way to buy"),)
    way = next((way for way in ways if cost.prices(device.key, way)), None)
    if way is None:
        raise ValueError(
            f"nobody quotes what a {device.short} costs to buy ({', '.join(ways)}): "
            f"its hours may be rented, see prices({device.key!r}, 'cloud'); new are "
            f"sold {', '.join(priced())}"
        )
    asked, quotes = _spanned(device, way), cost.prices(device.key, way)
    many = chosen(chips, label="chips")
    each = many / GPUS
    switches = quoted("cluster_sheet.switch") * quoted("cluster_sheet.gpus_2048")
    cables = quoted("cluster_sheet.cable") * chosen(CABLES, label="cables a GPU")
    drive = cost.memory_price("nvme_tlc")
    held = quoted("dgx_h100.drive") * many
    people = quoted("cluster_sheet.facility") * each
    return Machine(
        device.key,
        chips,
        (asked * many).named("chips"),
        (span(drive) * held).named("drives"),
        span((switches / CLUSTER + cables) * many).named("network"),
        span(people).named("facility and operation"),
        _power(device, many),
        span(quoted("uptime.pue_hyperscale"), quoted("uptime.pue_2023")),
        rented(device, chips),
        (quotes[0].date, quotes[-1].date),
    )


def rented(device: Accelerator, chips: int = 1) -> Span | None:
    """What hours of some chips are rented for; None where nobody says."""
    if not cost.prices(device.key, "cloud"):
        return None
    return (_spanned(device, "cloud") * chosen(chips, label="chips")).to("USD/h")


def _spanned(device: Accelerator, what: str) -> Span:
    """The quotes of one kind for a chip, from lowest to highest."""
    quotes = [q.value.across(1) for q in cost.prices(device.key, what)]
    low, high = (pick(quotes, key=lambda q: q.si) for pick in (min, max))
    return span(low, high)


def priced() -> list[str]:
    """Devices that somebody quotes a price of, to buy new."""
    known = cost.names("prices")
    return [key for key in known if cost.prices(key, "purchase")]


def _power(device: Accelerator, many: Quantity) -> Span:
    """Of the boards alone, and with their share of a server."""
    board = device.tdp.across(1) * many
    own = hardware.get("h100_sxm").tdp.across(1) * GPUS
    server = quoted("dgx_h100.power") / own
    return span(board, board * server).named("power drawn")
