"""The best block, and it is not the fullest.

level: derive
project: P2.3

Suppose that a B200 has 148 units and 7.7 TB/s, that a load takes 437 ns, and that a
kernel only reads: each thread asks for `loads` numbers of 4 bytes at once and waits for
all of them. Every load on the way costs registers: `base + each * loads` a thread. A
block keeps `shared_bytes` in shared memory besides, whatever its size.

- `drawn(warps, loads)`: share of the bandwidth when a unit holds so many warps of 32
  threads. At most 1.
- `best(base, each, shared_bytes)`: the pair `(threads, loads)` that draws most, out of
  `BLOCKS` and `LOADS`. Of pairs that draw the same take the one with the fewest loads,
  of those the smallest block.

What fits on a unit need not be worked out again: `gpu.occupancy(threads=...,
registers=..., shared_bytes=..., device="b200-sxm").warps`.

With a GPU: compile for each pair with `__launch_bounds__`, and set achieved occupancy
(`sm__warps_active.avg.pct_of_peak_sustained_active`) beside bandwidth
(`dram__throughput.avg.pct_of_peak_sustained_elapsed`).

hint: Little's law gives the bytes that a unit needs on the way. Then try all pairs. A
tuple with minus signs sorts the ties.
"""

from stacklib import gpu, hardware
from stacklib.grading import expect

BLOCKS = (64, 96, 128, 192, 256, 384, 512, 768, 1024)
LOADS = (1, 2, 3, 4, 5, 6, 7, 8)

# ---- your answer ----


def drawn(warps, loads):
    """Share of the bandwidth, at most 1."""
    needed = 7.7e12 * 437e-9 / 148
    return min(1.0, warps * 32 * 4 * loads / needed)


def best(base, each, shared_bytes):
    """Threads of a block and loads of a thread."""

    def order(pair):
        threads, loads = pair
        held = gpu.occupancy(
            threads=threads,
            registers=base + each * loads,
            shared_bytes=shared_bytes,
            device="b200-sxm",
        )
        return drawn(held.warps, loads), -loads, -threads

    return max(((t, n) for t in BLOCKS for n in LOADS), key=order)


# ---- tests ----

CHIP = hardware.get("b200-sxm")
KERNELS = [
    {"base": b, "each": e, "shared_bytes": s}
    for b, e, s in (
        (24, 3, 0),
        (24, 3, 20000),
        (40, 4, 0),
        (40, 6, 16384),
        (56, 8, 0),
        (64, 4, 48000),
        (100, 6, 0),
    )
]


def needed():
    """Little's law for one unit, from what the question supposes."""
    return 7.7e12 * 437e-9 / 148


def share(warps, loads):
    return min(1.0, warps * 128 * loads / needed())


def tried(base, each, shared_bytes, key):
    """The pair that is best by ``key(share, occupancy, loads, threads)``."""
    found = []
    for threads in BLOCKS:
        for loads in LOADS:
            held = gpu.occupancy(
                threads=threads,
                registers=base + each * loads,
                shared_bytes=shared_bytes,
                device=CHIP,
            )
            draws = share(held.warps, loads)
            found.append((key(draws, held.occupancy, loads, threads), threads, loads))
    return max(found)[1:]


def right(base, each, shared_bytes):
    return tried(base, each, shared_bytes, lambda s, o, n, t: (s, -n, -t))


def test_drawn():
    expect.function_matches(
        drawn,
        share,
        [{"warps": w, "loads": n} for w in (4, 16, 48, 64) for n in (1, 2, 4)],
        rel=0.02,
        mistakes={
            "A warp has 32 threads, and each of them loads.": (
                lambda warps, loads: share(warps / 32, loads)
            ),
            "A number has 4 bytes.": lambda warps, loads: share(warps / 4, loads),
            "The bandwidth belongs to 148 units; a unit needs its part.": (
                lambda warps, loads: share(warps / 148, loads)
            ),
            "No memory gives more than all of its bandwidth.": (
                lambda warps, loads: warps * 128 * loads / needed()
            ),
        },
    )


def test_best():
    few, many = expect.read(drawn(4, 1)), expect.read(drawn(64, 8))
    if abs(few / share(4, 1) - 1) > 0.02 or many > 1:
        return  # the other test says what is wrong with it
    mistakes = {
        "that has the highest occupancy. What counts is what the warps ask for.": (
            lambda **k: tried(**k, key=lambda s, o, n, t: (o, -n, -t))
        ),
        "each load on the way takes registers, and so warps away.": (
            lambda **k: right(**{**k, "base": k["base"] + k["each"], "each": 0})
        ),
        "it draws as much with fewer loads.": (
            lambda **k: tried(**k, key=lambda s, o, n, t: (s, n, -t))
        ),
    }
    for case in KERNELS:
        said = expect.sequence(expect.call(best, case), "a pair, threads and loads,", 2)
        mine, pair = tuple(map(expect.whole, said)), right(**case)
        if mine != pair:
            found = (text for text, wrong in mistakes.items() if wrong(**case) == mine)
            why = next(found, f"{pair} draws most, of those it is the first")
            raise expect.Mistake(f"{expect.called(best, case)} gives {mine}: {why}")
    case = KERNELS[0]
    full = tried(**case, key=lambda s, o, n, t: (o, s))
    for name, (threads, loads) in (("fullest", full), ("best", right(**case))):
        held = gpu.occupancy(
            threads=threads,
            registers=case["base"] + case["each"] * loads,
            shared_bytes=case["shared_bytes"],
            device=CHIP,
        )
        expect.reading(
            f"{name} block",
            f"{100 * held.occupancy:.0f} % occupancy, "
            f"{100 * share(held.warps, loads):.0f} % of the bandwidth",
        )
