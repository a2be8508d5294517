"""Costs of training: the closed forms against counting, torch and the model room."""

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from stacklib import models
from stacklib.roofline import HostRoofline
from stacklib.tinylm import plan
from stacklib.tinylm.config import DATA, NAMES, read_config
from stacklib.tinylm.decode_step import decode_time, prefill_time
from stacklib.tinylm.model_torch import Decoder

ROOT = Path(__file__).resolve().parents[2]
HOST = HostRoofline.load(ROOT / "benchmarks" / "results" / "host_roofline.json")


@pytest.mark.rows("name", NAMES)
def test_products_of_a_step_equal_torchs_count(name):
    config = read_config(DATA / name / "config.json")
    model = Decoder(config)
    ids = torch.zeros((2, 64), dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        model(ids).sum().backward()
    matmuls = sum(
        flops
        for op, flops in counter.get_flop_counts()["Global"].items()
        if "mm" in str(op)
    )
    steps = plan.step_operations(config, 2, 64)
    assert sum(s.flops * s.count for s in steps if s.kind == "product") == matmuls


@pytest.mark.rows("name", NAMES)
def test_forward_equals_the_closed_form_of_the_model_room(name):
    config = read_config(DATA / name / "config.json")
    model = models.from_hf_config(DATA / name / "config.json")
    weights = model.parameters.si - gains(config)
    products = 2 * 512 * weights
    pairs = 512 * 513 / 2 * 4 * config.num_hidden_layers
    attention = pairs * config.num_attention_heads * config.head_dim
    assert plan.forward_flops(config, 1, 512) == products + attention


def gains(config) -> int:
    """Numbers in the norms, which no product touches."""
    return config.hidden_size * (2 * config.num_hidden_layers + 1)


def test_three_passes_make_a_step_and_a_teacher_adds_one():
    tiny = read_config(DATA / "tiny" / "config.json")
    draft = read_config(DATA / "draft" / "config.json")
    alone = plan.step_operations(draft, 4, 512)
    taught = plan.step_operations(draft, 4, 512, teacher=tiny)
    count = lambda steps: sum(  # noqa: E731
        s.flops * s.count for s in steps if s.kind in ("product", "attention")
    )
    assert count(taught) - count(alone) == plan.forward_flops(tiny, 4, 512)


def test_time_is_the_sum_over_kinds():
    config = read_config(DATA / "tiny" / "config.json")
    steps = plan.step_operations(config, 4, 512)
    kinds = {s.kind for s in steps}
    assert kinds == {"product", "attention", "elementwise", "optimizer"}
    parts = [plan.step_time(steps, HOST, kind) for kind in kinds]
    assert all(p > 0 for p in parts)
    assert plan.step_time(steps, HOST) == pytest.approx(sum(parts))


@pytest.mark.parametrize("name", ["tiny", "draft"])
def test_recomputation_keeps_less(name):
    config = read_config(DATA / name / "config.json")
    m = plan.training_memory(config, 4, 512)
    assert m.recomputed < 0.5 * m.activations
    assert (
        m.weights
        == m.gradients
        == 4 * models.from_hf_config(DATA / name / "config.json").parameters.si
    )


def test_recomputation_gives_the_same_gradients(small):
    ids = torch.arange(32)[None] % 2048
    grads = []
    for recompute in (False, True):
        model = Decoder(small.config, recompute=recompute)
        model.assign(small.weights)
        model(ids).square().mean().backward()
        grads.append([p.grad for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*grads, strict=True))


def test_a_decode_step_of_this_model_waits_for_calls_and_a_prefill_for_products():
    config = read_config(DATA / "tiny" / "config.json")
    assert decode_time(config, 128, HOST).bound == "calls"
    assert prefill_time(config, 512, HOST).bound == "products"
    step = decode_time(config, 0, HOST)
    assert step.operations.si > 2 * 2_359_296
    assert step.time.si == pytest.approx(step.products.si + step.calls.si)


def test_what_does_not_fit_is_no_time():
    config = read_config(DATA / "tiny" / "config.json")
    with pytest.raises(ValueError, match="512 cached and 1 new"):
        decode_time(config, 512, HOST)
    with pytest.raises(ValueError, match="0 cached and 0 new"):
        prefill_time(config, 0, HOST)
    with pytest.raises(ValueError, match="batch = 0"):
        plan.step_operations(config, 0, 512)
