"""Part of the model in the far memory.

level: estimate

A GB200's GPU reads its own memory at one rate and that of its Grace across NVLink-C2C
at another. In a decode step every byte of the model is read once, and both memories
can be read at the same time.

Work with the fields of the database: `gpu.memory_bandwidth`, `gpu.memory_capacity`,
`link.bidirectional` and `link.per_direction`, all Quantities.

- `far_rate()`: GB/s at which the GPU can read Grace's memory.
- `step(gigabytes)`: ms of a step over a model of so many GB, the GPU's memory filled
  first.
- `free_share()`: the largest share of the bytes, in percent, that can lie in Grace's
  memory without the step becoming longer than if both memories took equally long.

hint: Which lane of a two-way road does a read drive on? Two things that happen side by
side end with the later one. Write both times as functions of the share and equate them.
"""

from stacklib import hardware
from stacklib.grading import expect

gpu = hardware.get("gb200")
grace = hardware.get("grace")
link = hardware.link("nvlink_c2c")

# ---- your answer ----


def far_rate():
    """GB/s at which the GPU reads Grace's memory."""
    one_way = link.per_direction.to("GB/s").value
    return min(one_way, grace.memory_bandwidth.to("GB/s").value)


def step(gigabytes):
    """Milliseconds of a step."""
    capacity = gpu.memory_capacity.to("GB").value
    near = min(gigabytes, capacity) / gpu.memory_bandwidth.to("GB/s").value
    far = max(0, gigabytes - capacity) / far_rate()
    return 1000 * max(near, far)


def free_share():
    """Percent of the bytes that may lie in the far memory."""
    near = gpu.memory_bandwidth.to("GB/s").value
    return 100 * far_rate() / (near + far_rate())


# ---- tests ----

NEAR = gpu.memory_bandwidth.to("GB/s").value
ROOM = gpu.memory_capacity.to("GB").value
ONE_WAY = link.per_direction.to("GB/s").value
BOTH_WAYS = link.bidirectional.to("GB/s").value
MEMORY = grace.memory_bandwidth.to("GB/s").value


def right_step(gigabytes, far=ONE_WAY, near=NEAR, combine=max):
    spilled = max(0, gigabytes - ROOM)
    return 1000 * combine((gigabytes - spilled) / near, spilled / far)


def test_far_rate():
    expect.number(
        far_rate(),
        ONE_WAY,
        unit="GB/s",
        mistakes={
            "That counts both directions of the link; a read crosses it one way.": (
                BOTH_WAYS
            ),
            "That is Grace's memory; the link in front of it is narrower.": MEMORY,
        },
    )


def test_step():
    expect.function_matches(
        step,
        right_step,
        [{"gigabytes": g} for g in (100, 200, 300, 406)],
        unit="ms",
        mistakes={
            "That counts both directions of the link; a read crosses it one way.": (
                lambda gigabytes: right_step(gigabytes, far=BOTH_WAYS)
            ),
            "You added the two times; both memories are read at once.": (
                lambda gigabytes: right_step(gigabytes, combine=lambda a, b: a + b)
            ),
            "All of it came across the link; the GPU's memory holds most.": (
                lambda gigabytes: 1000 * gigabytes / ONE_WAY
            ),
            "None of it came across the link; it does not all fit.": (
                lambda gigabytes: 1000 * gigabytes / NEAR
            ),
        },
    )


def test_free_share():
    expect.number(
        free_share(),
        100 * ONE_WAY / (NEAR + ONE_WAY),
        unit="%",
        rel=0.005,
        mistakes={
            "That counts both directions of the link; a read crosses it one way.": (
                100 * BOTH_WAYS / (NEAR + BOTH_WAYS)
            ),
            "That is the ratio of the rates; the share is of all bytes.": (
                100 * ONE_WAY / NEAR
            ),
        },
    )
