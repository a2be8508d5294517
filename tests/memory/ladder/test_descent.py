"""Bytes of a token by level: the formula against a walk over every strip."""

import pytest

from stacklib import hardware
from stacklib.memory.ladder import descent as module
from stacklib.memory.ladder.descent import LEVELS, descent, walked
from stacklib.roofline import Infeasible, decode_step


@pytest.mark.rows("rows", [16, 64])
@pytest.mark.rows(
    ("model", "device", "tp", "context"),
    [
        ("llama-3-70b", "h100-sxm", 8, 4096),
        ("llama-3-70b", "h200-sxm", 2, 0),
        ("llama-3-8b", "b200", 1, 100_000),
        ("llama-3-8b", "a100-sxm-80gb", 4, 1),
        ("qwen3-32b", "h100-sxm", 4, 4096),
    ],
)
def test_formula_equals_walk(model, device, tp, context, rows):
    formula = descent(model, on=device, tp=tp, context=context, rows=rows)
    walk = walked(model, on=device, tp=tp, context=context, rows=rows)
    assert tuple(p.level for p in formula) == LEVELS
    for passage in formula:
        assert walk[passage.level] == pytest.approx(passage.bytes.si, rel=1e-9)


def test_a_matrix_left_out_is_noticed(monkeypatch):
    before = descent("llama-3-8b", on="h100-sxm", tp=1)[1].bytes.si
    shapes = module._shapes
    monkeypatch.setattr(module, "_shapes", lambda *a: list(shapes(*a))[1:])
    assert walked("llama-3-8b", on="h100-sxm", tp=1)["L2"] != before


def test_taller_strips_read_the_columns_less_often():
    low, tall = (descent(batch=64, rows=rows)[2].bytes.si for rows in (16, 64))
    assert tall < 0.6 * low


@pytest.mark.rows("rows", [0, 32, 16.5, "16"])
def test_other_strips_are_refused(rows):
    with pytest.raises(ValueError, match="one of 16, 64"):
        descent(rows=rows)


def test_memory_is_that_of_the_decode_step():
    step = decode_step("llama-3-70b", on="h100-sxm", tp=8)
    first = descent()[0]
    assert first.bytes.si == step.bytes.si / 8
    assert first.time.si == pytest.approx(step.t_memory.si)


@pytest.mark.rows("device", ["h100-sxm", "b200", "a100-sxm-80gb"])
def test_nearer_levels_carry_more_and_are_busy_less(device):
    passed = descent("llama-3-8b", on=device, tp=1)
    sizes = [p.bytes.si for p in passed]
    times = [p.time.si for p in passed]
    assert sizes == sorted(sizes) and times == sorted(times, reverse=True)


def test_one_instruction_serves_eight_sequences():
    one, eight, nine = (
        descent("llama-3-8b", on="h100-sxm", tp=1, batch=b, context=0)[3].bytes.si
        for b in (1, 8, 9)
    )
    # The cache of each grows by the token; the weights are the rest.
    assert eight == pytest.approx(one, rel=1e-3)
    assert nine == pytest.approx(2 * one, rel=1e-3)


@pytest.mark.rows("model", ["deepseek-v3", "mixtral-8x7b", "gpt-oss-120b"])
def test_other_kinds_of_model_are_refused(model):
    with pytest.raises(ValueError, match="descent of their own"):
        descent(model, on="b200", dtype="fp8", tp=8)


def test_what_does_not_fit_has_no_descent():
    with pytest.raises(Infeasible):
        descent("llama-3-70b", on="h100-sxm", tp=1)


def test_a_device_without_the_rates_is_refused():
    with pytest.raises(hardware.UnknownSpec, match="L2, shared memory is unknown"):
        descent("llama-3-8b", on="max-1550", tp=1)
