"""Section 2.3: What does a warp do while it waits?"""

from __future__ import annotations

from stacklib import hardware
from stacklib.gpu.issue.hiding import hide
from stacklib.quantity import Quantity, assumed, one_of, quoted

DEVICE, NEXT = "h100-sxm", "b200-sxm"
CLAIMED = quoted("whole_stack.load_latency")
BUSY = assumed(
    600,
    "ns",
    "latency of a busy memory",
    why="A memory with work to do answers later than an idle one; chapter 1 takes it.",
)


def cycles(level: str) -> Quantity:
    """Latency of a level of an H100 as a number, which the text follows with cycles."""
    return hardware.level(DEVICE, level).known("cycles") / one_of("cycle")


def full(latency: Quantity | None = None, device: str = DEVICE) -> Quantity:
    """Share of the bandwidth of a unit full of threads, each with one 4-byte load."""
    return hide(threads=1024, device=device, latency=latency).share
