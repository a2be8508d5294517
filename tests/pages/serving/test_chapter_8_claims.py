"""What claims on memory, steps and prices stand on, worked out by hand."""

import pytest

from stacklib import pages
from stacklib.pages.serving.estimate import claims as estimate
from stacklib.pages.serving.fits import claims as fits

LAYERS, HEADS, KV_HEADS, SIZE, WIDE, MLP = 80, 64, 8, 128, 8192, 28_672


def in_unit(id):
    """What a check computes, in the unit of its claim; in SI where that has none."""
    row = pages.judge(id)
    if not row.claim.is_number:
        return row.computed.si
    return row.computed.to(row.claim.quantity().unit or "1").value


BY_HAND = {
    "kv-70b-128k": 2 * LAYERS * KV_HEADS * SIZE * 2 * 131_072 / 1e9,
    "kv-500-sessions": 500 * 2 * LAYERS * KV_HEADS * SIZE * 131_072 / 1e12,
    "kv-128k-tens-gb": 61 * (512 + 64) * 2 * 131_072 / 1e9,
    "mla-4-8x": 2 * 128 * 128 / (512 + 64),
    "decode-mlp-us": 3 * WIDE * MLP * 2 / 3.35e12,
    "prefill-threshold-512": 989.4 / 3.35,
    "decode-5-10-util": 100 * 3.35 / 989.4,
    "disagg-activation-bytes": 2 * 61 * (128 * 7168 * 2 / 450e6 + 5e-4),
    "session-tool-time": 1000 * (65 - 5 * 0.4 - 2000 * 0.03 - 10 * 0.1) / 4,
    "gpt4-175b": 175 / 2,
    "token-cost-sum": 60.6 + 48.7 + 17.4 + 13.9 + 10.4 + 22.7,
    "token-cost-row-consistency": (35e3 / 35_064 / 60.6) / (0.7 * 0.0806 / 48.7),
    "context-superlinear": 0.611,
}


@pytest.mark.rows("id", list(BY_HAND))
def test_a_check_computes_what_a_pencil_does(id):
    assert in_unit(id) == pytest.approx(BY_HAND[id], rel=0.002)


def test_experts_touched_by_hand():
    """58 layers of 256 experts, eight a token, even and independent choices."""
    expert, batch = 3 * 7168 * 2048, 64
    routed = 58 * 256 * expert
    rest = estimate.models.get("deepseek-v3").streamed_parameters.si - routed * 8 / 256
    for chosen in (2, 3, 8):
        touched = 1 - (1 - chosen / 256) ** batch
        found = estimate.read_with(chosen, batch).si
        assert found == pytest.approx(rest + routed * touched, rel=0.01)
    assert in_unit("deepseek-serving-cost") == pytest.approx(584e9, rel=0.002)


def test_a_machine_without_room_for_one_has_none():
    assert fits.capacity(10**7, "bf16").si == 0


def test_the_cache_s_share_grows_with_either():
    share = [estimate.cache_share(*case).si for case in ((1, 4096), (8, 4096))]
    assert (
        share[0]
        < share[1]
        == pytest.approx(estimate.cache_share(1, 8 * 4096).si, rel=0.02)
    )
