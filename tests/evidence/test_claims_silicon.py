"""Verdicts of chapter 2's claims about silicon and packages."""

import pytest

from stacklib.evidence.claims import judge
from stacklib.evidence.claims.leaves import leaf_faults

VERDICTS = {
    "reticle-limit": "reproduced",
    "cowos-s-max-area": "wrong",
    "cowos-s-pitch": "close",
    "microbump-limit-40um": "close",
    "rubin-hybrid-bonding": "open",
    "n4-n2-density": "reproduced",
    "density-per-jump": "conflict",
    "moore-doubling-time": "reproduced",
    "h100-density": "close",
    "package-50k": "conflict",
    "wafer-tens-of-millions": "wrong",
    "b200-transistors": "reproduced",
    "h100-process": "cited",
    "ai5-half-reticle": "open",
}


@pytest.mark.parametrize("id", VERDICTS)
def test_the_verdict_stands_on_facts(id):
    found = judge(id)
    assert found.verdict == VERDICTS[id]
    assert leaf_faults(found) == []


def test_units_that_count_in_millions_are_read_and_shown():
    assert judge("b200-transistors").computed_text == "208 billion transistors"
    assert judge("rubin-336b").computed_text == "336 billion transistors"
    assert judge("h100-density").computed_text == "145.9 MTr/mm2"
    assert judge("h100-density").claim.quantity().to("1/mm2").value == 198e6
