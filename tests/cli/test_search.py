"""``stacklib search``: the best layout, the nearest miss, and the exit statuses."""

import json

import pytest

from stacklib.serving import search

ASK = ["search", "llama-3-8b", "--on", "h100-sxm", "--gpus", "2", "--prompt", "1024"]
LIMITS = ["--new", "128", "--ttft", "500", "--tpot", "20"]


def test_it_prints_the_kinds_and_what_is_refused(run):
    status, out, _ = run(*ASK, *LIMITS)
    slo = {"ttft": 0.5, "tpot": 0.02}
    found = search("llama-3-8b", gpus=2, on="h100-sxm", traffic=(1024, 128), slo=slo)
    assert status == 0 and found.best.words in out
    assert "2 to read and 1 to write > 2 GPUs" in out and "> 20 ms" in out


def test_its_json_has_every_layout(run):
    status, out, _ = run(*ASK, *LIMITS, "--on", "h100-sxm,a100-sxm-80gb", "--json")
    found = json.loads(out)
    assert status == 0 and found["met"] and found["best"] == found["rows"][0]
    assert {row["device"] for row in found["rows"]} == {"h100_sxm", "a100_sxm_80gb"}
    (one,) = found["against"]
    assert one["holds"] is (one["apart"] >= one["needed"])


def test_limits_that_nothing_keeps_name_the_nearest(run):
    status, out, _ = run(*ASK, "--tpot", "0.5")
    assert status == 1 and "nearest is h100_sxm" in out and "> 0.5 ms" in out
    status, out, _ = run(*ASK, "--tpot", "0.5", "--json")
    assert status == 1 and json.loads(out)["best"] is None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--gpus", "0", "--tpot", "20"], "gpus = 0"),
        (["--prompt", "-1", "--tpot", "20"], "prompt"),
        (["--tpot", "nan"], "tpot"),
        (["--ttft", "soon"], "'soon'"),
        ([], "--tpot 50"),
        (["--tpot", "0"], "tpot"),
        (["--tpot", "20", "--on", "h101"], "h101"),
        (["--tpot", "20", "--on", "h100-sxm,h100-sxm"], "each accelerator once"),
        (["--tpot", "20", "--dtype", "bf61"], "bf16"),
        (["--tpot", "20", "--objective", "speed"], "tokens_per_user"),
    ],
)
def test_bad_input_is_named(run, more, says):
    status, _, err = run(*ASK, *more)
    assert status == 2 and says in err
