"""Training in few bits: what dies without a loss scale, and what QLoRA holds."""

import math

import numpy as np
import pytest

from stacklib import models
from stacklib.quantity import Quantity
from stacklib.quantizers import Format
from stacklib.tinylm.config import architecture
from stacklib.tinylm.low_precision import runs as lp

from ..rows import refusals


def classes_found(seed: int = 0) -> dict[str, bool]:
    """Whether each way of training finds more than nine classes of ten."""
    ways = {
        "fp32": ("fp32", 1.0),
        "bf16": ("bf16", 1.0),
        "fp16": ("fp16", 1.0),
        "fp16 scaled": ("fp16", 2.0**16),
        "fp16 dynamic": ("fp16", "dynamic"),
        "e4m3fn scaled": ("e4m3fn", 2.0**24),
    }
    return {
        name: lp.train_classifier(*way, seed=seed).accuracy > 0.9
        for name, way in ways.items()
    }


@pytest.mark.parametrize("seed", [0, 2])
def test_fp16_dies_without_a_loss_scale_and_lives_with_one(seed):
    found = classes_found(seed)
    assert [name for name, well in found.items() if not well] == ["fp16"]


def test_a_rounding_left_out_is_found(monkeypatch):
    monkeypatch.setattr(lp, "_rounded", lambda form, x: x)
    assert classes_found()["fp16"]


def test_a_scale_that_is_not_divided_out_is_found(monkeypatch):
    """Adam would hide it but for its epsilon: gradients must come back in size."""
    sizes = []
    plain = lp._adam
    monkeypatch.setattr(
        lp, "_adam", lambda g, *rest: sizes.append(abs(g).max()) or plain(g, *rest)
    )
    lp.train_classifier("fp32", 1.0, steps=1)
    lp.train_classifier("fp32", 2.0**16, steps=1)
    assert sizes[:2] == pytest.approx(sizes[2:], rel=1e-5)
    assert 1e-3 < min(sizes) < max(sizes) < 10


def test_gradients_equal_finite_differences():
    random = np.random.default_rng(0)
    (x, y), _ = lp._samples(random)
    x, y = x[:16], y[:16]
    weights = [random.normal(size=s).astype("f4") / 4 for s in ((9, 32), (32, 4))]
    _, gradients, _ = lp._pass(Format("fp32"), weights, x, y, 1 / 16)
    for which, gradient in enumerate(gradients):
        towards = random.normal(size=gradient.shape).astype("f4")
        losses = []
        for step in (1e-2, -1e-2):
            moved = [
                w + (step * towards if i == which else 0) for i, w in enumerate(weights)
            ]
            losses.append(lp._pass(Format("fp32"), moved, x, y, 1.0)[0])
        slope = (losses[0] - losses[1]) / 2e-2
        assert (gradient * towards).sum() == pytest.approx(slope, rel=0.02)


def test_all_that_is_lost_is_below_half_the_smallest_number():
    """The largest gradient of a logit is under one over the batch: 2**-25.9."""
    run = lp.train_classifier("fp16")
    assert 1 / lp.MEAN_OVER < Format("fp16").smallest / 2
    assert run.zeroed == 1 and run.skipped == 0
    assert abs(run.accuracy - run.chance) < 0.1
    some = lp.train_classifier("fp16", mean_over=2**24)
    assert 0 < some.zeroed < 1 and run.accuracy < some.accuracy


def test_a_scale_that_is_too_large_skips_and_a_dynamic_one_comes_down():
    fixed = lp.train_classifier("fp16", 2.0**46, steps=60)
    assert fixed.skipped == 1 and fixed.accuracy < 0.5
    free = lp.train_classifier("fp16", "dynamic", mean_over=1)
    assert free.scales[0] == 2.0**16 and min(free.scales) < free.scales[0]
    assert 0 < free.skipped < 0.3 and free.accuracy > 0.9


def test_without_a_master_copy_eight_bits_lose_the_last_of_the_loss():
    kept, lost = (
        lp.train_classifier("e4m3fn", 2.0**24, master=m).losses[-1]
        for m in (True, False)
    )
    assert lost > 2 * kept


def test_a_run_repeats_by_seed():
    again = [lp.train_classifier("bf16", seed=s, steps=5) for s in (3, 3, 4)]
    assert again[0] == again[1] != again[2]


test_bad_input_is_named = refusals(
    ({"fmt": "fp12"}, "unknown format"),
    ({"fmt": "e8m0"}, "with a sign"),
    ({"loss_scale": math.nan}, "loss_scale = nan"),
    ({"loss_scale": 0.0}, "loss_scale = 0.0"),
    ({"loss_scale": "static"}, "loss_scale = 'static'"),
    ({"mean_over": 0}, "mean_over = 0"),
    ({"steps": 1.5}, "steps = 1.5"),
    ({"seed": -1}, "seed = -1"),
    by=lambda call: lp.train_classifier(**call),
    error=(ValueError, LookupError),
)


# -- memory of QLoRA


def walked(model: models.LanguageModel, rank: int) -> tuple[int, int]:
    """Quantized weights and adapter weights, matrix by matrix."""
    matrices = [m for block in model.blocks for m in block.matrices(model.hidden)]
    weights = sum(m.rows * m.columns for m in matrices)
    return weights, sum(rank * (m.rows + m.columns) for m in matrices)


@pytest.mark.rows(
    "name", ["llama-2-7b", "llama-3-8b", "qwen2.5-7b", "gemma-2-9b", "gpt2-xl-1.5b"]
)
def test_the_sheet_equals_a_walk_over_the_matrices(name):
    model = models.get(name)
    sheet = lp.qlora_memory(model, rank=16, batch=1, context=512)
    weights, adapters = walked(model, 16)
    assert sheet.weights.si == weights / 2
    # 8 bits per 64 numbers, 32 more per 256 of those: .127 bits (QLoRA, section 3)
    assert sheet.scales.si * 8 / weights == pytest.approx(0.127, abs=1e-4)
    assert sheet.adapters.si == sheet.gradients.si == 4 * adapters
    assert sheet.optimizer.si == 8 * adapters
    assert sheet.kept.si == 2 * (model.parameters.si - weights)
    largest = max(
        m.rows * m.columns for b in model.blocks for m in b.matrices(model.hidden)
    )
    assert sheet.buffer.si == 2 * largest


def test_a_7b_model_fits_in_24_gb_and_its_fp32_training_does_not():
    card = Quantity(24, "GB", label="card")
    sheet = lp.qlora_memory("llama-2-7b", rank=64, batch=1, context=4096)
    assert sheet.left(card).si > 0
    assert sheet.total.to("GB").value == pytest.approx(8.8, abs=0.1)
    assert 16 * models.get("llama-2-7b").parameters.si > card.si
    # logits and a layer's second forward are never there together
    apart = sum(part.si for part in sheet.parts.values())
    assert apart - sheet.total.si == (sheet.block + sheet.buffer).si
    big = lp.qlora_memory("llama-2-7b", rank=64, batch=16, context=4096)
    assert big.left(card).si < 0 and big.held.si == sheet.held.si


def test_the_books_model_has_a_sheet():
    sheet = lp.qlora_memory(architecture("tiny"), rank=8, batch=4, context=256)
    small = lp.qlora_memory(architecture("draft"), rank=8, batch=4, context=256)
    assert 0 < small.total.si < sheet.total.si < 1e8


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v3"])
def test_models_with_experts_or_latents_are_refused(name):
    with pytest.raises(ValueError, match="a dense model with plain attention"):
        lp.qlora_memory(name, rank=8, batch=1, context=8)


@pytest.mark.rows("size", [{"rank": 0}, {"batch": -1}, {"context": 2.5}])
def test_sizes_below_one_are_refused(size):
    given = {"rank": 8, "batch": 1, "context": 8} | size
    (name,) = size
    with pytest.raises(ValueError, match=f"{name} = {size[name]}"):
        lp.qlora_memory("llama-2-7b", **given)


# -- what was stored


def test_an_interval_holds_the_mean_in_nineteen_of_twenty():
    random = np.random.default_rng(0)
    drawn = random.normal(5, 2, size=(4000, 3))
    inside = [low < 5 < high for _, low, high in map(lp.interval, drawn)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
    with pytest.raises(ValueError, match="three seeds"):
        lp.interval([1.0, 2.0])
    with pytest.raises(ValueError, match="three seeds"):
        lp.interval([1.0, 2.0, math.nan])


def test_an_unknown_curve_names_those_stored():
    with pytest.raises(ValueError, match="curves\\('none'\\): stored are"):
        lp.curves("none")
