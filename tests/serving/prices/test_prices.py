"""Machines, contexts, silicon and trends: closed forms beside the account's steps."""

import pytest

from stacklib import cost, serving
from stacklib.models import get
from stacklib.quantity import Quantity, UnknownName
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import estimate
from stacklib.serving.prices.contexts import context_multiplier, decode_share
from stacklib.serving.prices.machine import machine, priced
from stacklib.serving.prices.silicon import decode_silicon
from stacklib.serving.prices.trends import over, per_answer, published, yearly


def test_a_machine_stands_on_quotes_with_dates():
    eight = machine("h100", 8)
    quotes = [q.value.si for q in cost.prices("h100", "purchase")]
    assert eight.capital.low.si == pytest.approx(8 * min(quotes))
    assert eight.capital.high.si == pytest.approx(8 * max(quotes))
    assert eight.power.low.si == pytest.approx(8 * 700)
    assert eight.power.high.si == pytest.approx(10_200)
    bare = [
        leaf
        for row in eight.bill(1000).rows.values()
        for leaf in (*row.low.leaves(), *row.high.leaves())
        if leaf.kind == "bare"
    ]
    assert not bare
    assert machine("h100", 16).network.low.si == pytest.approx(2 * eight.network.low.si)


def test_a_chip_that_nobody_sells_is_named():
    with pytest.raises(ValueError, match="costs to buy"):
        machine("tpu-v5p")
    with pytest.raises(UnknownName):
        machine("h100", bought="stolen")
    used = machine("h100", bought="used")
    assert used.capital.high < machine("h100").capital.high
    assert machine("a100").dates[0] == "2026" and used.dates[1] == "2026-03"
    with pytest.raises(ValueError, match="chips = 0"):
        machine("h100", 0)
    assert "h100_sxm" in priced() and "tpu_v5p" not in priced()


@pytest.mark.parametrize("long, claimed", [(131_072, 8.2), (1_000_000, 56)])
def test_a_context_is_dearer_by_the_bytes_of_a_step(long, claimed):
    """The claims of 8.14, with 160 KiB a token in FP8 and 32 at once."""
    found = context_multiplier("llama-3-70b", long, dtype="e4m3fn")
    assert found.bytes.si == pytest.approx(claimed, rel=0.1)
    assert found.exponent < 1
    weights = get("llama-3-70b").read_bytes(32, "e4m3fn").si
    bytes_of = [weights + 32 * n * 163_840 for n in (4096, long)]
    assert found.bytes.si == pytest.approx(bytes_of[1] / bytes_of[0])


def test_in_the_same_memory_it_is_dearer_still():
    found = context_multiplier("llama-3-8b", 32_768, on="h100")
    assert found.held.si > found.bytes.si > 1
    short, long = found.batches
    assert short > long
    for batch, tokens in ((short, 4096), (long, 32_768)):
        assert estimate("llama-3-8b", "h100", batch=batch, context=tokens).fits
        assert not estimate("llama-3-8b", "h100", batch=batch + 1, context=tokens).fits


@pytest.mark.parametrize(
    "given, error",
    [
        ({"context": 4096}, ValueError),
        ({"context": 8192.5}, ValueError),
        ({"context": 8192, "batch": 0}, ValueError),
        ({"context": 8192, "batch": True}, ValueError),
        ({"context": 1 << 22, "on": "rtx-4090"}, Infeasible),
    ],
)
def test_bad_contexts(given, error):
    with pytest.raises(error):
        serving.context_multiplier("llama-3-8b", **given)


def test_decode_has_the_larger_share_the_more_is_written():
    shares = [
        decode_share("llama-3-8b", "h100", 1000, new).si for new in (10, 100, 1000)
    ]
    assert 0 < shares[0] < shares[1] < shares[2] < 1
    found = estimate("llama-3-8b", "h100", context=1000, prompt=1000, new=100)
    writing = 100 * found.tpot.si
    assert shares[1] == pytest.approx(writing / (writing + found.ttft.si))
    with pytest.raises(ValueError):
        decode_share("llama-3-8b", "h100", 1000, 0)


def test_silicon_is_ranked_and_the_rest_says_why():
    names = ["h100", "mi300x", "wse3", "h200"]
    ranked = decode_silicon("llama-3-8b", 16, names)
    priced_ones = [row for row in ranked if row.cost]
    assert len(priced_ones) == 3 and ranked[-1].device == "wse3" and ranked[-1].why
    costs = [row.cost.low.si for row in priced_ones]
    assert costs == sorted(costs)
    h100 = next(row for row in priced_ones if row.device == "h100_sxm")
    assert h100.flop_per_byte.si == pytest.approx(295, rel=0.01)
    too_large = decode_silicon("deepseek-v3", 1, ["h100"])
    assert too_large[0].cost is None and "does not fit" in too_large[0].why


def test_a_factor_a_year_and_one_over_years_are_one_trend_or_two():
    assert yearly(100.0, 3.0) == pytest.approx(100 ** (1 / 3))
    assert over(yearly(7.0, 2.5), 2.5) == pytest.approx(7)
    assert over(40.0, 3.0) / 100 == pytest.approx(640)
    told = published()
    assert told["GPT-3's score"].si == pytest.approx(10)
    assert all(q.kind != "bare" for f in told.values() for q in f.leaves())
    price = Quantity(2, "USD/Mtoken")
    traced = per_answer(price, Quantity(1000, "token"), 0.5)
    assert traced.to("USD").value == pytest.approx(per_answer(2.0, 1000, 0.5))
    for bad in (0, -1, float("nan"), True):
        with pytest.raises(ValueError):
            yearly(bad, 3.0)
        with pytest.raises(ValueError):
            per_answer(2.0, 1000.0, bad)
    with pytest.raises(ValueError):
        per_answer(2.0, 1000.0, 1.5)
