"""A send queue that a warp fills: one reservation, thirty-two writes, one doorbell.

Each lane of a warp has a message. Lane 0 reserves places for all with one atomic
addition and hands the first place round by a shuffle; every lane writes its own
element; lane 0 waits until all places before are written, says so, and rings. Source of
the order: DeepEP, ``ibgda_device.cuh`` at dd758caf (``nvshmemi_ibgda_put_nbi_warp``,
``ibgda_submit_requests``, ``ibgda_post_send``). There no lane waits for room, since the
caller never has more in flight than the queue has slots; here ``post`` lets the port
send first, or says that it is full.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.quantity.bounds import whole

from . import ring as r
from .wqe import read_wqe, write_wqe

LANES = 32
PERIOD = 1 << 16  # of an element's index


class Queue:
    """A ring of work-queue elements with its counters and doorbell.

    Parameters
    ----------
    slots : int
        Elements the ring holds, a power of two up to 65,536.
    queue_pair : int
        Number that each element bears.
    start : int
        First index; places near 65,536 show the wrap of an element's 16 bits.

    Raises
    ------
    ValueError
        For a ring that is no power of two, or more messages than lanes or slots.

    Examples
    --------
    >>> queue = Queue(64)
    >>> queue.post([(0x1000 * lane, 7, 0x10, 9, 7392) for lane in range(32)])
    0
    >>> queue.atomics, queue.doorbells, len(queue.send())
    (1, 1, 32)
    >>> queue.ring_bell(40)
    >>> queue.faults()
    ['entry 32 is rung before it is written']
    """

    def __init__(self, slots: int, queue_pair: int = 1, start: int = 0) -> None:
        whole(slots=slots)
        whole(0, start=start)
        if slots & (slots - 1) or slots > PERIOD:
            raise ValueError(f"slots = {slots}: a power of two up to {PERIOD}")
        self.ring = r.empty(slots, start)
        self.queue_pair = queue_pair
        self.memory: list[bytes] = [b""] * slots
        self.atomics = self.doorbells = 0
        self._faults: list[str] = []

    def reserve(self, count: int = 1) -> int:
        """Give out places by one atomic addition; the first of them.

        - ``count``: how many.
        """
        whole(count=count)
        base = self.ring.reserved
        self.ring = r.reserve(self.ring, count)
        self.atomics += 1
        return base

    def write(self, index: int, wqe: bytes) -> None:
        """Put an element into the slot of its ``index``.

        - ``wqe``: the element's bytes, as ``write_wqe`` makes them.
        """
        self.ring, fault = r.fill(self.ring, index)
        self.memory[self.ring.place(index)] = wqe
        self._note(fault)

    def publish(self, base: int, count: int) -> None:
        """Say that places are written, in the order of reservation.

        - ``base``, ``count``: the first of them, and how many.
        """
        self.ring, fault = r.publish(self.ring, base, count)
        self._note(fault)

    def ring_bell(self, head: int) -> None:
        """Write the doorbell: all before ``head`` may be read."""
        self.ring, fault = r.bell(self.ring, head)
        self.doorbells += 1
        self._note(fault)

    def send(self) -> list[bytes]:
        """Let the port read all it was told of; the elements in order."""
        sent = []
        while self.ring.sent < self.ring.rung:
            index = self.ring.sent
            wqe = self.memory[self.ring.place(index)]
            self.ring, fault = r.send(self.ring)
            if not fault and read_wqe(wqe).index != index % PERIOD:
                fault = f"entry {index} bears the index {read_wqe(wqe).index}"
            self._note(fault)
            sent.append(wqe)
        return sent

    def post(
        self, messages: Sequence[tuple[int, int, int, int, int]], together: bool = True
    ) -> int:
        """Let a warp post a message a lane; the index of the first.

        - ``messages``: remote address and key, local address and key, bytes.
        - ``together``: lane 0 reserves and rings for all; each for itself otherwise.
        - raises ``ValueError`` where there are more than lanes, or than room.
        """
        count = len(messages)
        if not 1 <= count <= LANES:
            raise ValueError(f"{count} messages: a warp has from 1 to {LANES}")
        if not self.ring.has_room(self.ring.reserved, count):
            free = len(self.memory) - (self.ring.reserved - self.ring.sent)
            raise ValueError(f"{count} messages and {free} slots free: send() first")
        first = self.ring.reserved
        step = count if together else 1
        for at in range(0, count, step):
            base = self.reserve(step)
            for lane in range(step):
                index = base + lane
                wqe = write_wqe(index % PERIOD, self.queue_pair, *messages[at + lane])
                self.write(index, wqe)
            self.publish(base, step)
            self.ring_bell(base + step)
        return first

    def faults(self) -> list[str]:
        """What went wrong, in the order in which it did; empty if nothing."""
        return list(self._faults)

    def _note(self, fault: str) -> None:
        if fault:
            self._faults.append(fault)
