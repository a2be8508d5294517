"""Timelines: the simulator that makes them, and what is read from them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.gpu.tensor.kernel_trace import (
    Kernel,
    busy,
    recorded,
    run_kernels,
    sample,
    tensor_share,
    window,
)

from ...rows import refusals

PEAK = hardware.get("h100-sxm").peak("bf16").si
event = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.sampled_from(["kernel", "kernel", "gpu_memcpy"]),
        "ts": st.integers(0, 60),
        "dur": st.integers(1, 20),
    }
)
kernel = st.builds(
    Kernel,
    st.just("k"),
    st.integers(0, 2),
    st.integers(0, 9).map(float),
    st.integers(0, 9),
    st.integers(1, 5).map(float),
)


def test_the_recorded_timeline_is_the_simulated_one_and_says_so():
    assert recorded() == sample()
    assert recorded()["otherData"]["simulated"] is True


@given(st.lists(event, min_size=1, max_size=12))
def test_busy_is_the_count_of_microseconds_with_a_kernel(events):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    ran = [e for e in events if e["cat"] == "kernel"]
    ticks = [
        any(e["ts"] <= t < e["ts"] + e["dur"] for e in ran) for t in range(first, last)
    ]
    assert busy(events) == pytest.approx(sum(ticks) / (last - first))
    assert window(events) == pytest.approx((last - first) * 1e-6)


@given(st.lists(kernel, min_size=1, max_size=7), st.integers(1, 5))
def test_units_and_streams_are_never_shared_out_twice(kernels, units):
    events = run_kernels(kernels, units)
    assert sorted(e["args"]["blocks"] for e in events) == sorted(
        k.blocks for k in kernels
    )
    work = sum(k.blocks * k.time for k in kernels)
    end = max(e["ts"] + e["dur"] for e in events) * 1e-6
    assert end * units >= work - 1e-6
    for stream in {k.stream for k in kernels}:
        own = [e for e in events if e["tid"] == stream]
        listed = [k for k in kernels if k.stream == stream]
        for before, after in pairwise(own):
            assert after["ts"] >= before["ts"] + before["dur"] - 1e-3
        for one, ran in zip(listed, own, strict=True):
            assert ran["ts"] >= one.issued * 1e6 - 1e-3
            waves = -(-one.blocks // units) if one.blocks else 1
            assert ran["dur"] * 1e-6 >= waves * one.time - 1e-6


def test_a_small_kernel_of_another_stream_fills_the_last_wave():
    both = [Kernel("large", 0, 0.0, 5, 1.0), Kernel("small", 1, 0.0, 3, 1.0)]
    large, small = run_kernels(both, 4)
    assert (large["ts"], large["dur"]) == (0, 2e6)
    assert (small["ts"], small["dur"]) == (1e6, 1e6)


def test_busy_is_not_utilisation():
    events = recorded()["traceEvents"]
    assert 0 < tensor_share(events, PEAK) < busy(events) < 1
    summed = sum(e["dur"] for e in events if e["cat"] == "kernel") * 1e-6
    assert summed / window(events) > busy(events)


test_what_makes_no_sense_is_refused = refusals(
    (lambda: run_kernels([], 0), "units = 0"),
    (lambda: run_kernels([Kernel("k", 0, 0.0, 1, 0.0)], 1), "time above it"),
    (lambda: window([]), "no complete event"),
    (lambda: busy([{"ph": "X", "cat": "kernel", "ts": -1, "dur": 2}]), "ts = -1"),
    (lambda: window([{"ph": "X", "ts": 1, "dur": "2"}]), "dur = '2'"),
    (lambda: tensor_share([{"ph": "X", "ts": 1, "dur": 2}], 0), "peak = 0"),
)
