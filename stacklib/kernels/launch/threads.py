"""A plan of launches run for real: this thread is the host, others are the device.

The host's submission is work (it spins), a kernel is sleep, the queue is Python's. A
thread that sleeps leaves the interpreter to the host, as a device does. The times are
this machine's: its sleep is late by some tens of microseconds, and its queue has a
price, which ``overheads`` measures one by one, so that the closed form can be held
against the rest.
"""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from .launches import Launches


def _spin(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        time.sleep(0)  # the device's threads need the interpreter, too


class _Lane:
    """A stream: a queue and the thread that serves it."""

    def __init__(self, places: threading.Semaphore | None) -> None:
        self.jobs: queue.Queue[Any] = queue.Queue()
        self.places = places
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while (graph := self.jobs.get()) is not None:
            for seconds in graph:
                time.sleep(seconds)
            if self.places is not None:
                self.places.release()
            self.jobs.task_done()

    def stop(self) -> None:
        self.jobs.put(None)
        self.thread.join()


def run_threads(plan: Launches) -> float:
    """Seconds that the plan takes here, until the host knows that all is done."""
    places = None if plan.depth is None else threading.Semaphore(plan.depth)
    lanes = [_Lane(places) for _ in range(plan.streams)]
    graph = [plan.kernel_s + plan.start_s] * plan.nodes
    try:
        began = time.perf_counter()
        for i in range(plan.kernels):
            if places is not None:
                places.acquire()
            _spin(plan.submit_s)
            lanes[i % plan.streams].jobs.put(graph)
            last = i + 1 == plan.kernels
            if last or (plan.every and (i + 1) % plan.every == 0):
                for lane in lanes:
                    lane.jobs.join()
                _spin(plan.barrier_s)
        return time.perf_counter() - began
    finally:
        for lane in lanes:
            lane.stop()


@dataclass(frozen=True, slots=True)
class Overheads:
    """What this machine adds, in seconds."""

    submit: float  # to a submission
    start: float  # to a kernel
    barrier: float  # to a round that ends in one


def overheads(kernel_s: float = 1e-3, submit_s: float = 2e-4, n: int = 40) -> Overheads:
    """Measure the three, each in a plan where little else shows.

    ``kernel_s``, ``submit_s``: seconds near those of the plans to be foretold.
    """
    bare = Launches(n, 0.0, submit_s)
    submit = run_threads(bare) / n - submit_s
    alone = Launches(n, kernel_s, 0.0)
    start = run_threads(alone) / n - kernel_s
    each = Launches(n, kernel_s, submit_s, every=1)
    round_s = run_threads(each) / n - kernel_s - submit_s
    return Overheads(submit, start, max(0.0, round_s - submit - start))


def foretold(plan: Launches, added: Overheads) -> float:
    """The closed form of a plan, with what this machine adds."""
    return replace(
        plan,
        submit_s=plan.submit_s + added.submit,
        start_s=plan.start_s + added.start,
        barrier_s=plan.barrier_s + added.barrier,
    ).time


def typical(samples: int = 5, **sizes: Any) -> Overheads:
    """The median of several measurements, each by itself."""
    found = [overheads(**sizes) for _ in range(samples)]
    names = ("submit", "start", "barrier")
    return Overheads(*(median(getattr(f, n) for f in found) for n in names))
