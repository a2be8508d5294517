"""A machine's devices and the ways between them, in the words of ``nvidia-smi``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from stacklib.quantity import resolve

Names = tuple[str, str]

# From near to far. The root complex is where PCI Express meets the processor.
WAYS: Mapping[str, str] = {
    "NV": "NVLinks",
    "PIX": "one PCIe switch",
    "PXB": "several PCIe switches",
    "PHB": "a PCIe host bridge, in the processor",
    "NODE": "several host bridges of one NUMA node",
    "SYS": "the way between NUMA nodes, and sockets",
}
OLD = {"SOC": "SYS"}


@dataclass(frozen=True, slots=True)
class TopoReading:
    """Devices of a machine and the way between each two."""

    devices: tuple[str, ...]
    ways: Mapping[Names, str]  # as printed, such as NV18; both orders of a pair
    processors: Mapping[str, str]  # by GPU: cores near to it
    memory: Mapping[str, str]  # by GPU: NUMA node near to it
    cards: Mapping[str, str]  # by NIC: the name the system gives it
    access: Mapping[Names, str] = field(default_factory=dict)  # of `topo -p2p`

    @property
    def gpus(self) -> tuple[str, ...]:
        """GPUs in order."""
        return tuple(name for name in self.devices if name.startswith("GPU"))

    @property
    def nics(self) -> tuple[str, ...]:
        """Network cards in order."""
        return tuple(name for name in self.devices if not name.startswith("GPU"))

    def between(self, one: str, other: str) -> str:
        """The way between two devices: NV, PIX, PXB, PHB, NODE or SYS."""
        a, b = (resolve(name, self.devices, "device") for name in (one, other))
        if a == b:
            raise ValueError(f"{a} and {b} are one device: two are needed")
        return kind(self.ways[a, b])

    def nvlinks(self, one: str, other: str) -> int:
        """NVLinks that two GPUs have together; 0 where the way is another."""
        self.between(one, other)  # names are checked there
        a, b = (resolve(name, self.devices, "device") for name in (one, other))
        way = self.ways[a, b]
        return int(way[2:]) if way.startswith("NV") else 0

    def reach(self, one: str, other: str) -> bool | None:
        """Whether two GPUs may read each other's memory; None where nothing says it."""
        said = self.access.get((one, other))
        return None if said is None else said == "OK"

    def pairs(self, *kinds: str) -> list[Names]:
        """Pairs of devices whose way is one of these, or all pairs, in order."""
        asked = {resolve(name, WAYS, "way") for name in kinds} or set(WAYS)
        return [
            pair
            for pair in combinations(self.devices, 2)
            if kind(self.ways[pair]) in asked
        ]

    def crosses_root(self) -> list[Names]:
        """Pairs whose way goes through the processor's root complex."""
        return self.pairs("PHB", "NODE", "SYS")

    def crosses_socket(self) -> list[Names]:
        """Pairs whose way goes from one NUMA node to another."""
        return self.pairs("SYS")

    def nearest(self, gpu: str) -> tuple[str, ...]:
        """The network cards that are nearest to a GPU."""
        order = list(WAYS)
        far = {nic: order.index(self.between(gpu, nic)) for nic in self.nics}
        return tuple(nic for nic in far if far[nic] == min(far.values()))


def kind(way: str) -> str:
    """The word of a way without its number, an old word by its new one."""
    return "NV" if way.startswith("NV") else OLD.get(way, way)
