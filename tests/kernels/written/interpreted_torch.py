"""The kernels as torch's operators, in Triton's interpreter: see `interpreted`."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from interpreted import far, tensor

from stacklib.kernels.written import ops_torch


def leaf(*shape):
    return tensor(*shape).requires_grad_()


def codes(*shape):
    return tensor(*shape).to(torch.float8_e4m3fn)


def operands():
    power = torch.full((5, 2), 126, dtype=torch.uint8)
    yield "add", (leaf(33), leaf(33))
    yield "softmax", (leaf(3, 20),)
    yield "layernorm", (leaf(3, 20), leaf(20), leaf(20), 1e-5)
    yield "rmsnorm", (leaf(3, 20), leaf(20), 1e-6)
    yield "layernorm_linear", (leaf(5, 20), leaf(20), leaf(20), leaf(7, 20), 1e-5)
    yield "matmul", (leaf(17, 20), leaf(20, 9))
    yield (
        "fp8_matmul",
        (codes(5, 130), torch.rand(5, 2), codes(7, 130), torch.rand(1, 2)),
    )
    yield "mxfp8_matmul", (codes(5, 40), power, codes(5, 40), power)
    yield "swiglu_fp8", (tensor(3, 260),)
    yield "swiglu_mxfp8", (tensor(3, 140),)
    yield "flash_sampling", (tensor(3, 20), tensor(30, 20), 0.7, 1)
    q, k, v = leaf(1, 4, 9, 16), leaf(1, 2, 12, 16), leaf(1, 2, 12, 16)
    yield "flash_attention", (q, k, v, True, 5, 0.25)
    given = [x.detach() for x in (q, k, v)]
    out, lse = ops_torch.flash_attention(*given, True, 5, 0.25)
    yield "flash_backward", (*given, out, lse, torch.ones_like(out), True, 5, 0.25)


CASES = list(operands())


def test_every_operator_has_a_case():
    assert {name for name, _ in CASES} == set(ops_torch.OPERATORS)


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda x: str(x)[:18])
def test_torch_checks_the_operator(name, given):
    tests = ["test_schema", "test_autograd_registration", "test_faketensor"]
    tests.append("test_aot_dispatch_dynamic")
    if name in ("fp8_matmul", "mxfp8_matmul"):
        tests.remove("test_schema")  # it multiplies operands, which FP8 has not on CPUs
    found = torch.library.opcheck(ops_torch.OPERATORS[name], given, test_utils=tests)
    assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda x: str(x)[:18])
def test_the_plain_formula_gives_the_same(name, given):
    if name == "flash_sampling":  # another generator: the same at temperature 0
        given = (*given[:2], 0.0, 1)
    given = [x.detach() if isinstance(x, torch.Tensor) else x for x in given]
    plain_formula = ops_torch.PLAIN[name]
    ours, theirs = ops_torch.OPERATORS[name](*given), plain_formula(*given)
    pairs = zip(
        *((x if isinstance(x, tuple) else (x,)) for x in (ours, theirs)), strict=True
    )
    for mine, other in pairs:
        assert mine.dtype == other.dtype and mine.shape == other.shape
        assert far(mine, other) <= 2e-2 * max(1.0, float(other.float().abs().max()))


@pytest.mark.parametrize(
    "name", ["layernorm", "rmsnorm", "softmax", "layernorm_linear"]
)
def test_gradients_are_those_of_the_formula(name):
    given = next(g for n, g in operands() if n == name)
    leaves = [x for x in given if isinstance(x, torch.Tensor)]
    for run in (ops_torch.OPERATORS[name], ops_torch.PLAIN[name]):
        out = run(*given)
        weights = torch.arange(out.numel()).reshape(out.shape) / out.numel()
        (out * weights).sum().backward()
    halves = [x.grad for x in leaves]
    for x in leaves:
        x.grad = None
    (ops_torch.OPERATORS[name](*given) * weights).sum().backward()
    for x, both in zip(leaves, halves, strict=True):
        assert far(2 * x.grad, both) <= 1e-5 * max(1, float(both.abs().max()))


def test_compiled_without_a_graph_break():
    def block(x, weight, linear):
        y = ops_torch.rmsnorm(x, weight, 1e-6)
        q = ops_torch.matmul(y, linear).reshape(1, 12, 2, 16).transpose(1, 2)
        out = ops_torch.flash_attention(q, q, q, True, 0, 0.25)[0]
        return ops_torch.add(ops_torch.softmax(out), out).sum()

    given = leaf(12, 20), leaf(20), leaf(20, 32)
    block(*given).backward()
    wanted = [x.grad.clone() for x in given]
    for x in given:
        x.grad = None
    made = torch.compile(block, fullgraph=True, backend="aot_eager")
    made(*given).backward()
    for x, grad in zip(given, wanted, strict=True):
        assert far(x.grad, grad) < 1e-6
