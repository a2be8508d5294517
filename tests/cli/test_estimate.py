"""``stacklib estimate``: parts that add up, a band, and the three exit statuses."""

import json

import pytest

from stacklib.serving import estimate

ASK = ["estimate", "llama-3-70b", "--on", "h100-sxm", "--dtype", "bf16", "--tp", "8"]


def test_it_prints_the_parts_and_what_binds_next(run):
    status, out, _ = run(*ASK, "--batch", "64")
    found = estimate("llama-3-70b", "h100-sxm", "bf16", tp=8, batch=64)
    assert status == 0 and "products with the weights" in out and "host" in out
    assert f"a token {found.tpot.text()}" in out and "fits" in out
    assert f"bound by {found.bound}; next by {found.next_bound}" in out
    assert "rows like it" in out


def test_its_json_adds_up(run):
    status, out, _ = run(*ASK, "--batch", "4", "--draft", "0.7,4,llama-3-8b", "--json")
    found = json.loads(out)
    assert status == 0 and found["fits"] is True
    assert sum(p["time_s"] for p in found["parts"]) == pytest.approx(found["tpot_s"])
    low, high = found["tpot_band_s"]
    assert low < found["tpot_s"] < high
    assert found["tokens_per_s"] == pytest.approx(4 / found["tpot_s"])


def test_what_does_not_fit_gets_no_speed(run):
    asked = ["estimate", "llama-3-70b", "--on", "rtx-4090"]
    status, out, _ = run(*asked)
    assert status == 1 and "142.4 GB > 24 GB" in out and "token" not in out
    status, out, _ = run(*asked, "--json")
    found = json.loads(out)
    assert status == 1 and found["fits"] is False and "tpot_s" not in found


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        (["--dtype", "q4_k_m"], "runner"),
        (["--dtype", "iq2_xxs"], "runner"),
        (["--dtype", "int4"], "engine"),
        (["--dtype", "awq"], "engine"),
        (["--dtype", "q4_k_m", "--batch", "4"], "engine"),
        (["--dtype", "q4_k_m", "--draft", "0.7,4"], "engine"),
        (["--dtype", "q4_k_m", "--mode", "limit"], "engine"),
        (["--dtype", "q4_k_m", "--software", "engine"], "engine"),
        (["--dtype", "bf16", "--software", "runner"], "runner"),
    ],
)
def test_who_runs_it_follows_from_the_format(run, asked, by):
    status, out, _ = run("estimate", "llama-3-8b", "--on", "rtx-4090", *asked, "--json")
    found = json.loads(out)
    assert status == 0 and found["software"] == by
    named = {k[2:]: v for k, v in zip(asked[::2], asked[1::2], strict=True)}
    if not named.keys() & {"draft", "batch"}:
        mode = named.get("mode", "calibrated")
        same = estimate(
            "llama-3-8b", "rtx-4090", named["dtype"], software=by, mode=mode
        )
        assert found["tpot_s"] == same.tpot.si


def test_a_default_that_follows_from_the_format_is_said(run):
    asked = ["estimate", "llama-3-8b", "--on", "rtx-4090", "--dtype", "q4_k_m"]
    assert "--software engine" in run(*asked)[1]
    assert "--software" not in run(*asked, "--software", "runner")[1]
    # Most of its bytes are MXFP4, which engines read too; the file is a runner's.
    asked[1], named = "gpt-oss-20b", ["--dtype", "mxfp4"]
    assert "--software engine" in run(*asked)[1]
    assert "--software" not in run(*asked[:-2], *named)[1]


def test_the_tiny_model_and_unlike_chips_are_asked_as_well(run):
    status, out, _ = run("estimate", "tiny", "--on", "this-machine")
    assert status == 0 and "no band" in out
    unlike = ["--devices", "h100-sxm,rtx-4090", "--split", "layers", "--json"]
    status, out, _ = run("estimate", "llama-3-8b", "--on", "h100-sxm", *unlike)
    assert status == 0 and json.loads(out)["bound"] == "memory"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--tp", "7"], "64 heads"),
        (["--batch", "0"], "batch = 0"),
        (["--batch", "nan"], "'nan'"),
        (["--context", "-1"], "context"),
        (["--prefix-hit", "nan"], "prefix_hit"),
        (["--prefix-hit", "some"], "'some'"),
        (["--draft", "0.7"], "'0.7'"),
        (["--split", "rows"], "layers"),
        (["--mode", "fast"], "calibrated"),
        (["--dtype", "bf61"], "bf16"),
        (["--on", "h101"], "h101"),
    ],
)
def test_bad_input_is_named(run, more, says):
    status, _, err = run(*ASK, *more)
    assert status == 2 and says in err
