"""Memory as hardware sees it: sectors, banks, swizzles, layouts, caches.

``sectors`` counts what a warp's request moves, ``bank_conflicts`` how often it must
be repeated in shared memory, and a ``Swizzle`` mends that. A ``Cache`` is run on a
trace of addresses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .banks import BankAccess, bank_access, bank_conflicts
from .coalescing import Request, coalesce, sectors
from .hbm import HbmStack, hbm_stack
from .layout import (
    Layout,
    coalesced,
    complement,
    composed,
    divided,
    multiplied,
    row_major,
)
from .replacement import misses
from .swizzle import Swizzle, find_swizzle
from .tiling import TiledMatmul, hong_kung

if TYPE_CHECKING:
    from .cache import Cache, Traffic, chain
    from .reuse import hit_curve, predicted_hits, reuse_distances

_WITH_NUMPY = {
    "Cache": "cache",
    "Traffic": "cache",
    "chain": "cache",
    "hit_curve": "reuse",
    "predicted_hits": "reuse",
    "reuse_distances": "reuse",
}


def __getattr__(name: str) -> Any:
    if name in _WITH_NUMPY:
        module = importlib.import_module(f"{__name__}.{_WITH_NUMPY[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # also what is imported later


__all__ = [
    "BankAccess",
    "Cache",
    "HbmStack",
    "Layout",
    "Request",
    "Swizzle",
    "TiledMatmul",
    "Traffic",
    "bank_access",
    "bank_conflicts",
    "chain",
    "coalesce",
    "coalesced",
    "complement",
    "composed",
    "divided",
    "find_swizzle",
    "hbm_stack",
    "hit_curve",
    "hong_kung",
    "misses",
    "multiplied",
    "predicted_hits",
    "reuse_distances",
    "row_major",
    "sectors",
]
