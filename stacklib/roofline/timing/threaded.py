"""A thread as the device: the same calls as the simulated one, and a real clock.

The thread sleeps for as long as a kernel says. A sleeping thread leaves the
interpreter to the host, as a device does.
"""

from __future__ import annotations

import queue
import threading
import time
from types import TracebackType
from typing import Any

from .queued import Kernel


class ThreadDevice:
    """Runs kernels in order on a thread of its own; use it in a ``with`` block."""

    def __enter__(self) -> ThreadDevice:
        self._jobs: queue.Queue[Any] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            if isinstance(job, Kernel):
                time.sleep(job.seconds)
            else:
                job.append(time.perf_counter())
            self._jobs.task_done()

    def clock(self) -> float:
        """The host's clock, in seconds."""
        return time.perf_counter()

    def launch(self, kernel: Kernel) -> None:
        """Enqueue a kernel and return at once."""
        self._jobs.put(kernel)

    def synchronize(self) -> None:
        """Return when the queue is empty."""
        self._jobs.join()

    def record(self) -> list[float]:
        """Enqueue a mark: a list that gets the time when the thread comes to it."""
        mark: list[float] = []
        self._jobs.put(mark)
        return mark

    def elapsed(self, first: list[float], last: list[float]) -> float:
        """Seconds between two marks; waits until the thread has passed both."""
        self.synchronize()
        return last[0] - first[0]

    def flush(self) -> None:
        """A thread that sleeps has no cache to fill."""
