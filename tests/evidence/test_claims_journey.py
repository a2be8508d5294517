"""What document 000 says of one token's trip, judged."""

from __future__ import annotations

import pytest

from stacklib.evidence import claims

VERDICTS = {
    "embedding-dim-8192": ("reproduced", 8192),
    "mem-shared-capacity": ("reproduced", 233.5),
    "mem-hbm-latency-cycles": ("close", 670),
    "wgmma-threads": ("reproduced", 128),
    "tp-allreduce-per-layer": ("close", 2),
    "tp-allreduce-100-plus": ("close", 160),
    "tp-allreduce-rate": ("close", 0.9),
    "kv-bytes-per-layer": ("close", 4096),
}


@pytest.mark.parametrize(("id", "wanted"), VERDICTS.items())
def test_verdicts_of_the_trip(id, wanted):
    verdict, value = wanted
    found = claims.judge(id)
    assert found.verdict == verdict
    unit = found.claim.quantity().unit
    assert found.computed.to(unit or "1").value == pytest.approx(value, rel=1e-3)
    assert claims.leaf_faults(found) == []


def test_the_cache_of_a_layer_is_right_for_one_chip_of_eight():
    found = claims.judge("kv-bytes-per-layer")
    assert "one of 8 chips" in found.condition
    assert found.then.to("B").value == pytest.approx(512)
