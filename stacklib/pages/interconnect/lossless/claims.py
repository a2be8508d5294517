"""Claims on the latency of switches: one hop, Ethernet's, and from host to host."""

from __future__ import annotations

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.pages.interconnect import lossless as page
from stacklib.pages.interconnect import rdma
from stacklib.quantity import chosen

JUMBO = 9216  # bytes of the longest frame that switches commonly take


@claim("ib-port-latency")
def hop() -> Finding:
    """What the maker prints of the newest switch; what a cluster's hop took."""
    measured = page.per_switch()
    return Finding(
        page.latency("infiniband"),
        why="One switch, port to port, as its maker prints it. In a cluster one "
        f"generation older a further switch took {measured.text('ns')} with its cable.",
    )


@claim("ethernet-latency")
def ethernet() -> Finding:
    """A switch's pipeline and the longest frame stored, at this port's rate."""
    stored = page.on_wire(chosen(JUMBO, "B", label="bytes of a jumbo frame"))
    return Finding(
        (page.latency("ethernet") + stored).named("a switch that stores a frame"),
        why=f"Of it only {stored.text('ns')} is for storing; switches for AI forward "
        "a frame's head, too. Microseconds come from queues, in either kind.",
    )


@claim("ib-latency-submicro", right_if="ports and a switch are meant, not hosts")
def host_to_host() -> Finding:
    """A measured write between two hosts on one switch."""
    link = hardware.link(page.NETWORK)
    return Finding(
        rdma.one_hop(),
        why="Of it about as much as ports and switch take is spent on the buses of "
        "the two hosts.",
        then=link.latency,
    )
