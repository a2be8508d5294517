"""What NCCL's model chooses on a machine that ``nvidia-smi topo -m`` describes.

Left out: the search over a tree of PCIe switches. Where NVLinks do not join all GPUs
alike, rings go through PCIe, at one x16 of the device's generation.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacklib import hardware

from ..networks.paths import islands
from ..networks.topo_reading import TopoReading
from .machine import fabric
from .timed import Timed, collective_time

# Whose NVLinks they are, by how many a GPU has: nvlink2 to nvlink4 as sold.
BY_LINKS = {6: "v100_sxm2_32gb", 12: "a100_sxm_80gb", 18: "h100_sxm"}
NONE = "l40s"  # a card without NVLinks


def joined(reading: TopoReading) -> list[tuple[str, ...]]:
    """GPUs that NVLinks join, over others too, largest first."""
    gpus = reading.gpus
    near = [
        (a, b)
        for a in range(len(gpus))
        for b in range(a + 1, len(gpus))
        if reading.nvlinks(gpus[a], gpus[b])
    ]
    found = [tuple(gpus[i] for i in group) for group in islands(len(gpus), near)]
    return sorted(found, key=lambda group: (-len(group), group))


def links(reading: TopoReading) -> int:
    """NVLinks of a GPU: to a switch where all pairs show the same, else in all."""
    gpus = reading.gpus
    each = [reading.nvlinks(gpus[0], other) for other in gpus[1:]]
    same = len(set(each)) == 1 and len(each) > 1
    return each[0] if same else sum(each)


def guess(reading: TopoReading) -> str:
    """A device with as many NVLinks; the output does not name the GPUs.

    - raises ``ValueError`` for fewer than two GPUs.
    """
    if len(reading.gpus) < 2:
        raise ValueError(f"{len(reading.gpus)} GPU: a collective needs two")
    have = links(reading)
    if not have:
        return NONE
    return BY_LINKS[min(BY_LINKS, key=lambda n: (abs(n - have), n))]


def choices(
    reading: TopoReading, sizes: Sequence[float], *, on: str | None = None
) -> list[Timed]:
    """NCCL's choice for an all-reduce over all GPUs, for each size.

    - ``on``: their device; by their number of NVLinks where it is None.
    - raises ``ValueError`` for fewer than two GPUs.
    """
    key = on or guess(reading)
    guess(reading)  # two GPUs at least
    gpus = reading.gpus
    whole = len(joined(reading)[0]) == len(gpus)
    domain = len(gpus) if whole else 1
    at = fabric(hardware.get(key), len(gpus), nodes=1, domain=domain)
    return [collective_time("all_reduce", size, at) for size in sizes]
