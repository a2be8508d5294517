"""Names that programs take from Triton's other modules, and from CUDA's library."""

import importlib.util
import math

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import KernelError
from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles.device_functions.libdevice import _ASKS, _ONE, _TWO, libdevice

STRANGE = [0.0, -0.0, 0.5, -0.5, 1.0, 1.5, -1.5, 2.5, 0.49999997, 30.0, -3.0, 8388609.0]
POINTS = np.array([*STRANGE, np.inf, -np.inf, np.nan, 1e-30], np.float32)
OTHERS = {
    "erfc": math.erfc,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "rint": round,
    "nearbyint": round,
    "cbrt": math.cbrt if hasattr(math, "cbrt") else np.cbrt,
    "exp10": lambda x: 10**x,
    "finitef": math.isfinite,
    "isfinited": math.isfinite,
    "signbit": lambda x: math.copysign(1, x) < 0,
    "fast_expf": math.exp,
    "fast_logf": math.log,
    "fast_log2f": math.log2,
    "fast_tanhf": math.tanh,
    "fast_dividef": lambda a, b: a / b,
    "fast_powf": math.pow,
}


def one(x, out, N: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, getattr(tl.extra.libdevice, NAME)(tl.load(x + at)))


def two(x, y, out, N: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, N)
    found = getattr(tl.extra.cuda.libdevice, NAME)(tl.load(x + at), tl.load(y + at))
    tl.store(out + at, found)


def near(got, how, *points):
    """Results are Python's wherever Python has one."""
    for value, *given in zip(got, *points, strict=True):
        try:
            wanted = float(how(*map(float, given)))
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        close = math.isclose(value, wanted, rel_tol=3e-6, abs_tol=1e-38)
        assert close or (value != value and wanted != wanted) or abs(wanted) > 3e38


@pytest.mark.parametrize("name", [*_ONE, *_ASKS])
def test_functions_of_one_number_are_pythons(name):
    ran = gpu.launch_tiles(one, 1, POINTS, gpu.empty(16), N=16, NAME=name)
    near(ran.results["out"], OTHERS.get(name) or getattr(math, name), POINTS)


@pytest.mark.parametrize("name", _TWO)
def test_functions_of_two_numbers_are_pythons(name):
    args = (POINTS, POINTS[::-1].copy(), gpu.empty(16))
    ran = gpu.launch_tiles(two, 1, *args, N=16, NAME=name)
    near(ran.results["out"], OTHERS.get(name) or getattr(math, name), *args[:2])


def test_what_the_library_has_beside():
    with pytest.raises(KernelError, match="j0 is left out here"):
        gpu.launch_tiles(one, 1, POINTS, gpu.empty(16), N=16, NAME="j0")
    with pytest.raises(KernelError, match="fp32 or fp64 is needed"):
        whole = np.arange(16, dtype=np.int32)
        gpu.launch_tiles(one, 1, whole, gpu.empty(16), N=16, NAME="tanh")
    assert libdevice.rsqrt is tl.rsqrt


SCALE: tl.constexpr = 3.0


def other_names(x, out, n, num_warps, N: tl.constexpr, SCALE: tl.constexpr = SCALE):
    at = tl.arange(0, N)
    value = tl.math.exp2(tl.load(x + at)) * SCALE + num_warps
    tl.store(out + at, tl.standard.cumsum(tl.math.div_rn(value, 2.0)), mask=at < n)


def test_a_constant_of_the_module_as_a_default():
    x = np.arange(4, dtype=np.float32)
    ran = gpu.launch_tiles(other_names, 1, x, gpu.empty(4), 4, 2, N=4)
    assert (ran.results["out"] == np.cumsum((2**x * 3 + 2) / 2)).all()


TRITON = """
import triton
import triton.language as tl
from triton.language import float32
from triton.language.extra import libdevice
from triton.language.extra.libdevice import rsqrt
from triton.language.math import exp2
from triton.language.standard import sigmoid

FORM: tl.constexpr = tl.constexpr(3)


@triton.jit
def program(x, out, N: tl.constexpr, TO: tl.constexpr, form: tl.constexpr = FORM):
    at = tl.arange(0, N)
    value = libdevice.tanh(tl.load(x + at)) + rsqrt(exp2(sigmoid(tl.load(x + at))))
    if form == FORM:
        value = value.to(TO).to(float32)
    tl.store(out + at, value)
"""


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)
def test_a_text_of_triton_finds_its_names(tmp_path):
    import triton.language

    path = tmp_path / "text.py"
    path.write_text(TRITON)
    spec = importlib.util.spec_from_file_location("text_of_triton", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.linspace(-2, 2, 16, dtype=np.float32)
    args = (x, gpu.empty(16), 16, triton.language.float16)
    ran = gpu.launch_tiles(module.program, 1, *args)
    wanted = np.tanh(x) + 2 ** (-0.5 / (1 + np.exp(-x)))
    assert np.abs(ran.results["out"] - wanted).max() < 2e-3
    assert (ran.results["out"] == ran.results["out"].astype(np.float16)).all()
