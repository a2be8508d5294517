"""Clocks for the GPU benchmark: CUDA events, graph replays, and a CPU rehearsal.

A sample is several calls back to back; raw samples are kept. Short calls are
captured in a CUDA graph, since otherwise the time is that of Python launching
them. Where the question is main memory, the calls of a sample rotate over enough
copies of the operands to push each out of L2 before its turn comes again; writing
a flush buffer instead would leave dirty lines for the timed call to write back.
"""

import contextlib
import math
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HELD_S = 0.5  # a sample of a step that is held for long: as often as watts are read
SAMPLE_S = 0.002  # calls in a sample fill about this
TOTAL_S = 0.12  # samples of a case fill about this
GRAPH_BELOW_S = 0.0005  # longer calls hide their launch
MOST_CALLS = 400
# A case that is slower than this is timed fewer than MOST_SAMPLES times.
LEAST_SAMPLES, MOST_SAMPLES = 5, 20
CPU_ENOUGH_S = 0.02


@dataclass
class Op:
    """``run(i)`` makes one call on the i-th of ``copies`` sets of operands."""

    run: Callable[[int], Any]
    copies: int = 1
    cold: bool = False  # the copies together exceed L2 at least twice
    graph: bool = False  # captured however long it takes: many kernels in one call


def samples_for(call_s: float, calls: int) -> int:
    """Samples that fill ``TOTAL_S``, within bounds."""
    wanted = TOTAL_S / max(call_s * calls, 1e-7)
    return int(min(max(wanted, LEAST_SAMPLES), MOST_SAMPLES))


def calls_for(call_s: float, copies: int) -> int:
    """Calls that fill a sample: at least one round over the copies if short."""
    wanted = math.ceil(SAMPLE_S / max(call_s, 1e-7))
    return max(1, min(max(wanted, copies), MOST_CALLS))


class CudaTimer:
    """Times an ``Op`` on the current CUDA device."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def sync(self) -> None:
        self.torch.cuda.synchronize()

    def measure(self, op: Op) -> dict[str, Any]:
        """Raw ``times_s`` of a call, one a sample, and how they were taken."""
        for i in range(3):  # warm-up: module load, autotuning, handles
            op.run(i % op.copies)
        self.sync()
        call_s = self._rough(op)
        calls = calls_for(call_s, op.copies)
        found: dict[str, Any] = {"calls_per_sample": calls, "method": "events"}
        body = self._loop(op, calls)
        if op.graph or call_s < GRAPH_BELOW_S:
            try:
                body, found["method"] = self._graph(op, calls), "graph"
            except Exception as error:
                found["graph_refused"] = reason(error)
                self.sync()
        times = self._samples(body, samples_for(call_s, calls))
        return {"times_s": [digits(t / calls) for t in times], **found}

    def _rough(self, op: Op) -> float:
        calls = min(max(3, op.copies), 20)
        return min(self._samples(self._loop(op, calls), 2)) / calls

    def _loop(self, op: Op, calls: int) -> Callable[[], None]:
        def body() -> None:
            for i in range(calls):
                op.run(i % op.copies)

        return body

    def _graph(self, op: Op, calls: int) -> Callable[[], None]:
        cuda = self.torch.cuda
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):  # libraries set up their workspace before capture
            for i in range(2):
                op.run(i % op.copies)
        cuda.current_stream().wait_stream(side)
        self.sync()
        graph = cuda.CUDAGraph()
        # a capture that fails leaves its own stream in use: the present one comes back
        with cuda.stream(cuda.current_stream()), cuda.graph(graph):
            for i in range(calls):
                op.run(i % op.copies)
        graph.replay()
        self.sync()
        return graph.replay

    def _samples(self, body: Callable[[], None], count: int) -> list[float]:
        """Seconds of each of ``count`` runs, queued without a pause between them."""
        event = self.torch.cuda.Event
        pairs = [
            (event(enable_timing=True), event(enable_timing=True)) for _ in range(count)
        ]
        self.sync()
        for start, end in pairs:
            start.record()
            body()
            end.record()
        self.sync()
        times = [start.elapsed_time(end) * 1e-3 for start, end in pairs]
        if min(times) <= 0:
            raise RuntimeError("a CUDA event pair measured no time")
        return times

    def hold(self, op: Op, seconds: float) -> dict[str, Any]:
        """Raw seconds of a call, one a sample, over so many seconds without a pause."""
        return _hold(self._graph(op, 1), self.sync, seconds)

    def launches(self, call: Callable[[], Any], n: int, graph: bool) -> dict[str, Any]:
        """Host seconds until n calls are queued, and until they are done."""
        run = self._graph(Op(lambda i: call()), n) if graph else _times(call, n)
        return _launches(run, self.sync)


class CpuTimer:
    """The same interface on a CPU, to rehearse the run where there is no GPU."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def sync(self) -> None:
        """A CPU call is done when it returns."""

    def measure(self, op: Op) -> dict[str, Any]:
        """Times of an operation that ran before, when its output was looked at."""
        times = []
        for i in range(LEAST_SAMPLES):
            start = time.perf_counter()
            op.run(i % op.copies)
            times.append(digits(max(time.perf_counter() - start, 1e-9)))
            if sum(times) > CPU_ENOUGH_S:  # Triton's interpreter: once will do
                break
        return {"times_s": times, "calls_per_sample": 1, "method": "host clock"}

    def hold(self, op: Op, seconds: float) -> dict[str, Any]:
        return _hold(lambda: op.run(0), self.sync, seconds)

    def launches(self, call: Callable[[], Any], n: int, graph: bool) -> dict[str, Any]:
        if graph:
            raise NotImplementedError("a CPU has no CUDA graphs")
        return _launches(_times(call, n), self.sync)


def _hold(
    run: Callable[[], Any], sync: Callable[[], None], seconds: float
) -> dict[str, Any]:
    times, start = [], time.perf_counter()
    while (begun := time.perf_counter()) < start + seconds:
        calls = 0
        while not calls or time.perf_counter() < begun + min(HELD_S, seconds):
            run()
            sync()
            calls += 1
        times.append(digits((time.perf_counter() - begun) / calls))
    return {"times_s": times, "method": "host clock, a call after the other"}


def _times(call: Callable[[], Any], n: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(n):
            call()

    return run


def _launches(run: Callable[[], Any], sync: Callable[[], None]) -> dict[str, Any]:
    queued, done = [], []
    for _ in range(MOST_SAMPLES + 3):
        sync()
        start = time.perf_counter()
        run()
        queued.append(digits(time.perf_counter() - start))
        sync()
        done.append(digits(time.perf_counter() - start))
    found: dict[str, Any] = {"times_s": done[3:], "queued_s": queued[3:]}
    return {**found, "calls_per_sample": 1, "method": "host clock"}


def digits(x: float) -> float:
    """Five significant digits: more than a clock resolves, and shorter files."""
    return float(f"{x:.5g}")


def reason(error: BaseException) -> str:
    """Why something failed: error type and the start of its message."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]


class Sampler:
    """Clock, power and temperature through nvidia-smi while a section runs."""

    FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")

    def __init__(self, device: str | None) -> None:
        self.process: Any = None
        if device is None:
            return
        query = [
            f"--query-gpu={','.join(self.FIELDS)}",
            "--format=csv,noheader,nounits",
        ]
        self.command = ["nvidia-smi", f"--id={device}", *query]
        with contextlib.suppress(OSError):
            self.process = subprocess.Popen(
                [*self.command, "--loop-ms=500"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def stop(self) -> list[list[float]]:
        """Rows of ``FIELDS``; empty where nvidia-smi gave none."""
        if self.process is None:
            return []
        try:
            # asked once more, in case the loop kept its lines in a buffer
            once = subprocess.run(
                self.command, capture_output=True, text=True, timeout=10
            ).stdout
            self.process.terminate()
            text = self.process.communicate(timeout=5)[0] + once
        except (OSError, subprocess.SubprocessError):
            self.process.kill()
            return []
        return [row for row in map(_numbers, text.splitlines()) if row]


def _numbers(line: str) -> list[float]:
    try:
        return [float(cell) for cell in line.split(",")]
    except ValueError:
        return []
