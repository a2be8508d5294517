"""Three kinds of device on one workload: what binds each.

level: derive
project: P5.4

A device is a dict: `memory` (GB), `rate` (TB/s), `peak` (T operations a second) and
`turns`, the parts of it that a token passes one after the other (`1` where all of it
works at once). A workload is a dict: `weights` and `cache` (GB, of a reader), `work` (T
operations of a token), `readers`.

- `fits(device, workload)`: whether weights and all caches lie in it.
- `step(device, workload)`: milliseconds of a token at the roof. Readers spread evenly
  over the turns; those in the same part pass it together, and read its weights once.
- `binds(device, workload)`: `"memory"` or `"arithmetic"`, whichever takes longer, or
  `"room"` where it does not fit.

Raise `ValueError` for a device with a size that is not above zero, or NaN. `NaN` is
neither above zero nor below: a comparison alone lets it through or stops it, depending
on how you write it.

With hardware: time the same product on a CPU, a GPU and a phone, and see which of the
three numbers predicts each.

hint: Look at a single stage first, as a smaller chip: how many stand in its queue, what
does it fetch for all of them, what for each? The token visits every stage.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def checked(device):
    """The sizes of a device, each above zero."""
    for name in ("memory", "rate", "peak", "turns"):
        if not 0 < device[name] < math.inf:
            raise ValueError(f"{name} = {device[name]!r}: above zero is needed")
    return device


def fits(device, workload):
    """Whether weights and caches lie in it."""
    need = workload["weights"] + workload["readers"] * workload["cache"]
    return need <= checked(device)["memory"]


def times(device, workload):
    """Milliseconds of reading and of arithmetic."""
    turns = checked(device)["turns"]
    rows = math.ceil(workload["readers"] / turns)
    moved = workload["weights"] + rows * workload["cache"]
    reading = turns * moved / device["rate"]
    return reading, turns * rows * workload["work"] / device["peak"] * 1e3


def step(device, workload):
    """Milliseconds of a token."""
    return max(times(device, workload))


def binds(device, workload):
    """What takes longest, or what is missing."""
    if not fits(device, workload):
        return "room"
    reading, computing = times(device, workload)
    return "memory" if reading >= computing else "arithmetic"


# ---- tests ----

GPU = {"memory": 640, "rate": 26.8, "peak": 7915, "turns": 1}
RACK = {"memory": 128, "rate": 38_400, "peak": 314_880, "turns": 80}
WAFERS = {"memory": 176, "rate": 84_000, "peak": 62_500, "turns": 80}
LAPTOP = {"memory": 128, "rate": 0.546, "peak": 16.2, "turns": 1}
LLAMA = {"weights": 70.6, "cache": 0.671, "work": 0.1497}
CASES = [
    {"device": device, "workload": LLAMA | {"readers": n}}
    for device in (GPU, RACK, WAFERS, LAPTOP)
    for n in (1, 80, 81, 400, 40_000)
]


def part(device, workload, together=True, shared=True):
    """One part after the other, each with its share of everything."""
    turns, total = device["turns"], 0.0
    rows = -(-workload["readers"] // turns) if shared else workload["readers"]
    for _ in range(turns):
        bytes = workload["weights"] / turns * (1 if together else rows)
        bytes += rows * workload["cache"] / turns
        reading = bytes / (device["rate"] / turns)
        work = rows * workload["work"] / turns * 1e3
        total += max(reading, work / (device["peak"] / turns))
    return total


def test_fits():
    for case in CASES:
        device, workload = case["device"], case["workload"]
        need = workload["weights"] + workload["readers"] * workload["cache"]
        expect.equal(fits(**case), need <= device["memory"], among=(True, False))


def test_step():
    expect.function_matches(
        step,
        part,
        CASES,
        unit="ms",
        rel=1e-6,
        mistakes={
            "Readers in the same part read its weights once, together.": (
                lambda device, workload: part(device, workload, together=False)
            ),
            "Readers spread over the turns; those elsewhere do not wait here.": (
                lambda device, workload: part(device, workload, shared=False)
            ),
            "A token passes the parts in turn, and each has its share of the rate.": (
                lambda device, workload: part(device | {"turns": 1}, workload)
            ),
        },
    )


def test_binds():
    words = ("memory", "arithmetic", "room")
    expect.equal(binds(GPU, LLAMA | {"readers": 1}), "memory", among=words)
    expect.equal(binds(WAFERS, LLAMA | {"readers": 1}), "arithmetic", among=words)
    expect.equal(binds(RACK, LLAMA | {"readers": 400}), "room", among=words)
    few = LLAMA | {"cache": 1e-4}
    expect.equal(binds(GPU, few | {"readers": 4000}), "arithmetic", among=words)


def test_a_device_that_lies_is_refused():
    reasons = {
        ("rate", 0): "nothing is read at no rate",
        ("peak", -1.0): "nothing computes backwards",
        ("memory", math.nan): "NaN is no size",
        ("turns", 0): "a token passes one part at least",
    }
    for (name, value), why in reasons.items():
        given = {"device": GPU | {name: value}, "workload": LLAMA | {"readers": 1}}
        expect.refuses(step, given, because=why)
