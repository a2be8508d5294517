"""Which kernel first?

level: estimate

Pencil and paper. Suppose a GPU with a peak of 1,000 TFLOP/s and a bandwidth of 3 TB/s,
and a training step of 100 ms that the profiler cuts into five kernels. Suppose that
each has to do so many operations and to move so many bytes, and no fewer: matmul takes
55 ms for 45 TFLOP and 30 GB; attention 20 ms for 4 TFLOP and 6 GB; norms 15 ms for 0.03
TFLOP and 15 GB; the optimizer 8 ms for 0.01 TFLOP and 18 GB; dropout 2 ms for 0.001
TFLOP and 0.3 GB.

Their names are "matmul", "attention", "norms", "optimizer" and "dropout". A perfect
kernel takes as long as the roofline says: the longer of its operations at the peak and
its bytes at the bandwidth.

- `least(kernel)`: milliseconds of a perfect kernel, by its name.
- `slowest()`: the kernel that is farthest above its roofline, as a ratio.
- `first()`: the kernel that saves the most time when it alone is made perfect.
- `speedup()`: how many times as fast the whole step is with that kernel perfect.
- `limit()`: how many times as fast the step is when all five are perfect.

hint: A ratio says how badly a kernel is written. What it saves is its time less the
roofline's, and the rest of the step stays as long as it was.
"""

from stacklib.grading import expect

# ---- your answer ----


def least(kernel):
    """Milliseconds of a perfect kernel."""
    operations, moved = {
        "matmul": (45, 30),
        "attention": (4, 6),
        "norms": (0.03, 15),
        "optimizer": (0.01, 18),
        "dropout": (0.001, 0.3),
    }[kernel]
    return max(operations / 1000 * 1000, moved / 3000 * 1000)


def slowest():
    """The kernel that is farthest above its roofline."""
    return "dropout"


def first():
    """The kernel that saves the most when it is made perfect."""
    return "attention"


def speedup():
    """How many times as fast the step is then."""
    return 100 / (100 - 20 + least("attention"))


def limit():
    """How many times as fast the step is with five perfect kernels."""
    names = ("matmul", "attention", "norms", "optimizer", "dropout")
    return 100 / sum(map(least, names))


# ---- tests ----

STEP = {
    "matmul": (55, 45, 30),
    "attention": (20, 4, 6),
    "norms": (15, 0.03, 15),
    "optimizer": (8, 0.01, 18),
    "dropout": (2, 0.001, 0.3),
}
NOW = {name: row[0] for name, row in STEP.items()}
WHOLE = sum(NOW.values())


def computing(kernel):
    return STEP[kernel][1]  # ms: TFLOP over PFLOP/s


def moving(kernel):
    return STEP[kernel][2] / 3


def perfect(kernel):
    return max(computing(kernel), moving(kernel))


LEAST = {name: perfect(name) for name in STEP}


def test_least():
    expect.function_matches(
        least,
        perfect,
        [{"kernel": name} for name in STEP],
        unit="ms",
        mistakes={
            "Computing and moving overlap: the longer counts, not the sum.": (
                lambda kernel: computing(kernel) + moving(kernel)
            ),
            "These kernels move bytes, too: take the longer of the two.": computing,
            "These kernels compute, too: take the longer of the two.": moving,
            "That is the shorter of the two; the roofline is the longer.": (
                lambda kernel: min(computing(kernel), moving(kernel))
            ),
        },
    )


def chosen(given, right, mistakes):
    expect.equal(given, given, among=STEP)
    for name, text in mistakes.items():
        if given == name != right:
            raise expect.Mistake(text)
    expect.equal(given, right, among=STEP)


def test_slowest():
    right = max(STEP, key=lambda name: NOW[name] / LEAST[name])
    chosen(
        slowest(),
        right,
        {
            "matmul": "matmul has the most time, and is nearest its roofline",
            "attention": "attention is five times its roofline; one is farther above",
        },
    )


def test_first():
    right = max(STEP, key=lambda name: NOW[name] - LEAST[name])
    chosen(
        first(),
        right,
        {
            "matmul": "matmul has the largest share, but most of it has to stay",
            "dropout": "dropout is the slowest by ratio, but has two milliseconds",
            "norms": "norms save ten milliseconds; one kernel saves more",
        },
    )


def test_speedup():
    best = max(STEP, key=lambda name: NOW[name] - LEAST[name])
    expect.number(
        speedup(),
        WHOLE / (WHOLE - NOW[best] + LEAST[best]),
        mistakes={
            "That is the kernel's own speedup; the rest of the step stays.": (
                NOW[best] / LEAST[best]
            ),
            "A kernel that takes no time at all: its roofline's time stays.": (
                WHOLE / (WHOLE - NOW[best])
            ),
            "That is matmul made perfect.": (
                WHOLE / (WHOLE - NOW["matmul"] + LEAST["matmul"])
            ),
            "That is the share of the time that is left; ask how many times as fast.": (
                (WHOLE - NOW[best] + LEAST[best]) / WHOLE
            ),
        },
    )


def test_limit():
    expect.number(
        limit(),
        WHOLE / sum(LEAST.values()),
        mistakes={
            "Speedups of parts do not multiply; add up the times.": (
                (WHOLE / (WHOLE - NOW["attention"] + LEAST["attention"]))
                * (WHOLE / (WHOLE - NOW["matmul"] + LEAST["matmul"]))
                * (WHOLE / (WHOLE - NOW["norms"] + LEAST["norms"]))
                * (WHOLE / (WHOLE - NOW["optimizer"] + LEAST["optimizer"]))
                * (WHOLE / (WHOLE - NOW["dropout"] + LEAST["dropout"]))
            ),
            "That is the mean of the kernels' own speedups; add up the times.": (
                sum(NOW[name] / LEAST[name] for name in STEP) / len(STEP)
            ),
        },
    )
