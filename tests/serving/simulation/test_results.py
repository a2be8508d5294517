"""What a run says: ranks, intervals, refusals, and the law of its steps."""

import math

import pytest

from stacklib.serving import chat, estimate, poisson, simulate
from stacklib.serving.simulation.pace import Pace
from stacklib.serving.simulation.results import OverCapacity
from stacklib.serving.simulation.setup import served
from stacklib.serving.simulation.steps import Exponential, Work

MODEL = ("llama-2-7b", "h100-sxm")
FEW = poisson(10, 120, seed=2)
EVEN = {"prefill": 1, "decode": 1}
SCALE = {"most": 2, "waiting": 1, "ready": 1}


def run(rate, **options):
    rows = poisson(rate, 400, prompt=1, new=1)
    return simulate(None, traffic=rows, step_time=0.01, max_batch=1, **options)


def test_percentiles_are_times_that_were_seen_by_the_nearest_rank():
    found = simulate(*MODEL, FEW)
    times = sorted(each.e2e for each in found.requests)
    told = found.percentiles("e2e", (0.1, 50, 99, 100))
    assert told[50] == times[59] / 1e9 and told[99] == times[118] / 1e9
    assert (told[0.1], told[100]) == (times[0] / 1e9, times[-1] / 1e9)
    assert told.counted == 120 and "drained" in told.words
    assert found.percentiles("itl").counted == 120 * 255


def test_the_interval_holds_the_value_and_widens_near_saturation():
    wide = {}
    for rate in (4, 12):
        rows = poisson(rate, 300)
        told = simulate(*MODEL, rows).percentiles("ttft", band=True)
        assert told.low[99] < told[99] < told.high[99]
        wide[rate] = told.high[99] / told.low[99]
    assert wide[12] > wide[4]


def test_an_interval_holds_its_value_where_quicker_steps_make_somebody_wait():
    seen = 0
    for seed in range(30, 60):
        found = simulate(*MODEL, poisson(1, 3, prompt=11, new=90, seed=seed))
        quick = found.again(factor=found.ends[0]).requests
        told = found.percentiles("ttft", (99,), band=True)
        assert told.low[99] <= told[99]
        seen += max(each.ttft for each in quick) / 1e9 > told[99] == told.low[99]
    assert seen


def test_a_house_that_is_full_at_the_slow_end_has_no_upper_end():
    rows = poisson(14, 400)
    told = simulate(*MODEL, rows, max_batch=64).percentiles("ttft", band=True)
    assert told.high[99] == math.inf > told[99]


def test_over_capacity_is_said_with_the_utilisation():
    found = run(130)
    with pytest.raises(OverCapacity, match=r"utilisation 1\.2\d"):
        found.percentiles("ttft")
    assert found.utilisation == pytest.approx(1.21, abs=0.01)
    assert run(130, replicas=2).percentiles("ttft")[50] > 0


@pytest.mark.parametrize("slots", [1, 4, 64])
@pytest.mark.parametrize("waves", [1, 1.5, 2, 5])
def test_an_overload_is_refused_whatever_the_number_of_requests(slots, waves):
    """A slot does two requests a second: 50 tokens of 10 ms."""

    def served(load, count):
        rows = poisson(load * 2 * slots, count, prompt=1, new=50, seed=1)
        return simulate(None, traffic=rows, step_time=0.01, max_batch=slots)

    found = served(3, int(waves * slots) + 1)
    assert found.capacity == pytest.approx(2 * slots, rel=0.02)
    with pytest.raises(OverCapacity, match=r"utilisation [2-9]"):
        found.percentiles("ttft")
    if slots > 1:
        told = served(0.5, int(waves * slots)).percentiles("ttft")
        assert told[50] < 0.2 and ("look alike" in told.words) == (waves == 1)
        with pytest.raises(OverCapacity) as burst:
            served(3, int(waves * slots)).percentiles("ttft")
        assert ("a burst that ends" in str(burst.value)) == (waves == 1)


def test_all_at_once_is_no_rate():
    rows = [(number, 0, 4, 3) for number in range(20)]
    found = simulate(None, traffic=rows, step_time=0.01, max_batch=2, chunk=8)
    assert found.rate == math.inf
    told = found.percentiles("e2e", (100,))
    assert told[100] == pytest.approx(0.3) and "finished window" in told.words


def test_goodput_counts_requests_and_names_the_nearest_miss():
    found = run(50)
    slo = {"ttft": 0.015, "e2e": 0.5}
    met = sum(each.ttft <= 15_000_000 for each in found.requests)
    good = found.goodput(slo)
    assert (good.met, good.asked, good.nearest) == (met, 400, "")
    none = found.goodput({"e2e": 0.001})
    assert none.rate == 0 and none.nearest.startswith("e2e 0.01 s where 0.001 s")


@pytest.mark.parametrize(
    "ask, says",
    [
        (lambda found: found.goodput({}), "slo is empty"),
        (lambda found: found.goodput({"ttft": -1}), "ttft = -1"),
        (lambda found: found.goodput({"itl": 1}), "itl"),
        (lambda found: found.percentiles("tfft"), "did you mean: ttft"),
        (lambda found: found.percentiles("ttft", (0,)), "percent = 0"),
        (lambda found: found.percentiles("ttft", (101,)), "percent = 101"),
    ],
)
def test_questions_that_are_none_are_refused(ask, says):
    found = run(50)
    with pytest.raises((ValueError, LookupError)) as wrong:
        ask(found)
    assert says in str(wrong.value)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"replicas": 0}, "replicas = 0"),
        ({"max_batch": 600}, "chunk = 512"),
        ({"scheduler": "orca"}, "unknown scheduler 'orca'"),
        ({"router": "random"}, "unknown router 'random'"),
        ({"blocks": 40}, "row 1 (0): 512 + 256 - 1 = 767 tokens need 48 blocks"),
        ({"gap": float("nan")}, "gap = nan"),
        ({"step_time": -1}, "step_time = -1"),
        ({"step_time": lambda work: math.nan}, "step_time = nan"),
        ({"step_time": lambda work: 0}, "step_time = 0"),
        ({"seed": -3}, "seed = -3"),
        ({"software": "orca"}, "unknown software 'orca'"),
        ({"jump": "no"}, "jump = 'no'"),
        ({"pools": (1, 1)}, "pools = (1, 1)"),
        ({"draft": 3}, "draft = 3"),
        ({"tiers": 3}, "tiers = 3"),
        ({"autoscale": 3}, "autoscale = 3"),
        ({"traffic": [([1], 0, 5, 1)]}, "row 1: ([1], 0, 5, 1)"),
        ({"traffic": [(1, 0, 5, 1, ("a",))]}, "row 1: (1, 0, 5, 1, ('a',))"),
        ({"failures": -1}, "failure 1: -1"),
        ({"traffic": None}, "traffic = None"),
        ({"tiers": {"host": 5}}, "tier 'host': 5"),
        ({"tiers": {"host": (0, 1e9)}}, "blocks = 0"),
        ({"tiers": {"host": (5, 0)}}, "rate = 0"),
        ({"draft": (1.5, 4)}, "acceptance = 1.5"),
        ({"draft": (0.5, 0)}, "draft_tokens = 0"),
        ({"draft": (0.5,)}, "an acceptance, draft tokens"),
        ({"draft": (0.5, 7)}, "at least 8 a request, 1024"),
        ({"pools": {"prefill": 0, "decode": 1}}, "prefill = 0"),
        ({"pools": {"prefill": 1}}, "of prefill and decode or attention and mlp"),
        ({"pools": {"perfill": 1, "decode": 1}}, "did you mean: prefill"),
        ({"pools": EVEN | {"micro_batches": 2}}, "take no micro_batches"),
        ({"pools": EVEN | {"link": 0}}, "link = 0"),
        ({"pools": {"attention": 1, "mlp": 1, "crossing": -1}}, "crossing = -1"),
        ({"pools": {"attention": 1, "mlp": True}}, "mlp = True"),
        ({"failures": [(1, 0)]}, "failure 1: (1, 0)"),
        ({"failures": [(1, 5, 1)]}, "machine 5: there are 1"),
        ({"failures": [(-1, 0, 1)]}, "at = -1"),
        ({"failures": {"between": 0, "down": 1}}, "between = 0"),
        ({"failures": {"between": 1}}, "down is missing"),
        ({"failures": [(1e300, 0, 1)]}, "too many for nanoseconds"),
        ({"failures": {"between": 1e-9, "down": 0}}, "before any request ended"),
        ({"autoscale": SCALE | {"Ready": 2}}, "one autoscale is told twice"),
        ({"autoscale": SCALE | {"most": 0}}, "most = 0"),
        ({"autoscale": SCALE | {"waiting": -1}}, "waiting = -1"),
        ({"autoscale": {"most": 2, "wait": 1, "redy": 1}}, "did you mean: ready"),
        ({"autoscale": SCALE, "pools": EVEN}, "autoscale beside pools"),
    ],
)
def test_houses_that_make_no_sense_are_refused(options, says):
    with pytest.raises((ValueError, LookupError)) as wrong:
        simulate(*MODEL, **({"traffic": FEW} | options))
    assert says in str(wrong.value)
    with pytest.raises(ValueError, match="mean = 0"):
        Exponential(0)
    with pytest.raises(ValueError, match="of a model on chips"):
        simulate(None, traffic=FEW, step_time=0.1, tiers={"host": (5, 1e9)})


@pytest.mark.parametrize("batch, context", [(1, 320), (24, 640), (100, 800)])
def test_a_step_takes_what_the_estimate_says(batch, context):
    law = served(*MODEL, 1, 1, "bf16", None, "engine").law(None, 1.0)
    time, _ = law.decode(batch, batch * context)
    step = estimate(*MODEL, "bf16", batch=float(batch), context=float(context))
    assert time / 1e9 == pytest.approx(step.tpot, rel=0.04)


@pytest.mark.parametrize("prompt", [64, 500, 2048])
def test_a_prompt_takes_what_the_estimate_says(prompt):
    law = served(*MODEL, 1, 1, "bf16", None, "engine").law(None, 1.0)
    time = law.mixed(Work(0, 0, ((0, prompt),), 1))
    first = estimate(*MODEL, "bf16", batch=1.0, context=0.0, prompt=prompt).ttft
    assert time / 1e9 == pytest.approx(first, rel=0.06)


def test_a_gap_replaces_the_hosts_line():
    seconds = []
    for gap in (0.0, 0.001, 0.002):
        law = served(*MODEL, 1, 1, "bf16", None, "engine").law(gap, 1.0)
        seconds.append(law.decode(8, 800)[0])
    assert seconds[1] - seconds[0] == pytest.approx(1e6, abs=2)
    assert seconds[2] - seconds[1] == pytest.approx(1e6, abs=2)


def test_prefixes_are_found_where_the_router_looks_for_them():
    rows = chat(2, 60, seed=5)
    read = {}
    for router in ("round-robin", "prefix-aware"):
        found = simulate(*MODEL, rows, replicas=4, router=router)
        read[router] = sum(each.prompt - each.found for each in found.requests)
    assert read["prefix-aware"] < 0.6 * read["round-robin"]


def test_this_machine_serves_the_books_own_model():
    rows = poisson(20, 30, prompt=40, new=10)
    asked = {"max_batch": 4, "chunk": 64, "dtype": None}
    found = simulate("draft", "this-machine", rows, **asked)
    told = found.percentiles("itl", band=True)
    assert told.low is None and "no band" in told.words  # of tiny alone steps are timed
    tiny = simulate("tiny", "this-machine", rows, **asked).percentiles("itl", band=True)
    assert tiny.low[50] < tiny[50] < tiny.high[50] and tiny[50] > told[50]
    assert 1e-5 < told[50] < 1e-2
    gap = Pace((1e-3, 0, 1e-4, 0, 0, 0, 0), 0.8, 1.5, 128)
    paced = simulate("draft", "this-machine", rows, gap=gap, **asked)
    ends = paced.percentiles("e2e", band=True)
    assert ends.low[50] < ends[50] < ends.high[50] and "0.80 to 1.50" in ends.words
    fixed = simulate("draft", "this-machine", rows, gap=1e-3, **asked)
    assert (
        found.requests[0].e2e + 10**7 == fixed.requests[0].e2e < paced.requests[0].e2e
    )
    with pytest.raises(ValueError, match="a pace is of this machine"):
        simulate(*MODEL, rows, gap=gap)


def test_the_same_question_has_the_same_answer():
    one, other = (simulate(*MODEL, FEW, replicas=2).outcome for _ in range(2))
    assert one == other
