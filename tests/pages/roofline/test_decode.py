"""Claims on a decode step, against times worked out another way."""

import pytest

from stacklib import hardware, pages, roofline
from stacklib.pages.roofline import decode as page
from stacklib.pages.roofline.decode import claims as decode


def test_what_is_stored_streamed_and_cached_adds_up():
    found = {name: said[0].si for name, said in page.streamed().items()}
    assert found["stored"] - found["embedding"] == found["streamed"]
    assert found["streamed"] + found["cached"] == page.case().bytes.si


def test_the_idle_share_is_near_and_the_chip_is_not():
    share, time = pages.judge("decode-wait-share"), pages.judge("decode-memory-time")
    assert share.verdict == "close"  # by what is left: .52 % for .6 %
    h100, h200 = (
        hardware.get(k).memory_bandwidth.text() for k in ("h100_sxm", "h200_sxm")
    )
    assert h100 in share.why and h200 in share.why
    assert time.verdict == "reproduced" and "H200" in time.why
    assert time.computed.si == pytest.approx(decode._work().bytes.si / 3.352e12, 1e-3)


def test_doubling_the_peak_gains_what_the_longer_time_allows():
    chip = hardware.get("h100_sxm")
    for batch, context in ((1, 4096), (64, 4096), (512, 256), (1024, 16)):
        step = roofline.decode_step(
            decode.MODEL, on=chip, tp=8, batch=batch, context=context
        )
        t_c, t_m = step.t_compute.si, step.t_memory.si
        gain = max(t_c, t_m) / max(t_c / 2, t_m) - 1
        got = decode.gain_of_double_peak(batch, context).si
        assert got == pytest.approx(gain, abs=1e-12)
    assert decode.gain_of_double_peak(1, 4096).si == 0
    assert decode.gain_of_double_peak(1024, 16).si == pytest.approx(1)


def test_beyond_the_context_it_names_no_batch_gains():
    longest = roofline.memory_bound_context(decode.MODEL, on="h100_sxm").si
    for batch in (1, 8, 64, 128):
        step = roofline.decode_step(
            decode.MODEL, on="h100", tp=8, batch=batch, context=int(longest) + 1
        )
        assert step.bound == "memory"
