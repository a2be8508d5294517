"""Numbers of chapter 3, what a gigabyte costs: a package, a model in SRAM, prices."""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware, models
from stacklib.cost import assembly, span
from stacklib.cost.assembly import Assembly, if_dearer
from stacklib.cost.data import Quote
from stacklib.cost.memory import Held, held, sram_area
from stacklib.cost.spans import Span
from stacklib.quantity import Quantity

from .. import ledger as claims
from .registry import number

NODE = "n5"
PER_GB = "USD/GB"


# -- a package -----------------------------------------------------------------------


@cache
def _built() -> Assembly:
    return assembly.b200()


@number("price.b200", unit="USD", digits=2, evidence="claimed")
def b200() -> Quantity:
    """What a B200 costs to make, by Epoch AI."""
    return cost.bill("b200_sxm").total


@number("price.b200_memory", unit="USD", digits=2, evidence="claimed")
def b200_memory() -> Quantity:
    """Its memory, in the same bill."""
    return cost.bill("b200_sxm").parts["memory"]


@number("price.b200_usable", unit=PER_GB, digits=2, evidence="claimed")
def b200_usable() -> Quantity:
    """Memory of a B200 in its bill, over what it is sold as having."""
    return b200_memory() / hardware.get("b200_sxm").memory_capacity


@number("price.b200_logic", unit="USD", digits=2, evidence="claimed")
def b200_logic() -> Quantity:
    """Its two dies, in the same bill."""
    return cost.bill("b200_sxm").parts["logic"]


@number("price.b200_share", unit="%", digits=2, evidence="claimed")
def b200_share() -> Quantity:
    """Memory's share of it."""
    return b200_memory() / b200()


@number("price.b200_low", unit="USD", digits=2)
def b200_low() -> Quantity:
    """A B200 built up from wafers and quotes, at least."""
    return _built().total.low


@number("price.b200_high", unit="USD", digits=2)
def b200_high() -> Quantity:
    """A B200 built up from wafers and quotes, at most."""
    return _built().total.high


@number("price.share_low", unit="%", digits=2)
def share_low() -> Quantity:
    """Memory's share of what we build up, at least."""
    return _built().share("memory").low


@number("price.share_high", unit="%", digits=2)
def share_high() -> Quantity:
    """Memory's share of what we build up, at most."""
    return _built().share("memory").high


@number("price.b200_rest", unit="USD", digits=2, evidence="claimed")
def b200_rest() -> Quantity:
    """What is neither dies nor memory, in the bill."""
    return b200() - b200_logic() - b200_memory()


@number("price.doubled", unit="%", digits=2)
def doubled() -> Quantity:
    """How much dearer a B200 gets when its memory costs twice as much."""
    bill = cost.bill("b200_sxm")
    return if_dearer(bill, "memory", 2) / bill.total - 1


@number("price.logic_doubled", unit="%", digits=2)
def logic_doubled() -> Quantity:
    """How much dearer it gets when its two dies cost twice as much."""
    bill = cost.bill("b200_sxm")
    return if_dearer(bill, "logic", 2) / bill.total - 1


# -- a model in SRAM ------------------------------------------------------------------


@cache
def _weights() -> Quantity:
    return models.get("llama-3-70b").weight_bytes("bf16")


@number("price.weights", unit="GB", digits=3, evidence="spec")
def weights() -> Quantity:
    """Weights of Llama-3-70B in bf16."""
    return _weights()


def _in_sram() -> Span:
    return cost.sram(NODE) * _weights()


@number("price.llama_area", digits=2)
def llama_area() -> Quantity:
    """Wafers of pure SRAM in 5 nm that hold them, the middle."""
    area = (sram_area(NODE).middle / Quantity(1, "GB")) * _weights()
    wafer = Quantity(300, "mm", label="wafer diameter") ** 2 * (3.141592653589793 / 4)
    return area / wafer


@number("price.llama_sram_low", unit="USD", digits=2)
def llama_sram_low() -> Quantity:
    """Bare SRAM in 5 nm for those weights, at least."""
    return _in_sram().low


@number("price.llama_sram_high", unit="USD", digits=2)
def llama_sram_high() -> Quantity:
    """Bare SRAM in 5 nm for those weights, at most."""
    return _in_sram().high


@number("price.llama_hbm_low", unit="USD", digits=2, evidence="claimed")
def llama_hbm_low() -> Quantity:
    """HBM3E for the same bytes, at the lowest quote."""
    return cost.memory_price("hbm3e").low * _weights()


@number("price.llama_hbm_high", unit="USD", digits=2, evidence="claimed")
def llama_hbm_high() -> Quantity:
    """HBM3E for the same bytes, at the highest quote."""
    return cost.memory_price("hbm3e").high * _weights()


@cache
def _held(device: str, node: str) -> Held:
    return held(_weights(), device, node)


@number("price.cs3_count")
def cs3_count() -> Quantity:
    """Wafers of a CS-3 that together hold them."""
    return _held("wse3", NODE).chips


@number("price.cs3_price", unit="USD", digits=2, evidence="claimed")
def cs3_price() -> Quantity:
    """What so many CS-3 are said to sell for."""
    price = _held("wse3", NODE).price
    assert price is not None
    return price


@number("price.groq_count")
def groq_count() -> Quantity:
    """Groq's first chips that together hold them."""
    return _held("groq_lpu_v1", "n16").chips


# -- prices move ---------------------------------------------------------------------


@cache
def _modules() -> tuple[Quote, ...]:
    return cost.memory_price("rdimm").quotes


@number("price.said_ratio", digits=1, evidence="claimed")
def said_ratio() -> Quantity:
    """HBM over DDR5 by the gigabyte, as a source document has it."""
    return claims.get("hbm-ddr-price-ratio").quantity().named("HBM over DDR5, claimed")


@number("price.module_first", unit=PER_GB, digits=2, evidence="claimed")
def module_first() -> Quantity:
    """A gigabyte of DDR5 in a server module, early in 2023."""
    return _modules()[0].value


@number("price.module_last", unit=PER_GB, digits=3, evidence="claimed")
def module_last() -> Quantity:
    """The same, as foreseen for March 2026."""
    return _modules()[-1].value


@number("price.ratio_first", digits=2, evidence="claimed")
def ratio_first() -> Quantity:
    """HBM3E in the middle of its quotes over the module of 2023."""
    return span(cost.memory_price("hbm3e")).middle / module_first()


@number("price.ratio_last", digits=2, evidence="claimed")
def ratio_last() -> Quantity:
    """HBM3E in the middle of its quotes over the module of March 2026."""
    return span(cost.memory_price("hbm3e")).middle / module_last()
