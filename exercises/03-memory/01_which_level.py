"""Which level answers, and after how long?

level: estimate

Pencil and paper. Suppose a GPU much like an H100: 132 units at 1.98 GHz, each with 228
KiB of L1 and shared memory in 32 banks that give 4 bytes each in a cycle, and an L2 of
50 MiB for all. Suppose that a load which hits the L1 takes 36 cycles, one that hits the
L2 266, one from memory 670, and an addition whose result the next one needs 4.

- `level(size)`: "L1", "L2" or "memory": which level answers one thread that chases
  pointers through `size` bytes, again and again. Take each level as all or nothing.
- `time(size)`: nanoseconds of one such load.
- `unit_rate()`: GB/s that one unit can read from its shared memory.
- `chip_rate()`: TB/s that all units can read from theirs.
- `additions()`: dependent additions in the time of one load from memory.

hint: One thread runs on one unit. How much L1 can it reach? A cycle takes one over the
clock.
"""

from stacklib.grading import expect

# ---- your answer ----


def level(size):
    """ "L1", "L2" or "memory": who answers one thread's chase through so many bytes."""
    if size <= 228 * 1024:
        return "L1"
    return "L2" if size <= 50 * 2**20 else "memory"


def time(size):
    """Nanoseconds of one load of that chase."""
    return {"L1": 36, "L2": 266, "memory": 670}[level(size)] / 1.98


def unit_rate():
    """GB/s from the shared memory of one unit."""
    return 32 * 4 * 1.98


def chip_rate():
    """TB/s from the shared memory of all units together."""
    return 132 * unit_rate() / 1000


def additions():
    """Dependent additions in the time of one load from memory."""
    return 670 / 4


# ---- tests ----

CLOCK, UNITS, BANKS, WORD = 1.98, 132, 32, 4  # GHz, units, banks, bytes
L1, L2 = 228 * 1024, 50 * 2**20
CYCLES = {"L1": 36, "L2": 266, "memory": 670}
SIZES = [
    16 * 1024,
    200 * 1024,
    L1,
    256 * 1024,
    2**20,
    20 * 2**20,
    L2,
    60 * 2**20,
    2**30,
]


def right_level(size, near=L1):
    return "L1" if size <= near else "L2" if size <= L2 else "memory"


def test_level():
    for size in SIZES:
        mine = expect.call(level, {"size": size})
        expect.equal(mine, mine, among=CYCLES)
        right = right_level(size)
        mine = str(mine)
        if mine != right and mine == right_level(size, UNITS * L1):
            raise expect.Mistake(
                f"{size} bytes: {mine}? One thread runs on one unit, and reaches the "
                "L1 of that unit, not those of all of them"
            )
        if mine != right:
            raise expect.Mistake(f"{size} bytes: {mine} is not who answers; {right} is")


def test_time():
    expect.function_matches(
        time,
        lambda size: CYCLES[right_level(size)] / CLOCK,
        [{"size": size} for size in SIZES],
        unit="ns",
        rel=0.02,
        mistakes={
            "Those are cycles; a cycle takes less than a nanosecond.": (
                lambda size: CYCLES[right_level(size)]
            ),
            "Cycles times the clock is no time: divide.": (
                lambda size: CYCLES[right_level(size)] * CLOCK
            ),
        },
    )


def test_unit_rate():
    one = BANKS * WORD * CLOCK
    expect.number(
        unit_rate(),
        one,
        unit="GB/s",
        rel=0.02,
        mistakes={
            "That is what all units have together; one is asked for.": UNITS * one,
            "That is one bank; a unit has many.": WORD * CLOCK,
            "Bytes are asked for, not bits.": 8 * one,
        },
    )


def test_chip_rate():
    chip = UNITS * BANKS * WORD * CLOCK / 1000
    expect.number(
        chip_rate(),
        chip,
        unit="TB/s",
        rel=0.02,
        mistakes={"That is one unit; the chip has many.": chip / UNITS},
    )


def test_additions():
    expect.number(
        additions(),
        CYCLES["memory"] / 4,
        rel=0.02,
        mistakes={
            "An addition whose result is waited for takes four cycles, not one.": (
                CYCLES["memory"]
            )
        },
    )
