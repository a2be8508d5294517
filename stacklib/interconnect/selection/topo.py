"""What NCCL's model chooses on a machine that ``nvidia-smi topo -m`` describes.

Where NVLinks do not join all GPUs alike, rings go through PCI Express, and the slowest
way round sets their rate (``networks.topo_tree``): the tree decides, and whether boards
reach each other's memory.

Left out: the search for channels, and processors whose one NUMA node for each socket
(NPS1 on EPYC 7002 and 7003) makes the way through memory slower still.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import inf

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from ..networks.paths import islands
from ..networks.pcie import GENERATIONS, SOCKETS, WORDS, reaches, slot
from ..networks.topo_reading import TopoReading
from ..networks.topo_tree import Boards, Ring
from .machine import Fabric, fabric
from .timed import Timed, collective_time

# Whose NVLinks they are, by how many a GPU has: nvlink2 to nvlink4 as sold.
BY_LINKS = {6: "v100_sxm2_32gb", 12: "a100_sxm_80gb", 18: "h100_sxm"}
NONE = "l40s"  # a card without NVLinks


def joined(reading: TopoReading) -> list[tuple[str, ...]]:
    """GPUs that NVLinks join, over others too, largest first."""
    gpus = reading.gpus
    near = [
        (a, b)
        for a, b in combinations(range(len(gpus)), 2)
        if reading.nvlinks(gpus[a], gpus[b])
    ]
    found = [tuple(gpus[i] for i in group) for group in islands(len(gpus), near)]
    return sorted(found, key=lambda group: (-len(group), group))


def _links_of(reading: TopoReading, gpu: str) -> list[int]:
    return [reading.nvlinks(gpu, other) for other in reading.gpus if other != gpu]


def links(reading: TopoReading) -> int:
    """NVLinks of a GPU: in all, or to a switch where all pairs show the same.

    Without a switch four GPUs show a third of theirs, as A100 does with NV4.
    """
    each = max((_links_of(reading, gpu) for gpu in reading.gpus), key=sum)
    same = len(set(each)) == 1 and sum(each) not in BY_LINKS
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


def boards_of(
    reading: TopoReading,
    device: str | Accelerator,
    *,
    slots: Sequence[float] | None = None,
    peer: bool | None = None,
    level: str | None = None,
    cpu: str | None = None,
) -> Boards:
    """The boards of a reading in their slots.

    - ``device``: their kind. ``slots``: bytes a second of each slot, one way; a board
      takes no more than its own link, and that where it is None.
    - ``peer``: whether boards reach each other's memory; as ``reaches`` where None.
    - ``level``: PIX, PXB, PHB, NODE or SYS, as ``NCCL_P2P_LEVEL``.
    - ``cpu``: one of ``pcie.SOCKETS``, whose link NCCL counts between sockets.
    """
    chip = hardware.get(device) if isinstance(device, str) else device
    count, own = len(reading.gpus), chip.host_link.si
    pair = chip.fields["link"]
    return Boards(
        reading,
        [min(own, wide) for wide in slots or [own] * count],
        reaches(chip) if peer is None else peer,
        None if level is None else resolve(level, WORDS, "level"),
        chip.link.si / max(_own(chip), links(reading)) if pair and count > 1 else 0.0,
        inf if cpu is None else SOCKETS[resolve(cpu, tuple(SOCKETS), "processor")],
    )


def _own(chip: Accelerator) -> int:
    """NVLinks of a board that has links: its sheet's, else by their usual rate."""
    if chip.link_key:
        known = hardware.link(chip.link_key).fields["links"]
        return 1 if known is None else int(known.si)
    return max(1, int(chip.link.si / hardware.link("nvlink3").link_bandwidth.si))


def machine_of(boards: Boards, device: str | Accelerator) -> tuple[Fabric, Ring | None]:
    """What NCCL's model is asked with, and the ring where PCI Express is in it."""
    chip = hardware.get(device) if isinstance(device, str) else device
    count = len(boards.reading.gpus)
    whole_box = len(joined(boards.reading)[0]) == count
    at = fabric(chip, count, nodes=1, domain=count if whole_box else 1)
    if whole_box and chip.fields["link"] is not None:
        gpus = boards.reading.gpus
        one = max(_links_of(boards.reading, gpus[0]))  # of its links: all, to a switch
        return replace(at, nvswitch=at.nvswitch and one == links(boards.reading)), None
    ring = boards.ring()
    return replace(at, link="pcie", rate=ring.rate, nvswitch=False), ring


def choices(
    reading: TopoReading,
    sizes: Sequence[float],
    *,
    on: str | None = None,
    boards: Boards | None = None,
) -> list[Timed]:
    """NCCL's choice for an all-reduce over all GPUs, for each size.

    - ``on``: their device; by their number of NVLinks where it is None.
    - ``boards``: by ``boards_of``, where slots or access are not the device's own.
    - raises ``ValueError`` for fewer than two GPUs.
    """
    key = on or guess(reading)
    guess(reading)  # two GPUs at least
    at, _ = machine_of(boards or boards_of(reading, key), key)
    return [collective_time("all_reduce", size, at) for size in sizes]


def pcie_fabric(
    device: str | Accelerator,
    boards: int,
    *,
    generation: int | None = None,
    lanes: int | list[int] | tuple[int, ...] = 16,
    path: str = "PHB",
    peer: bool | None = None,
    level: str | None = None,
    under: int = 1,
) -> Fabric:
    """Boards in the slots of one machine, for ``collective_time``.

    - ``device``: their kind; ``generation``: of their slots, the device's where None.
    - ``lanes``: of each slot, or of all; the narrowest sets the rate of a ring.
    - ``path``: the word of the farthest pair; ``peer``, ``level``: as in ``boards_of``.
    - ``under``: boards that one switch holds, on one cable to the processor.
    - raises ``ValueError`` for fewer than two boards, or ones that fill no switch.

    >>> eight = pcie_fabric("rtx_4090", 8, path="SYS", under=4)
    >>> for name in ("all_reduce", "send_recv"):
    ...     print(f"{collective_time(name, 1 << 30, eight).bus / 1e9:.1f} GB/s")
    6.0 GB/s
    6.0 GB/s
    """
    chip = hardware.get(device) if isinstance(device, str) else device
    whole(2, boards=boards)
    whole(under=under)
    if boards % under:
        raise ValueError(f"boards = {boards} do not fill switches of under = {under}")
    path = resolve(path, WORDS, "way")
    wide = list(lanes) if isinstance(lanes, (list, tuple)) else [lanes] * boards
    names = [f"GPU{i}" for i in range(boards)]
    ways = {
        (names[a], names[b]): "PIX" if a // under == b // under else path
        for a in range(boards)
        for b in range(boards)
        if a != b
    }
    said = re.match(r"pcie(\d)", chip.host_link_key)
    made = generation or (int(said[1]) if said else GENERATIONS[-1])
    reading = TopoReading(tuple(names), ways, {}, {}, {})
    slots = [slot(made, one) for one in wide]
    return machine_of(
        boards_of(reading, chip, slots=slots, peer=peer, level=level), chip
    )[0]
