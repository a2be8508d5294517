"""Memory as hardware sees it: sectors, banks, swizzles, layouts.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that.
"""

from __future__ import annotations

from .banks import BankAccess, bank_access, bank_conflicts
from .coalescing import Request, coalesce, sectors
from .layout import Layout
from .swizzle import Swizzle, find_swizzle

__all__ = [
    "BankAccess",
    "Layout",
    "Request",
    "Swizzle",
    "bank_access",
    "bank_conflicts",
    "coalesce",
    "find_swizzle",
    "sectors",
]
