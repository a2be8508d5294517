"""Builds found from two printed figures, held to every package built forwards."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.memory import builds_of, hbm_stack
from stacklib.memory.stack.bandwidths import WAYS, column, explain
from stacklib.memory.stack.builds import (
    COUNTS,
    MOST_SPARE,
    SLOWEST,
    generations_of,
    package_builds,
)
from stacklib.memory.stack.hbm import HEIGHTS
from stacklib.quantity import Quantity

from ...rows import refusals

STACKED = [k for k in hardware.names() if generations_of(hardware.get(k))]
SIZES = st.sampled_from((16, 32, 40, 64, 80, 96, 128, 141, 180, 192, 256, 288, 384))


def forwards(size_gb: float, rate: float, key: str) -> set[tuple[int, int, int]]:
    """Every package built first, and kept if it has both figures."""
    made, kept = hardware.stack_generation(key), set()
    top, pins = made.top_rate.si / 1e9, int(made.memory.pins.si)
    for count, height, die in product(COUNTS, HEIGHTS, made.dies):
        if height not in made.memory.heights:
            continue
        best = hbm_stack(height, die_gbit=die, pins=pins, gbit_per_pin=top)
        gibi = best.capacity.to("GiB").value * count
        sold = size_gb / gibi
        speed = rate / (best.bandwidth.si * count)
        fits = 1 - MOST_SPARE - 1e-9 <= sold <= 1 + 1e-9
        if fits and SLOWEST <= speed <= 1.02:
            kept.add((count, height, die))
    return kept


@given(SIZES, st.floats(0.1, 30), st.sampled_from(hardware.stack_generations()))
def test_backwards_finds_what_forwards_builds(size, tera, key):
    found = package_builds(Quantity(size, "GB"), Quantity(tera, "TB/s"), key).found
    got = {(b.stacks, b.height, b.die_gbit) for b in found}
    assert got == forwards(size, tera * 1e12, key)


@given(
    st.sampled_from(hardware.stack_generations()),
    st.sampled_from(COUNTS),
    st.floats(0.55, 1),
    st.data(),
)
def test_a_build_gives_back_its_own_figures(key, count, share, data):
    made = hardware.stack_generation(key)
    height = data.draw(st.sampled_from(made.memory.heights))
    die = data.draw(st.sampled_from(made.dies))
    rate = made.top_rate * share
    size = Quantity(count * height * die / 8, "GB")
    found = package_builds(size, made.memory.pins * count * rate, key, stacks=count)
    mine = [b for b in found.found if (b.height, b.die_gbit) == (height, die)]
    assert len(mine) == 1 and mine[0].spare == 0
    assert mine[0].pin_rate.si == pytest.approx(rate.si)


@pytest.mark.rows("key", STACKED)
def test_every_device_with_hbm_has_a_build(key):
    device, found = hardware.get(key), builds_of(key).found
    assert found
    best = found[0]
    pins = best.generation.memory.pins.si * best.stacks
    told = device.memory_bandwidth.si
    assert pins * best.pin_rate.si / 8 == pytest.approx(told)
    printed = device.fields["memory_pins"]
    if printed is not None:
        assert 0.93 < printed.si / pins <= 1  # a B200 and an H100 NVL switch some off


KNOWN = {
    "h100_sxm": "5 x 8-high x 16 Gb HBM3",
    "h200_sxm": "6 x 8-high x 24 Gb HBM3E",
    "b200_sxm": "8 x 8-high x 24 Gb HBM3E",
    "b300_sxm": "8 x 12-high x 24 Gb HBM3E",
    "mi300x": "8 x 12-high x 16 Gb HBM3",
    "mi355x": "8 x 12-high x 24 Gb HBM3E",
    "rubin": "8 x 12-high x 24 Gb HBM4",
    "mi455x": "12 x 12-high x 24 Gb HBM4",
    "a100_sxm_40gb": "5 x 8-high x 8 Gb HBM2",
    "tpu_v7": "8 x 8-high x 24 Gb HBM3E",
}


@pytest.mark.rows(("key", "text"), KNOWN.items())
def test_known_packages(key, text):
    assert builds_of(key).found[0].text == text


WRONG = [
    ("192 GB", "8 TB/s", "hbm3e", 6, "10.4 Gbit/s a pin, above 9.6"),
    ("80 GB", "3.35 TB/s", "hbm3e", 8, "no height of stack"),
    ("141 GB", "3.35 TB/s", "hbm3e", 6, "below any device"),
    ("288 GB", "22 TB/s", "hbm3e", 8, "21.5 Gbit/s a pin, above 9.6"),
]


@pytest.mark.rows(("size", "rate", "key", "stacks", "why"), WRONG)
def test_what_cannot_be_built_is_refused_with_the_sum(size, rate, key, stacks, why):
    a, b = (Quantity(float(x.split()[0]), x.split()[1]) for x in (size, rate))
    answer = package_builds(a, b, key, stacks=stacks)
    assert not answer.found and len(answer.refused) == 1
    assert why in answer.refused[0]


def test_a_document_can_be_outrun():
    rubin, a100 = (builds_of(k).found[0] for k in ("rubin", "a100-sxm-40gb"))
    assert rubin.of_document == pytest.approx(1.343, abs=0.001)
    assert a100.of_document == pytest.approx(1.0124, abs=0.001)


def test_gibibytes_are_taken_as_they_stand():
    device = hardware.get("tpu-v7")
    assert device.memory_capacity.unit.startswith("GiB")
    assert builds_of(device).found[0].spare == 0


test_bad_figures_are_named = refusals(
    (0, 1, 1, "capacity = "),
    (80, 0, 1, "bandwidth = "),
    (80, 1, 0, "stacks = 0"),
    (80, 1, True, "stacks = True"),
    (80, 1, (2, 1.5), "stacks = 1.5"),
    by=lambda size, rate, stacks: package_builds(
        Quantity(size, "GB"), Quantity(rate, "TB/s"), "hbm3", stacks=stacks
    ),
)


def test_an_unknown_generation_lists_the_known_ones():
    with pytest.raises(LookupError, match="did you mean: hbm4"):
        package_builds(Quantity(80, "GB"), Quantity(3, "TB/s"), "hbm9")


def test_the_column_of_bandwidths_is_explained_or_says_why_not():
    rows = column()
    assert len(rows) == len(hardware.names()) - 1
    assert {row.way for row in rows} == set(WAYS)
    for row in rows:
        if row.gap is None:
            assert row.note
        elif not row.settled:
            assert row.note == row.device.inconsistent["memory_bandwidth"]
            assert row.gap == pytest.approx(0.024)  # 1024 printed as 1000


def test_a_planted_bandwidth_leaves_a_gap():
    device = hardware.get("rtx-4090")
    told = Quantity(1.2, "TB/s per_chip")
    wrong = {**device.fields, "memory_bandwidth": told}
    planted = type(device)(
        **{**{s: getattr(device, s) for s in device.__slots__}, "fields": wrong}
    )
    assert explain(device).settled and not explain(planted).settled
    assert explain(planted).gap == pytest.approx(1008 / 1200 - 1)
