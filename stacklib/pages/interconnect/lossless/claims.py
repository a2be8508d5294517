"""Claims on the latency of switches: one hop, Ethernet's, and from host to host."""

from stacklib.evidence import Finding, claim
from stacklib.pages.interconnect import lossless as page
from stacklib.pages.interconnect import rdma
from stacklib.quantity import chosen, quoted

JUMBO = 9216  # bytes of the longest frame that switches commonly take


@claim("ib-port-latency")
def hop() -> Finding:
    """The last that its maker tells in nanoseconds; what a cluster's hop took."""
    return Finding.depends(
        "a Quantum-X800 is meant, for which its sellers print it",
        "NVIDIA's own sheet has no number. In a cluster of HDR a further "
        f"switch took {page.per_switch().text('ns')} with its cable.",
        computed=quoted("qm8790.latency"),
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


@claim("ib-latency-submicro")
def host_to_host() -> Finding:
    """Writes and sends between two hosts, measured by two authors."""
    hop = rdma.one_hop()
    return Finding.depends(
        "the hosts take little of it",
        f"Source: {hop.source and hop.source.title}. A write between two hosts over "
        f"one switch was measured at {hop.text('us')}; about as much of it as ports "
        "and switch take is spent on the hosts' buses. Between two other hosts a "
        f"message of 32 B took {quoted('potter.send').text('us')} (a table of "
        "ib_send_lat in D. Potter's thesis).",
    )
