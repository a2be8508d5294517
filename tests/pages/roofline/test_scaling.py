"""Claims on growth, from one GPU to the next."""

import pytest

from stacklib import hardware, pages
from stacklib.pages.roofline.scaling import claims as growth


def test_growth_in_two_years_compounds_to_the_whole():
    first, last = (hardware.get(growth.FLAGSHIPS[i]) for i in (0, -1))
    years = last.year - first.year
    whole = last.peak("fp16").si / first.peak("fp16").si
    got = pages.judge("memwall-compute-growth").computed.si
    assert got ** (years / 2) == pytest.approx(whole, rel=1e-9)
    for rate in (growth._fp16, growth._bandwidth):  # "the last one is above it"
        assert growth._over(rate, *growth.FLAGSHIPS[:-3:-1]) > 2
    gap = pages.judge("memwall-gap").computed.si
    bandwidth = pages.judge("memwall-bandwidth-growth").computed.si
    assert gap == pytest.approx(got / bandwidth, rel=1e-9)
