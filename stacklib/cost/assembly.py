"""A device from its parts, each a range: its cost, and the share of each part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import above_zero

from .data import Bill, bill, memory_price, packaging_price
from .dies import die
from .making import fact
from .spans import Given, Span, span


@dataclass(frozen=True, slots=True)
class Assembly:
    """What goes into one device."""

    parts: Mapping[str, Span]  # part to what it costs

    @property
    def total(self) -> Span:
        """All parts: cheapest together, dearest together."""
        first, *rest = self.parts.values()
        return sum(rest, first).named("cost of all parts")

    def share(self, part: str) -> Span:
        """Part of the total, from cheap among dear ones to dear among cheap ones."""
        own = self.parts[part]
        others = [s for name, s in self.parts.items() if name != part]
        if not others:
            return span(own.low / own.low)
        rest = sum(others[1:], others[0])
        return Span(own.low / (own.low + rest.high), own.high / (own.high + rest.low))


def assemble(**parts: Given) -> Assembly:
    """A device from named parts. ``parts``: dollars of each."""
    if not parts:
        raise ValueError("assemble() needs at least one part, such as logic=...")
    return Assembly({name: span(part).to("USD") for name, part in parts.items()})


def b200() -> Assembly:
    """A B200 from wafers, quotes of a gigabyte and quotes of packaging.

    Logic is two dies on N5's wafers: at most with every multiprocessor needed, at
    least with as many spare ones as the product leaves unused. Memory is what the
    press says of a gigabyte of HBM3E, times what eight stacks hold; no quote of it
    comes from a bill of this device. What is lost in assembly, and what is left, are
    taken from the bill: nothing here computes them.
    """
    chip = hardware.get("b200_sxm")
    area = fact("area", "b200_die").low
    count = chip.fields["dies"]
    assert count is not None
    units = round(fact("industry", "b200_units").low.si)
    needed = round(chip.compute_units.si / count.si)
    whole = die(area, node="n5").cost
    share = fact("industry", "units_share").low.si
    spared = die(area, node="n5", units=units, needed=needed, share=share).cost
    stacks, each = chosen(8, label="stacks"), chosen(24, "GB", label="of a stack")
    parts = bill("b200_sxm").parts
    return assemble(
        logic=Span(spared.low, whole.high) * count,
        memory=(span(memory_price("hbm3e")) * (stacks * each)).named("HBM3E"),
        packaging=packaging_price("cowos_l"),
        yield_loss=parts["yield_loss"],
        other=parts["other"],
    )


def if_dearer(found: Bill, part: str, factor: float) -> Quantity:
    """Total of a bill when one part costs ``factor`` times as much."""
    if part not in found.parts:
        raise ValueError(f"part {part!r}: the bill lists {', '.join(found.parts)}")
    above_zero(factor=factor)
    change = chosen(factor, label="new price over old")
    return found.total + (change - 1) * found.parts[part]
