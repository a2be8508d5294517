"""An estimate is an account with an engine's losses, and no second sum."""

import math
from dataclasses import replace

import numpy as np
import pytest

from stacklib import hardware, models
from stacklib.hardware import efficiency, efficiency_override
from stacklib.quantity import Quantity, UnknownName
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import account, estimate
from stacklib.serving.estimates import losses, steady
from stacklib.serving.estimates.divided import HOST_LAYERS, parts_of
from stacklib.serving.estimates.parts import DRAFT
from stacklib.serving.estimates.step import step_of
from stacklib.serving.speculation.formula import tokens_per_pass
from stacklib.serving.token.runner import INT8
from stacklib.serving.token.shape import ATTENTION
from stacklib.serving.token.work import EXCHANGES, HOST

CASE = {"model": "llama-3-70b", "on": "h100-sxm", "dtype": "bf16", "tp": 8}
MIXED = {"model": "gpt-oss-120b", "on": "h100-sxm", "dtype": "mxfp4", "tp": 2}


def si(value):
    return float(getattr(value, "si", value))


def total(found):
    return sum(si(line.time) for line in found.parts if line.time is not None)


def test_things_are_asked_as_their_names_are():
    on, model = hardware.get("h100-sxm"), models.get("llama-3-70b")
    given = estimate(model, on, "bf16", tp=8), estimate(**CASE)
    assert given[0].tpot.si == given[1].tpot.si and given[0].ttft.si == given[1].ttft.si
    unlike = estimate(model, on, devices=[on, hardware.get("b200")])
    assert unlike.tpot.si == estimate(model, on, devices=["h100-sxm", "b200"]).tpot.si


def test_a_changed_device_is_taken_by_a_limit_alone():
    on = hardware.get("h100-sxm")
    wide = {**on.fields, "memory_bandwidth": 2 * on.memory_bandwidth}
    asked = {**CASE, "on": replace(on, fields=wide)}
    with pytest.raises(ValueError, match="its fields differ from those of h100_sxm"):
        estimate(**asked)
    with pytest.raises(ValueError, match="its fields differ"):
        estimate(**(CASE | {"devices": [on, asked["on"]]}))
    limits = [estimate(**each, mode="limit").tpot.si for each in (asked, CASE)]
    assert limits[0] < 0.7 * limits[1]


@pytest.mark.parametrize("case", [CASE, MIXED])
def test_its_parts_are_the_accounts_lines_and_the_engines(case):
    found = estimate(**case, batch=4, context=1000)
    due = account(**case, batch=4, context=1000, mode="calibrated")
    mine = {line.name: line for line in found.parts}
    for line in due.lines:
        if line.name != HOST:
            assert mine[line.name] == line
    more = [HOST, losses.GROUPED] if case is MIXED else [HOST]
    assert set(mine) == {line.name for line in due.lines} | set(more)
    layers = 36 if case is MIXED else 80
    assert si(mine[HOST].time) == pytest.approx(layers * efficiency("engine_layer"))
    assert si(found.tpot) == pytest.approx(total(found), rel=1e-12)
    assert all(line.section for line in found.parts)


@pytest.mark.parametrize("case", [CASE, MIXED])
@pytest.mark.parametrize("mode", ["calibrated", "limit"])
def test_floats_quantities_and_arrays_agree(case, mode):
    sizes = np.array([1.0, 16.0])
    swept = estimate(**case, batch=sizes, context=2000.0, mode=mode)
    for place, batch in enumerate(sizes):
        traced = estimate(**case, batch=int(batch), context=2000, mode=mode)
        plain = estimate(**case, batch=float(batch), context=2000.0, mode=mode)
        assert isinstance(traced.tpot, Quantity) and isinstance(plain.tpot, float)
        assert plain.tpot == pytest.approx(traced.tpot.si, rel=1e-9)
        assert plain.tpot == pytest.approx(total(plain), rel=1e-9)
        assert plain.ttft == pytest.approx(si(traced.ttft), rel=1e-9)
        assert swept.tpot[place] == pytest.approx(plain.tpot, rel=1e-9)
        assert sum(
            np.broadcast_to(line.time, sizes.shape)[place]
            for line in swept.parts
            if line.time is not None
        ) == pytest.approx(plain.tpot, rel=1e-9)
        rate = batch / plain.tpot
        assert plain.tokens_per_s == pytest.approx(rate)
        assert traced.tokens_per_s.to("token/s").value == pytest.approx(rate)


def test_the_limit_has_no_losses_and_no_band():
    found = estimate(**CASE, batch=2, mode="limit")
    due = account(**CASE, batch=2)
    assert found.parts == due.lines and si(found.tpot) == pytest.approx(si(due.total()))
    assert found.error is None
    assert estimate(**CASE, batch=2).tpot > found.tpot


def test_what_does_not_fit_has_the_sum_and_no_speed():
    found = estimate(**CASE, batch=4000)
    assert not found.fits and "688.7 GB > 80 GB" in found.why
    for ask in ("tpot", "tokens_per_s", "parts", "bound"):
        with pytest.raises(Infeasible, match="does not fit"):
            getattr(found, ask)
    with pytest.raises(Infeasible):
        _ = estimate("llama-3-70b", "rtx-4090", "bf16", batch=1.0).ttft
    swept = estimate(**CASE, batch=np.array([1.0, 4000.0]), context=4096.0)
    assert swept.fits.tolist() == [True, False] and "50%" in swept.why
    assert math.isnan(swept.tpot[1]) and not math.isnan(swept.tpot[0])
    assert "fits" in estimate(**CASE).why


def test_what_binds_and_what_binds_next():
    one = estimate(**CASE, batch=1, context=4096)
    assert sum(one.binding.values()) == pytest.approx(si(one.tpot))
    assert [one.bound, one.next_bound] == [*one.binding][:2]
    assert estimate("llama-3-8b", "h100-sxm", "bf16").bound == "memory"
    many = estimate("llama-3-8b", "h100-sxm", "bf16", batch=2000, context=16)
    assert many.bound == "arithmetic"


def test_a_band_is_of_rows_like_it():
    one, some = estimate(**CASE), estimate(**CASE, batch=16)
    assert one.error.cell == "E_decode/one sequence/wide"
    narrow = estimate("llama-3-8b", "rtx-4090", "q4_k_m")
    assert narrow.error.cell == "E_decode/one sequence/narrow"
    assert estimate(**MIXED).error.cell == "E_decode/one sequence"
    assert some.error.cell == estimate(**MIXED, batch=8).error.cell == "E_decode/served"
    assert some.error.low < 1 < some.error.high


def test_a_first_token_is_a_prompt_and_what_is_found_is_not_read_again():
    asked = {**CASE, "batch": 1.0, "context": 4096.0}
    whole = estimate(**asked).ttft
    prompt = account(**CASE, batch=1.0, prompt=4096, mode="calibrated")
    lost = 80 * efficiency("engine_layer")
    assert whole == pytest.approx(prompt.total() + lost, rel=1e-9)
    assert estimate(**asked, prompt=4096).ttft == whole
    half = estimate(**asked, prefix_hit=0.5).ttft
    assert 0.5 * whole < half < 0.7 * whole  # later tokens look at more
    all_but_one = estimate(**asked, prefix_hit=1.0).ttft
    assert 0 < all_but_one < half
    chunked = estimate(**asked, chunk=512).ttft
    assert chunked > whole
    assert estimate(**asked, chunk=8192).ttft == whole
    traced = estimate(**CASE, chunk=512, prefix_hit=0.25)
    plain = estimate(**asked, chunk=512, prefix_hit=0.25)
    assert plain.ttft == pytest.approx(si(traced.ttft), rel=1e-9)


def test_a_token_of_many_is_that_of_the_middle():
    found = estimate(**CASE, batch=8.0, context=1000.0, new=201)
    assert found.tpot == estimate(**CASE, batch=8.0, context=1100.0).tpot


def test_a_draft_shares_a_check_among_the_tokens_it_yields():
    plain = estimate(**CASE, batch=2, context=4000)
    found = estimate(**CASE, batch=2, context=4000, draft=(0.7, 4))
    yields = float(tokens_per_pass(0.7, 4))
    wide = estimate(**CASE, batch=10, context=800)
    due = {line.name: line.time for line in wide.parts} | {
        line.name: line.time for line in plain.parts if line.name == ATTENTION
    }
    for line in found.parts:
        if line.time is not None:
            assert si(line.time) == pytest.approx(si(due[line.name]) / yields)
    assert found.tpot < plain.tpot
    written = estimate(**CASE, batch=2, context=4000, draft=(0.7, 4, "llama-3-8b"))
    one = estimate("llama-3-8b", "h100-sxm", tp=8, batch=2, context=4000)
    (own,) = (line for line in written.parts if line.name == DRAFT)
    assert si(own.time) == pytest.approx(4 * si(one.tpot) / yields)


def test_stages_add_up_to_one_chip_and_their_links():
    asked = {"model": "llama-3-8b", "dtype": "bf16", "batch": 1.0, "context": 1000.0}
    one = estimate(**asked, on="h100-sxm")
    two = estimate(**asked, on="h100-sxm", tp=2, split="layers")
    lines = {line.name: line.time for line in two.parts}
    assert lines[EXCHANGES] > 0
    launched = 2 * 1e-5  # a second graph, and a second sampler's two launches
    assert two.tpot == pytest.approx(one.tpot + lines[EXCHANGES], abs=5 * launched)
    given = two.asked
    assert [part.model.layers for part in parts_of(given)] == [16, 16]
    unlike = estimate(
        **asked, on="h100-sxm", devices=("h100-sxm", "rtx-3090"), split="layers"
    )
    assert [p.model.layers for p in parts_of(unlike.asked)] == [25, 7]
    assert two.tpot < unlike.tpot
    large = {**asked, "model": "llama-3-70b"}
    refused = estimate(**large, on="rtx-4090", tp=2, split="layers")
    assert not refused.fits and "GB > 24 GB" in refused.why
    with pytest.raises(Infeasible):
        _ = refused.tpot


def test_unlike_chips_hold_parts_as_large_as_their_bandwidths():
    asked = {"model": "llama-3-8b", "dtype": "bf16", "batch": 1.0, "context": 1000.0}
    two = estimate(**asked, on="h100-sxm", tp=2)
    same = estimate(**asked, on="h100-sxm", devices=("h100-sxm", "h100-sxm"))
    assert same.tpot == pytest.approx(two.tpot, rel=1e-9)
    mixed = estimate(**asked, on="h100-sxm", devices=("h100-sxm", "h200-sxm"))
    shares = [part.share for part in parts_of(mixed.asked)]
    assert sum(shares) == pytest.approx(2) and shares[1] > shares[0]
    assert mixed.tpot < two.tpot and "GB" in mixed.why


def test_layers_in_the_hosts_memory_cross_its_link():
    asked = {"model": "llama-3-70b", "on": "h100-sxm", "dtype": "int8", "batch": 1}
    all_here, some = estimate(**asked), estimate(**asked, host_layers=40)
    (line,) = (x for x in some.parts if x.name == HOST_LAYERS)
    assert si(line.time) == pytest.approx(70.55e9 / 2 / 63e9, rel=0.03)
    assert si(some.tpot) == pytest.approx(si(all_here.tpot) + si(line.time), rel=0.01)
    crowded = estimate("llama-3-70b", "rtx-4090", "int4", host_layers=60)
    assert crowded.fits and not estimate("llama-3-70b", "rtx-4090", "int4").fits
    with pytest.raises(ValueError, match="host_layers = 90: there are 80"):
        estimate(**asked, host_layers=90)


def test_energy_is_that_of_lines_that_move_and_multiply():
    found = estimate("llama-3-8b", "h100-sxm", "bf16").energy
    assert 0.3 < found.low.si < found.high.si < 3
    assert estimate("llama-3-8b", "h100-sxm", "bf16", batch=1.0).energy == found


@pytest.mark.parametrize(
    "case",
    [("llama-3-8b", "a100-sxm-80gb", "fp16"), ("llama-3-8b", "h100-pcie", "q4_k_m")],
)
def test_a_runner_is_that_of_published_rows(case):
    """llama.cpp's kernels, as family E predicts rows of it: no second sum."""
    step = step_of((*keys_of(*case, None), 1, 1), "engine", "calibrated")
    asked = {"context": 512, "prompt": 2000, "software": "runner"}
    found = estimate(*case, **asked)
    due = float(step.time(1.0, 512.0)) + losses.seconds(step, 1.0)
    due += losses.again(step, 512.0) + losses.two_numbers(step)
    assert si(found.tpot) == pytest.approx(due) == pytest.approx(total(found))
    read = steady.prompt_time(step, 2000.0, 512, INT8)
    assert si(found.ttft) == pytest.approx(read)
    floats = estimate(*case, **asked | {"context": 512.0})
    assert (floats.tpot, floats.ttft) == pytest.approx((due, read))
    for changed in ({"batch": 2}, {"draft": (0.7, 4)}, {"context": np.array([1.0])}):
        with pytest.raises(ValueError, match=r"one sequence|of an engine"):
            _ = estimate(*case, **asked | changed).parts


def test_narrow_numbers_of_numpys_do_not_run_over():
    asked = {"batch": 64, "context": 4096, "prompt": 30_000, "chunk": 512, "new": 9}
    narrow = {name: np.int16(value) for name, value in asked.items()}
    found, due = estimate(**CASE, **narrow), estimate(**CASE, **asked)
    assert (found.tpot.si, found.ttft.si) == (due.tpot.si, due.ttft.si)


def test_the_tiny_model_is_that_of_this_machine():
    found = estimate("tiny", on="this-machine")
    due = account("tiny", on="this-machine", mode="calibrated")
    assert found.parts == due.lines and found.tpot.si == due.total().si
    assert found.error is None and found.fits
    assert found.ttft.si > found.tpot.si


def test_a_moved_factor_is_not_answered_from_what_was_kept():
    before = si(estimate(**CASE, batch=3).tpot)
    with efficiency_override({"engine_layer": 1e-4}):
        moved = si(estimate(**CASE, batch=3).tpot)
    gain = 80 * (1e-4 - efficiency("engine_layer"))
    assert moved - before == pytest.approx(gain)
    assert si(estimate(**CASE, batch=3).tpot) == before


WRONG = {
    "tp": (True, 0),
    "batch": (0, math.nan, True, 1.5),
    "context": (-1, math.inf),
    "prompt": (0,),
    "new": (0, True),
    "prefix_hit": (1.5, math.nan),
    "chunk": (0,),
    "host_layers": (-1,),
    "draft": ((0.5,), 3),
}


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        *(({n: x}, ValueError, n) for n, values in WRONG.items() for x in values),
        ({"model": "llama-3-71b"}, UnknownName, "llama-3-70b"),
        ({"on": "h101"}, UnknownName, "h100_sxm"),
        ({"dtype": "bf17"}, UnknownName, "bf16"),
        ({"tp": 7}, ValueError, "64 heads"),
        ({"draft": (1.5, 4)}, ValueError, "acceptance"),
        ({"draft": (0.5, 0)}, ValueError, "draft_tokens"),
        ({"split": "rows"}, LookupError, "layers"),
        ({"mode": "fast"}, LookupError, "calibrated"),
        ({"software": "vllm"}, LookupError, "library"),
        ({"devices": ("h100-sxm",)}, ValueError, "two at least"),
        ({"ep": 2}, ValueError, "no experts"),
        ({"ep": 2, "split": "layers"}, ValueError, "alike chips"),
        ({"on": "xeon-6980p", "tp": 1}, ValueError, "not counted on a CPU"),
    ],
)
def test_bad_input_gives_no_number(changed, error, words):
    with pytest.raises(error, match=words):
        _ = estimate(**{**CASE, **changed}).tpot
