"""What things cost: so far the data, as dated quotes with their sources.

``wafer_price("n5")``, ``defect_density("n5")``, ``memory_price("hbm3e")`` and
``packaging_price("cowos_s")`` give a ``Range``; ``prices("h100")`` a list of quotes;
``names("wafer")`` lists the keys of a shelf.
A price is a snapshot: its date is part of it.
"""

from .data import (
    Bill,
    Quote,
    Range,
    bill,
    defect_density,
    memory_price,
    names,
    packaging_price,
    prices,
    wafer_price,
)

__all__ = [
    "Bill",
    "Quote",
    "Range",
    "bill",
    "defect_density",
    "memory_price",
    "names",
    "packaging_price",
    "prices",
    "wafer_price",
]
