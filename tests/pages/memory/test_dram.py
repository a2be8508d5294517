"""Claims on DRAM, against counts made another way."""

import json
import re
from pathlib import Path

import pytest

from stacklib import pages
from stacklib.memory import dram_part


def test_a_window_is_intervals_times_commands():
    part = dram_part("ddr4-3200")
    assert pages.judge("dram-refresh-64ms").then.si == pytest.approx(
        part.refi.si * part.refreshes.si
    )


def test_no_page_calls_a_dimm_of_ddr5_a_channel():
    """DDR5 has sub-channels of 32 bits, two to a DIMM; of other memories, channels."""
    loose = re.compile(r"(?<!sub-)channels? of DDR5|DDR5(-\d+)? channel", re.IGNORECASE)
    told = "DDR5 gives about"  # a claim, restated as its author had it
    chapters = Path(__file__).parents[3] / "chapters"
    for path in sorted(chapters.glob("*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for line in "".join(cell["source"]).splitlines():
                assert told in line or not loose.search(line), f"{path.name}: {line}"
