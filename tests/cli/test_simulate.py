"""``stacklib simulate``: its table, its JSON and its exit status."""

import json

import pytest

HOUSE = ["simulate", "llama-2-7b", "--on", "h100-sxm", "--requests", "60"]


def test_percentiles_with_their_interval_and_status_0(run):
    status, out, _ = run(*HOUSE)
    assert status == 0
    assert "utilisation" in out and "99 % with its interval" in out
    status, out, _ = run(*HOUSE, "--rate", "4", "--json", "--slo", "ttft=1")
    found = json.loads(out)
    assert status == 0 and found["goodput"]["share"] == 1
    p99 = found["ttft"]["p99"]
    assert p99["low_s"] < p99["s"] < p99["high_s"]


def test_a_line_that_grows_has_no_percentile_and_status_1(run):
    crowd = ["--max-batch", "4", "--rate", "200"]
    status, out, _ = run(*HOUSE, *crowd)
    assert status == 1 and "utilisation" in out and "ms" not in out
    status, out, _ = run(*HOUSE, *crowd, "--json")
    assert status == 1 and json.loads(out)["over_capacity"] is True


def test_limits_that_nobody_meets_are_said_with_the_nearest_miss(run):
    status, out, _ = run(*HOUSE, "--slo", "ttft=0.001")
    assert status == 1 and "nearest: ttft" in out


def test_pools_and_drafts_are_taken(run):
    alone = json.loads(run(*HOUSE, "--json")[1])
    pools = run(*HOUSE, "--pools", "prefill=1,decode=1,link=5e10", "--json")
    drafted = run(*HOUSE, "--draft", "0.7,2", "--json")
    e2e = [json.loads(each[1])["e2e"]["p50"]["s"] for each in (pools, drafted)]
    assert pools[0] == drafted[0] == 0
    assert len({alone["e2e"]["p50"]["s"], *e2e}) == 3


@pytest.mark.parametrize(
    "more, says",
    [
        (["--rate", "0"], "rate = 0.0"),
        (["--rate", "nan"], "rate = nan"),
        (["--requests", "0"], "requests = 0"),
        (["--prompt", "-3"], "prompt = -3"),
        (["--scheduler", "conitnuous"], "did you mean: continuous"),
        (["--router", "lest-loaded"], "least-loaded"),
        (["--slo", "tfft=1"], "did you mean: ttft"),
        (["--slo", "ttft"], "a number is needed"),
        (["--chunk", "8"], "chunk = 8"),
        (["--blocks", "2"], "there are 2"),
        (["--gap", "-1"], "gap = -1"),
        (["--gap", "1e300"], "too many for nanoseconds"),
        (["--tp", "0"], "tp = 0"),
        (["--pools", "prefill=0,decode=1"], "prefill = 0"),
        (["--pools", "prefill=1.5,decode=1"], "prefill = 1.5"),
        (["--pools", "prefill=1,decode=1,prefill=2"], "prefill is told twice"),
        (["--draft", "2,2"], "acceptance = 2.0"),
        (["--trace", "nosuch.csv"], "nosuch.csv"),
    ],
)
def test_bad_input_ends_with_status_2_and_no_number(run, more, says):
    status, out, err = run(*HOUSE, *more)
    assert status == 2 and says in err and out == ""
