"""The sizes behind the counters, as quantities that name their source.

The counters use plain constants; these are the same numbers for text and claims, and
a test holds the two together.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from stacklib.quantity import Quantity, resolve

from .sourced import read_toml, read_value

DATA = Path(__file__).parent / "data" / "warp_rules.toml"
KNOWN = {
    "lanes": ("", "lanes of a warp"),
    "banks": ("", "banks of shared memory"),
    "word": ("B", "bytes of a bank's word"),
    "sector": ("B", "bytes of a sector"),
    "line": ("B", "bytes of a cache line"),
    "fetch": ("B", "bytes the L2 fetches at once"),
}


@cache
def _all() -> dict[str, Quantity]:
    raw = read_toml(DATA)
    return {
        name: read_value(entry, raw["sources"], "", f"rules/{name}", words, unit)
        for name, entry in raw["rules"].items()
        for unit, words in [KNOWN[name]]
    }


def rule(name: str) -> Quantity:
    """One size, with its source."""
    return _all()[resolve(name, list(KNOWN), "rule")]
