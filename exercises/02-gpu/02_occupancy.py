"""How many warps fit, and what keeps the next one out?

level: build

A unit of an H100 or an A100 holds at most `64` warps and `32` blocks. According to the
CUDA guide it has 65,536 registers, and 228 KiB (H100) or 164 KiB (A100) of shared
memory. According to its calculator each block takes 1 KiB of that for the system,
besides what it asks for, and the sum is rounded up to 128 bytes.

Registers belong to four partitions with a quarter each. A warp gets its own in
pieces of `256` and lives in one partition: first round up what a warp needs, then count
the warps that fit in a partition, then the warps of all four. Blocks are whole: all
warps of a block have to fit.

Return the blocks that are resident at once and what allows no more: "warps",
"blocks", "registers" or "shared memory", the first in this order where several bind.
No case asks for more than one block could ever have.

hint: Four counts of blocks, each as if nothing else mattered, and the least of them.
A block of `100` threads has four warps. At `40` registers a warp needs 1,280, which are
five pieces.
"""

from functools import cache

from stacklib import gpu
from stacklib.grading import expect

# ---- your answer ----


def resident(threads, registers, shared_bytes, shared_of_unit):
    """Blocks on a unit, and what limits them."""
    warps = -(-threads // 32)
    a_warp = -(-registers * 32 // 256) * 256
    shared = -(-(shared_bytes + 1024) // 128) * 128
    fits = {
        "warps": 64 // warps,
        "blocks": 32,
        "registers": 4 * (65536 // 4 // a_warp) // warps,
        "shared memory": shared_of_unit // shared,
    }
    limiter = min(fits, key=fits.get)
    return fits[limiter], limiter


# ---- tests ----

LIMITERS = ("warps", "blocks", "registers", "shared memory")
UNITS = {228 * 1024: "h100-sxm", 164 * 1024: "a100-sxm-80gb"}
CASES = [
    {"threads": t, "registers": r, "shared_bytes": s, "shared_of_unit": unit}
    for unit in UNITS
    for t in (32, 100, 128, 256, 1024)
    for r in (32, 40, 42, 64)
    for s in (0, 16384, 50000)
] + [
    {"threads": 96, "registers": 48, "shared_bytes": 0, "shared_of_unit": 233472},
    {"threads": 128, "registers": 168, "shared_bytes": 0, "shared_of_unit": 233472},
]


@cache
def right(threads, registers, shared_bytes, shared_of_unit):
    found = gpu.occupancy(
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        device=UNITS[shared_of_unit],
    )
    return found.blocks, found.limiter


def counts(
    threads, registers, shared_bytes, shared_of_unit,
    pieces=True, system=1024, partitions=4, most=32, warp=32,
):  # fmt: skip
    """Blocks by each limit, by the rule or with one part of it left out."""
    warps = -(-threads // warp) if warp == 32 else threads / 32
    need = registers * 32
    a_warp = -(-need // 256) * 256 if pieces else need
    shared = max(1, -(-(shared_bytes + system) // 128) * 128)
    return {
        "warps": int(64 / warps),
        "blocks": most,
        "registers": int(partitions * (65536 // partitions // a_warp) / warps),
        "shared memory": shared_of_unit // shared,
    }


def counted(**case):
    return min(counts(**case).values())


def answered(**case):
    """The reader's pair."""
    found = expect.call(resident, case)
    return expect.sequence(found, "a pair, blocks and what limits them,", 2)


def blocks(**case):
    return answered(**case)[0]


def test_blocks():
    blocks.__name__ = "resident"
    expect.function_matches(
        blocks,
        lambda **case: right(**case)[0],
        CASES,
        mistakes={
            "A block takes 1 KiB of shared memory for the system besides its own.": (
                lambda **case: counted(**case, system=0)
            ),
            "Registers come in pieces of 256 a warp: round up what a warp needs.": (
                lambda **case: counted(**case, pieces=False)
            ),
            "A warp lives in one partition and cannot use what is left in another.": (
                lambda **case: counted(**case, partitions=1)
            ),
            "There is a limit on blocks too, whatever their size: 32.": (
                lambda **case: counted(**case, most=64)
            ),
            "A block of 100 threads has four warps: round up.": (
                lambda **case: counted(**case, warp=0)
            ),
        },
    )


def test_limiter():
    for case in CASES:
        found, limiter = answered(**case)
        expect.equal(limiter, limiter, among=LIMITERS)
        most = counts(**case)
        # The other test says what is wrong with the blocks.
        if expect.whole(found) == right(**case)[0] and limiter != right(**case)[1]:
            call = f"{expect.called(resident, case)} names {limiter!r}"
            if most[limiter] == min(most.values()):
                raise expect.Mistake(
                    f"{call}: it binds. Where several bind, name the first."
                )
            raise expect.Mistake(
                f"{call}, which would allow {most[limiter]:.0f} blocks"
            )
