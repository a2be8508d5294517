"""The network of a machine's GPUs, made from what ``nvidia-smi topo -m`` says.

PCI Express is a tree, and the words of a pair say how high its way goes: the devices
that are no further apart than a word hang on one node. NVLinks lie beside it. The words
do not say whether equal NVLinks between all GPUs go through switches: they must where
they add up to more than a GPU has.
"""

from __future__ import annotations

from .links import Link, Wire, both, wire
from .paths import islands
from .topo_reading import WAYS, TopoReading
from .topology import Topology


def topo_network(
    reading: TopoReading,
    *,
    nvlink: str = "nvlink4",
    pcie: Wire = "pcie4_x16",
    socket: Wire | None = None,
) -> Topology:
    """Chips, NVLinks, and the PCIe tree that joins what NVLinks do not.

    - ``nvlink``: a key of ``hardware.link``, for its bandwidth and how many a GPU has.
    - ``pcie``: each way of the tree; ``socket``: the one between NUMA nodes, as wide
      as ``pcie`` where it is None.
    - raises ``ValueError`` for a reading with fewer than two GPUs.
    """
    gpus = reading.gpus
    count = len(gpus)
    if count < 2:
        raise ValueError(f"{count} GPU: a network needs two")
    pairs = {
        (a, b): reading.nvlinks(gpus[a], gpus[b])
        for a in range(count)
        for b in range(a + 1, count)
    }
    name = f"machine of {count} GPUs"
    links: list[Link] = []
    if _switched(set(pairs.values()), count, nvlink):
        cable = wire(nvlink, None, hops=2)
        for gpu in range(count):
            links += both(gpu, count, cable, pairs[0, 1])
        why = "half of the chips can send with all their links"
        return Topology(
            name, count, count + 1, tuple(links), (tuple(range(count // 2)),), why
        )
    if any(pairs.values()):
        cable = wire(nvlink, None)
        for (a, b), some in pairs.items():
            links += both(a, b, cable, some) if some else ()
    nodes = count
    if not all(pairs.values()):
        nodes = _tree(reading, links, wire(pcie, None, hops=2), socket)
    return Topology(name, count, nodes, tuple(links))


def _switched(some: set[int], count: int, nvlink: str) -> bool:
    """Whether NVLinks to all others are more than a GPU has."""
    from stacklib import hardware

    if len(some) > 1 or 0 in some:
        return False
    return some.pop() * (count - 1) > hardware.link(nvlink).links.si


def _tree(
    reading: TopoReading, links: list[Link], cable: Link, socket: Wire | None
) -> int:
    """Add the PCIe tree over the GPUs to some links; the number of nodes then.

    Network cards are no leaves of it, but tell where GPUs stand that have NVLinks.
    """
    names = (*reading.gpus, *reading.nics)
    free = len(reading.gpus)
    heads: dict[int, int] = {gpu: gpu for gpu in range(free)}  # the top node over each
    order = [way for way in WAYS if way != "NV"]
    near: list[tuple[int, int]] = []
    for way in order:
        near += [
            (a, b)
            for a in range(len(names))
            for b in range(a + 1, len(names))
            if reading.between(names[a], names[b]) == way
        ]
        if way == "SYS":  # the root: also for what only NVLinks are known of
            near += [(0, b) for b in heads if b]
        up = cable
        if way == "SYS" and socket is not None:
            up = wire(socket, None, hops=2)
        for group in islands(len(names), near):
            gpus = [one for one in group if one in heads]
            tops = sorted({heads[gpu] for gpu in gpus})
            if len(tops) > 1:
                for top in tops:
                    links += both(top, free, up)
                heads.update(dict.fromkeys(gpus, free))
                free += 1
    return free
