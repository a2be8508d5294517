"""One token a case: its time is the same on every page of chapter 7, and a sum."""

import pytest
from _tools import said

from stacklib.pages.quantizers import steps

# what pages say of one case: format of the matrices, and bits of a weight
CASES = {
    "bf16": (16, "formats.wide quality.reading widths.wide worth.bf16"),
    "fp8_128x128": (8 + 32 / 128**2, "formats.narrow"),
    "int8_channel": (8, "integers.narrow"),
    "mxfp4": (4.25, "blocks.read"),
    "nvfp4": (4.5, "blocks.nv_read worth.nvfp4"),
    "int4_g128": (4.125, "gptq.read widths.step worth.int4"),
}
LAYER = 2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672
HEAD, TOKEN = 128256 * 8192, 2 * 2 * 8 * 128 * 80  # numbers; bytes of a token's cache


@pytest.fixture(scope="module")
def numbers():
    return said.numbers()


@pytest.mark.parametrize("dtype", CASES)
def test_a_case_has_one_time_wherever_it_is_said(dtype, numbers):
    """Layers in the format, head and cache in bf16, over eight bandwidths."""
    bits, names = CASES[dtype]
    read = 80 * LAYER * bits / 8 + 2 * HEAD + 4097 * TOKEN
    for name in names.split():
        found = numbers[name].quantity.si
        assert found == pytest.approx(steps.step(dtype).time.si, rel=1e-5), name
        assert found == pytest.approx(read / 8 / 3.35e12, rel=5e-4), name
