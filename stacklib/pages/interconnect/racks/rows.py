"""The table of section 6.6: racks, their ports and their islands."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.networks.shapes_scaleup import port_graph
from stacklib.pages.interconnect import racks as page
from stacklib.quantity import chosen


def table() -> list[dict[str, Any]]:
    """Racks: ports offered and used, islands, hops and bandwidth; None: refused."""
    rows = []
    for name, of in page.RACKS.items():
        row: dict[str, Any] = {
            "rack": name,
            "GPUs": chosen(of.gpus, label="GPUs"),
            "switch chips": chosen(of.chips, label="switch chips"),
            "ports of each": chosen(of.ports, label="ports of a chip"),
            "ports used": page.used(name),
            "islands": None,
            "both ways": None,
        }
        if fits(name):
            row["islands"] = page.island_count(name)
            if row["islands"].si == 1:
                row["both ways"] = page.total(name)
        rows.append(row)
    return rows


def fits(name: str) -> bool:
    """Whether every link finds a port."""
    try:
        port_graph(*page.RACKS[name][:5])
    except ValueError:
        return False
    return True
