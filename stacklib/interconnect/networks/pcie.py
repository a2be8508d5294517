"""What two boards on PCI Express send each other, by the word of their way.

Which way they take follows NCCL's source, read as facts at commit 5067397c: a link of
PCIe 3.0 x16 counts as 12 GB/s (``src/graph/topo.h``, line 25), others by lanes and
generation (``topo.cc``, 545). Boards write into each other's memory where no host
bridge lies between them (``paths.cc``, 356), or where they are two on a host of AMD's
(362). All else goes through the host's memory (769), and always does where the driver
allows no access to a peer.

NCCL counts what is left of a link on each way alike. Published runs do not find it so;
their shares stand in the file of quotes. Left out: NCCL's search for channels, and what
it counts for the link between sockets (AMD 16 GB/s, which published runs pass).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import above_zero, whole

from .links import number

WORDS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # from near to far
GENERATIONS = (1, 2, 3, 4, 5, 6, 7)
LANES = (1, 2, 4, 8, 16)
COUNTED = quoted("pcie.counted").si / hardware.link("pcie3_x16").per_direction.si
ROOT = quoted("pcie.pair").si  # of what is counted, from port to port of a processor
HOST = ROOT * quoted("pcie.host").si  # of what is counted, through a socket's memory
ACROSS = quoted("pcie.across").si  # of either, to another socket
# Bytes a second that NCCL counts between sockets of Intel's and Arm's, one way
# (topo.h, 27 to 34).
SOCKETS: Mapping[str, float] = {
    name: quoted(f"nccl_socket.{name}").si
    for name in ("broadwell", "skylake", "sapphire_rapids", "emerald_rapids", "arm")
}


@dataclass(frozen=True, slots=True)
class BoardPath:
    """The way of one board to another, and what a single stream gets on it."""

    word: str
    peer: bool  # into the other's memory; else through the host's
    rate: float  # bytes a second, one way

    @property
    def told(self) -> str:
        """By which way, in words."""
        return "peer to peer" if self.peer else "through host memory"


def slot(generation: int, lanes: int) -> float:
    """Bytes a second of a slot after its code, one way.

    - raises ``ValueError`` for a generation or a width that slots have not.

    >>> f"{slot(4, 8) / 1e9:.1f}, {slot(5, 16) / 1e9:.1f} GB/s"
    '15.8, 63.0 GB/s'
    """
    whole(generation=generation, lanes=lanes)
    if generation not in GENERATIONS:
        raise ValueError(f"PCIe {generation}: generations are 1 to {GENERATIONS[-1]}")
    if lanes not in LANES:
        raise ValueError(f"x{lanes}: a slot has 1, 2, 4, 8 or 16 lanes")
    return hardware.link(f"pcie{generation}_x16").link_bandwidth.si * lanes / LANES[-1]


def reaches(device: Accelerator) -> bool:
    """Whether the driver lets boards of a kind into each other's memory over PCIe.

    NVIDIA's does for professional and server boards, and for GeForce and Titan boards
    up to Pascal. A patched driver changes that: callers can say so.
    """
    consumer = any(word in device.name for word in ("GeForce", "TITAN", "Titan"))
    return not consumer or device.architecture == "pascal"


def farthest(boards: int) -> str:
    """The last word on whose ways NCCL writes to peers, where no user sets it."""
    return "SYS" if boards <= 2 else "PXB"


def board_path(
    word: str, link: float, *, peer: bool, level: str, socket: float = inf
) -> BoardPath:
    """How one board reaches another.

    - ``word``: PIX, PXB, PHB, NODE or SYS; ``level``: the last whose ways go peer to
      peer where ``peer`` allows it (``NCCL_P2P_LEVEL``, or ``farthest``).
    - ``link``: bytes a second of the narrower slot, one way; ``socket``: of the link
      between sockets.
    - raises ``ValueError`` for another word, or a rate that is not above zero.

    >>> for word in WORDS:
    ...     way = board_path(word, slot(5, 16), peer=True, level="PXB")
    ...     print(word, way.told, f"{way.rate / 1e9:.1f}")
    PIX peer to peer 48.0
    PXB peer to peer 48.0
    PHB through host memory 30.8
    NODE through host memory 30.8
    SYS through host memory 24.7
    """
    word, level = resolve(word, WORDS, "way"), resolve(level, WORDS, "way")
    above_zero(link=link)
    if socket != inf:
        above_zero(socket=socket)
    at = WORDS.index(word)
    direct = peer and at <= WORDS.index(level)
    rate = number(link) * COUNTED
    if not direct:
        rate *= HOST
    elif at >= WORDS.index("PHB"):
        rate *= ROOT
    if word == "SYS":
        rate = min(rate * ACROSS, number(socket))
    return BoardPath(word, direct, rate)
