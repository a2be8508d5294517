"""The one table of stored formats, against ggml's own sizes and the standards."""

import pytest

from stacklib.quantity import Quantity, UnitError, UnknownName, bytes_per_element, dtype
from stacklib.quantity.stored import STORED, products, stored

gguf = pytest.importorskip("gguf")

# ggml-common.h: block_q8_1 is two halves and 32 bytes since 2024, gguf 0.19 still says
# 40; q2_0 is newer than gguf 0.19
APART = {"q8_1": (32, 36), "q2_0": (64, 18)}
GGML = {
    t.name.lower().replace("f", "fp") if t.name[0] == "F" else t.name.lower(): t
    for t in gguf.GGMLQuantizationType
}


def test_every_type_that_ggml_has_is_a_row_of_its_number_and_size():
    whole = {name: t for name, t in GGML.items() if t.name[0] != "I" or "Q" in t.name}
    assert len(whole) == 30  # all but the whole numbers i8 to i64
    for name, kind in whole.items():
        row, size = STORED[name], gguf.GGML_QUANT_SIZES[kind]
        block, wide = APART.get(name, size)
        assert row.ggml == kind and row.bits == 8 * wide / block
        if row.block:
            assert (row.row, row.row_bytes) == (block, wide)
    assert {r.name for r in STORED.values() if r.ggml >= 0} == {*whole, "q2_0"}


@pytest.mark.rows(
    "name, bits",
    [
        ("fp64", 64),
        ("tf32", 32),
        ("e4m3fn", 8),
        ("e2m1", 4),
        ("int4", 4),
        ("mxfp8", 8.25),
        ("mxfp6", 6.25),
        ("mxfp4", 4.25),
        ("nvfp4", 4.5),
        ("nf4", 4.5),
        ("nf4_dq", 4 + 8 / 64 + 32 / (64 * 256)),
        ("int4_g128", 4.125),
        ("awq_g128", 4.15625),
        ("gptq_g32", 4.625),
        ("fp8_128x128", 8 + 32 / 128**2),
    ],
)
def test_bits_of_a_number(name, bits):
    assert stored(name.upper().replace("_", "-")).bits == bits
    assert bytes_per_element(name).si == bits / 8


@pytest.mark.rows(
    "name, inputs, outputs, size",
    [
        ("fp8_128x128", 300, 130, 300 * 130 + 4 * 3 * 2),
        ("fp8_channel", 300, 130, 300 * 130 + 4 * 130),
        ("fp8_tensor", 300, 130, 300 * 130 + 4),
        ("nvfp4", 64, 10, 640 / 2 + 640 / 16 + 4),
        # AutoGPTQ: qweight, qzeros, scales, g_idx
        ("gptq_g128", 4096, 1024, 2**21 + 32 * 1024 * (0.5 + 2) + 4 * 4096),
        ("awq_g128", 4096, 1024, 2**21 + 32 * 1024 * (0.5 + 2)),
    ],
)
def test_bytes_of_a_matrix(name, inputs, outputs, size):
    assert stored(name).nbytes(inputs, outputs) == size


@pytest.mark.rows(
    "name, near",
    [("fp3", "fp32"), ("fp1", "fp16"), ("b", "bf16"), ("q4_k_x", "q4_k"), ("q9", "q")],
)
def test_a_name_resolves_exactly_or_not_at_all(name, near):
    with pytest.raises(
        UnknownName, match=f"'{name}'(?s:.*)(did you mean|known).*{near}"
    ):
        stored(name)
    with pytest.raises(UnknownName):
        dtype(name)


@pytest.mark.rows(
    "size", [Quantity(0, "bit"), Quantity(-4, "bit"), Quantity(65, "bit")]
)
def test_bits_that_no_number_has_are_refused(size):
    assert bytes_per_element(Quantity(4.5, "bit")).si == 0.5625
    with pytest.raises(ValueError, match="dtype = "):
        bytes_per_element(size)
    with pytest.raises(UnitError):
        bytes_per_element(Quantity(4, "s"))


@pytest.mark.rows(
    "numbers, rates, runs",
    [
        ("", ("fp32", "fp16", "bf16", "int8", "int4"), "bf16"),
        ("", ("fp32", "fp16"), "fp16"),
        ("", ("fp32", "fp4"), "fp32"),
        ("fp4", ("fp32", "fp4"), "fp4"),
        ("fp4", ("fp32", "bf16", "fp8"), "bf16"),
        ("int4", ("bf16", "int4"), "int4"),
        ("fp8", (), "fp8"),  # nothing published: the error names the format
        ("bf16", ("fp16",), "bf16"),  # 16 bits are not widened
        ("fp16", ("fp32", "int8"), "fp32"),  # but where nothing has 16
    ],
)
def test_products_run_in_what_the_chip_has(numbers, rates, runs):
    assert products(numbers, rates).name == runs
