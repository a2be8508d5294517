"""Claims on the ladder: slipped columns, and a condition that may not hold."""

from stacklib import pages
from stacklib.pages.memory.ladder import claims_latency


def test_the_slipped_column_is_right_for_other_rungs_and_chips():
    assert "an A100, 19.5 TB/s" in pages.judge("mem-shared-bandwidth").why
    assert "37.2 TB/s" in pages.judge("mem-register-bandwidth").why


def test_a_copy_out_of_reach_of_the_claim_is_shown_and_makes_nothing_right(monkeypatch):
    """The condition was written before the copy was computed, and stays."""
    ours = claims_latency.launched_copy("h100_sxm")
    for times, verdict in [(0.9, "right if"), (1, "wrong"), (3, "wrong")]:
        copy = ours * times
        monkeypatch.setattr(claims_latency, "launched_copy", lambda _, c=copy: c)
        pages.found.cache_clear()
        row = pages.judge("lat-pcie-30000")
        pages.found.cache_clear()
        assert row.verdict == verdict
        assert row.condition == "it is a copy that the host launches"
    assert row.reason.startswith("If it is a copy that the host launches: 9")
