"""FlashAttention's generations by one table, and what it says of the next."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from stacklib.kernels.schedule.attention_time import attention_time
from stacklib.kernels.schedule.generations import (
    generation,
    next_generation,
    run,
    tricks,
)
from stacklib.kernels.schedule.pipeline import verify
from stacklib.kernels.schedule.rates import rates_of, tile_work
from stacklib.kernels.schedule.rules import RULES

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.mark.rows("name", RULES)
def test_each_generation_is_within_fifteen_per_cent_of_its_published_share(name):
    found = generation(name)
    assert found.utilisation == pytest.approx(found.published, rel=0.15), name
    assert verify(found.timeline) == []


@pytest.mark.parametrize(
    ("name", "head_dim", "published"),
    [
        *(("fa3", 64, 497), ("fa3", 128, 648), ("fa3", 256, 756)),
        *(("fa2-h100", 64, 324), ("fa2-h100", 128, 370), ("fa2-h100", 256, 326)),
    ],
)
def test_a_head_of_another_size_is_what_the_papers_figures_have(
    name, head_dim, published
):
    """FA-3 reached half the peak at heads of 64, FA-2 a third at 256."""
    found = generation(name, head_dim=head_dim)
    peak = rates_of(found.device, "fp16").peak
    assert found.utilisation * peak / 1e12 == pytest.approx(published, rel=0.15)


@pytest.mark.rows("name", RULES)
def test_a_generation_is_the_attention_of_its_device(name):
    """One model: the same question has the same answer by either name."""
    rule = RULES[name]
    found, heads = generation(name), 2048 // rule.head_dim
    asked = attention_time(
        rule.on,
        batch=4,
        heads=heads,
        kv_heads=heads,
        queries=16384,
        keys=16384,
        head_dim=rule.head_dim,
        dtype=rule.dtype,
        software="tuned",
    )
    flops = 4 * 4 * 16384**2 * 2048
    reached = asked.rate(flops) / rates_of(rule.on, rule.dtype).peak
    if name == "fa2-h100":  # the old instruction on a chip that has a newer
        assert reached > 1.5 * found.utilisation
    else:
        assert reached == pytest.approx(found.utilisation, rel=1e-9)


@pytest.mark.rows("name", RULES)
def test_no_generation_is_faster_than_its_schedule_without_a_flaw(name):
    for head_dim in (64, 128, 256):
        found = generation(name, head_dim=head_dim)
        assert 0 < found.overlapped < found.flawless <= 1 + 1e-9
        assert verify(found.timeline) == []


def test_the_headlines_are_the_published_ones():
    shares = {name: round(100 * generation(name).published) for name in RULES}
    assert shares == {"fa2": 74, "fa2-h100": 37, "fa3": 75, "fa3-fp8": 66, "fa4": 72}


def test_on_b200_both_products_take_as_long_as_the_exponentials():
    work = tile_work(rates_of("b200"), rows=128, columns=128, head_dim=128)
    assert work.scores + work.values == pytest.approx(1024)
    assert work.exp == pytest.approx(1024)


def test_blackwell_ultra_makes_twice_the_exponentials():
    assert rates_of("b300").exp == 2 * rates_of("b200").exp
    plain = replace(RULES["fa4"], software_exp=0.0)
    assert run(plain, "b300_sxm").overlapped > run(plain, "b200_sxm").overlapped


def test_turns_within_a_group_are_the_sum_and_ping_pong_is_the_longer():
    fa2, fa3 = generation("fa2-h100"), generation("fa3")
    assert fa2.binds == "dependence" and fa3.binds == "tensor"
    alone = run(replace(fa3.rule, groups=1, ahead=False))
    assert alone.overlapped < 0.85 * fa3.overlapped


def test_two_tiles_are_fa4s_largest_trick():
    found = {t.name: t.gain for t in tricks(RULES["fa4"], "b200_sxm")}
    assert max(found, key=found.get) == "two tiles of queries"
    assert found["exponentials in software"] > 1.0
    assert all(gain > 0.99 for gain in found.values())
    slow = replace(rates_of("b200_sxm"), shared=16.0)  # then what is read twice counts
    assert tricks(RULES["fa4"], "b200_sxm", slow)[-1].gain > 1.1


def test_the_next_devices_say_what_binds_and_what_was_assumed():
    rubin = next_generation("rubin", "fp8")
    # Software takes a share of the exponentials until both units are as busy.
    assert rubin.binds in ("exp", "FP32") and rubin.utilisation < 0.5
    assert any("power" in a for a in rubin.assumed)
    twice = next_generation("rubin", "fp8", exp_times=2)  # FP32 lanes bind then
    assert 1.1 < twice.rate / rubin.rate < 1.3 and twice.binds == "FP32"
    assert 0 < rubin.low <= rubin.utilisation < 1


def test_the_committed_prediction_is_that_of_the_table():
    path = BENCHMARKS / "predict_attention_next.py"
    spec = importlib.util.spec_from_file_location("predict_attention_next", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    committed = json.loads(module.PATH.read_text(encoding="utf-8"))
    assert module.known("fa4") == committed["known"]["fa4"]
    assert module.coming("rubin", "bf16", 1.0) == committed["coming"][0]


def test_a_share_of_software_exponentials_is_a_share():
    with pytest.raises(ValueError, match=r"software_exp = 1\.5"):
        tile_work(rates_of("b200"), rows=1, columns=1, head_dim=1, software_exp=1.5)
    with pytest.raises(LookupError, match="fa4"):
        generation("fa5")
