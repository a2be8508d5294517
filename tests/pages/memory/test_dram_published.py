"""Published runs on DRAM beside the models."""

import pytest

from stacklib.pages.memory.dram import published


@pytest.mark.rows("kernel", published.KERNELS)
@pytest.mark.rows("device", ["a100_sxm_40gb", "v100_sxm2_32gb"])
def test_sweeps_rise_with_their_threads_and_stay_below_the_bandwidth(device, kernel):
    points = published.sweep(device, kernel)
    assert len(points) == 32 and points[-1].threads == 1024
    shares = [p.share.si for p in points]
    assert shares[0] < 0.25 < 0.85 < max(shares) < 1
    told = [p.told.share.si for p in points]
    assert told == sorted(told)


def test_the_network_meets_an_a100_and_misses_a_v100_by_less_than_half():
    for device, worst in (("a100_sxm_40gb", 0.18), ("v100_sxm2_32gb", 0.43)):
        errors = [
            abs(p.error) for k in published.KERNELS for p in published.sweep(device, k)
        ]
        assert max(errors) < worst
        assert sorted(errors)[len(errors) // 2] < 0.035


def test_what_was_not_swept_or_published_is_refused():
    with pytest.raises(ValueError, match="'h100_sxm' was not swept"):
        published.sweep("h100_sxm", "read")
    with pytest.raises(ValueError, match="kernel 'copy'"):
        published.sweep("a100_sxm_40gb", "copy")
    with pytest.raises(ValueError, match="id 'C-9999'"):
        published.achieved("C-9999", "h100-pcie")


def test_measured_reads_lie_between_stopping_all_banks_and_one():
    for row in published.device_rows(4000):
        if row["read, measured"] is not None:
            share = row["read, measured"].si
            assert row["read, banks stop"].si < share < row["read, one bank stops"].si
