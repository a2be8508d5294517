"""Keep, or compute again.

level: build

A chain of `n` equal layers is trained. A layer's input takes `i` bytes; for its way
back a layer needs `a` bytes, its input among them, so `a` is at least `i`. The chain is
cut into segments of `k` layers, the last of which may be shorter. Of a segment only the
input is stored. Before the segment goes back it runs once more, and then holds all that
its layers need until it is done. The last segment goes back first.

- `peak(n, i, a, k)`: bytes held at the highest, while some segment goes back: the
  inputs of the segments before it, and all that its own layers need.
- `best(n, i, a)`: the `k` from 1 to `n` with the lowest peak; of equal ones the
  smallest.
- `root(n, i, a)`: what a `k` that divides `n` would be for the lowest peak, if it need
  not be whole: a formula with a square root. Leave out what is below one input.
- `again(n, kept)`: the work that is done again, as a share of a step that keeps
  everything. A step is one pass forward and two back, of equal work. The last `kept`
  layers are kept and do not run again, all others do.

hint: Take four layers in twos on paper and write beside each turn what is stored. The
worst turn has one term that falls with k and one that rises: differentiate their sum.
"""

import math

from stacklib.grading import expect
from stacklib.kernels.launch.recompute import (
    CheckpointPlan,
    Layer,
    Segment,
    run_plan,
)

# ---- your answer ----


def peak(n, i, a, k):
    """Bytes at the highest."""
    return max(
        j * i + min(k, n - j * k) * a
        for j in range(math.ceil(n / k))  # the segment that goes back
    )


def best(n, i, a):
    """Layers of a segment with the lowest peak."""
    return min(range(1, n + 1), key=lambda k: (peak(n, i, a, k), k))


def root(n, i, a):
    """Layers of a segment, not rounded."""
    return math.sqrt(n * i / a)


def again(n, kept):
    """Share of a step's work that is done again."""
    return (n - kept) / (3 * n)


# ---- tests ----

CHAINS = [(16, 1, 1), (80, 1, 16), (80, 1, 4), (12, 3, 10), (7, 2, 5), (1, 1, 4)]
CUTS = [
    {"n": n, "i": i, "a": a, "k": k}
    for n, i, a in CHAINS
    for k in (1, 2, 3, 4, 9)
    if k <= n
]


def walked(n, i, a, k):
    """Layer by layer, with a ledger of what is held."""
    cuts = tuple(Segment(at, min(n, at + k), False) for at in range(0, n, k))
    return run_plan([Layer(i, a, 1.0)] * n, CheckpointPlan("", cuts, 0, 0, 0)).peak


def lowest(n, i, a):
    return min(range(1, n + 1), key=lambda k: (walked(n, i, a, k), k))


def ran_again(n, kept):
    cuts = tuple(Segment(at, at + 1, at >= n - kept) for at in range(n))
    run = run_plan([Layer(1, 2, 1.0)] * n, CheckpointPlan("", cuts, 0, 0, 0))
    return run.again / (run.flops - run.again)


def test_peak():
    expect.function_matches(
        peak,
        walked,
        CUTS,
        unit="B",
        rel=1e-9,
        mistakes={
            "Only the segments before it are stored; its own input is part of `a`.": (
                lambda n, i, a, k: math.ceil(n / k) * i + min(k, n) * a
            ),
            "Only the inputs of segments are stored, not those of all layers.": (
                lambda n, i, a, k: max(
                    j * k * i + min(k, n - j * k) * a for j in range(math.ceil(n / k))
                )
            ),
            "The last segment may be shorter: then the one before is the worst.": (
                lambda n, i, a, k: (math.ceil(n / k) - 1) * i + min(k, n) * a
            ),
            "With its input alone a segment cannot go back: it holds what its layers "
            "need.": lambda n, i, a, k: math.ceil(n / k) * i,
        },
    )


def test_best():
    expect.function_matches(
        best,
        lowest,
        [{"n": n, "i": i, "a": a} for n, i, a in CHAINS],
        rel=1e-9,
        mistakes={
            "A segment as long as the square root of n holds too much of its own.": (
                lambda n, i, a: round(math.sqrt(n))
            ),
            "Of equal peaks the smallest k is asked.": (
                lambda n, i, a: max(
                    range(1, n + 1), key=lambda k: (-walked(n, i, a, k), k)
                )
            ),
        },
    )
    expect.reading("layers of a segment: 80 layers, 16 inputs kept", best(80, 1, 16))


def test_root():
    expect.function_matches(
        root,
        lambda n, i, a: math.exp((math.log(n) + math.log(i) - math.log(a)) / 2),
        [{"n": n, "i": i, "a": a} for n, i, a in CHAINS],
        rel=1e-6,
        mistakes={
            "What a layer needs makes segments shorter: it stands below.": (
                lambda n, i, a: math.sqrt(n * a / i)
            ),
            "The square root of n is right where a layer needs no more than its "
            "input.": lambda n, i, a: math.sqrt(n),
        },
    )


def test_again():
    expect.function_matches(
        again,
        ran_again,
        [{"n": n, "kept": kept} for n in (4, 80) for kept in (0, 1, 3, 4)],
        rel=1e-9,
        mistakes={
            "A step has three passes' worth of work, not one.": (
                lambda n, kept: (n - kept) / n
            ),
            "The way back is two passes' worth, not one.": (
                lambda n, kept: (n - kept) / (2 * n)
            ),
            "The share is of a step that keeps everything.": (
                lambda n, kept: (n - kept) / (4 * n - kept)
            ),
        },
    )
