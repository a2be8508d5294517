"""Tables of section 6.7: switches, the spreadsheet's counts, and other shapes."""

from __future__ import annotations

from typing import Any

from stacklib.pages.interconnect import fabrics as page

SWITCHES = {
    "Quantum-2, InfiniBand": "switch_qm9700",
    "Quantum-X800, InfiniBand": "switch_q3400",
    "Spectrum-4, Ethernet": "switch_sn5600",
    "Tomahawk 6, Ethernet": "tomahawk6",
}
SHAPES = {
    "fat tree": "fat tree",
    "the same, leaves 3 to 1": "fat tree, thinner leaves",
    "dragonfly": "dragonfly",
    "torus of three axes": "torus",
}


def switches() -> list[dict[str, Any]]:
    """Ports, a port's rate and the switch's, and GPUs under three levels."""
    return [
        {
            "switch": words,
            "ports": page.sold(key, "ports"),
            "a port": page.sold(key, "rate"),
            "all ports": page.sold(key, ""),
            "three levels": page.reach(key, 3),
        }
        for words, key in SWITCHES.items()
    ]


def sheet() -> list[dict[str, Any]]:
    """The spreadsheet's switches, and those that a tree needs."""
    return [
        {
            "GPUs": f"{gpus:,}",
            "levels": page.depth(gpus),
            "predicted": page.need(gpus),
            "published": page.theirs(gpus),
        }
        for gpus in page.SHEETS
    ]


def shapes() -> list[dict[str, Any]]:
    """What each shape is made of, what it costs, and its bisection."""
    return [
        {
            "network": words,
            "switch ports": page.each(name, "switch port"),
            "cables": page.each(name, "link"),
            "price": page.paid(name),
            "bisection": page.across(name),
        }
        for words, name in SHAPES.items()
    ]
