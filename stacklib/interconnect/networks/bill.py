"""What a network is made of, counted from its links, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import at_least

from .links import Link


@dataclass(frozen=True, slots=True)
class Bill:
    """Parts of a network and what they cost."""

    rows: tuple[tuple[str, int, Any, Any], ...]  # part, count, price of one, of all
    total: Any


def count_parts(ranks: int, nodes: int, links: Iterable[Link]) -> dict[str, int]:
    """Chips, switches, ports of switches, cables in all and of each kind."""
    listed = list(links)
    pairs = {link[:2] for link in listed}
    kinds: dict[str, int] = {}
    ports = 0
    for link in listed:
        back = (link.destination, link.source)
        # A cable has two directions: it is counted at one, or where it has but one.
        if link.source < link.destination or back not in pairs:
            kinds[link.kind] = kinds.get(link.kind, 0) + link.cables
            ports += link.cables * sum(end >= ranks for end in link[:2])
    return {
        "chip": ranks,
        "switch": nodes - ranks,
        "switch port": ports,
        "link": sum(kinds.values()),
        **kinds,
    }


def bill(parts: Mapping[str, int], prices: Mapping[str, Any], kinds: set[str]) -> Bill:
    """Parts at the prices of one each.

    - ``kinds``: of links, of which either all together or each has a price.
    """
    rows: list[tuple[str, int, Any, Any]] = []
    for name, price in prices.items():
        part = resolve(name, parts, "part")
        at_least(0, **{f"price of {part}": price})
        rows.append((part, parts[part], price, parts[part] * price))
    named = [row[0] for row in rows]
    if not rows:
        raise ValueError(f"no prices: parts are {', '.join(parts)}")
    if len(set(named)) < len(named) or ("link" in named and kinds & set(named)):
        raise ValueError(f"{', '.join(named)}: a part is priced twice")
    total = rows[0][3]
    for row in rows[1:]:
        total = total + row[3]
    return Bill(tuple(rows), total)
