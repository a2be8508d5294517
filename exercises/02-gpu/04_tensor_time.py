"""How busy were the tensor cores?

level: build
project: P2.2

A profiler's timeline is a list of events in Chrome's trace format, which PyTorch's
profiler writes too. `ts` is when an event began and `dur` how long it took, both in
microseconds. `cat` is "kernel" or "gpu_memcpy", a copy. A kernel says in
`args["flop"]` what its tensor cores did; kernels of different streams may overlap.

The window goes from the first start to the last end of anything.

- `busy(events)`: share of the window in which at least one kernel ran. `nvidia-smi`
  calls this utilization.
- `tensor(events, peak)`: operations done over those that the window had room for, at
  `peak` operations a second. This is what you paid for.

One of the timelines is `stacklib.gpu.tensor.kernel_trace.recorded()`. It is simulated,
not recorded on a GPU, and says so in its `otherData`. On one of your own,
`torch.profiler` writes the file with `export_chrome_trace`;
`nsys profile --gpu-metrics-devices=all` draws it, and
`ncu --metrics sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed` measures
the second share kernel by kernel.

hint: Sort the kernels by their start and remember until when the time is covered. A
kernel adds only what lies beyond that.
"""

from stacklib import hardware
from stacklib.gpu.tensor import kernel_trace
from stacklib.grading import expect

# ---- your answer ----


def busy(events):
    """Share of the window in which at least one kernel ran."""
    spans = [(e["ts"], e["ts"] + e["dur"], e["cat"]) for e in events]
    union, until = 0.0, 0.0
    for start, end, kind in sorted(spans):
        if kind == "kernel":
            union += max(0.0, end - max(start, until))
            until = max(until, end)
    return union / (max(s[1] for s in spans) - min(s[0] for s in spans))


def tensor(events, peak):
    """Operations done over those there was room for."""
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    return sum(e["args"]["flop"] for e in events) / (1e-6 * (last - first) * peak)


# ---- tests ----

PEAK = hardware.get("h100-sxm").peak("bf16").si


def event(ts, dur, flop=0.0, cat="kernel"):
    return {
        "ph": "X",
        "cat": cat,
        "name": "k",
        "ts": ts,
        "dur": dur,
        "args": {"flop": flop},
    }


TIMELINES = {
    "one kernel": [event(5, 10, 2e9)],
    "a gap": [event(0, 10, 4e9), event(30, 10, 4e9)],
    "an overlap": [event(0, 10, 5e9), event(6, 10, 1e9)],
    "one inside another": [event(0, 20, 8e9), event(5, 3, 1e9), event(25, 5, 1e9)],
    "a copy first": [event(0, 30, cat="gpu_memcpy"), event(25, 15, 9e9)],
    "not in order": [event(40, 10, 3e9), event(0, 12, 4e9), event(9, 6, 1e9)],
    "a block of a model": kernel_trace.recorded()["traceEvents"],
}


class Timeline(list):
    """Events that print by their name."""

    def __init__(self, name):
        super().__init__(TIMELINES[name])
        self.key = name


CASES = [{"events": Timeline(name)} for name in TIMELINES]


def summed(events):
    return 1e-6 * sum(e["dur"] for e in kernels(events))


def kernels(events):
    return [e for e in events if e["cat"] == "kernel"]


def test_busy():
    window = kernel_trace.window
    expect.function_matches(
        busy,
        kernel_trace.busy,
        CASES,
        rel=1e-4,
        mistakes={
            "Kernels that overlap share the time; count it once.": (
                lambda events: summed(events) / window(events)
            ),
            "A copy is no kernel.": (
                lambda events: kernel_trace.busy(
                    [{**e, "cat": "kernel"} for e in events]
                )
            ),
            "The window includes the copies.": (
                lambda events: kernel_trace.busy(kernels(events))
            ),
        },
    )
    ran = kernel_trace.busy(TIMELINES["a block of a model"])
    expect.reading("a kernel is running", f"{100 * ran:.1f} %")


def share(events, peak):
    return kernel_trace.tensor_share(events, peak)


def test_tensor():
    window, ran = kernel_trace.window, kernel_trace.busy
    expect.function_matches(
        tensor,
        share,
        [{**case, "peak": PEAK} for case in CASES],
        rel=1e-4,
        mistakes={
            "That is over the time in which kernels ran. You paid for the gaps too.": (
                lambda events, peak: share(events, peak) / ran(events)
            ),
            "That is over the sum of the kernels' times.": (
                lambda events, peak: (
                    share(events, peak) * window(events) / summed(events)
                )
            ),
            "Times are in microseconds, the peak is a second's.": (
                lambda events, peak: share(events, peak) * 1e-6
            ),
        },
    )
    found = share(TIMELINES["a block of a model"], PEAK)
    expect.reading("the tensor cores are at", f"{100 * found:.1f} %")
