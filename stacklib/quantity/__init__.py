"""Numbers that know their unit, their source and how they were computed.

``Quantity`` refuses to mix what must not be mixed: GB with GiB, bits with
bytes, FLOP with MAC, one direction of a link with both, dense with 2:4 sparse
rates, a chip with a rack. ``explain`` prints the derivation. A scalar model
written with the helpers here runs on floats, quantities and arrays alike.
"""

from .core import Quantity
from .counting import counted, counting
from .dtypes import DTYPES, dtype
from .helpers import ceil, log2, maximum, minimum, where
from .leaves import assumed, chosen, constant, one_of, stamp
from .names import UnknownName, resolve
from .records import quoted, recorded
from .say import say
from .source import Source
from .stored import bytes_per_element
from .tree import explain
from .units import UnitError

__all__ = [
    "DTYPES", "Quantity", "Source", "UnitError", "UnknownName", "assumed",
    "bytes_per_element", "ceil", "chosen", "constant", "counted", "counting", "dtype",
    "explain", "log2", "maximum", "minimum", "one_of", "quoted", "recorded", "resolve",
    "say", "stamp", "where",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
