"""A decode step in issue slots: the closed form, and the kernel that was counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu, hardware, models
from stacklib.gpu.issue.decode_slots import ROW, decode_slots, matvec_instructions
from stacklib.gpu.simt import kernels

from ...rows import refusals


@given(blocks=st.integers(1, 3), warps=st.integers(1, 4), steps=st.integers(1, 5))
@settings(max_examples=25)
def test_the_kernel_is_counted_and_right(blocks, warps, steps):
    rows, k = blocks * warps, 64 * steps
    made = np.random.default_rng(rows + steps)
    w, x = made.integers(-9, 9, (rows, k)), made.integers(-9, 9, k)
    args = ("h100-sxm", w.astype(float), x.astype(float), gpu.empty(rows, float), k)
    ran = gpu.launch(kernels.matvec, blocks, 32 * warps, *args)
    assert (ran.results["y"] == w @ x).all()
    assert ran.report.instructions == matvec_instructions(rows, k)


def test_the_step_is_the_kernel_on_every_matrix():
    """Scaled by weights; the ends of rows, sixteen instructions each, come on top."""
    model = models.get("llama-3-70b")
    counted = rows = 0
    for number, block in enumerate(model.kinds):
        for matrix in block.matrices(model.hidden):
            each = matvec_instructions(matrix.columns, matrix.rows)
            counted += model.count(number) * each
            rows += model.count(number) * matrix.columns
    counted += matvec_instructions(model.vocab, model.hidden)
    rows += model.vocab
    slots = decode_slots(tp=8)[1]
    assert counted - ROW * rows == pytest.approx(8 * slots.work.si, rel=1e-3)


def test_rates_are_those_of_the_datasheet():
    device = hardware.get("h100-sxm")
    memory, issue, lanes, tensor = decode_slots(on=device)
    assert memory.rate.si == device.memory_bandwidth.si
    assert 2 * tensor.rate.si == device.peak("bf16").si
    assert issue.rate.si == 4 * 132 * device.clock.si
    assert issue.time.si == pytest.approx(issue.work.si / issue.rate.si)
    assert lanes.rate.si == pytest.approx(device.peak("fp32").si / 2, rel=0.01)


def test_more_chips_share_the_work():
    two, eight = decode_slots(tp=2), decode_slots(tp=8)
    for few, many in zip(two[1:], eight[1:], strict=True):
        assert few.time.si == pytest.approx(4 * many.time.si)


test_what_it_refuses = refusals(
    (lambda: matvec_instructions(0, 64), "rows = 0"),
    (lambda: matvec_instructions(1, 65), "k = 65: a multiple of 64"),
    (lambda: matvec_instructions(True, 64), "rows = True"),
    (lambda: decode_slots("mixtral-8x7b"), "descent of their own"),
    (lambda: decode_slots("llama-9"), "llama-9"),
    (lambda: decode_slots(tp=1), "does not fit"),
    error=(ValueError, LookupError),
)
