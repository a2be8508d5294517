"""Memory as hardware sees it: sectors, banks, swizzles, layouts, caches.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that. A ``Cache`` is run on a
trace of addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .banks import BankAccess, bank_access, bank_conflicts
from .coalescing import Request, coalesce, sectors
from .layout import Layout
from .replacement import misses
from .swizzle import Swizzle, find_swizzle

if TYPE_CHECKING:
    from .cache import Cache, Traffic, chain

_WITH_NUMPY = ("Cache", "Traffic", "chain")


def __getattr__(name: str) -> Any:
    if name in _WITH_NUMPY:
        from . import cache

        return getattr(cache, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BankAccess",
    "Cache",
    "Layout",
    "Request",
    "Swizzle",
    "Traffic",
    "bank_access",
    "bank_conflicts",
    "chain",
    "coalesce",
    "find_swizzle",
    "misses",
    "sectors",
]
