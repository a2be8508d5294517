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
from stacklib.quantity import quoted
from stacklib.quantity.bounds import above_zero, whole

from . import constants as c
from .model import GB

# 24 channels of 15 GB/s on links of 450: NCCL's search, and its maintainer's "370 of
# 450, protocol overhead about 20 %" (NVIDIA/nccl-tests, issue 212).
PAYLOAD = 0.8
# NCCL counts PCIe 3.0 x16 (15.75 GB/s) as 12: PCI_BW in src/graph/topo.h.
PCIE = 12 / 15.75
# Boards without links of their own. NCCL lets the two of a pair write to each other
# over PCI Express; of more boards no path crosses a host bridge (``p2pLevel`` in
# src/graph/paths.cc), so bytes are written to the host's memory and read from there.
PAIR, STAGED = quoted("pcie.pair").si, quoted("pcie.staged").si
# All that such boards exchange, where the host is of PCIe 4 or older. Those of PCIe 5
# have shown no such limit with eight boards.
SHARED, SHARED_UP_TO = quoted("pcie.shared").si, 32e9
NETWORK = quoted("port.payload").si
# Bytes a second of one chip's port, one way, as machines of the generation are sold.
PORT = {
    name: quoted(f"port.{name}").si
    for name in ("volta", "ampere", "hopper", "blackwell", "cdna3", "cdna4")
}
LIKE = {  # which generation's constants stand for another chip's
    "pascal": "volta",
    "turing": "volta",
    "ada": "ampere",
}
BOX = 8  # chips of a server whose links join fewer


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

    @property
    def nodes(self) -> int:
        """How many groups of `local` ranks there are."""
        return self.ranks // self.local

    def select(self) -> dict[str, Any]:
        """The arguments with which ``select`` sees this machine."""
        inside, outside, nvls = c.SEARCHED[self.architecture]
        rate = self.rate
        count = inside[0]
        if self.nodes > 1:
            count = outside[0]
            rate = min(rate, self.local * self.port)
        usual = PAYLOAD * _LINK[self.architecture]
        # A channel for each rank, so many share what a GPU sends.
        share = min(1.0, BOX / min(self.local, c.NVLS_RANKS))
        return {
            "ranks": self.ranks,
            "ranks_per_node": self.local,
            "architecture": self.architecture,
            "channels": count,
            "channel_bandwidth": rate / count,
            "nvls_bandwidth": share * nvls * GB * self.rate / usual * self.nvswitch,
            "link": self.link,
            "nvswitch": self.nvswitch,
        }


# Bytes a second one way of the links that the rates of ``SEARCHED`` belong to.
_LINK = {"volta": 150e9, "ampere": 300e9, "hopper": 450e9, "blackwell": 900e9}


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


def board_rate(host: float, boards: int) -> float:
    """Bytes a second that one of some boards without links sends through the host.

    - ``host``: bytes a second of its PCI Express, one way.
    """
    rate = host * PCIE
    if boards <= 2:
        return rate * PAIR
    return min(rate * STAGED, SHARED / boards if host < SHARED_UP_TO else inf)


def fabric(
    device: str | Accelerator,
    ranks: int,
    *,
    nodes: int | None = None,
    port: float | None = None,
    domain: int | None = None,
) -> Fabric:
    """The machine that some ranks of a device make.

    - ``device``: a key of ``hardware``, or a device.
    - ``nodes``: boxes they lie in; as few as they fill where it is None.
    - ``port``: bytes a second of each chip's network port, one way.
    - ``domain``: chips that links join, if other than the data sheet says.
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
    far = (PORT[sold_with(chip)] if port is None else port) * NETWORK
    above_zero(port=far)
    if linked:
        rate, link = chip.link.si * PAYLOAD, "nvlink"
    else:
        host, link = chip.host_link.si, "pcie"
        bridged = chip.fields["link"] is not None  # made to reach one another
        rate = host * PCIE if bridged else board_rate(host, local)
    adds = chip.vendor == "NVIDIA" and c.NVLS_SHARE[kind] > 0
    switch = linked and adds and joined >= BOX
    memory = chip.memory_bandwidth.si
    return Fabric(chip.key, ranks, local, kind, link, rate, far, switch, memory)
