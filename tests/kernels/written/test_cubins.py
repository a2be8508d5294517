"""The recorded machine code of the Triton kernels, kernel by kernel."""

import csv
import hashlib
import importlib.util
import json
import subprocess
import sys

import pytest

from stacklib.kernels.attention.count import io_count
from stacklib.kernels.written import cubins
from stacklib.quantity import UnknownName

ROWS = cubins.cubins()
# Spilled bytes a thread, where there are any: both hold dK and dV of 128 or 64 keys.
SPILLED = {
    ("flash backward 128 causal", "keys_kernel"): 32,
    ("flash backward 256 causal", "keys_kernel"): 168,
}
# Registers a thread and shared bytes a program.
SIZES = """case,kernel,registers,shared
add,add_kernel,20,0
softmax,softmax_kernel,32,64
layernorm,layernorm_kernel,40,64
rmsnorm,rmsnorm_kernel,32,64
layernorm_linear,layernorm_linear_kernel,128,49664
matmul 128x256x64x8x8x3,matmul_kernel,181,147456
flash 64,forward_kernel,255,65536
flash 128,forward_kernel,244,229376
flash 256,forward_kernel,255,131072
flash 128 window,forward_kernel,255,229376
flash 128 packed,forward_kernel,250,229376
flash 128 fp8,forward_kernel,254,81920
flash backward 128 causal,row_sums_kernel,58,512
flash backward 128 causal,queries_kernel,226,131072
flash backward 128 causal,keys_kernel,255,115200
decode,split_kernel,96,39168
decode,merge_kernel,22,2048
sampling,tiles_kernel,80,36864
sampling,best_kernel,24,32
fp8,block_scaled_kernel,236,98304
mxfp8,mxfp8_kernel,248,32768
swiglu_fp8,swiglu_kernel,32,32
swiglu_mxfp8,swiglu_kernel,32,32"""


def test_the_record_is_of_these_sources():
    for name, digest in cubins.record()["sources"].items():
        path = cubins.FILE.parent / name
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest, name


@pytest.mark.rows("row", list(csv.DictReader(SIZES.splitlines())))
def test_registers_and_shared_bytes(row):
    made = cubins.cubin(row["case"], row["kernel"])
    assert made.registers == int(row["registers"])
    assert made.shared_bytes == int(row["shared"])


@pytest.mark.rows("made", ROWS)
def test_every_kernel_fits_and_spills_no_more_than_is_said(made):
    assert made.programs("h100_sxm") >= 1 and made.programs("h200_sxm") >= 1
    assert made.spilled_bytes == SPILLED.get((made.case, made.kernel), 0)


def test_products_are_made_by_the_tensor_cores():
    for row in ROWS:
        rowwise = row.kernel in (
            *("add_kernel", "softmax_kernel", "layernorm_kernel", "rmsnorm_kernel"),
            *("row_sums_kernel", "merge_kernel", "best_kernel", "swiglu_kernel"),
        )
        assert (row.matrix == 0) == rowwise, row.case
        if row.matrix:
            assert row.instructions["LDGSTS"]  # operands come while others are used
    for case in ("flash 128 fp8", "fp8", "mxfp8"):
        assert cubins.cubin(case).instructions["QGMMA"]


def test_the_loop_asks_for_what_the_closed_form_says():
    """The compiled code as a witness of K and V, before any cache."""
    for case, dim in (("flash 64", 64), ("flash 128", 128), ("flash 256", 256)):
        made = cubins.cubin(case)
        tile_q, tile_k = made.blocks["BLOCK_Q"], made.blocks["BLOCK_K"]
        told = io_count(tokens=1024, head_dim=dim, tile_q=tile_q, tile_k=tile_k)
        asked = cubins.kv_bytes(case, queries=1024, keys=1024)
        assert asked == 1024 // tile_q * 2 * 1024 * dim * 2
        assert asked == told.kv


def test_masked_loops_and_ragged_sizes_are_refused():
    with pytest.raises(ValueError, match="mask"):
        cubins.kv_bytes("flash 128 causal", queries=1024, keys=1024)
    with pytest.raises(ValueError, match="whole tiles of 128"):
        cubins.kv_bytes("flash 128", queries=1000, keys=1024)
    with pytest.raises(UnknownName, match="flash 128"):
        cubins.cubin("flash 127")


@pytest.mark.slow
def test_the_compiler_says_it_again(tmp_path):
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    script = cubins.FILE.parents[3] / "benchmarks" / "triton_record.py"
    out = tmp_path / "cubins.json"
    done = subprocess.run([sys.executable, str(script), str(out)], capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(out.read_text())["rows"] == cubins.record()["rows"]
