"""Joules of an account's lines: bytes, products, links, and standing still.

Each is a span. Its low end is what circuit papers say that moving and multiplying
takes, its high end what a regression on the power of an A100's board and published runs
found, addresses and control included (``memory.ladder.energy``). What neither knows
stays out, and so in the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib import hardware
from stacklib.cost.spans import Span, span
from stacklib.hardware import Accelerator
from stacklib.memory.ladder import energy
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen, counted, minimum
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.keys import Same

from .lines import Line
from .work import ACTIVATION, EXCHANGES, all_reduces

MEASURED = {"circuit": "h200_sxm", "board": "a100_sxm_80gb"}  # whose idle power it is
SIXTEEN = ("bf16", "fp16")
MOVED, MADE, SENT, STOOD = "bytes", "products", "links", "standing still"


@dataclass(frozen=True, slots=True)
class Rates:
    """Joules of a device, by what they are of; None where no figure is known."""

    bit: Span | None  # from memory to a multiplier
    operation: Span | None
    link: Span | None  # of a bit between chips
    standing: Span | None  # W of a chip that holds a model and does nothing
    design: Quantity | None  # W of a board, at most

    def lacks(self, line: Line) -> str:
        """Why joules of a line are not told; empty where they are, or nothing moves."""
        asked = {"a bit of its memory": self.bit, "an operation": self.operation}
        if not line.covers:
            sends = line.name == EXCHANGES and line.t_fixed is not None
            asked = {"a bit between chips": self.link} if sends else {}
        missing = [f"no figure of {what}" for what, each in asked.items() if not each]
        return " and ".join(missing)


def rates(device: Accelerator, runs_in: str) -> Rates:
    """The figures of a device for products in one format."""
    return _rates(Same(device), runs_in)


@lru_cache(maxsize=256)
def _rates(kept: Same, runs_in: str) -> Rates:
    device: Accelerator = kept.value
    design = device.fields["tdp"]
    design = None if design is None else design.across(1)
    if device.kind == "cpu":  # whose memory and wires are none of these
        return Rates(None, None, None, None, design)
    return Rates(
        _ends(device, _bit),
        _operation(device, runs_in),
        _link(device),
        _ends(device, _standing),
        design,
    )


def _ends(device: Accelerator, ask: Any) -> Span | None:
    """From the circuits' figure to the board's, in either order."""
    found = []
    for account in energy.ACCOUNTS:
        try:
            found.append(ask(device, account))
        except hardware.UnknownSpec:
            continue
    return span(found[0], found[-1]) if found else None


def _bit(device: Accelerator, account: str) -> Quantity:
    """Joules of a bit on its whole way."""
    if "SRAM" in device.memory_type:  # no bit comes from DRAM, which the figures are of
        raise hardware.UnknownSpec(f"{device.key}: energy of a bit of its SRAM")
    found = [stage.per_bit for stage in energy.PATHS[account](device)]
    return sum(found[1:], found[0]).named("energy of a bit")


def _standing(device: Accelerator, account: str) -> Quantity:
    """Watts of a chip that does nothing: of a smaller die, or board, its part."""
    whole, known = energy.constant_power(device, account), MEASURED[account]
    parts = [energy.die_area(device) / hardware.get(known).die_area.across(1)]
    if device.fields["tdp"] is not None:
        parts.append(device.tdp.across(1) / hardware.get(known).tdp.across(1))
    return (whole * minimum(1.0, *parts)).named("standing still")


def _operation(device: Accelerator, runs_in: str) -> Span | None:
    """Joules of an operation: what is known is that of a product in 16 bits.

    Another format is taken to draw the same power at its own peak.
    """
    both = _ends(device, energy.operation_energy)
    base = next((f for f in SIXTEEN if f in device.formats), None)
    if both is None or runs_in in SIXTEEN:
        return both
    if base is None:  # nothing to go by but the operation
        return both if find_dtype(runs_in).operation == "FLOP" else None
    faster = device.peak(runs_in) / device.peak(base)
    return both / span(faster.named("times the 16-bit rate"))


def _link(device: Accelerator) -> Span | None:
    if not device.link_key:
        return None
    known = hardware.link(device.link_key).fields["energy"]
    return None if known is None else span(known)


def spent(
    line: Line, per: Rates, chips: int, model: LanguageModel, rows: int
) -> dict[str, Span]:
    """Joules of what a line moves, multiplies and sends over all chips, by each.

    - ``rows``: tokens that pass the layers
    """
    found: dict[str, Span] = {}
    if per.bit is not None and line.covers:
        moved = line.bytes + line.beside
        if moved.si > 0:
            found[MOVED] = _times(per.bit, energy.energy_of(moved, _ONE))
    if per.operation is not None and line.covers and line.operations.si > 0:
        found[MADE] = _times(per.operation, line.operations)
    if per.link is not None and line.name == EXCHANGES and chips > 1:
        sent = counted(sent_bits, model, chips, rows, unit="bit", label="bits sent")
        found[SENT] = _times(per.link, sent)
    return {what: each.named(f"{what}, {line.name}") for what, each in found.items()}


def stood(line: Line, per: Rates, chips: int) -> dict[str, Span]:
    """Joules that the chips draw while a line lasts, whatever it does."""
    if per.standing is None or line.time is None or not line.time.si > 0:
        return {}
    both = chosen(chips, label="chips") * line.time
    return {STOOD: _times(per.standing, both).named(f"{STOOD}, {line.name}")}


_ONE = chosen(1, label="a bit")


def _times(rate: Span, amount: Quantity) -> Span:
    return Span((amount * rate.low).to("J"), (amount * rate.high).to("J"))


def sent_bits(model: LanguageModel | str, chips: int, rows: int) -> int:
    """Bits that chips send to one another in a step: the least of an all-reduce.

    Every chip's share is summed in one place and handed back to all others.
    """
    from stacklib.models import get

    found = get(model) if isinstance(model, str) else model
    message = rows * found.hidden * ACTIVATION * 8
    return all_reduces(found) * 2 * (chips - 1) * message
