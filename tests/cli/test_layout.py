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
        (("--batch", "7", "--chips", "11"), "batch of 7"),
        (("--port", "-1"), "port"),
    ],
)
def test_bad_input_is_one_error(run, more, says):
    status, _, err = run(*COMMAND, *more)
    assert status == 2 and says in err and "Traceback" not in err
