"""The same ring between real processes: shared memory, producers, and a port.

Counters and slots lie in one block of shared memory. Each producer is a process that
reserves under a lock (the atomic addition, which Python has not), waits for room,
writes its elements, waits for its turn, and rings; the caller's process is the port,
which decodes what the doorbell tells of. Every element bears who wrote it and which of
its own it is, so that the port sees what is lost, doubled, stale or out of order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from stacklib.quantity.bounds import above_zero, whole

from .wqe import SIZE, SLOT, read_wqe, write_wqe

RESERVED, READY, RUNG, SENT = range(4)  # counters, 8 bytes each
HEAD = 64  # bytes before the first slot
PERIOD = 1 << 16


@dataclass(frozen=True, slots=True)
class SharedRun:
    """What the port saw of a run between processes."""

    sent: tuple[tuple[int, int], ...]  # producer and which of its own, in order
    doorbells: int  # values of the doorbell that the port saw
    seconds: float  # from the first element to the last
    faults: tuple[str, ...]


class _Memory:
    """A view of the block: counters, and slots of 64 bytes."""

    def __init__(self, block: SharedMemory, slots: int) -> None:
        self.slots = slots
        view: Any = block.buf
        self.bytes, self.counters = view, view[:HEAD].cast("Q")

    def put(self, index: int, wqe: bytes) -> None:
        at = HEAD + index % self.slots * SLOT
        self.bytes[at : at + SIZE] = wqe

    def get(self, index: int) -> bytes:
        at = HEAD + index % self.slots * SLOT
        return bytes(self.bytes[at : at + SIZE])

    def release(self) -> None:
        """Let go of the block, which cannot be closed while it is looked into."""
        self.counters.release()


def run_shared(
    producers: int = 2,
    entries: int = 2000,
    slots: int = 64,
    batch: int = 4,
    *,
    bell_first: bool = False,
    dies_at: int | None = None,
    limit_s: float = 20.0,
) -> SharedRun:
    """Let processes fill one ring and read it here as the port would.

    - ``entries``: of each producer, a multiple of ``batch``; ``slots``: of the ring.
    - ``bell_first``: the planted fault, a doorbell before the elements are written.
    - ``dies_at``: the last producer ends without a word at this one of its own.
    - raises ``RuntimeError`` naming a producer that died, ``TimeoutError`` after
      ``limit_s``; either way no process is left.
    """
    whole(producers=producers, entries=entries, slots=slots, batch=batch)
    above_zero(limit_s=limit_s)
    if entries % batch or slots % batch or PERIOD % slots:
        raise ValueError(
            f"entries = {entries}, slots = {slots}: both multiples of batch = {batch}, "
            "and slots a power of two"
        )
    context = get_context("spawn")  # a fork would copy threads' locks as they stand
    lock = context.Lock()
    block = SharedMemory(create=True, size=HEAD + slots * SLOT)
    people: list[Any] = []
    try:
        memory = _Memory(block, slots)
        for who in range(producers):
            dies = dies_at if who == producers - 1 else None
            what = (block.name, lock, who, entries, slots, batch, bell_first, dies)
            people.append(context.Process(target=_produce, args=what, daemon=True))
            people[-1].start()
        try:
            return _port(memory, lock, people, producers * entries, limit_s)
        finally:
            memory.release()
    finally:
        for person in people:
            person.terminate()
            person.join()
        block.close()
        block.unlink()


def _produce(
    name: str,
    lock: Any,
    who: int,
    entries: int,
    slots: int,
    batch: int,
    bell_first: bool,
    dies: int | None,
) -> None:
    """One producer's life; runs in a process of its own."""
    block = SharedMemory(name)
    memory = _Memory(block, slots)
    try:
        _post(memory, lock, who, entries, batch, bell_first, dies)
    finally:
        memory.release()
        block.close()


def _post(
    memory: _Memory,
    lock: Any,
    who: int,
    entries: int,
    batch: int,
    bell_first: bool,
    dies: int | None,
) -> None:
    """Post batch by batch: reserve, wait for room, write, tell."""
    counters, slots = memory.counters, memory.slots
    for first in range(0, entries, batch):
        with lock:
            base = counters[RESERVED]
            counters[RESERVED] = base + batch
        if dies is not None and first >= dies:
            raise SystemExit(1)
        while base + batch > counters[SENT] + slots:
            time.sleep(0)
        if bell_first:
            _tell(counters, lock, base, batch)
            while counters[SENT] < base + batch:
                time.sleep(0)
        for k in range(batch):
            mine = first + k
            wqe = write_wqe((base + k) % PERIOD, who, mine, 1, mine, 2, 7392)
            memory.put(base + k, wqe)
        if not bell_first:
            _tell(counters, lock, base, batch)


def _tell(counters: memoryview, lock: Any, base: int, batch: int) -> None:
    """Wait for one's turn, then raise the doorbell; the lock orders the writes."""
    while counters[READY] != base:
        time.sleep(0)
    with lock:
        counters[READY] = base + batch
        counters[RUNG] = max(counters[RUNG], base + batch)


def _port(
    memory: _Memory, lock: Any, people: list[Any], total: int, limit_s: float
) -> SharedRun:
    """Read until every element has come, a producer has died, or time is up."""
    counters = memory.counters
    sent: list[tuple[int, int]] = []
    faults: list[str] = []
    doorbells, end, began = 0, time.monotonic() + limit_s, 0.0
    while counters[SENT] < total:
        rung = _rung(counters, lock, end)
        if rung == counters[SENT]:
            _look(people, end, counters[SENT], total)
            time.sleep(0)
            continue
        began = began or time.monotonic()
        doorbells += 1
        for index in range(counters[SENT], rung):
            _read(memory.get(index), index, sent, faults)
        with lock:  # whoever sees it knows that the slots have been read
            counters[SENT] = rung
    lasted = time.monotonic() - began
    return SharedRun(tuple(sent), doorbells, lasted, (*faults, *check_sent(sent)))


def _rung(counters: memoryview, lock: Any, end: float) -> int:
    """The doorbell, or an error where a producer keeps the lock for good."""
    if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
        raise TimeoutError("a producer ended and kept the lock: nobody can go on")
    try:
        return counters[RUNG]
    finally:
        lock.release()


def _look(people: list[Any], end: float, sent: int, total: int) -> None:
    for who, person in enumerate(people):
        if person.exitcode:
            raise RuntimeError(
                f"producer {who} died (exit {person.exitcode}) when {sent} of {total} "
                "entries had been sent; its places in the ring stay empty"
            )
    if time.monotonic() > end:
        raise TimeoutError(f"{sent} of {total} entries were sent when time was up")


def _read(
    wqe: bytes, index: int, sent: list[tuple[int, int]], faults: list[str]
) -> None:
    try:
        entry = read_wqe(wqe)
    except ValueError as error:
        faults.append(f"entry {index} is read before it is written: {error}")
        return
    if entry.index != index % PERIOD:
        faults.append(f"entry {index} is read before it is written over {entry.index}")
        return
    sent.append((entry.queue_pair, entry.remote_address))


def check_sent(sent: list[tuple[int, int]]) -> list[str]:
    """What of each producer's own is missing, doubled or out of order."""
    faults = []
    last: dict[int, int] = {}
    for who, mine in sent:
        expected = last.get(who, -1) + 1
        if mine != expected:
            faults.append(f"producer {who} sent {mine} where {expected} was next")
        last[who] = max(mine, expected - 1)
    return faults
