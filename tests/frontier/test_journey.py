"""One token in three currencies: sums against the account, and against its inputs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import frontier, hardware, serving
from stacklib.cost.spans import Span
from stacklib.frontier.waterfall import Journey
from stacklib.quantity import Quantity
from stacklib.quantity.names import UnknownName
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.token.joules import sent_bits

MODELS = (
    "llama-3-70b",
    "llama-3.1-8b",
    "gpt-oss-20b",
    "mixtral-8x7b-v0.1",
    "gemma-3-4b",
)
DEVICES = ("h100-sxm", "b200-sxm", "a100-sxm-80gb", "mi300x", "rubin")
CASE = {"dtype": "bf16", "tp": 8}


def summed(spans) -> tuple[float, float]:
    """Ends of a sum, by plain addition."""
    known = [each for each in spans if each is not None]
    return sum(x.low.si for x in known), sum(x.high.si for x in known)


def holds(found: Journey) -> None:
    """Every identity that a journey has."""
    parts = found.estimate.parts
    assert [e.line for e in found.events] == list(parts)
    assert found.time.si == found.estimate.tpot.si
    assert found.prompt.time.si == found.estimate.ttft.si
    for phase in (found.token, found.prompt):
        if phase.joules is not None:
            ends = phase.joules.low.si, phase.joules.high.si
            assert summed(e.joules for e in phase.events) == pytest.approx(ends)
            assert summed(phase.by_part().values()) == pytest.approx(ends)
        if phase.gap is not None:
            least, most = (end.si for end in phase.gap)
            assert most == pytest.approx(phase.ceiling.si - phase.joules.low.si)
            assert 0 <= least <= most
    if found.bill is not None:
        total = found.bill.total
        a_token = total.low.si, total.high.si
        assert summed(e.dollars for e in found.events) == pytest.approx(a_token)


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(MODELS),
    st.sampled_from(DEVICES),
    st.sampled_from([1, 2, 8]),
    st.integers(1, 64),
    st.integers(1, 9000),
    st.sampled_from(["bf16", "fp8"]),
)
def test_its_events_are_the_estimates_lines(model, device, tp, batch, context, dtype):
    try:
        serving.estimate(model, device, dtype, tp).tpot  # noqa: B018
    except (ValueError, LookupError):
        return
    try:
        holds(frontier.journey(model, device, dtype, tp, batch, context))
    except Infeasible as wrong:
        assert "does not fit" in str(wrong)


@pytest.mark.parametrize("device", ["h100-sxm", "b200-sxm"])
def test_three_currencies_of_the_running_case(device):
    found = frontier.journey("llama-3-70b", device, **CASE)
    holds(found)
    assert found.bill is not None and found.unpriced == ""
    assert 0.1 < found.token.explained.low.si < found.token.explained.high.si < 1
    assert found.prompt.explained.low.si > found.token.explained.low.si
    assert found.metered.low.si > found.joules.low.si
    assert {e.section for e in found.events} >= {"01-roofline/decode", "04-kernels/mla"}


def test_this_machine_has_time_alone():
    found = frontier.journey("tiny", "this-machine")
    holds(found)
    assert found.joules is None and found.dollars is None
    assert "this machine" in found.unpriced
    assert 0.4 < found.time.si / found.measured.si < 0.6  # Python is in no line
    assert frontier.journey("tiny", "this-machine", context=77).measured is None
    rented = frontier.journey("tiny", "this-machine", prices={"rent": 0.1})
    assert rented.dollars.low.si == pytest.approx(0.1 / 3600 * rented.time.si)


def test_a_known_price_is_divided_by_hand():
    """One rent, every hour in use or half of them."""
    for load in (1.0, 0.5):
        asked = {"rent": 2.5, "utilisation": load}
        found = frontier.journey(
            "llama-3-70b", "h100-sxm", batch=4, prices=asked, **CASE
        )
        by_hand = 8 * 2.5 / 3600 * found.time.si / 4 / load
        assert found.dollars.low.si == pytest.approx(by_hand)
        assert found.dollars.high.si == pytest.approx(by_hand)
    power = {"capital": 30e3, "power": 0.07, "pue": 1.2, "years": 4}
    found = frontier.journey("llama-3-70b", "h100-sxm", prices=power, **CASE)
    hours = 4 * 365.25 * 24
    a_second = (8 * 30e3 / hours + 8 * 0.7 * 1.2 * 0.07) / 3600
    assert found.dollars.middle.si == pytest.approx(a_second * found.time.si, rel=2e-3)


def test_joules_of_a_line_are_recomputed_by_hand():
    found = frontier.journey("llama-3-70b", "h100-sxm", **CASE)
    line, parts = found.events[0].line, found.events[0].parts
    per_bit = parts["bytes"].high.si / (8 * line.bytes.si)
    assert per_bit == pytest.approx(19.4e-12, rel=0.01)  # the board's, all levels
    fitted = hardware.microarchitecture("h100-sxm").tensor_energy
    per_flop = parts["products"].high.si / line.operations.si
    assert per_flop == pytest.approx(hardware.efficiency_quantity(fitted).si)
    ways = 160 * 2 * 7 * 8192 * 16  # all-reduces, to and fro, seven others, bits
    assert sent_bits("llama-3-70b", 8, 1) == ways


def with_bandwidth(key: str, times: float):
    device = hardware.get(key)
    fields = dict(device.fields)
    fields["memory_bandwidth"] = device.memory_bandwidth * times
    return replace(device, fields=fields)


@pytest.mark.parametrize("model", ["llama-3-70b", "gpt-oss-120b"])
def test_a_step_grows_with_its_batch_and_not_with_bandwidth(model):
    times = [
        frontier.journey(model, "h100-sxm", tp=8, batch=b, mode="limit").time.si
        for b in (1, 2, 3, 16, 17, 64, 200)
    ]
    assert times == sorted(times)
    faster = [
        frontier.journey(model, with_bandwidth("h100-sxm", x), tp=8, mode="limit")
        for x in (0.5, 1.0, 1.1, 4.0)
    ]
    seconds = [each.time.si for each in faster]
    assert seconds == sorted(seconds, reverse=True)


def test_the_queue_is_waited_for_before_the_token():
    few = frontier.journey("llama-2-7b", "h100-sxm", traffic=serving.poisson(2, 60))
    many = frontier.journey("llama-2-7b", "h100-sxm", traffic=serving.poisson(15, 60))
    assert few.time.si == many.time.si
    assert 0 <= few.wait.mean < many.wait.mean <= many.wait.tail
    run = serving.simulate("llama-2-7b", "h100-sxm", serving.poisson(15, 60))
    waits = [x.admitted - x.arrival for x in run.requests]
    assert many.wait.mean == pytest.approx(sum(waits) / len(waits) / 1e9)
    assert many.wait.utilisation == run.utilisation


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"tp": 1}, r"142.4 GB > 80 GB on H100: does not fit"),
        ({"prices": -0.1}, r"power = -0.1: a number above zero"),
        ({"prices": {"rent": 0}}, r"rent = 0: a number above zero"),
        ({"prices": {"rent": float("nan")}}, "rent = nan"),
        ({"prices": True}, "power = True"),
        ({"prices": {"rent": 2, "power": 0.1}}, "power are in a rent already"),
        ({"prices": {"rent": 2, "years": 4}}, "years are of what is bought"),
        ({"prices": {"utilisation": 1.5}}, "utilisation"),
        ({"batch": 0}, "batch = 0"),
        ({"batch": 2.0}, "batch = 2.0"),
        ({"new": 0}, "new = 0"),
        ({"context": -1}, "context = -1"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, says):
    with pytest.raises(ValueError, match=says):
        frontier.journey("llama-3-70b", "h100-sxm", **{**CASE, **asked})


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ({"model": "llama-3-70b", "on": "h100-sxn"}, "h100_sxm"),
        ({"model": "lama-3-70b", "on": "h100-sxm"}, "llama-3-70b"),
        ({"model": "llama-3-70b", "on": "h100", "prices": {"rnt": 1}}, "rent"),
    ],
)
def test_an_unknown_name_gets_the_nearest(asked, near):
    with pytest.raises(UnknownName, match=near):
        frontier.journey(**{**CASE, **asked})


def test_a_planted_line_is_seen():
    """The sums are of the estimate's lines: one more of them, and they differ."""
    found = frontier.journey("llama-3-70b", "h100-sxm", **CASE)
    doubled = replace(found.token, events=(*found.events, found.events[0]))
    with pytest.raises(AssertionError):
        holds(replace(found, token=doubled))
    dearer = replace(
        found.events[0], dollars=Span(Quantity(1, "USD"), Quantity(2, "USD"))
    )
    with pytest.raises(AssertionError):
        holds(
            replace(
                found, token=replace(found.token, events=(dearer, *found.events[1:]))
            )
        )


@pytest.mark.parametrize("device", ["l4", "t4", "h100-nvl", "rtx-2000-ada"])
def test_no_board_is_explained_beyond_what_it_draws(device):
    """A small die stands still for less, and no share is more than all."""
    found = frontier.journey("gpt-oss-20b", device)
    assert 0 < found.token.explained.low.si < 0.7
    assert found.token.explained.high.si <= 1
    assert found.token.gap[0].si >= 0


@pytest.mark.parametrize("device", ["mtia-v2", "m2-ultra", "tesla-p40", "ipu-bow"])
def test_a_memory_without_a_row_of_its_own_stops_no_journey(device):
    """LPDDR and GDDR are told by the stack's figure; of SRAM no figure is known."""
    dtype = "bf16" if device == "mtia-v2" else "fp16"
    parts = frontier.journey("gpt-2", device, dtype, context=64).token.by_part()
    assert ("bytes" in parts) == (device != "ipu-bow")


def test_narrow_integers_do_not_run_over():
    wide = frontier.journey("llama-3-70b", "h100-sxm", batch=100, **CASE)
    narrow = CASE | {"tp": np.int8(8)}
    found = frontier.journey("llama-3-70b", "h100-sxm", batch=np.int8(100), **narrow)
    assert found.joules.high.si == wide.joules.high.si


@pytest.mark.rows(
    "model, on, dtype",
    [
        ("llama-3-8b", "mi300x", "fp8"),
        ("mixtral-8x7b", "b200-sxm", "bf16"),
        ("llama-3-70b", "rubin", "bf16"),
    ],
)
def test_a_step_never_gets_shorter_with_one_answer_more(model, on, dtype):
    """It fell at 17 and 33 answers, and where a sum crossed a border of NCCL's."""
    case = {"model": model, "on": on, "dtype": dtype, "tp": 8, "context": 512}
    batches = (1, 8, 15, 16, 17, 32, 33, 34, 255, 256, 257, 511, 512, 513)
    steps = [serving.estimate(batch=many, **case).tpot.si for many in batches]
    assert steps == sorted(steps)
