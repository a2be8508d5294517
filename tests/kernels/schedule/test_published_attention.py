"""The rates that FlashAttention's authors printed, by head size, mask and pass."""

import csv
import statistics
from importlib.resources import files

import pytest

from stacklib.hardware import efficiency_override
from stacklib.hardware.factors import efficiency_table
from stacklib.kernels.schedule.attention_time import Attention, plan, predict
from stacklib.kernels.schedule.rates import rates_of
from stacklib.kernels.schedule.rules import RULES, settled

PATH = files("stacklib.evidence") / "data/attention_points.csv"
POINTS = list(csv.DictReader(PATH.read_text("utf-8").splitlines()))
PASSES = {"forward": (False,), "backward": (True,), "both": (False, True)}
LONG = 4096  # tokens from which on a rate is that of the tiles
FAR = {  # beyond 15 %, within 21
    # With a mask a quarter slower than without at 4,096 tokens, an eighth at 16,384.
    ("fa3", "fp8", "256", "1", "4096"),
    # Its author's later runs hold a B200 at 1,755 MHz (issue 2570); these do not say.
    # At that clock they would be off by 1.12 and 1.15, the next by 1.09.
    ("fa4", "bf16", "128", "1", "4096"),
    # 15.5 % in its first run of three.
    ("fa4", "bf16", "64", "0", "16384"),
}


def ratio(point):
    """Predicted over printed."""
    batch, heads, tokens, head_dim = (
        int(point[name]) for name in ("batch", "heads", "tokens", "head_dim")
    )
    time = flops = 0.0
    for backward in PASSES[point["passes"]]:
        work = Attention(
            batch,
            heads,
            heads,
            tokens,
            tokens,
            head_dim,
            point["dtype"],
            point["causal"] == "1",
            backward=backward,
        )
        rates = rates_of(point["device"], point["dtype"])
        rule = settled(RULES[point["version"]], rates, head_dim)
        found = plan(work, point["device"], "tuned", by=rule)
        time, flops = time + predict(found).time, flops + work.flops
    return flops / time / 1e12 / float(point["tflops"])


def key(point):
    names = ("version", "dtype", "head_dim", "causal", "tokens")
    return tuple(point[name] for name in names)


def long(version):
    return [p for p in POINTS if p["version"] == version and int(p["tokens"]) >= LONG]


@pytest.mark.parametrize("version", ["fa2", "fa3", "fa4"])
def test_each_long_one_is_within_fifteen_per_cent(version):
    found = {(*key(p), p["passes"], p["source"]): ratio(p) for p in long(version)}
    most = {k: 0.21 if k[:5] in FAR else 0.15 for k in found}
    far = {k: r for k, r in found.items() if abs(r - 1) > most[k]}
    assert len(found) > 12 and far == {}
    heads = {k[2] for k in found}
    assert heads == ({"64", "128"} if version == "fa4" else {"64", "128", "256"})


def test_short_ones_lie_around_them():
    found = [ratio(p) for p in POINTS if int(p["tokens"]) < LONG]
    off = [abs(r - 1) for r in found]
    assert statistics.median(off) < 0.1 and sorted(off)[9 * len(off) // 10] < 0.33


@pytest.mark.parametrize("value", [1.55, 1.75])
def test_it_holds_around_what_was_fitted(value):
    assert abs(efficiency_table()["attention_overlap"]["value"] / value - 1) < 0.1
    with efficiency_override({"attention_overlap": value}):
        off = [abs(ratio(p) - 1) for v in ("fa2", "fa3") for p in long(v)]
    assert statistics.median(off) < 0.1 and max(off) < 0.25


def test_a_wide_head_was_once_as_fast_by_either_instruction():
    """Planted: without what warps fetch, FlashAttention-2 misses at heads of 256."""
    wide = [p for p in long("fa2") if p["head_dim"] == "256"]
    narrow = [p | {"version": "fa3"} for p in wide]
    assert all(ratio(p) > 2 for p in narrow)
