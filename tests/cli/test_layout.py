"""``stacklib layout``: a ranking, its forms, and bad input."""

import json

import pytest

from stacklib.interconnect.parallelism.plan import plan

COMMAND = ("layout", "llama-3-8b", "--on", "h100-sxm", "--chips", "8")


def test_a_ranking(run):
    status, out, _ = run(*COMMAND, "--json")
    found = json.loads(out)
    best = plan("llama-3-8b", on="h100-sxm", chips=8, batch=64)[0]
    assert status == 0 and found["fits"] and len(found["layouts"]) == 5
    first = found["layouts"][0]
    assert first["time_s"] == best.step.time and first["dp"] == best.layout.dp
    assert sum(first["memory_bytes"].values()) == best.step.memory.total
    assert first["reason"] == best.reason
    status, out, _ = run(*COMMAND, "--best", "2")
    assert status == 0 and best.layout.text() in out and "MFU" in out


def test_stages_and_band_are_said(run):
    """A pipeline's stages as Megatron-LM reads them; the band of published steps."""
    ways = ("--layout", "tp 1, pp 3, zero 1, recompute full", "--chips", "3")
    status, out, _ = run(*COMMAND, *ways, "--batch", "48", "--json")
    (one,) = json.loads(out)["layouts"]
    assert status == 0 and sum(one["layers"]) == 32 and one["schedule"] == "1f1b"
    assert one["layers"][-1] < one["layers"][0]  # the last has the head
    low, high = one["time_band_s"]
    assert low < one["time_s"] < high and one["band"].startswith("F/speed/tuned")
    status, out, _ = run(*COMMAND, *ways, "--batch", "48")
    assert "Et*11|t*11|t*10L" in out and "nine in ten steps like it" in out
    assert "is the slowest" in out and "the fullest" in out
    told = run(*COMMAND, *ways, "--batch", "48", "--split", "Et*2|t*15|t*15L", "--json")
    assert json.loads(told[1])["layouts"][0]["time_s"] > one["time_s"]
    status, out, _ = run(*COMMAND, "--layout", "dp 8")
    assert status == 1 and "does not fit" in out


def test_what_does_not_fit(run):
    wide = ("layout", "llama-3.1-405b", "--on", "h100-sxm", "--chips", "8")
    status, out, _ = run(*wide)
    assert status == 1 and "does not fit" in out
    status, out, _ = run(*wide, "--json")
    assert status == 1 and json.loads(out)["fits"] is False


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--chips", "0"), "0"),
        (("--on", "nosuch"), "nosuch"),
        (("--dtype", "fp17"), "fp17"),
        (("--batch", "7", "--chips", "37"), "batch of 7"),
        (("--port", "-1"), "port"),
        (("--on", "m4-max"), "neither a link"),
        (("--layout", "tp 3"), "do not fill 8 chips"),
        (("--layout", "speed 3"), "none of a layout's words"),
        (("--split", "EttL"), "--layout"),
        (("--layout", "pp 2", "--split", "Ett|ttL"), "holds 4 layers"),
        (("--layout", "pp 2", "--split", "Exx|ttL"), "'x'"),
    ],
)
def test_bad_input_is_one_error(run, more, says):
    status, _, err = run(*COMMAND, *more)
    assert status == 2 and says in err and "Traceback" not in err
