"""Networks between nodes, by the names under which clouds and vendors have them.

NCCL's own latencies of a step are those of InfiniBand. What another network's port adds
to each step is what published runs of a few bytes take beyond them; its payload is what
their largest sizes reach of the ports. Left out: how switches are joined, and other
traffic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stacklib.quantity import quoted


@dataclass(frozen=True, slots=True)
class Network:
    """What a network's ports add and carry."""

    name: str
    latency: float  # seconds, each step
    payload: float  # share of a port's rate
    # By generation, where others are sold with it: bytes a second of a chip's port,
    # and the latency of those ports.
    ports: dict[str, float] = field(default_factory=dict)
    latencies: dict[str, float] = field(default_factory=dict)
    # Generations with whose ports the library does not use the protocol ll128.
    plain: tuple[str, ...] = ()

    def latency_of(self, generation: str) -> float:
        """Seconds that a port of a generation's machines adds to each step."""
        return self.latencies.get(generation, self.latency)


def _network(name: str, ports: str = "", late: str = "", plain: str = "") -> Network:
    def told(what: str) -> float:
        return quoted(f"network_{name}.{what}").si

    return Network(
        name,
        told("latency"),
        told("payload"),
        {kind: told(f"port_{kind}") for kind in ports.split()},
        {kind: told(f"latency_{kind}") for kind in late.split()},
        tuple(plain.split()),
    )


NETWORKS = {
    "ib": Network("ib", 0.0, quoted("port.payload").value),
    "roce": _network("roce"),
    "efa": _network("efa", ports="ampere", late="ampere blackwell", plain="ampere"),
    "tcpx": _network("tcpx", ports="hopper", plain="hopper"),
    "tcpxo": _network("tcpxo", ports="hopper", plain="hopper"),
}
