"""A step kept by pair has the seconds of the account, line by line."""

import itertools

import numpy as np
import pytest

from stacklib.hardware import efficiency_override
from stacklib.kernels.schedule import attention_time as kernels
from stacklib.kernels.schedule.token_time import token_form
from stacklib.quantity import Quantity
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import account
from stacklib.serving.estimates import losses
from stacklib.serving.estimates.step import LINES, step_of
from stacklib.serving.token.account import MODES

PAIRS = (  # model, chip, weights, tp, ep
    ("llama-3-70b", "h100-sxm", "bf16", 8, 1),
    ("gpt-oss-120b", "b200-sxm", "mxfp4", 2, 1),
    ("deepseek-v3", "h200-sxm", "fp8_128x128", 8, 2),
    ("qwen3-30b-a3b", "mi300x", "bf16", 1, 4),
    ("gemma-3-27b", "rtx-pro-6000-blackwell", "q4_k_m", 1, 1),
    ("qwen3-next-80b-a3b", "h200-sxm", "bf16", 4, 1),  # states: at their limit
)
CASES = ((1.0, 0.0), (3.0, 129.0), (64.0, 4096.0))


def seconds(found):
    return {line.name: 0.0 if line.time is None else line.time for line in found.lines}


@pytest.mark.parametrize(("pair", "mode"), [*itertools.product(PAIRS, MODES)])
def test_its_lines_are_those_of_the_account(pair, mode):
    model, on, dtype, tp, ep = pair
    step = step_of((*keys_of(model, on, dtype, None), tp, ep), "engine", mode)
    assert step.frame.shape.prompt(1, 0)[1] == 0
    routed = mode != "limit" and step.frame.model.experts is not None
    assert (step.grouped(4.0) > 0) == (step.experts(4.0) > 0) == routed
    for batch, context in CASES:
        asked = {"ep": ep, "mode": mode}
        due = seconds(account(model, on, dtype, tp, batch, context, **asked))
        found = step.lines(batch, context)
        assert found.keys() == set(LINES)
        assert found == pytest.approx({n: due[n] for n in LINES}, rel=1e-9)
        prompt = int(context) + 1
        due = seconds(account(model, on, dtype, tp, batch, prompt=prompt, **asked))
        found = step.prompt(batch, float(prompt))
        assert found == pytest.approx({n: due[n] for n in LINES}, rel=1e-9)


def test_a_sweep_is_its_cases():
    keys = (*keys_of("gpt-oss-120b", "h100-sxm", "mxfp4", None), 4, 1)
    for mode in MODES:
        step = step_of(keys, "engine", mode)
        batch = np.array([[1.0], [7.0], [64.0]])
        context = np.array([[0.0, 100.0, 5000.0]])
        found = step.time(batch, context)
        each = [
            [step.time(float(b), float(c)) for c in context[0]] for b in batch[:, 0]
        ]
        np.testing.assert_allclose(found, each, rtol=1e-12)


def test_what_is_kept_follows_the_factors_in_force():
    keys = (*keys_of("llama-3-8b", "h100-sxm", "bf16", None), 1, 1)
    before = step_of(keys, "engine", "calibrated").time(1.0, 0.0)
    with efficiency_override({"dram_gemm": 0.5}):
        assert step_of(keys, "engine", "calibrated").time(1.0, 0.0) > 1.3 * before
    with efficiency_override({"engine_layer": 1e-4}):  # of its family alone
        assert step_of(keys, "engine", "calibrated").time(1.0, 0.0) == before


@pytest.mark.parametrize(
    ("device", "kv_heads", "group", "kv_dtype"),
    [
        ("h100-sxm", 1, 8, None),
        ("b200-sxm", 8, 16, Quantity(8, "bit")),
        ("rtx-4090", 8, 4, None),
        ("mi300x", 1, 128, None),
        ("rtx-3070", 2, 3, None),
    ],
)
def test_the_form_of_an_attention_is_its_plan_for_any_batch_and_keys(
    device, kv_heads, group, kv_dtype
):
    on = device_of(device)
    for batch, keys in itertools.product((1, 7, 300), (1, 128, 129, 4097, 33000)):
        sizes = (batch, kv_heads * group, kv_heads, 1, keys, 128)
        work = kernels.Attention(*sizes, kv_dtype=kv_dtype, served=True)
        try:
            due = kernels.predict(kernels.plan(work, on, "tuned"))
        except Infeasible:
            continue
        found = token_form(work, on, "tuned").time(float(batch), float(keys))
        assert found == pytest.approx(due.time - due.launch, rel=1e-12)


def test_a_form_of_what_is_no_token_is_refused():
    work = kernels.Attention(1, 8, 8, 16, 16, 64, causal=True)
    with pytest.raises(ValueError, match="16 queries"):
        token_form(work, device_of("h100-sxm"), "tuned")


def test_two_numbers_a_turn_are_too_few_for_an_hbm():
    """Threads of llama.cpp's vector product in 16 bits; other kernels, other code."""

    def longer(device, weights="fp16"):
        step = step_of(
            (*keys_of("llama-3-8b", device, weights, None), 1, 1),
            "engine",
            "calibrated",
        )
        return losses.two_numbers(step) / float(step.time(1.0, 512.0))

    assert longer("a100-sxm-80gb") > 0.5 and longer("h100-pcie") > 0.3
    assert longer("rtx-4090") == longer("m2-ultra") == 0
    assert longer("a100-sxm-80gb", "q4_k_m") == 0
