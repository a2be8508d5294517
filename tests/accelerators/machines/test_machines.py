"""One table for all machines: sums, roofs, what binds, and whose figures they are."""

import numpy as np
import pytest

from stacklib import cost, hardware, models
from stacklib.accelerators import compare, machine
from stacklib.accelerators.machines.rows import BETS, MACHINES, Machine, bet
from stacklib.quantity import UnknownName

LLAMA = "llama-3-70b"


@pytest.fixture(scope="module")
def rows():
    return {row.machine.name: row for row in compare(LLAMA, MACHINES)}


# By hand: bytes of the weights and the cache, over the bandwidth of all chips.
READ = [
    ("H100", 2, 8 * 3.35e12),
    ("TPU v7", 2, 8 * 7.38e12),
    ("M4 Max", 1, 546e9),
]


@pytest.mark.rows("name, width, rate", READ)
def test_a_roof_is_bytes_over_bandwidth(rows, name, width, rate):
    model = models.get(LLAMA)
    read = model.streamed_parameters.si * width + 4097 * 2 * 80 * 1024 * 2
    links = rows[name].account["exchanges"].time
    beside = rows[name].account["norms and the like"].time.si
    found = rows[name].roof.si - (links.si if links is not None else 0) - beside
    assert found == pytest.approx(read / rate, rel=0.003)


def test_what_binds_and_what_would_next(rows):
    assert {n: r.binds for n, r in rows.items()} == dict.fromkeys(rows, "memory") | {
        "WSE-3": "arithmetic"
    }
    assert {n: r.next for n, r in rows.items()} == dict.fromkeys(rows, "arithmetic") | {
        "WSE-3": "memory",
        "Groq 3 LPU": "arithmetic",
    }
    fastest = min(rows.values(), key=lambda r: r.roof.si)
    assert fastest.machine.name == "Groq 3 LPU"


def test_all_of_a_row_stands_on_its_roof(rows):
    h100 = rows["H100"]
    assert h100.expected.si > h100.roof.si
    assert h100.joules.si == pytest.approx(8 * 700 * h100.roof.si)
    rent = min(q.value.si for q in cost.prices("h100_sxm", "cloud"))
    assert h100.dollars.si == pytest.approx(8 * rent * h100.roof.si)
    assert (h100.paid, rows["WSE-3"].paid) == ("rent", "price over 5 years")
    assert rows["TPU v7"].joules is None and rows["TPU v7"].dollars is None
    narrow = compare(LLAMA, ["H100"], batch=np.int8(1), context=np.int32(4096))
    assert narrow[0].account == h100.account
    shared = {r.machine.name: r for r in compare(LLAMA, ["H100"], batch=16)}["H100"]
    assert shared.joules.si == pytest.approx(8 * 700 * shared.roof.si / 16)


def test_whose_figures(rows):
    assert rows["Groq 3 LPU"].whose == "announced"
    assert rows["MI300X"].whose == "vendor"
    assert rows["Groq 3 LPU"].expected is None is rows["TPU v7"].expected


def test_what_does_not_fit_says_the_sum():
    one, two, three = compare(
        LLAMA,
        [
            machine("m4-max", 1, "bf16"),
            machine("groq-lpu", 100, "int8"),
            machine("rtx-2000-ada", 8),
        ],
    )
    assert not (one.fits or two.fits or three.fits)
    assert "142.4 GB > 128 GB on M4 Max: does not fit" in one.sum
    assert "/ 100 = 712.2 MB > 230 MB" in two.sum
    assert (one.roof, two.joules, three.dollars) == (None, None, None)


def test_a_chip_whose_sheet_lacks_a_figure_is_not_comparable_and_the_others_are():
    first, *lacking, last = compare(
        "llama-3-8b", ["h100-sxm", "hexagon-x-elite", "taalas-hc1", "h100-sxm"]
    )
    assert first.fits and first == last
    assert [(row.fits, row.roof) for row in lacking] == [(None, None)] * 2
    assert [row.sum.split(": ", 1)[1] for row in lacking] == [
        "hexagon_x_elite publishes no bf16 rate; it has int8",
        "taalas_hc1: memory capacity (memory_capacity) is unknown",
    ]


def test_a_device_alone_takes_the_fewest_chips_that_hold_it():
    gaudi, lpu, one = compare(
        LLAMA, ["gaudi3", machine("groq-lpu", dtype="int8"), "tpu-v5e"]
    )
    assert (gaudi.chips, lpu.chips, one.chips) == (2, 310, 16)
    assert "fits" in gaudi.sum and lpu.fits


# Experts, grouped heads and a latent, on memory beside the chips and on it.
WILD = ["deepseek-v3", "qwen3-30b-a3b", "gemma-3-27b", "gpt-oss-120b"]


@pytest.mark.rows("name", WILD)
def test_any_model_is_compared(name):
    big = [
        machine("h100-sxm"),
        machine("wse3", None, "fp16"),
        machine("b200", 8, "fp8"),
    ]
    for row in compare(name, big, batch=4, context=8192):
        assert row.fits == (row.roof is not None) and row.sum


def test_names_resolve_or_list_what_is_near():
    assert machine("tpu v7") is MACHINES["TPU v7"] is machine(MACHINES["TPU v7"])
    assert machine("gaudi3", 8).chips == 8
    with pytest.raises(UnknownName, match="gaudi3"):
        compare(LLAMA, ["gaudi33"])
    with pytest.raises(ValueError, match="chips = 0"):
        machine("h100", 0)
    with pytest.raises(ValueError, match="chips = 0"):
        Machine("none", "h100_sxm", 0)
    with pytest.raises(UnknownName, match="not None"):
        machine(None)
    with pytest.raises(ValueError, match="batch = 0"):
        compare(LLAMA, ["H100"], batch=0)
    with pytest.raises(TypeError, match=r"\['H100'\]"):
        compare(LLAMA, "H100")
    with pytest.raises(ValueError, match="does not divide the 64 heads"):
        compare(LLAMA, [Machine("odd", "h100_sxm", 7)])


def test_each_bet_has_a_device_and_gives_something_up():
    assert len(BETS) == 9
    for row in BETS:
        device = hardware.get(row.on)
        assert row.bet and row.gives_up and bet(row.maker) is row
        if row.maker != "Etched":  # which publishes no rates
            assert device.peak(row.dtype).si > 0
    with pytest.raises(UnknownName, match="Etched"):
        bet("Etchd")
