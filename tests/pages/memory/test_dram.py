"""Claims on DRAM, against counts made another way."""

import pytest

from stacklib import pages
from stacklib.memory import dram_part


def test_a_window_is_intervals_times_commands():
    part = dram_part("ddr4-3200")
    assert pages.judge("dram-refresh-64ms").then.si == pytest.approx(
        part.refi.si * part.refreshes.si
    )
