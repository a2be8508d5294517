"""Bytes of experts in MXFP8: the closed form, and a memory that counts each one."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.kernels.scaled import fused_quantization as closed
from stacklib.kernels.scaled import quantization_run
from stacklib.kernels.scaled.fused_quantization import (
    dequantizing_share,
    forward_steps,
    forward_time,
    implied_share,
    quantizing_share,
)
from stacklib.kernels.scaled.quantization_run import run_forward
from stacklib.quantity import Quantity
from stacklib.roofline.bound.scaling import speed_up_of_part


def operands(tokens, hidden, width, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(sum(tokens), hidden))
    gate, up = (random.normal(size=(len(tokens), width, hidden)) for _ in range(2))
    down = random.normal(size=(len(tokens), hidden, width))
    return x, gate / hidden**0.5, up / hidden**0.5, down / width**0.5


@given(
    st.lists(st.integers(0, 170), min_size=1, max_size=3).filter(sum),
    st.integers(1, 150),
    st.integers(1, 140),
    st.booleans(),
)
@example([128, 0, 257], 160, 129, True)
@settings(max_examples=12, deadline=None)
def test_every_byte_that_is_counted_is_in_the_closed_form(tokens, hidden, width, fused):
    _, memory = run_forward(*operands(tokens, hidden, width), tokens, fused=fused)
    told = forward_steps(tokens=tokens, hidden=hidden, width=width, fused=fused)
    assert tuple(memory.steps) == told


@pytest.mark.parametrize("tokens", [(5, 130), (200, 0, 1)])
def test_fused_kernels_give_the_same_bits(tokens):
    given_ = operands(tokens, 96, 80)
    plain, apart = run_forward(*given_, tokens, fused=False)
    fused, one = run_forward(*given_, tokens, fused=True)
    assert (plain == fused).all()
    copies = [name for name in apart.arrays if name in one.arrays]
    assert any("turned" in name for name in copies)
    for name in copies:
        assert (apart.arrays[name] == one.arrays[name]).all()


def test_the_run_computes_experts():
    tokens = (40, 17)
    x, gate, up, down = operands(tokens, 96, 64)
    found, _ = run_forward(x, gate, up, down, tokens, fused=True)
    rows = np.split(x, [40])
    parts = []
    for part, g, u, d in zip(rows, gate, up, down, strict=True):
        z = part @ g.T
        parts.append((z / (1 + np.exp(-z)) * (part @ u.T)) @ d.T)
    exact = np.concatenate(parts)
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert 0.05 < error < 0.1  # five roundings to three bits, 3 to 4 % each


def test_a_kernel_that_reads_twice_is_caught(monkeypatch):
    """A planted fault: SwiGLU loads its input once more."""
    right = quantization_run._activate

    def twice(memory, name, result):
        memory.load(name, slice(0, 3))
        right(memory, name, result)

    monkeypatch.setattr(quantization_run, "_activate", twice)
    tokens = (20,)
    _, memory = run_forward(*operands(tokens, 32, 32), tokens, fused=False)
    told = forward_steps(tokens=tokens, hidden=32, width=32, fused=False)
    wrong = [a.name for a, b in zip(memory.steps, told, strict=True) if a != b]
    assert wrong == ["SwiGLU"]


def test_two_fifths_at_2048_columns_by_the_rule_of_thumb():
    """3MK at 8 TB/s and 4.5 PFLOP/s; our data sheet has another bandwidth."""
    thumb = {"scales": False, "bandwidth": Quantity(8, "TB/s per_chip")}
    assert quantizing_share("b200_sxm", 2048, **thumb).si == pytest.approx(
        0.412, abs=1e-3
    )
    assert quantizing_share("b200_sxm", 2048).si == pytest.approx(0.432, abs=1e-3)
    assert quantizing_share("b200_sxm", 7168).si < 0.13
    once = quantizing_share("b200_sxm", 2048, copies=2, **thumb).si
    twice = quantizing_share("b200_sxm", 2048, reads=2, copies=2, **thumb).si
    assert once < 0.76 < twice


@given(st.integers(1, 10**5), st.integers(1, 3), st.integers(1, 3))
def test_the_share_is_inverse_to_the_columns(columns, reads, copies):
    one = quantizing_share("b200_sxm", columns, reads=reads, copies=copies).si
    two = quantizing_share("b200_sxm", 2 * columns, reads=reads, copies=copies).si
    assert one == pytest.approx(2 * two)


def test_scaling_on_cuda_cores_takes_about_what_was_measured():
    for device, measured in (("h100_sxm", 1.03), ("b200_sxm", 1.76)):
        assert dequantizing_share(device).si == pytest.approx(measured, rel=0.11)
    coarse = dequantizing_share("h100_sxm", 128).si
    assert coarse == pytest.approx(dequantizing_share("h100_sxm").si / 4)


def test_published_times_imply_half_of_a_step():
    assert implied_share() == pytest.approx(0.484, abs=1e-3)
    both = (25.96 + 59.17) / (9.45 + 17.04)
    assert speed_up_of_part(implied_share(), both) == pytest.approx(1.5)
    assert speed_up_of_part((0.53 + 2 * 0.27) / 3, both) == pytest.approx(
        1.33, abs=0.01
    )


def test_fusing_saves_three_tenths_of_the_bytes_of_an_expert_layer():
    sizes = {"tokens": [1024] * 32, "hidden": 7168, "width": 2048}
    apart, one = (forward_steps(**sizes, fused=f) for f in (False, True))
    saved = 1 - sum(s.moved for s in one) / sum(s.moved for s in apart)
    assert saved == pytest.approx(0.298, abs=0.002)
    assert sum(s.macs for s in one) == sum(s.macs for s in apart)
    times = [forward_time(steps, "b200_sxm").si for steps in (apart, one)]
    peak = 2 * sum(s.macs for s in one) / hardware.get("b200_sxm").peak("fp8").si
    assert times[0] > times[1] > peak


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"tokens = \(\)"):
        forward_steps(tokens=(), hidden=8, width=8, fused=True)
    with pytest.raises(ValueError, match="tokens = -1"):
        forward_steps(tokens=(-1,), hidden=8, width=8, fused=True)
    with pytest.raises(ValueError, match=r"steps = \(\)"):
        forward_time((), "b200_sxm")
    x, gate, up, down = operands((4, 4), 8, 8)
    with pytest.raises(ValueError, match=r"x is \(8, 8\) and tokens \(4, 5\)"):
        run_forward(x, gate, up, down, (4, 5), fused=True)
    with pytest.raises(ValueError, match=r"down \(2, 8, 7\)"):
        run_forward(x, gate, up, down[..., :7], (4, 4), fused=True)
    with pytest.raises(ValueError, match="copies = 0"):
        quantizing_share("b200_sxm", 64, copies=0)
    assert closed.coded(33) == 66
