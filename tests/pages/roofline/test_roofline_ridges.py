"""Every ridge, every operation of a block, the best published products."""

import pytest

from stacklib import hardware, roofline
from stacklib.pages.roofline import roofline as page

# Dense bf16 ridges computed by hand from data sheets, FLOP/B.
CHECKED = {
    "a100_sxm_80gb": 153,
    "rtx_4090": 164,
    "rtx_5090": 117,
    "h200_sxm": 206,
    "mi300x": 247,
    "h100_sxm": 295,
    "tpu_v5p": 166,
    "tpu_v6e": 560,
}


def test_ridges_are_those_computed_by_hand():
    found = {device.key: ridge.si for device, ridge in page.ridges("bf16")}
    for key, ridge in CHECKED.items():
        assert found[key] == pytest.approx(ridge, rel=0.01), key
    # 281 at the 8 TB/s of the announcement; the data sheet's rate is lower
    assert found["b200_sxm"] == pytest.approx(281 * 8 / 7.7, rel=0.01)


def test_what_is_only_announced_and_what_cannot_be_divided_is_left_out():
    found = {device.key for device, _ in page.ridges("bf16")}
    assert hardware.THIS_MACHINE not in found
    assert not any("bf16" not in hardware.get(key).formats for key in found)


def test_most_ridges_lie_outside_the_claimed_range():
    values = [ridge.si for _, ridge in page.ridges("bf16")]
    low, high = page.CLAIMED
    assert sum(v < low for v in values) > len(values) / 2
    assert sum(low <= v <= high for v in values) < len(values) / 4


def test_with_one_token_everything_waits_for_memory():
    found = page.sides("llama-3-70b", 1, "h100-sxm")
    assert {bound.bound for _, bound in found} == {"memory"}


def test_with_a_prompt_only_products_and_attention_wait_for_arithmetic():
    for work, bound in page.sides("llama-3-70b", 2048, "h100-sxm"):
        kind = work.kind
        assert (bound.bound == "compute") == (kind != "elementwise"), work.name
        ridge = roofline.ridge("h100-sxm", "bf16").si
        assert (work.intensity.si > ridge) == (bound.bound == "compute")


def test_no_published_product_beats_its_peak_and_each_names_its_source():
    found = page.best_products()
    keys = [best.device.key for best in found]
    assert len(keys) == len(set(keys)) >= 6
    for best in found:
        assert 0.4 < best.share.si < 1 and best.published.source.where.startswith("A-")


def test_a_higher_peak_is_no_faster_product():
    best = {b.device.key: b for b in page.best_products()}
    amd, nvidia = best["mi300x"], best["h100_sxm"]
    assert amd.device.peak("bf16") > nvidia.device.peak("bf16")
    assert amd.published.si < nvidia.published.si
