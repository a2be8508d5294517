"""A peak by hand.

level: derive

Write the peak of a GPU from its parts, and then read a printed one backwards.

- `peak(units, cores, macs, clock, sparse)` is the rate in FLOP/s of a chip with so many
  compute units, so many tensor cores in a unit, so many dense multiply-adds in a core
  and cycle, at `clock` Hz. With `sparse`, two of four weights are skipped.
- `macs_of_a_unit(rate, units, clock)` is the number of dense multiply-adds that one
  unit must do in a cycle for a printed dense `rate` in FLOP/s.
- `used(blocks, units)` is the share of the chip's unit-time that computes when
  `blocks` equal blocks run on `units` units, one each at a time.

hint: A MAC is a multiplication and an addition, and each is a FLOP. Blocks go in waves:
each wave takes as long as the first, also when a single block is left for it.
"""

from stacklib import gpu
from stacklib.gpu.tensor.peaks import count_peak
from stacklib.gpu.tensor.tile_waves import run_blocks
from stacklib.grading import expect

# ---- your answer ----


def peak(units, cores, macs, clock, sparse):
    """FLOP/s."""
    return units * cores * macs * 2 * clock * (2 if sparse else 1)


def macs_of_a_unit(rate, units, clock):
    """Multiply-adds a unit and cycle."""
    return rate / 2 / units / clock


def used(blocks, units):
    """From 0 to 1."""
    waves = -(-blocks // units)
    return blocks / (waves * units)


# ---- tests ----

CHIPS = ("h100-sxm", "a100", "rtx-4090", "l40s")


def by_counting(units, cores, macs, clock, sparse):
    each = 4 * macs
    rate = count_peak(
        units=units,
        cores=cores,
        macs_per_core=macs,
        clock=clock,
        each=each,
        count=2 * units * cores,
    )
    return 2 * rate if sparse else rate


def test_peak():
    cases = []
    for key in CHIPS:
        row = gpu.peak_of(key, "fp16")
        cores = int(gpu.part_count(key, "tensor_cores").si)
        part = {
            "units": int(row.units.si),
            "cores": cores,
            "clock": row.clock.si,
            "macs": int(row.macs.si) // cores,
        }
        cases += [{**part, "sparse": False}, {**part, "sparse": True}]
    expect.function_matches(
        peak,
        by_counting,
        cases,
        unit="FLOP/s",
        rel=0.001,
        mistakes={
            "Dense and sparse rates differ.": (
                lambda **c: by_counting(**{**c, "sparse": False})
            ),
            "You counted multiply-adds; each is two FLOP.": (
                lambda **c: by_counting(**c) / 2
            ),
            "Sparsity doubles the rate only where `sparse` says so.": (
                lambda **c: by_counting(**{**c, "sparse": True})
            ),
            "That is one core of each unit.": (
                lambda **c: by_counting(**{**c, "cores": 1})
            ),
        },
    )


def test_macs_of_a_unit():
    rows = [gpu.peak_of(key, "fp16") for key in CHIPS]
    known = {row.printed.si: row.macs.si for row in rows}
    expect.function_matches(
        macs_of_a_unit,
        lambda rate, units, clock: known[rate],
        [
            {"rate": r.printed.si, "units": r.units.si, "clock": r.clock.si}
            for r in rows
        ],
        rel=0.02,
        mistakes={
            "That is FLOP in a cycle; a multiply-add is two of them.": (
                lambda rate, units, clock: rate / units / clock
            ),
        },
    )


def test_used():
    cases = [
        {"blocks": b, "units": u}
        for u in (1, 7, 132)
        for b in (1, 6, 131, 132, 133, 300, 1320)
    ]
    expect.function_matches(
        used,
        lambda blocks, units: run_blocks([1.0] * blocks, units).share,
        cases,
        rel=0.001,
        mistakes={
            "The last wave takes as long as a full one, however few run in it.": (
                lambda blocks, units: min(1, blocks / units)
            ),
        },
    )
