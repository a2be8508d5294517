"""Host or device?

level: derive

Suppose a host that needs `submit` microseconds to put a kernel into the queue, and a
device that runs the kernels of one queue one after the other, each for `work`
microseconds. The device starts a kernel as soon as it is in the queue and the one
before is done. Both begin at zero with an empty queue, which is never full.

- `one_by_one(kernels, work, submit)`: when the last of so many equal kernels is done,
  in microseconds. In closed form, without a loop.
- `as_graph(kernels, work, replay, node)`: the same for a graph. The host submits it
  once, in `replay` microseconds; then the device needs `node` microseconds before each
  kernel, the first included.
- `free_batch(submit, read, each)`: kernels take longer for a larger batch, `read +
  each x batch` microseconds. The smallest whole batch, one or more, for which a long
  series of kernels takes as long as the device needs, and the host costs nothing.
  Suppose `each` is above zero.

hint: Let `work` be much longer than `submit` and draw both as bars; then let it be
much shorter. What is added up for each kernel but one is in both cases the longer of
the two.
"""

import math

from stacklib.grading import expect
from stacklib.kernels.launch.launches import Launches, run_launches

# ---- your answer ----


def one_by_one(kernels, work, submit):
    """Microseconds until the last kernel is done."""
    return submit + (kernels - 1) * max(submit, work) + work


def as_graph(kernels, work, replay, node):
    """Microseconds until the last kernel of a graph is done."""
    return replay + kernels * (node + work)


def free_batch(submit, read, each):
    """The smallest batch at which the device never waits."""
    return max(1, math.ceil((submit - read) / each))


# ---- tests ----

STEPS = [
    {"kernels": n, "work": work, "submit": submit}
    for n in (1, 2, 42, 1000)
    for work, submit in ((1.5, 20.0), (30.0, 20.0), (5.0, 5.0), (4.0, 6.0))
]
GRAPHS = [
    {"kernels": n, "work": work, "replay": 2.5, "node": node}
    for n in (1, 42, 880)
    for work, node in ((1.5, 0.5), (6.0, 1.5))
]
BATCHES = [
    {"submit": submit, "read": read, "each": each}
    for submit, read, each in (
        (20.0, 1.5, 0.25),
        (6.0, 1.5, 0.25),
        (6.0, 1.5, 0.4),
        (2.0, 5.0, 0.1),
    )
]


def event_by_event(kernels, work, submit):
    return run_launches(Launches(kernels, work, submit)).time


def replayed(kernels, work, replay, node):
    return run_launches(Launches(1, work, replay, start_s=node, nodes=kernels)).time


def first_free(submit, read, each):
    """By trial: the first batch whose kernels are as long as a submission."""
    return next(b for b in range(1, 1000) if read + each * b >= submit - 1e-9)


def test_one_by_one():
    expect.function_matches(
        one_by_one,
        event_by_event,
        STEPS,
        unit="µs",
        rel=1e-6,
        mistakes={
            "Host and device work at the same time: their times do not add up.": (
                lambda kernels, work, submit: kernels * (work + submit)
            ),
            "The last kernel still runs when its submission is done.": (
                lambda kernels, work, submit: kernels * max(work, submit)
            ),
            "Where the host is slower, all submissions come first: n of them.": (
                lambda kernels, work, submit: submit + kernels * work
            ),
        },
    )
    expect.reading(
        "3,360 kernels of 1.56 µs, submitted in 20 µs each",
        one_by_one(3360, 1.56, 20.0) / 1e3,
        "ms",
    )


def test_as_graph():
    expect.function_matches(
        as_graph,
        replayed,
        GRAPHS,
        unit="µs",
        rel=1e-6,
        mistakes={
            "The graph is submitted once, not for each of its kernels.": (
                lambda kernels, work, replay, node: kernels * (replay + node + work)
            ),
            "The device needs its step before the first kernel, too.": (
                lambda kernels, work, replay, node: (
                    replay + kernels * work + (kernels - 1) * node
                )
            ),
        },
    )


def test_free_batch():
    expect.function_matches(
        free_batch,
        first_free,
        BATCHES,
        rel=1e-9,
        mistakes={
            "A batch is whole: the first that is enough lies above the quotient.": (
                lambda submit, read, each: max(1, math.floor((submit - read) / each))
            ),
            "What is read does not depend on the batch; take it off first.": (
                lambda submit, read, each: max(1, math.ceil(submit / each))
            ),
            "A batch is one or more, however long the kernels are.": (
                lambda submit, read, each: math.ceil((submit - read) / each)
            ),
        },
    )
