"""Tables of section 6.1: links by lanes, steps down, bounds beside measurements."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.pages.interconnect import links as page


def generations() -> list[dict[str, Any]]:
    """Links by lanes, rate and code, one direction and both."""
    return [
        {
            "link": link.short,
            "lanes one way": (link.links * link.lanes).named(
                f"lanes one way, {link.short}"
            ),
            "rate of a lane": link.lane_rate,
            "left by the code": link.encoding_efficiency,
            "one direction": page.one_way(link.key),
            "both directions": page.both(link.key),
        }
        for link in map(hardware.link, page.TABLE)
    ]


def ladder() -> list[dict[str, Any]]:
    """Each step down of four machines."""
    names = ("L1 to HBM", "HBM to NVLink", "NVLink to network")
    return [
        {"machine": machine, **dict(zip(names, page.steps(machine), strict=True))}
        for machine in page.MACHINES
    ]


def against() -> list[dict[str, Any]]:
    """The bound in one direction beside what was measured."""
    return [
        {
            "link, and what ran": what,
            "bound": hardware.link(key).per_direction,
            "measured": page.reached(what),
            "share": page.measured_share(what),
        }
        for what, (key, _) in page.MEASURED.items()
    ]
