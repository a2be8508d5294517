"""Claims on the ladder: slipped columns, and a condition that must hold."""

from stacklib import pages
from stacklib.evidence import ledger
from stacklib.evidence.judge import judged
from stacklib.pages.memory.ladder import claims_latency


def test_the_slipped_column_is_right_for_other_rungs_and_chips():
    shared = pages.judge("mem-shared-bandwidth")
    assert shared.condition == "the chip is an A100"
    assert "37.2 TB/s" in pages.judge("mem-register-bandwidth").why


def test_a_copy_out_of_reach_of_the_claim_is_said_and_not_hidden(monkeypatch):
    """The condition stands whatever comes of it; the verdict follows."""
    told = ledger.get("lat-pcie-30000")
    assert judged(told, claims_latency.host_latency()).verdict == "right if"
    dear = claims_latency.launched_copy("h100_sxm") * 3
    monkeypatch.setattr(claims_latency, "launched_copy", lambda _: dear)
    judgement = judged(told, claims_latency.host_latency())
    assert judgement.verdict == "wrong"
    assert judgement.reason.startswith("Not even if it is a copy")
