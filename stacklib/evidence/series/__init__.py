"""Published series of kernels as ports: what the rows of family K are of.

``port_of(row)`` gives the port of a row, or refuses it and names what is missing.
"""

from __future__ import annotations

from ..measurements import Measurement, Refusal
from . import elements, matmul_ports, reductions, rows_of, scans, transposes
from .port import Port, Step, run

PORTS: dict[str, dict[str, Port]] = {
    **matmul_ports.PORTS,
    **transposes.PORTS,
    **reductions.PORTS,
    **scans.PORTS,
    **rows_of.PORTS,
    **elements.PORTS,
}
# Settings of a row that put it outside what is modelled.
OUTSIDE = {"library": "a library's kernels are not known", "tma": "bulk tensor copies"}


def port_of(row: Measurement) -> Port:
    """The port of a row of a series; a Refusal names the mechanism that is missing."""
    for setting, why in OUTSIDE.items():
        if row.has(setting):
            raise Refusal(why)
    ports = PORTS.get(row.text("series"), {})
    if row.subject not in ports:
        raise Refusal(f"no port of {row.text('series')} {row.subject}")
    return ports[row.subject]


__all__ = ["OUTSIDE", "PORTS", "Port", "Step", "port_of", "run"]
