"""CPU against GPU, the journey included.

level: derive
project: P1.5

A square matrix product waits in the memory of a CPU. A GPU would be faster, but
its two operands must cross a link first, and the result must come back. From some
size on the journey pays. Find it.

Let both processors run at a constant rate, in FLOP/s, and the link at a constant
rate, in B/s, whichever way the bytes go. Write first the seconds on the GPU with
the journey, for matrices of n rows and columns with `width` bytes an element. Then
the n, not rounded, at which it takes as long as the CPU. Where the GPU is no faster
than the CPU there is no such n: return None.

No GPU is needed. The tests use the rates of real devices, and of the machine this
book was measured on.

hint: The product is 2·n³ FLOP. Three matrices travel, two there and one back. Set
2·n³ / cpu = 2·n³ / gpu + 3·n²·width / link, divide by n², and solve for n.
"""

from stacklib import hardware
from stacklib.grading import expect

# ---- your answer ----


def gpu_time(n, gpu, link, width):
    """Seconds for the journey there, the product, and the journey back."""
    return 2 * n**3 / gpu + 3 * n**2 * width / link


def crossover(cpu, gpu, link, width):
    """The n, not rounded, from which the journey pays; None if it never does."""
    if gpu <= cpu:
        return None
    return 3 * width / link / (2 / cpu - 2 / gpu)


# ---- tests ----

HERE = hardware.get("this_machine").peak("fp32").si
RATES = [
    {"gpu": d.peak("fp32").si, "link": d.host_link.to("B/s").si}
    for d in map(hardware.get, ("h100-sxm", "rtx-4090", "a100-sxm-80gb"))
]


def journey(n, gpu, link, width, matrices=3, operations=2):
    return operations * n**3 / gpu + matrices * n**2 * width / link


def meeting(cpu, gpu, link, width, matrices=3):
    """Where the CPU's time equals the GPU's, by halving."""
    low, high = 0.0, 1e9
    for _ in range(200):
        n = (low + high) / 2
        slower = journey(n, gpu, link, width, matrices) > 2 * n**3 / cpu
        low, high = (n, high) if slower else (low, n)
    return high


def test_gpu_time():
    expect.function_matches(
        gpu_time,
        journey,
        [{"n": n, "width": w, **r} for n in (64, 3000) for w in (2, 4) for r in RATES],
        unit="s",
        mistakes={
            "The result has to come back: three matrices travel, not two.": (
                lambda **c: journey(matrices=2, **c)
            ),
            "A multiply-add is two operations.": (
                lambda **c: journey(operations=1, **c)
            ),
            "You left the journey out.": lambda **c: journey(matrices=0, **c),
        },
    )


def test_crossover():
    expect.function_matches(
        crossover,
        meeting,
        [
            {"cpu": c, "width": w, **r}
            for c in (HERE, 2e12)
            for w in (2, 4)
            for r in RATES
        ],
        mistakes={
            "The result has to come back: three matrices travel, not two.": (
                lambda **c: meeting(matrices=2, **c)
            ),
            "You took the GPU's product to take no time. It is fast, not free.": (
                lambda cpu, gpu, link, width: 1.5 * width * cpu / link
            ),
        },
        rel=1e-4,
    )


def test_a_gpu_that_is_no_faster_never_pays():
    for gpu in (HERE, HERE / 2):
        n = crossover(HERE, gpu, 63e9, 4)
        if n is not None:
            raise expect.Mistake(
                f"crossover gave {n!r} for a GPU that is no faster than the CPU: the "
                "journey never pays, return None"
            )
