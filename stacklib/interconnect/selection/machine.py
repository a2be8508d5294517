"""What a device's data sheet says of the machine that a cost model needs.

Of the rate of a link a library's payload is a share: flags, headers and the search's
steps take the rest. Scale-up links of one generation differ by how many a chip has, so
channels stay and their rate follows the links. Left out: how ports hang on switches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import above_zero, at_least, whole

from ..networks import pcie
from . import constants as c
from .between import NETWORKS
from .model import GB

# 24 channels of 15 GB/s on links of 450: NCCL's search, and its maintainer's "370 of
# 450, protocol overhead about 20 %" (NVIDIA/nccl-tests, issue 212).
PAYLOAD = 0.8
# Of PCI Express. NCCL lets the two boards of a pair write to each other where their
# driver does; of more boards no path crosses a host bridge (``p2pLevel`` in
# src/graph/paths.cc), so bytes are written to the host's memory and read from there,
# across its sockets where nothing is told of the tree (``networks.topo_tree``).
PCIE, PAIR, STAGED = pcie.COUNTED, pcie.ROOT, pcie.HOST * pcie.ACROSS
# All that such boards exchange, where the host is of PCIe 4 or older. Those of PCIe 5
# have shown no such limit with eight boards.
SHARED, SHARED_UP_TO = quoted("pcie.shared").si, 32e9
# Bytes a second of one chip's port, one way, as machines of the generation are sold.
NETWORK, SENDS = NETWORKS["ib"].payload, quoted("network.sends").value
BLOCK = quoted("nvls.block").si  # bytes a second that a thread block copies for NVLS
PORT = {
    name: quoted(f"port.{name}").si
    for name in ("volta", "ampere", "hopper", "blackwell", "cdna3", "cdna4")
}
LIKE = {  # which generation's constants stand for another chip's
    "pascal": "volta",
    "turing": "volta",
    "ada": "ampere",
    "rubin": "blackwell",
}
BOX = 8  # chips of a server whose links join fewer
GRACE = 200e9  # bytes a second to a processor of NVIDIA's own: no slot is as fast


@dataclass(frozen=True, slots=True)
class Fabric:
    """Ranks on chips: how many share links, and the payload a chip sends one way."""

    device: str
    ranks: int
    local: int  # ranks that scale-up links or one PCIe tree join
    architecture: str
    link: str  # nvlink or pcie
    rate: float  # bytes a second out of a chip within `local`
    port: float  # bytes a second out of a chip to other nodes
    nvswitch: bool
    memory: float  # bytes a second of a chip's own memory
    network: str = "ib"  # between nodes
    latency: float = 0.0  # seconds that its ports add to each step
    cpu: str = "intel"
    sends: float = 1.0  # of its port's rate that plain sends reach

    @property
    def nodes(self) -> int:
        """How many groups of `local` ranks there are."""
        return self.ranks // self.local

    @property
    def ll128(self) -> bool:
        """Whether 128 bytes stay together all the way: not over PCI Express."""
        far = self.nodes > 1 and self.architecture in NETWORKS[self.network].plain
        return self.link == "nvlink" and not far

    @property
    def heads(self) -> int:
        """GPUs of a node for which switches add a part each."""
        return min(self.local, c.NVLS_RANKS)

    @property
    def switch_rate(self) -> float:
        """Bytes of the array a second that switches add and hand back to all.

        Out of a GPU goes all of its array, and its own part once more as a sum; the
        same comes in. So links give ``n / (n + 1)`` of what they carry, which hardly
        depends on how many they are, as far as thread blocks can copy.
        """
        share = c.NVLS_SHARE[self.architecture] * self.heads / (self.heads + 1)
        blocks = c.NVLS_BLOCKS.get(self.architecture, (0, 0))[self.nodes > 1]
        return min(self.rate * share, blocks * BLOCK)

    @property
    def tree_rate(self) -> float:
        """Bytes of the array a second that ports carry for trees of switches' sums.

        Each head has a part of the array. Of two nodes it crosses a port once each way;
        of more, half of it once and half of it three times (two trees, in one of which
        a node has children).
        """
        return self.heads * self.port / (1 if self.nodes <= 2 else 2)

    def select(self) -> dict[str, Any]:
        """The arguments with which ``select`` sees this machine."""
        inside, outside, _ = c.SEARCHED[self.architecture]
        ring = tree = self.rate
        count = inside[0]
        if self.nodes > 1:
            count = outside[0]
            ports = self.local * self.port
            # A tree of two nodes crosses once where a ring goes around: the search
            # raises its rate within a node up to twice that between them.
            ring, tree = min(self.rate, ports), min(self.rate, 2 * ports)
        tried = c.NVLS_SPEEDS.get(self.architecture, (0.0,))
        fits = [speed for speed in tried if speed * GB * (self.heads + 1) <= self.rate]
        return {
            "ranks": self.ranks,
            "ranks_per_node": self.local,
            "architecture": self.architecture,
            "channels": count,
            "channel_bandwidth": ring / count,
            "tree_bandwidth": tree / count,
            "nvls_bandwidth": GB * (fits or tried[-1:])[0] * self.nvswitch,
            "nvls_network": self.port,
            "network_latency": self.latency,
            "link": self.link,
            "nvswitch": self.nvswitch,
            "ll128": self.ll128,
            "cpu": self.cpu,
        }


def architecture_of(device: Accelerator) -> str:
    """The generation whose constants stand for a device.

    - raises ``ValueError`` for a chip that no such library runs on.
    """
    name = device.architecture
    if name in c.ARCHITECTURES:
        return name
    if name in LIKE:
        return LIKE[name]
    if device.vendor in ("NVIDIA", "AMD") and device.kind == "gpu":
        return "ampere"
    raise ValueError(f"no model of collectives for {device.name}: NCCL's and RCCL's")


def sold_with(device: Accelerator) -> str:
    """The generation, of those in ``PORT``, with whose machines' ports a device is."""
    name = LIKE.get(device.architecture, device.architecture)
    board = device.vendor in ("NVIDIA", "AMD") and device.kind == "gpu"
    return name if name in PORT else "ampere" if board else "hopper"


def board_rate(host: float, boards: int, peers: bool = True) -> float:
    """Bytes a second that one of some boards without links sends through the host.

    - ``host``: bytes a second of its PCI Express, one way.
    - ``peers``: whether boards write to each other's memory.
    """
    rate = host * PCIE
    if boards <= 2 and peers:
        return rate * PAIR
    return min(rate * STAGED, SHARED / boards if host < SHARED_UP_TO else inf)


def fabric(
    device: str | Accelerator,
    ranks: int,
    *,
    nodes: int | None = None,
    port: float | None = None,
    domain: int | None = None,
    network: str | None = None,
    latency: float | None = None,
    peers: bool | None = None,
) -> Fabric:
    """The machine that some ranks of a device make.

    - ``device``: a key of ``hardware``, or a device.
    - ``nodes``: boxes they lie in; as few as they fill where it is None.
    - ``port``: bytes a second of each chip's network port, one way.
    - ``domain``: chips that links join, if other than the data sheet says.
    - ``network``: between nodes: a name of ``NETWORKS``; InfiniBand where it is None.
    - ``latency``: seconds that a port adds to each step, if not its network's.
    - ``peers``: whether boards without links write to each other's memory; as the
      driver of the product lets them where it is None.
    - raises ``ValueError`` for ranks that do not fill the nodes.

    >>> fabric("h100_sxm", 16).nodes, fabric("gb200", 72).nodes
    (2, 1)
    >>> fabric("l40s", 4).link
    'pcie'
    """
    chip = hardware.get(device) if isinstance(device, str) else device
    whole(ranks=ranks)
    kind = architecture_of(chip)
    of_chip = int(chip.fields["link_domain"].si) if chip.fields["link_domain"] else 1
    joined = of_chip if domain is None else domain
    local = ranks if ranks <= joined else max(joined, BOX)
    if nodes is not None:
        whole(nodes=nodes)
        if ranks % nodes:
            raise ValueError(f"ranks = {ranks} do not fill nodes = {nodes} alike")
        local = ranks if ranks <= joined and joined > BOX else ranks // nodes
    local = min(ranks, local)
    if ranks % local:
        raise ValueError(f"ranks = {ranks} do not fill nodes of {local}")
    linked = local <= joined and chip.fields["link"] is not None
    between = NETWORKS[resolve(network or "ib", NETWORKS, "fabric")]
    usual = between.ports.get(kind, PORT[sold_with(chip)])
    far = (usual if port is None else port) * between.payload
    above_zero(port=far)
    late = between.latency_of(kind) if latency is None else latency
    at_least(0, latency=late)
    if linked:
        # Of one rank a node no byte crosses its links: its port is all that it has.
        rate, link = chip.link.si * PAYLOAD if local > 1 else far, "nvlink"
    else:
        host, link = chip.host_link.si, "pcie"
        reach = pcie.reaches(chip) if peers is None else peers
        # Boards that take bridges are sold into servers whose switches join them; a
        # GeForce beyond its bridge goes through the host's memory all the same.
        bridged = chip.fields["link"] is not None and reach
        rate = host * PCIE if bridged else board_rate(host, local, reach)
    adds = chip.vendor == "NVIDIA" and c.NVLS_SHARE[kind] > 0
    switch = linked and adds and joined >= BOX
    slot = chip.fields["host_link"]
    return Fabric(
        *(chip.key, ranks, local, kind, link, rate, far, switch),
        chip.memory_bandwidth.si,
        between.name,
        late,
        "other" if slot is not None and slot.si > GRACE else "intel",
        SENDS if chip.vendor == "NVIDIA" else 1.0,
    )
