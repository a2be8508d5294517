"""Limits of a device's links, its power, and the tokens it can make a second."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stacklib import hardware, models
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity
from stacklib.quantity.stored import stored

from .point import Point, over

BOTH = 2  # directions of a link
NARROW = 0.25  # bytes a weight, where no format is told: the narrowest of a file
_ONE_WAY = re.compile(r"\b(one|each|per|a) (way|direction)\b", re.I)
_HOST = re.compile(r"\b(pcie|host)\b", re.I)
# What a rate goes out of, or a power into, where it is more than a device.
_WIDER = re.compile(r"\b(node|server|rack|pod|switch(es)?|bisection)\b", re.I)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s?([BM])\b")
_MANY = {"B": 1e9, "M": 1e6}


def links(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No rate over a link beyond the device's fastest; of both directions twice that.

    A rate with a direction is one over a link, a data sheet's as well.
    """
    if p.row["level"] is not None:
        return
    for column, value in p.rates_over_links():
        names = ("host_link",) if _HOST.search(column) else ("link", "host_link")
        ways = [way.si for name in names if (way := device.fields[name]) is not None]
        if ways and not _WIDER.search(column):
            one = "per_direction" in value.tags or _ONE_WAY.search(column)
            both = 1 if one else BOTH
            bound = max(ways) * both * p.row["chips"]
            says = "what its links carry" + (" both ways" if both == BOTH else "")
            yield from over(p, column, value, bound, says)


def power(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No power beyond the design power."""
    most = device.fields["tdp"]
    for column, value in p.of("power"):
        if most is not None and not _WIDER.search(column):
            bound = most.si * p.row["chips"]
            yield from over(p, column, value, bound, "the design power")


def tokens(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No tokens a second beyond what reading the weights, or the arithmetic, allows.

    A step reads every active weight once and makes one token a sequence; a token takes
    two operations a weight. The weights must fit, too.
    """
    if not p.row["feasible"] or "model" not in p.row:  # stored before rows said it
        return
    for column, value in p.of("tokens"):
        active, held, name = _weights(p)
        if not active:
            yield p.fault(column, value, "is of no model: say model=")
            continue
        dtype, chips = p.row["dtype"], p.row["chips"]
        each = stored(dtype).bits / 8 if dtype else NARROW
        bound = p.row["batch"] * device.memory_bandwidth.si * chips / (active * each)
        says = f"reading the weights of {name} for {p.row['batch']} at a time"
        yield from over(p, column, value, bound, says)
        able = [dtype] if dtype in device.formats else device.formats
        peak = max((device.peak(f).si for f in able), default=math.inf)
        says = f"the arithmetic of {name}"
        yield from over(p, column, value, peak * chips / (2 * active), says)
        if held * each > device.memory_capacity.si * chips:
            need = Quantity(held * each, "B").text("GB", digits=4)
            says = f"is of {name}, whose {need} of weights do not fit"
            yield p.fault(column, value, f"{says} {chips} x {device.key}")


def _weights(p: Point) -> tuple[float, float, str]:
    """Weights read for a token, weights held, and of what: the model or words say."""
    key = p.row["model"]
    if key is None:
        words = p.words.lower()
        key = max((m for m in models.names() if m in words), key=len, default=None)
    if key is not None:
        found: LanguageModel = models.get(key)
        return found.streamed_parameters.si, found.parameters.si, found.name
    sizes = [float(n) * _MANY[unit] for n, unit in _SIZE.findall(p.words)]
    most = max(sizes, default=0.0)
    return most, most, f"a model of {most / 1e9:g} billion"
