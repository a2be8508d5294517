"""Bands of cells: they hold what they say, of whoever measured, in the row's unit."""

import math
import random
from dataclasses import replace

import pytest

from stacklib.evidence.calibrate import Case, bands
from stacklib.evidence.predict import regime
from stacklib.evidence.validate import outcome
from stacklib.hardware import errors
from stacklib.hardware.errors import ErrorBand, error_band

from .made_row import row


def miss(log, source="a", device="x", cell=("8 bit",), rate=False):
    made = Case("r", "A", source, device, 1.0, lambda: 1.0, frozenset(), words=cell)
    return bands.Miss(made, log, log)


def draws(count, chance, shift=0.0, **more):
    """Skewed logs: many a little slow, few much slower."""
    return [miss(shift + chance.expovariate(3.0), **more) for _ in range(count)]


@pytest.mark.parametrize("count", [19, 40, 200])
def test_an_interval_holds_nine_in_ten_of_rows_like_those_it_was_made_of(count):
    """S. S. Wilks 1941: on average over the draws, whatever the distribution."""
    chance, held = random.Random(5), []
    for _ in range(200):
        ends = bands.interval(draws(count, chance))
        held.append(bands.holds(draws(50, chance), ends) / 50)
    assert 0.89 <= sum(held) / len(held) <= 0.92


def test_skew_is_kept():
    chance = random.Random(1)
    low, high = bands.interval(draws(300, chance))
    assert 0.95 < low < 1.1 and high > 2


def test_a_band_is_widened_until_it_holds_sources_it_was_not_made_of():
    chance = random.Random(2)
    rows = []
    for i, source in enumerate("abcdef"):
        rows += [
            miss(0.3 * i + chance.gauss(0, 0.02), source, "xy"[i % 2])
            for _ in range(20)
        ]
    plain = bands.interval(rows)
    outside = sum(far > 0 for _, far in bands.beyond(rows, "source"))
    assert outside > 0.12 * len(rows)
    name, low, high, *_, inside, _ = bands.band_rows(rows)[0]
    assert name == "A" and float(low) < plain[0] and float(high) > plain[1]
    assert float(inside) >= 0.9


def test_rows_of_one_source_on_one_device_count_as_the_root_of_how_many_they_are():
    """Else a source of many rows decides alone what the others may lie beyond."""
    many = [(miss(0, "a"), -0.1)] * 81
    few = [(miss(0, source), 0.2) for source in "bcdef"]
    assert bands.reach(many) == 0 and bands.reach(many + few) == 0.2
    assert bands.reach([(miss(0, str(i)), -0.1) for i in range(81)] + few) == 0


@pytest.mark.parametrize(("key", "told"), [("A", 0.3), ("J", 0)])
def test_of_several_sources_the_next_counts_as_much_as_each(key, told):
    """Two in a hundred rows are few, and are those of three sources in eleven."""
    far = [(str(i), -0.1) for i in range(8) for _ in range(60)]
    far += [(source, x) for source in "xyz" for x in (0.2, 0.2, 0.3)]
    case = replace(miss(0).case, key=key)
    tested = [(bands.Miss(replace(case, source=s), 0, 0), x) for s, x in far]
    assert bands.reach(tested) == told


def test_a_band_wider_than_it_is_of_use_is_none():
    for far, told in ((1.0, True), (1.5, False)):
        rows = [miss(far * (i % 4 - 1.5) / 1.5, "abcdef"[i % 6]) for i in range(60)]
        line = bands.band_rows(rows)[0]
        assert (line[1] != "") is told and float(line[-2]) >= bands.LEAST
    # where the wider cell's holds its rows, that one stands for it
    rows = [miss(0.1 * (i // 24 % 2), str(i % 24)) for i in range(240)]
    few = [miss(0.0, str(i), cell=("8 bit", "lanes")) for i in range(23)]
    few.append(miss(3.0, "23", cell=("8 bit", "lanes")))
    assert [line[0] for line in bands.band_rows(rows + few)] == ["A", "A/8 bit"]
    assert bands.band_rows(few)[-1][:2] == ("A/8 bit/lanes", "")


def test_many_small_sources_do_not_leave_a_large_one_outside():
    """By weight a fifth of its rows is little; of rows one by one it is a fifth."""
    small = [(miss(0, str(i)), -0.1) for i in range(20) for _ in range(5)]
    large = [(miss(0, "z"), 0.3 if i % 4 == 0 else -0.1) for i in range(400)]
    more = bands.reach(small + large)
    inside = sum(far <= more for _, far in small + large)
    assert inside >= bands.LEAST * len(small + large)


def test_few_rows_have_no_band_nor_those_that_nobody_elses_try():
    chance = random.Random(3)
    few, alone = draws(18, chance), draws(60, chance, cell=("4 bit",))
    assert bands.band_rows(few) == bands.band_rows(alone) == []
    # too many of one to be left out: most of the others are held to its interval
    others = draws(3, chance, source="b", cell=("4 bit",))
    lines = bands.band_rows(alone + others)
    assert [line[0] for line in lines] == ["A", "A/4 bit"]
    assert lines[0][-2] != "nan"
    # neither can be left out for most of the rows, nor for most of the sources
    apart = draws(12, chance, source="b") + draws(12, chance, source="c")
    assert bands.band_rows(apart) == []


def test_a_few_rows_beyond_a_wider_cells_band_have_none_instead():
    """Five of them speak; four do not, nor five that it holds."""
    chance = random.Random(8)
    logs = [chance.gauss(0, 0.1) for _ in range(300)]
    rows = [miss(log, "abcdef"[i % 6], "xy"[i % 2]) for i, log in enumerate(logs)]
    for count, far, told in ((5, 2.0, [""]), (4, 2.0, []), (5, 0.0, [])):
        own = [miss(far, "f", cell=("8 bit", "lanes")) for _ in range(count)]
        served = [replace(m, case=replace(m.case, key="J")) for m in rows + own]
        found = {line[0]: line for line in bands.band_rows(served)}
        assert [line[1] for name, line in found.items() if "lanes" in name] == told
        assert found["J/8 bit"][1] != ""
    own = [miss(2.0, "f", cell=("8 bit", "lanes"))] * 5
    assert "A/8 bit/lanes" not in [line[0] for line in bands.band_rows(rows + own)]


def test_where_software_decides_a_band_is_printed_if_one_made_so_holds_others():
    """Six sources alike and one apart, which theirs do not hold however widened."""
    chance = random.Random(9)
    rows = [miss(chance.gauss(0, 0.02), source) for source in "abcdef" * 9]
    rows += [miss(0.7, "g") for _ in range(9)]
    mine = [replace(m, case=replace(m.case, key="J")) for m in rows]
    assert bands.whole(mine)[0] == 1
    assert bands.whole(mine)[1] < bands.LEAST < float(bands.band_rows(rows)[0][-2])
    assert bands.band_rows(rows)[0][1] != ""
    assert bands.band_rows(mine)[0][1] == ""
    assert bands.band_rows(mine, strict=False)[0][1] != ""


def test_where_software_decides_a_band_is_as_wide_as_new_sources_needed():
    """Sources that lie apart: the others' band, half as wide again, holds them."""
    logs = [0.1 * (i - 3.5) for i in range(8) for _ in range(6)]
    rows = [miss(log, "abcdefgh"[i // 6]) for i, log in enumerate(logs)]
    served = [replace(m, case=replace(m.case, key="J")) for m in rows]
    times, held = bands.whole(served)
    assert 1 <= times < bands.MORE and held >= bands.LEAST
    low, high = map(float, bands.band_rows(served)[0][1:3])
    alone = bands.interval(served, bands.widening(served)[0])
    assert math.log(high / low) == pytest.approx(
        times * math.log(alone[1] / alone[0]), rel=1e-3
    )


def test_rows_never_seen_are_held_to_the_bands_of_others():
    chance = random.Random(6)
    rows = [miss(chance.gauss(0, 0.1), str(i % 24)) for i in range(240)]
    held, tried = bands.never_seen(rows, "source")
    assert tried == 240 and 0.86 < held / tried < 0.95
    far = [miss(0.8, "z") for _ in range(60)]
    held, tried = bands.never_seen(rows + far, "source")
    assert tried == 300 and held <= 240
    assert bands.never_seen(rows[:20], "source") == (0, 0)  # too few others


def test_the_worst_fold_counts_to_both_sides_and_a_rate_is_turned_over():
    cases = [
        Case(id, "A", "a", "x", 2.0, lambda: 1.0, frozenset(), rate=rate)
        for id, rate in (("time", False), ("rate", True))
    ]
    found = bands.misses(
        cases,
        dict.fromkeys(("time", "rate"), 1.0),
        dict.fromkeys(("time", "rate"), 4.0),
    )
    half, twice = math.log(0.5), math.log(2.0)
    assert [(m.low, m.high) for m in found] == [(half, twice)] * 2
    assert [m.error for m in found] == [1.0, 1.0]


KNOWN = {
    name: ErrorBand(0.1, 0.3, 50, 0.5, 1.25, name)
    for name in ("A", "A/16 bit", "A/16 bit/launch", "D_large/nvlink")
}


@pytest.mark.parametrize(
    ("asked", "cell"),
    [
        ("A/16 bit/launch/engine", "A/16 bit/launch"),
        ("A/16 bit/compute/engine", "A/16 bit"),
        ("A/3 bit/launch/engine", None),
        ("D_large/token ring/large", None),
        ("Z", None),
    ],
)
def test_a_cell_takes_its_own_band_or_a_wider_ones_or_none(monkeypatch, asked, cell):
    monkeypatch.setattr(errors, "cells", lambda: KNOWN)
    found = error_band(asked)
    assert (found and found.cell) == cell
    if cell:
        assert errors.nearest(asked, KNOWN) == cell


SHAPE = "m=64;n=4096;k=8192;dtype=bf16"


def test_a_row_has_the_band_of_its_cell_in_its_own_unit(monkeypatch):
    monkeypatch.setattr(errors, "cells", lambda: KNOWN)
    time = outcome(row("A", SHAPE))
    assert (time.low, time.high) == pytest.approx(
        (0.5 * time.predicted, 1.25 * time.predicted)
    )
    rate = outcome(row("A", SHAPE, metric="throughput", unit="TFLOPS"))
    assert (rate.low, rate.high) == pytest.approx(
        (rate.predicted / 1.25, 2 * rate.predicted)
    )
    assert time.as_dict()["low"] == time.low
    none = outcome(row("A", SHAPE.replace("bf16", "nvfp4"), system="NVIDIA B200"))
    assert none.predicted and none.low is none.high is none.as_dict()["high"] is None


@pytest.mark.parametrize(
    ("config", "software", "words"),
    [
        (SHAPE, "cuBLAS", ("16 bit", "memory", "library")),
        (SHAPE, "vLLM 0.24.0 (x)", ("16 bit", "memory", "engine")),
        ("m=1;n=64;k=64;dtype=fp8", "cuBLAS", ("8 bit", "launch", "library")),
        (
            "m=8192;n=8192;k=8192;dtype=fp8_block",
            "vLLM 0.24.0 (DeepGemmFp8BlockScaledMMKernel)",
            ("8-bit blocks", "compute", "eager"),
        ),
        (
            "m=8192;n=8192;k=8192;dtype=int4_wo",
            "cuBLAS",
            ("widened", "compute", "library"),
        ),
    ],
)
def test_a_product_is_of_the_cell_of_its_format_limit_and_software(
    config, software, words
):
    assert regime(row("A", config, software=software)) == words


@pytest.mark.parametrize(
    ("subject", "config", "words"),
    [
        (
            "generation (decode) attention",
            "batch=64;kv_len=8192;heads=32;kv_heads=8;head_dim=128;kv_dtype=fp8",
            ("token", "memory", "8 bit", "tuned"),
        ),
        (
            "context (prefill) attention",
            "batch=1;seq=64;heads=1;kv_heads=1;head_dim=64;causal=1",
            ("prompt", "launch", "16 bit", "tuned"),
        ),
        (
            "attention fwd",
            "batch=4;seq=8192;heads=32;kv_heads=32;head_dim=128;dtype=fp16",
            ("kernel", "compute", "16 bit", "library"),
        ),
    ],
)
def test_an_attention_is_of_the_cell_of_what_runs_and_its_limit(subject, config, words):
    software = "FlashAttention-2" if "fwd" in subject else "TensorRT-LLM 1.3"
    made = row("B", config, subject=subject, software=software)
    assert regime(made) == words


HEADS = "batch=4;seq=8192;heads=32;kv_heads=32;head_dim=128;dtype=fp16"
LATENT = "batch=128;kv_len=8192;heads=128;kv_heads=1;head_dim=576;v_head_dim=512"


@pytest.mark.parametrize(
    ("family", "config", "about", "word"),
    [
        ("B", HEADS, {"software": "AITER", "system": "8x MI300X"}, "kernel on AMD"),
        ("B", LATENT, {"subject": "MLA decode", "software": "FlashMLA"}, "latent"),
        ("A", SHAPE, {"source": "pull request 1 of vllm-project/vllm"}, "loop"),
    ],
)
def test_other_programs_are_cells_of_their_own(family, config, about, word):
    about = {"subject": "attention fwd", "software": "vLLM (CUTLASS)"} | about
    assert word in regime(row(family, config, **about))
