"""Claims on the ladder: slipped columns, and a condition that must hold."""

from stacklib import pages
from stacklib.pages.memory.ladder import claims_latency


def test_the_slipped_column_is_right_for_other_rungs_and_chips():
    shared = pages.judge("mem-shared-bandwidth")
    assert shared.condition == "the chip is an A100"
    assert "37.2 TB/s" in pages.judge("mem-register-bandwidth").why


def test_a_copy_out_of_reach_of_the_claim_leaves_no_condition(monkeypatch):
    """The condition is shown only while it makes the claim right."""
    assert claims_latency.host_latency().condition
    dear = claims_latency.launched_copy("h100_sxm") * 3
    monkeypatch.setattr(claims_latency, "launched_copy", lambda _: dear)
    found = claims_latency.host_latency()
    assert not found.condition and found.then is None
