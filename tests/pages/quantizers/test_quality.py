"""Section 7.9: pairs of documents, pairs of answers, orders of ladders."""

import random

import numpy as np
import pytest

from stacklib.pages.quantizers import quality as page
from stacklib.pages.quantizers.quality import drawings, figures, ladders, statistics
from stacklib.plots import spec as grammar
from stacklib.tinylm import load
from stacklib.tinylm.perplexity import Score, bits_per_byte, difference
from stacklib.tinylm.probe import pairs, sentence_cost
from stacklib.tinylm.quantized import quantized, regrouped

from ...programs import loop_of

loop = loop_of("07-quantizers/quality")


def test_the_loop_draws_as_the_package_does(capsys):
    found: dict[str, object] = {}
    exec(loop(), found)
    paired, unpaired = capsys.readouterr().out.split("|")
    low, high = (float(x) for x in paired.split()[1::2])
    nat = 0.6931471805599453
    first, second = (
        [Score(str(i), 1, 1, x * nat) for i, x in enumerate(found[name])]
        for name in ("after", "before")
    )
    right = difference(first, second)
    assert (low, high) == pytest.approx((right.low, right.high), abs=0.002)
    wide = [float(x) for x in unpaired.split()[1::2]]
    assert wide[1] - wide[0] > 10 * (high - low)


def test_the_answers_add_up_to_the_sums_that_were_stored():
    for name, kept in page.answers()["rows"].items():
        row = page.row(name, "none" if name == "bf16" else "round")
        for part, asked in (("pairs", row.probe), ("cloze", row.cloze)):
            share = kept[part].count("1") / len(kept[part])
            assert share == pytest.approx(asked.value, abs=1e-6)
        assert (
            sum(map(sum, zip(page.flips(name, part="all"), strict=True))) == row.flipped
        )
        found = bits_per_byte(page.scores(name))
        assert found.value == pytest.approx(row.bits_per_byte.value, abs=2e-6)


def test_a_sample_of_the_answers_is_found_again():
    model = quantized(load(), page.COARSE).model
    kept = page.answers()["rows"][page.COARSE]
    for at in (3, page.PAIR, 120, 281):
        pair = pairs()[at]
        costs = [sentence_cost(model, text) for text in (pair.bad, pair.good)]
        assert costs[0] - costs[1] == pytest.approx(kept["margins"][at], abs=0.005)
        assert (kept["pairs"][at] == "1") == (costs[1] < costs[0])


def test_a_scheme_is_told_over_its_groupings():
    """A sample of the draws is found again, and what the page says holds in all."""
    for name, at in ((page.COARSE, 3), (page.PLAIN, 11)):
        model = regrouped(load(), name, at + 1)
        kept = page.groupings()[name][at]
        for number in (3, 57, 120, 281):
            pair = pairs()[number]
            good, bad = (sentence_cost(model, text) for text in (pair.good, pair.bad))
            assert kept[number] == "01"[good < bad] or abs(good - bad) < 0.01
    assert all(lost > won for lost, won in page.splits(page.COARSE))
    assert page.least_of_draws().si > 0.0025 > page.chance(page.COARSE).si
    assert page.kind_of_draws().si > 4 * page.kind_share().si
    plain = regrouped(load("draft"), "int8_channel", 1).weights
    with pytest.raises(ValueError, match="seed = -1"):
        regrouped(load("draft"), "q4_0", -1)
    for name, weight in quantized(load("draft"), "int8_channel").model.weights.items():
        assert np.array_equal(plain[name], weight)  # a row has one scale in any order


def test_pairing_narrows_and_does_not_move():
    for name in ("q4_k", page.COARSE):
        together, apart = page.paired(name), page.unpaired(name)
        assert apart[1] < together[1] < together[0] < together[2] < apart[2]
    assert page.width("q4_k").si < 0.05 * page.width("q4_k", together=False).si


def test_a_coin_decides_mcnemar():
    assert statistics.mcnemar(0, 0) == statistics.mcnemar(3, 3) == 1
    assert statistics.mcnemar(10, 0) == statistics.mcnemar(0, 10) == 2 / 2**10
    coin, flips = random.Random(1), 14
    heads = [sum(coin.random() < 0.5 for _ in range(flips)) for _ in range(20_000)]
    uneven = sum(min(h, flips - h) <= 3 for h in heads) / len(heads)
    assert statistics.mcnemar(3, 11) == pytest.approx(uneven, abs=0.01)
    with pytest.raises(ValueError, match="counts are needed"):
        statistics.mcnemar(-1, 3)


def test_spearman_sees_orders_only():
    assert statistics.ranks([3.0, 1.0, 3.0]) == [2.5, 1.0, 2.5]
    assert statistics.spearman([1, 2, 9], [10, 40, 41]) == 1
    assert statistics.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert statistics.spearman([1, 2, 3], [1, 3, 2]) == 0.5
    for wrong in (([1], [2]), ([1, 2], [1]), ([1, 1], [1, 2])):
        with pytest.raises(ValueError, match="spearman"):
            statistics.spearman(*wrong)


def test_none_beats_what_stands_on_the_front():
    best = page.on_the_front()
    rows = page.rounded_rows()
    for row in rows:
        beaten = any(
            o.bits <= row.bits
            and o.loss.value <= row.loss.value
            and (o.bits, o.loss.value) != (row.bits, row.loss.value)
            for o in rows
        )
        assert beaten == ((row.scheme, row.method) not in best)
    spec = figures.ladder_spec(title="A ladder.")
    grammar.check(spec)
    assert sum(len(m["x"]) for m in spec["marks"]) == len(rows)


def test_every_rung_is_published_under_the_scheme_it_stands_for():
    alike = {"int8_channel": "int8wo", page.COARSE: "int4wo"}
    for source, ladder in ladders.LADDERS.items():
        for id, (scheme, method) in ladder.items():
            quant = ladders.figures_of.row(id).text("quant").lower()
            assert quant.startswith(alike.get(scheme, scheme)), id
            assert ("gptq" in quant) == (method == "gptq")
            assert ladders.rise(id, source).si > -0.001


def test_the_drawn_pair_flips():
    right, wrong = page.sentence_costs("bf16")
    assert right < wrong
    right, wrong = page.sentence_costs(page.COARSE)
    assert right > wrong
    found = drawings.one_pair_two_models()
    assert "it answers right" in found.alt and "it answers wrong" in found.alt
