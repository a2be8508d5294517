"""Family I: what silicon, memory and hours are said to cost, and energies.

A price that our tables hold because the row's own source said it is no prediction.
So every quote of that source is left out, and the rest answer: the geometric mean of
what others say. A part of a bill is built up (a die from its wafer, a memory from its
gigabytes); what nobody else tells, and a seller's list price, are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from stacklib import cost, hardware
from stacklib.cost.data import Quote, packaging_price
from stacklib.cost.dies import die
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.memory.tiers.parts import constant
from stacklib.quantity import Quantity, UnknownName

from ..measurements import Measurement, Refusal, number
from ..systems import device_of
from .registry import PREDICTORS, Forecast, Predict

_NODE = re.compile(r"\bn(\d+)\b|\b(\d+)\s?nm\b")
_FLEET = re.compile(r"([\d.]+) nodes x (\d+) x (\d+) h x \$([\d.]+)")
_MEMORY = ("hbm3e", "hbm4", "hbm3", "ddr5")
_PLAIN = frozenset(
    "price prices list table their model what matter they over from chips cost "
    "components costs cloud index".split()
)
_LEAST = 4  # letters of a name that tells one source from another
_HORIZON = (
    "no figure but its own source's: an energy of that node is read, not computed"
)


def _said_by(title: str, row: Measurement) -> bool:
    """Whether the row's own source is, or passes on, what a title names."""
    words = {w for w in re.findall(r"[a-z]+", title.lower()) if len(w) >= _LEAST}
    return any(word in row.source.lower() for word in words - _PLAIN)


def _others(quotes: Iterable[Quote], row: Measurement) -> list[Quantity]:
    """What sources other than the row's say."""
    told = [q.value for q in quotes]
    return [v for v in told if v.source and not _said_by(v.source.title, row)]


def _middle(row: Measurement, what: str, quotes: Iterable[Quote]) -> float:
    """The geometric mean of what others say, in SI units."""
    found = _others(quotes, row)
    if not found:
        raise Refusal(f"nobody but the row's own source quotes {what}")
    return math.exp(sum(math.log(v.si) for v in found) / len(found))


def _wafer(row: Measurement) -> Forecast:
    said = _NODE.search(row.subject.lower())
    if not said:
        raise Refusal(f"model_or_kernel {row.subject!r} names no node, such as 'N5'")
    node = f"n{said[1] or said[2]}"
    quotes = cost.wafer_price(node).quotes
    return Forecast(_middle(row, f"a wafer of {node}", quotes), "USD", "quotes")


def _memory_price(kind: str, row: Measurement) -> float:
    """Dollars a byte; HBM3 goes by HBM3E where nobody else quotes it."""
    try:
        return _middle(row, kind, cost.memory_price(kind).quotes)
    except Refusal:
        if kind != "hbm3":
            raise
    return _middle(row, "hbm3e", cost.memory_price("hbm3e").quotes)


def _gigabyte(row: Measurement) -> Forecast:
    text = f"{row.subject} {row.system}".lower()
    kinds = [kind for kind in _MEMORY if kind in text]
    if not kinds:
        raise Refusal(f"{text!r} names no memory: {', '.join(_MEMORY)}")
    return Forecast(_memory_price(kinds[0], row) * 1e9, "USD/GB", "quotes")


def _device(row: Measurement) -> tuple[Accelerator, int]:
    key, many = device_of(row.system)
    return hardware.get(key), many


def _part(row: Measurement) -> Forecast:
    """A part of a device's bill of materials."""
    device, _ = _device(row)
    text = row.subject.lower()
    if "total" in text or "test" in text:
        raise Refusal(
            "test, assembly and losses: nobody else's bill says what they are"
        )
    if "hbm" in text:
        kind = str(device.memory_type).lower()
        size = device.memory_capacity.across(1).si
        return Forecast(_memory_price(kind, row) * size, "USD", "quotes")
    if "pack" in text:
        way = "cowos_s_soic" if device.vendor == "AMD" else "cowos_s"
        quotes = packaging_price(way).quotes
        return Forecast(_middle(row, f"packaging by {way}", quotes), "USD", "quotes")
    if "die" in text:
        return Forecast(_logic(device), "USD", "wafer")
    raise Refusal(f"part {row.subject!r} is not logic, HBM, packaging or total")


def _logic(device: Accelerator) -> float:
    """The dies that compute, from their wafer."""
    area, many = device.fields["die_area"], device.fields["dies"]
    said = _NODE.search(device.process.lower()) or re.search(
        r"\b(\d)n[p]?\b()", device.process.lower()
    )
    if area is None or many is None or not said:
        raise Refusal(f"no area or node of the dies of {device.short}")
    if "," in device.process:
        raise Refusal(f"{device.short}: dies of several nodes, and one area ('dies')")
    one = (area / many).across(1)
    found = die(one, node=f"n{said[1] or said[2]}").cost
    return float(found.middle.si * many.si)


def _area(row: Measurement) -> Forecast:
    device, _ = _device(row)
    area = device.fields["die_area"]
    if area is None or area.source is None or _said_by(area.source.title, row):
        raise Refusal(f"no other source for the area of {device.short}'s die")
    return Forecast(area.si, "m2", "sheet")


def _hours(row: Measurement) -> Forecast:
    """An hour of an instance, from what others ask for its devices."""
    device, many = _device(row if "gpu_hour" in row.metric else _of_subject(row))
    quotes = cost.prices(device.key, "cloud")
    each = _middle(row, f"an hour of {device.short}", quotes)
    chips = row.integer("ngpus", many)
    return Forecast(each * 3600 * chips, "USD/h", "quotes")


def _of_subject(row: Measurement) -> Measurement:
    """The same row with its instance in the place of its system."""
    from dataclasses import replace

    return replace(row, system=row.subject)


def _day(row: Measurement) -> Forecast:
    """A fleet's day: nodes x devices x hours x dollars, all said by the row."""
    said = _FLEET.search(row.settings)
    if not said:
        raise Refusal("config does not give 'nodes x devices x hours x price'")
    return Forecast(math.prod(number(part) for part in said.groups()), "USD", "sum")


def _energy(row: Measurement) -> Forecast:
    """An access, by another device of its kind: interfaces shrink with no node."""
    text = f"{row.subject} {row.system}".lower()
    if row.metric == "energy" and "dram" in text:
        bits = re.search(r"(\d+)b\b", text)
        if not bits:
            raise Refusal(f"model_or_kernel {row.subject!r} does not say how many bits")
        each = constant("ddr4_access").si / 64  # the quoted access is of 64 bits
        return Forecast(each * number(bits[1]), "J", "interface")
    if row.metric == "energy_per_bit" and "hbm2e" in text:
        return Forecast(constant("hbm2e_device").si, "J/bit", "interface")
    raise Refusal(_HORIZON)


_ANSWERS = {
    "wafer_price": _wafer,
    "price_per_GB": _gigabyte,
    "manufacturing_cost": _part,
    "die_area": _area,
    "gpu_hour_price": _hours,
    "on_demand_price": _hours,
    "daily_cost": _day,
    "energy": _energy,
    "energy_per_bit": _energy,
}
_REFUSED = {
    "price": "a seller's list price: it holds a margin that nobody publishes",
    "cost": "a cost model's output of a layout and a load that the row does not give",
}


def prepare(row: Measurement) -> Predict:
    """A price or an energy ready to be predicted."""
    if row.metric in _REFUSED:
        raise Refusal(_REFUSED[row.metric])
    if row.metric not in _ANSWERS:
        raise Refusal(f"no model of prices for metric {row.metric!r}")
    try:
        found = _ANSWERS[row.metric](row)
    except (UnknownName, UnknownSpec) as unknown:
        raise Refusal(str(unknown).splitlines()[0]) from None
    return lambda: found


PREDICTORS["I"] = prepare
