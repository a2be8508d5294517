"""What document 000 says of one token's trip, judged."""

import pytest

from stacklib import pages


def test_the_cache_of_a_layer_is_right_for_one_chip_of_eight():
    found = pages.judge("kv-bytes-per-layer")
    assert "one of 8 chips" in found.condition
    assert found.then.to("B").value == pytest.approx(512)
