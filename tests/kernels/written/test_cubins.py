"""The recorded machine code of the Triton kernels, kernel by kernel."""

import csv
import hashlib
import importlib.util
import json
import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import pytest

from stacklib.kernels.attention.count import io_count
from stacklib.kernels.written import (
    cubins,
    flash_shapes_triton,
    flash_tiles_triton,
    host_triton,
    matmul_triton,
)
from stacklib.quantity import UnknownName

ROWS = cubins.cubins()
TILES_OF = cubins.TILES.open().readline().split()[-1]
# Registers a thread and shared bytes a program.
SIZES = """case,kernel,registers,shared
add,add_kernel,18,0
softmax,softmax_kernel,32,64
layernorm,layernorm_kernel,40,64
rmsnorm,rmsnorm_kernel,32,64
softmax wide,wide_kernel,32,64
layernorm_linear,layernorm_linear_kernel,128,49664
matmul 128x256x64x8x8x3,matmul_kernel,181,147456
flash 64,forward_kernel,255,65536
flash 128,forward_kernel,245,229376
flash 256,forward_kernel,246,131072
flash 128 window,forward_kernel,230,131072
flash 128 packed,forward_kernel,193,131072
flash 128 fp8,forward_kernel,254,81920
flash backward 128 causal,row_sums_kernel,64,512
flash backward 128 causal,queries_kernel,206,131072
flash backward 128 causal,keys_kernel,252,115200
decode,split_kernel,168,39168
decode,merge_kernel,48,2048
sampling,tiles_kernel,80,36864
sampling,best_kernel,24,32
fp8,scaled_kernel,225,98304
mxfp8,scaled_kernel,255,32768
swiglu_fp8,swiglu_kernel,30,32
swiglu_mxfp8,swiglu_kernel,30,32"""


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
def test_every_kernel_fits_and_spills_nothing(made):
    assert made.programs("h100_sxm") >= 1 and made.programs("h200_sxm") >= 1
    assert made.spilled_bytes == 0


RECORDED = (80, 86, 89, 90, 100, 120)
HEADS = ((64, 64), (128, 128), (192, 128), (256, 256))


def test_tiles_fit_and_spill_nothing_on_any_generation():
    for made in cubins.tiles():
        room = host_triton.SHARED[host_triton.generation(made.capability)]
        assert made.shared_bytes <= 1024 * room, made
        assert made.spilled_bytes == 0 and made.registers <= 255, made


def test_every_row_of_the_tables_is_recorded():
    """In float16, whose code is alike, the first; float32 on three generations."""
    made = cubins.tiles()
    held = set(map(key_of, made))
    pairs = {(t.capability, t.dtype) for t in made}
    assert pairs == {
        *product(RECORDED, ["bfloat16", "float16"]),
        *product((80, 90, 120), ["float32"]),
    }
    for kernel, (on, dtype) in product(flash_tiles_triton.TABLES, pairs):
        wide = dtype == "bfloat16"
        for dim, dim_v in HEADS if dtype != "float32" else HEADS[:2]:
            for kind in ("causal", "window")[: 1 + wide]:
                asked = on, dtype, dim, dim_v
                rows = flash_tiles_triton.rows_for(kernel, *asked, kind != "causal")
                for row in rows if wide else rows[:1]:
                    assert (on, dtype, kernel, dim, dim_v, kind, *row) in held
    assert TILES_OF == cubins.kernels_digest(), "kernels changed: record them again"


def test_a_head_of_other_columns_has_tiles_that_are_recorded():
    """In 64 and 32 columns a head of 96 spilled; of 160, 5,592 bytes."""
    held = {(t.head_dim, t.v_dim) for t in cubins.tiles()}
    for dim in range(1, 257):
        sides = flash_shapes_triton.column_sides(dim)
        wide = sides["BLOCK_D"] + sides["BLOCK_R"] * (dim > sides["BLOCK_D"])
        asked = "keys_kernel", 90, "bfloat16"
        rows = flash_tiles_triton.rows_for(*asked, dim, dim)
        assert wide in {64, 128, 192, 256} or wide < 64
        side = host_triton.next_power_of_2(dim)
        alike = [h for h in held if h[0] >= wide and h[1] >= side]
        assert rows == flash_tiles_triton.rows_for(*asked, *min(alike))


def test_a_row_is_the_sides_of_a_tile_then_warps_and_stages(monkeypatch):
    asked = {"Config": lambda sides, **how: (sides, how)}
    asked["autotune"] = lambda configs, key: lambda kernel: (kernel, configs, key)
    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(**asked))
    told = host_triton.tuned("it", ("M", "N"), ((64, 32, 8, 3),), ("m",), ())
    config = {"M": 64, "N": 32}, {"num_warps": 8, "num_stages": 3}
    assert told == ("it", [config], ["m"])


def test_a_small_gpu_measures_what_fits_it():
    all_of, few = (matmul_triton.tuned_rows("float16", on) for on in (90, 120))
    assert all_of == matmul_triton.TUNED and 0 < len(few) < len(all_of)
    assert matmul_triton.tuned_rows("float32", 86) == matmul_triton.WIDE_TUNED


def key_of(t):
    sides = t.block_q, t.block_k, t.warps, t.stages
    return (t.capability, t.dtype, t.kernel, t.head_dim, t.v_dim, t.kind, *sides)


@pytest.mark.rows(
    ("asked", "says"),
    [
        (("forward_kernel", 90, "float32", 256, 256), "fit no tile"),
        (("forward_kernel", 80, "float8_e4m3fn", 64, 64), "sm_89 or later"),
        (("keys_kernel", 90, "bfloat16", 576, 512), "together they are at most 512"),
        (("split_kernel", 75, "float16", 64, 64), "sm_80 or later"),
    ],
)
def test_what_fits_no_tile_is_refused_by_name(asked, says):
    with pytest.raises(ValueError, match=says):
        flash_tiles_triton.rows_for(*asked)


def test_products_are_made_by_the_tensor_cores():
    for row in ROWS:
        rowwise = row.kernel in (
            *("add_kernel", "softmax_kernel", "layernorm_kernel", "rmsnorm_kernel"),
            *(
                "row_sums_kernel",
                "merge_kernel",
                "best_kernel",
                "swiglu_kernel",
                "wide_kernel",
            ),
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
        assert cubins.kv_bytes(case, queries=1024, keys=1024, heads=2) == 2 * told.kv


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
    out, tiles = tmp_path / "cubins.json", tmp_path / "tiles.csv"
    for asked in ([out], ["tiles", tiles, "90"]):  # one generation of six
        command = [sys.executable, script, *asked]
        done = subprocess.run([*map(str, command)], capture_output=True)
        assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(out.read_text())["rows"] == cubins.record()["rows"]
    recorded = cubins.TILES.read_text().splitlines()
    own = {row for row in recorded if row.startswith("90,")}
    assert own and own <= set(tiles.read_text().splitlines())
