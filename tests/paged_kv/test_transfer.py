"""Bytes over rails: the sum, the run, and what two documents say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.hardware import link
from stacklib.models import get
from stacklib.paged_kv.transfer import kv_transfer, run_transfer, transfer_time
from stacklib.quantity import Quantity
from stacklib.quantity.names import UnknownName

# milliseconds by hand: tokens x 2 x 80 layers x 8 heads x 128 x bytes / rate
BY_HAND = [
    (50_000, "bf16", "ib-ndr", 8, 50_000 * 327_680 / 400e9),
    (50_000, "bf16", "ib-ndr", 1, 50_000 * 327_680 / 50e9),
    (4096, "fp8", "eth-400g", 1, 4096 * 163_840 / 50e9),
    (4096, "bf16", "eth-400g", 1, 4096 * 327_680 / 50e9),
]


@pytest.mark.rows("tokens,dtype,over,rails,seconds", BY_HAND)
def test_times_are_those_by_hand(tokens, dtype, over, rails, seconds):
    told = kv_transfer("llama-3-70b", tokens, dtype=dtype, over=over, rails=rails)
    assert told.time.si == pytest.approx(seconds + link(over).latency.si)


def test_a_latent_is_sent_as_the_model_keeps_it():
    shape = get("deepseek-v3")
    told = kv_transfer(shape, 1000, over=link("ib-ndr"))
    assert told.size.si == shape.kv_bytes(1000, "bf16").si


@given(
    st.integers(1, 40),
    st.floats(1, 1e9),
    st.floats(1, 1e11),
    st.integers(1, 8),
    st.floats(0, 1e-3),
)
@settings(max_examples=60, deadline=None)
def test_the_run_ends_when_the_sum_says(blocks, block, rate, rails, latency):
    came = run_transfer(blocks, block, rate, rails, latency)
    whole = transfer_time(blocks * block, rate, rails, latency)
    assert came[-1] == pytest.approx(whole) and came == sorted(came)
    assert came[0] == pytest.approx(transfer_time(block, rate, rails, latency))


def test_floats_quantities_and_arrays():
    exact = transfer_time(
        Quantity(8, "GB"), Quantity(1, "GB/s"), 4, latency=Quantity(1, "s")
    )
    assert exact.si == transfer_time(8e9, 1e9, 4, 1.0) == 3
    assert transfer_time(8e9, 1e9, np.array([1, 4]), 1.0).tolist() == [9, 3]


def test_what_makes_no_sense_is_refused():
    for bad in (0, -1, 1.5, True, float("nan")):
        with pytest.raises(ValueError, match="rails = "):
            kv_transfer("llama-3-70b", 10, rails=bad)
        with pytest.raises(ValueError, match="tokens = "):
            kv_transfer("llama-3-70b", bad)
        with pytest.raises(ValueError, match="blocks = "):
            run_transfer(bad, 1.0, 1.0)
    for rate in (0, float("inf")):
        with pytest.raises(ValueError, match="rate"):
            run_transfer(1, 1.0, rate)
    with pytest.raises(UnknownName, match="ib_ndr"):
        kv_transfer("llama-3-70b", 10, over="ib_ndx")
