"""Tokens a second by layers and by tensors: against serving's estimate, and bounds."""

from contextlib import suppress

import pytest

from stacklib import hardware, models
from stacklib.cost import catalogue
from stacklib.diy import Build, speed
from stacklib.diy.cards import Cards, of_build
from stacklib.diy.splits import buffers, decoding, soonest
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import estimate

from .builds import PRO, RACK, TOWER

LLAMA = "llama-3-70b:q4_k_m"
WAYS = ((1, "layers"), (2, "layers"), (2, "tensors"), (4, "tensors"))


def cards(device, many, **told):
    return Cards((hardware.get(device),) * many, **told)


@pytest.mark.parametrize(("device", "many"), [("rtx_a6000", 2), ("h100_pcie", 4)])
def test_layers_are_serving_s_stages(device, many):
    told = {"batch": 1.0, "context": 4096.0, "split": "layers"}
    theirs = estimate("llama-3-70b", device, "q4_k_m", tp=many, **told)
    ours = speed(cards(device, many), LLAMA).decode
    assert ours == pytest.approx(1 / theirs.tpot, rel=0.01)


def test_one_card_is_serving_s_step():
    told = {"batch": 1.0, "context": 2048.0}
    theirs = estimate("qwen3-14b", "rtx-4090", "q4_k_m", **told)
    ours = speed("rtx-4090", "qwen3-14b:q4_k_m", context=2048).decode
    assert ours == pytest.approx(1 / theirs.tpot, rel=1e-6)


def test_tensors_are_serving_s_but_for_the_links():
    """Over the links that the device is sold with, an NVLink switch, they are equal."""
    told = {"batch": 1.0, "context": 4096.0, "tp": 4}
    theirs = estimate("llama-3-70b", "rtx-4090", "q4_k_m", **told)
    ours = speed(cards("rtx_4090", 4), LLAMA, split="tensors")
    assert ours.decode == pytest.approx(1 / theirs.tpot, rel=0.1)


def test_by_layers_memory_adds_and_speed_does_not():
    one, two, four = (speed(cards("rtx_a6000", n), LLAMA) for n in (1, 2, 4))
    assert two.decode == pytest.approx(one.decode, rel=0.02)
    assert four.decode == pytest.approx(one.decode, rel=0.04)
    assert one.need > 1.7 * two.need > 3 * four.need
    assert four.need > one.need / 4  # each has its own buffers
    assert four.prompt > 1.1 * one.prompt
    faster = speed(cards("rtx_a6000", 4), LLAMA, split="tensors")
    assert 2 < faster.decode / one.decode < 4
    assert 0 < faster.links < 0.5


def test_lanes_cost_tensors_alone():
    wide, four = cards("rtx_3090", 2), cards("rtx_3090", 2, links=((4, 16), (3, 4)))
    for split, low, high in (("layers", 0.99, 1), ("tensors", 0.7, 0.99)):
        less, whole = (speed(one, LLAMA, split=split) for one in (four, wide))
        assert low <= less.decode / whole.decode <= high
    ways = wide.swapped(path="SYS"), wide.swapped(bridged=True)
    far, bridged = (speed(one, LLAMA, split="tensors") for one in ways)
    # A bridge shows where there are many bytes: a token's are few either way.
    assert far.decode < whole.decode and bridged.prompt > whole.prompt


def test_a_build_s_slots_are_its_links():
    assert of_build(Build(**RACK)).links == ((4, 16), (4, 16))
    assert of_build(Build(**TOWER)).path == "PHB"
    limited = speed(Build(**PRO, limit=200.0), LLAMA)
    assert limited.decode < speed(Build(**PRO), LLAMA).decode


def test_buffers_are_what_llama_cpp_prints():
    assert buffers(models.get("llama-3-8b")) / 2**20 == 258.5


def test_nothing_infeasible_has_a_speed():
    for split in ("layers", "tensors"):
        with pytest.raises(Infeasible, match="buffers"):
            speed(cards("rtx_4090", 1), LLAMA, split=split)
    with pytest.raises(ValueError, match="differ"):
        both = Cards((hardware.get("rtx_3090"), hardware.get("rtx_4090")))
        speed(both, LLAMA, split="tensors")
    assert speed(both, LLAMA).decode > 0
    with pytest.raises(ValueError, match="3"):
        speed(cards("rtx_a6000", 3), LLAMA, split="tensors")


def test_no_card_is_faster_than_its_bound():
    asked = 1, 2048
    for key in {card.device for card in catalogue.parts("gpu")}:
        for model in ("qwen3-14b:q4_k_m", "gpt-oss-20b:mxfp4"):
            for many, split in WAYS:
                least = soonest(hardware.get(key), many, model, *asked)
                with suppress(ValueError):
                    made = decoding(cards(key, many), model, split, *asked)
                    assert made.seconds >= least * (1 - 1e-9)


@pytest.mark.parametrize(
    "told", [{"split": "rows"}, {"batch": 0}, {"context": -1}, {"batch": True}]
)
def test_bad_input(told):
    with pytest.raises((ValueError, LookupError)):
        speed("rtx-4090", "qwen3-14b:q4_k_m", **told)
