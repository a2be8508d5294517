"""The search against plain enumeration, and what a layout must not do."""

from collections import namedtuple
from itertools import product

import pytest

from stacklib.hardware.errors import error_band
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import estimate, search
from stacklib.serving.layouts import copies, rows
from stacklib.serving.layouts.asked import asked
from stacklib.serving.layouts.search import FAMILY

SLO = {"ttft": 1.0, "tpot": 0.03}
CASES = (
    ("llama-3-8b", 3, "h100-sxm", (4096, 128)),
    ("qwen3-30b-a3b", 2, "a100-sxm-80gb", (1024, 64)),
    ("llama-3-70b", 8, "h200-sxm", (512, 700)),
    ("llama-3-8b", 3, "l40s", (4096, 96)),
)


def asked_of(model, gpus, on, traffic, slo=SLO):
    return asked(model, gpus, on, traffic, slo, ["bf16"], "engine", "tokens_per_gpu")


def plainly(given, device, largest):
    """Tokens a second of the best of all layouts, every batch tried."""
    best, chips = 0.0, given.gpus
    found = []
    for tp, ep in product(range(1, chips + 1), repeat=2):
        try:
            found.append(copies.copy_of(given, device, "bf16", tp, ep))
        except ValueError:
            continue
    found = [one for one in found if one.chips <= chips]
    writing = {}
    for one in found:
        most = int(min(one.room, largest * one.ep)) // one.ep
        for n in range(1, most + 1):
            x = copies.mixed(one, given, n * one.ep)
            if x.ttft <= given.ttft and x.tpot <= given.tpot:
                best = max(best, chips // one.chips * x.rate)
        times = [copies.writing(one, given, n * one.ep) for n in range(1, most + 1)]
        writing[one.tp, one.ep] = [x.rate for x in times if x.tpot <= given.tpot]
    for reader, writer in product(found, repeat=2):
        each = copies.read_time(reader, given) - 0.03
        crossing = copies.crossing_bytes(reader, given) / (
            min(reader.tp, writer.tp) * rows.link_rate(device, 2)
        )
        wait = given.ttft - each - 0.03 - crossing
        if wait <= 0 or reader.reads < reader.ep or not writing[writer.tp, writer.ep]:
            continue
        busy = min(0.95, 2 * wait / (2 * wait + each))
        reads = busy * reader.ep / each * given.new
        for many in range(1, chips):
            others = (chips - many * reader.chips) // writer.chips
            if others > 0:
                best = max(
                    best, min(many * reads, others * max(writing[writer.tp, writer.ep]))
                )
    return best


@pytest.mark.rows("case", CASES, drawn=2)
def test_the_best_is_that_of_plain_enumeration(case):
    six = rows.ways(asked_of("llama-3-8b", 6, "h100-sxm", (512, 64)))
    assert six == [1, 2, 3, 4, 6]
    model, gpus, on, traffic = case
    found = search(model, gpus=gpus, on=on, traffic=traffic, slo=SLO)
    given = asked_of(*case)
    assert found.best.tokens_per_s == pytest.approx(
        plainly(given, found.best.device, 200), rel=2e-3
    )


def test_a_planted_fault_is_below_plain_enumeration(monkeypatch):
    case = "llama-3-8b", 6, "l40s", (4096, 512)
    slo = {"ttft": 2.0, "tpot": 0.05}
    given = asked_of(*case, slo)
    asked_ = {"gpus": 6, "on": "l40s", "traffic": case[3], "slo": slo}
    right = search("llama-3-8b", **asked_).best
    best = plainly(given, right.device, 96)
    assert right.kind == "disaggregated"
    assert right.tokens_per_s == pytest.approx(best, rel=2e-3)
    monkeypatch.setattr(rows, "numbers", lambda gpus, r, w, *_: (1, (gpus - r) // w))
    assert search("llama-3-8b", **asked_).best.tokens_per_s < 0.95 * best


def test_numbers_of_copies_are_the_best_of_all():
    for gpus, reader, writer in product(range(2, 20), (1, 2, 4), (1, 2, 8)):
        if reader + writer > gpus:
            continue
        for reads, writes in ((1.0, 1.0), (0.3, 2.0), (5.0, 0.2), (0.0, 1.0)):
            many, others = rows.numbers(gpus, reader, writer, reads, writes)
            best = max(
                min(n * reads, (gpus - n * reader) // writer * writes)
                for n in range(1, (gpus - writer) // reader + 1)
            )
            assert min(many * reads, others * writes) == best
            assert many * reader + others * writer <= gpus and others > 0


def test_every_row_keeps_its_limits_or_says_why():
    found = search("llama-3-70b", gpus=8, on="h100-sxm", traffic=(4096, 512), slo=SLO)
    ranks = [row.tokens_per_gpu for row in found.kept]
    assert ranks == sorted(ranks, reverse=True) and found.best is found.rows[0]
    for row in found.rows:
        late = row.ttft > SLO["ttft"] or row.tpot > SLO["tpot"]
        assert late <= bool(row.refused)
        assert not row.tpot or sum(p.gpus for p in (row.pool, row.prefill) if p) <= 8
    # One chip does not hold the weights: refused with the sum, and never timed.
    (alone,) = [row for row in found.rows if row.pool.tp == 1 and not row.prefill]
    assert "141.1 GB" in alone.refused and alone.tokens_per_s == 0
    speeds = [(row.tokens_per_user, row.tokens_per_gpu) for row in found.pareto]
    assert speeds == sorted(speeds, key=lambda pair: (-pair[0], pair[1]))
    for row in found.kept:
        mine = row.tokens_per_user, row.tokens_per_gpu
        assert any(u >= mine[0] and t >= mine[1] for u, t in speeds)
    assert found.leaders[0] is found.best


def test_a_layout_that_is_kept_fits_and_takes_at_least_the_estimate():
    found = search("qwen3-30b-a3b", gpus=8, on="l40s", traffic=(2048, 256), slo=SLO)
    for row in found.leaders:
        pool = row.pool
        alone = estimate(
            "qwen3-30b-a3b",
            row.device,
            "bf16",
            tp=pool.tp,
            ep=pool.ep,
            batch=float(pool.batch),
            context=2048.0 + 128,
        )
        assert alone.fits and row.tpot >= alone.tpot * (1 - 1e-9)


def test_looser_limits_never_give_less():
    def most(ttft, tpot):
        slo = {"ttft": ttft, "tpot": tpot}
        found = search("llama-3-8b", gpus=2, on="l40s", traffic=(2048, 128), slo=slo)
        return found.best.tokens_per_gpu

    rates = [most(1.0, tpot) for tpot in (0.03, 0.04, 0.06, 0.1)]
    assert rates == sorted(rates)
    assert most(0.4, 0.06) <= most(2.0, 0.06)


def test_traffic_is_a_pair_or_rows_whose_spread_makes_prompts_wait():
    Row = namedtuple("Row", "prompt new")
    alike = [Row(2048, 128)] * 4
    apart = [Row(512, 128), Row(3584, 128)] * 2
    found = [
        search("llama-3-8b", gpus=1, on="h100-sxm", traffic=t, slo=SLO)
        for t in ((2048, 128), alike, apart)
    ]
    one, same, wide = (f.best for f in found)
    assert one == same and wide.ttft > one.ttft and wide.tpot == one.tpot


def test_accelerators_are_as_far_apart_as_both_ends_of_the_band_need():
    asked_ = {"gpus": 2, "traffic": (1024, 128), "slo": {"tpot": 0.04, "ttft": 1.0}}
    on = ["h100-sxm", "b200-sxm", "l40s"]
    found = search("llama-3-8b", on=on, **asked_)
    band, by = error_band(FAMILY), {}
    for name in on:
        for end in (band.low, 1.0, band.high):
            slo = {k: v / end for k, v in asked_["slo"].items()}
            one = search("llama-3-8b", on=name, **asked_ | {"slo": slo})
            by[one.rows[0].device, end] = (
                one.best.tokens_per_gpu / end if one.met else 0.0
            )
    assert {x.device for x in found.against} == {found.best.device}
    for x in found.against:
        slow, fast = by[x.device, band.high], by[x.other, band.low]
        assert x.apart == pytest.approx(by[x.device, 1.0] / by[x.other, 1.0])
        assert x.holds is (slow >= fast) and x.words


def test_limits_that_nothing_keeps_name_the_nearest_miss():
    found = search(
        "llama-3-8b", gpus=2, on="l40s", traffic=(4096, 64), slo={"tpot": 1e-3}
    )
    assert not found.met and not found.pareto and "TP2, batch 1" in found.why
    with pytest.raises(Infeasible, match="1 ms"):
        _ = found.best
    none = search("llama-3-70b", gpus=1, on="l40s", traffic=(64, 64), slo=SLO)
    assert "141.1 GB" in none.why and "none" in none.why


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gpus": 0}, "gpus"),
        ({"gpus": True}, "gpus"),
        ({"on": []}, "on is empty"),
        ({"traffic": (4096, 0)}, "new"),
        ({"traffic": [1, 2, 3]}, "rows of requests"),
        ({"traffic": 5}, "rows of requests"),
        ({"slo": {}}, "ttft"),
        ({"slo": {"itl": 1}}, "itl"),
        ({"slo": {"tpot": float("nan")}}, "tpot"),
        ({"dtypes": "bf16"}, "a list"),
        ({"dtypes": ["fp9"]}, "fp9"),
        ({"software": "magic"}, "library"),
        ({"objective": "cost"}, "tokens_per_gpu"),
    ],
)
def test_bad_input_is_named(change, says):
    good = {"gpus": 1, "on": "h100-sxm", "traffic": (512, 64), "slo": SLO}
    with pytest.raises((ValueError, LookupError), match=says):
        search("llama-3-8b", **good | change)
