"""Section 3.10: What does memory cost to make?"""

from __future__ import annotations

from stacklib import cost, hardware
from stacklib.cost import span
from stacklib.cost.memory import sram_area, sram_counted, wafer_area
from stacklib.cost.spans import Span
from stacklib.cost.stacks import stack_yield
from stacklib.evidence import ledger
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted, one_of

NODE, CS3 = "n5", hardware.get("wse3")


def claimed(id: str, label: str) -> Quantity:
    """What a source document says."""
    return ledger.get(id).quantity().named(label)


def middle(kind: str) -> Quantity:
    """The middle of the quotes of a kind of memory."""
    return span(cost.memory_price(kind)).middle


def half() -> Quantity:
    """The share of a die that is cells, for the count of dies."""
    return chosen(0.5, label="share that is cells")


def rim() -> Quantity:
    """What the rim and the streets add to dies of 64 MB, by counting dies."""
    laid = counted(sram_counted, NODE, 64, half(), unit="USD/GB", label="counted")
    return laid / cost.sram(NODE, half()).middle - 1


def spared() -> Span:
    """Yield of a B200's die of which 74 of 80 multiprocessors are enough."""
    area = cost.fact("area", "b200_die").low
    share = cost.fact("industry", "units_share").low.si
    return cost.die(area, node=NODE, units=80, needed=74, share=share).yields


def layer() -> Quantity:
    """A layer yield that the reader may move."""
    part = stand(__name__, "layer", 980) / chosen(1000, label="layers")
    return part.to("%").named("layers that survive")


def stands(height: int) -> Quantity:
    """Stacks that work when so many layers survive."""
    return stack_yield(height, die=1.0, bond=layer())


def wafers(size: Quantity) -> Quantity:
    """Wafers of pure SRAM that hold so many bytes, the middle."""
    return sram_area(NODE).middle / one_of("GB") * size / wafer_area()
