"""CUDA kernels against their twins: results and counts; and HIP's wider warps."""

import re

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.code import compiled_kernels, toolchain
from stacklib.gpu.simt.one_thread import run_one_by_one
from stacklib.kernels.written import cuda_kernels, hip, host_triton, matmul_triton
from stacklib.quantity import UnknownName

RNG = np.random.default_rng(9)
installed = pytest.mark.skipif(
    toolchain.version() != cuda_kernels.record()["compiler"],
    reason=f"nvcc {cuda_kernels.record()['compiler']} is not on the path",
)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def cases():
    """Kernel, grid, block, arguments of the CUDA kernel and of the twin, result."""
    a, b = normal(100), normal(100)
    for n in (1, 97, 100):  # the tail of the last block, and a block with nothing to do
        given = (a, b, gpu.empty(100), n)
        wanted = np.where(np.arange(100) < n, a + b, 0)
        yield "vector_add", 2, 64, given, given, wanted
    src = normal(700)
    given = (src, gpu.empty(100), 100, 7)
    yield "strided_copy", 2, 64, given, given, src[::7]
    square = normal(64, 64)
    flat = (square.ravel(), gpu.empty(64 * 64), 64)
    for name, more in (("naive", ()), ("tiled", (1,)), ("swizzled", ())):
        own = (square, gpu.empty((64, 64)), *more)
        yield f"transpose_{name}", (2, 2), (32, 8), flat, own, square.T
    x, w = normal(16, 32), normal(32, 48)
    given = (x.ravel(), w.ravel(), gpu.empty(16 * 48), 48, 32)
    yield "matmul_tiled", (3, 1), (16, 16), given, given, x @ w
    x, w = normal(32, 32), normal(32, 32)
    given = (x.ravel(), w.ravel(), gpu.empty(32 * 32), 32, 32)
    yield "matmul_swizzled", (1, 1), (32, 32), given, given, x @ w.T


@pytest.mark.rows("case", list(cases()))
def test_compiled_kernel_and_twin_ask_the_same_of_memory(case):
    name, grid, block, own, twins, wanted = case
    compiled = cuda_kernels.compiled_counts(name, grid, block, *own)
    twin = cuda_kernels.twin_counts(name, grid, block, *twins)
    assert compiled.numbers == twin.numbers
    results = list(compiled.result.values()), list(twin.result.values())
    at = {"vector_add": 2, "matmul_tiled": 2, "matmul_swizzled": 2}.get(name, 1)
    for found in results:
        assert np.allclose(found[at].ravel(), wanted.ravel(), atol=1e-4)


def test_every_kernel_but_the_tensor_cores_has_a_twin():
    kernels = set(cuda_kernels.record()["kernels"])
    assert kernels == {path.stem for path in cuda_kernels.FOLDER.glob("*.cu")}
    assert kernels - set(cuda_kernels.twins()) == {"matmul_tensor"}


def test_three_transposes_and_what_each_wastes():
    counts = {c[0]: cuda_kernels.twin_counts(c[0], *c[1:3], *c[4]) for c in cases()}
    naive, tiled, swizzled = (
        counts[f"transpose_{n}"] for n in ("naive", "tiled", "swizzled")
    )
    assert naive.sectors == tiled.sectors * 4.5  # a sector a lane where columns are
    assert tiled.shared_passes == swizzled.shared_passes  # no conflict either way
    sizes = {n: cuda_kernels.source(n).shared_bytes for n in counts}
    assert sizes["transpose_swizzled"] < sizes["transpose_tiled"]


def test_bytes_of_tiled_products_are_the_closed_form():
    """2 M N K / tile read and M N written: what tiling is for."""
    for name, tile, (m, n, k) in (
        ("matmul_tiled", 16, (16, 48, 32)),
        ("matmul_swizzled", 32, (32, 32, 32)),
    ):
        (case,) = [c for c in cases() if c[0] == name]
        found = cuda_kernels.twin_counts(name, *case[1:3], *case[4])
        assert found.asked_bytes == 4 * (2 * m * n * k // tile + m * n)


def test_the_tensor_cores_make_their_products_in_one_instruction():
    """A warp's instruction of 16 x 16 x 8 stands for 2,048 of the others' products."""
    made = cuda_kernels.source("matmul_tensor")
    assert "wmma.mma.sync.aligned.row.row.m16n16k8" in made.ptx
    assert made.instructions["HMMA"] >= 1 and "FFMA" not in made.instructions
    assert cuda_kernels.source("matmul_tiled").instructions["FFMA"] % 16 == 0


def test_the_twin_on_tensor_cores_is_a_tile_program_of_as_many_products():
    made = cuda_kernels.source("matmul_tensor")
    shape = re.search(r"wmma\.mma.*m(\d+)n(\d+)k(\d+)", made.ptx)
    m, n, k = (int(x) for x in shape.groups())
    a = np.ones((32, 32), np.float16)
    with host_triton.on_tiles() as ran:
        product = matmul_triton.matmul(a, a, blocks=(16, 16, 16, 1))
    ((name, times),) = ran[0].report.tensor.items()
    own = [int(x) for x in re.search(r"m(\d+)n(\d+)k(\d+)", name).groups()]
    warps, steps = (32 // m) * (32 // n), 32 // k
    assert warps * steps * m * n * k == times * np.prod(own) == 32**3
    assert (product == 32).all()


def test_the_record_is_of_these_sources():
    for name, row in cuda_kernels.record()["kernels"].items():
        assert row["sha256"] == toolchain.source_sha256(name, cuda_kernels.FOLDER)
        assert not any("/work" in line or "/tmp" in line for line in row["ptx"])


@installed
def test_the_compiler_says_it_again():
    kept = cuda_kernels.source("vector_add")
    ptx = toolchain.to_ptx("vector_add", "80", cuda_kernels.FOLDER)
    assert toolchain.to_cubin(ptx, "sm_90", False).registers == kept.registers


def test_a_conflict_is_more_passes():
    assert cuda_kernels.passes([4 * i for i in range(32)]) == 1
    assert cuda_kernels.passes([128 * i for i in range(32)]) == 32
    assert cuda_kernels.passes([0] * 32) == 1  # one word for all


def test_an_unknown_kernel_suggests_one():
    with pytest.raises(UnknownName, match="vector_add"):
        cuda_kernels.source("vektor_add")


# -- HIP ------------------------------------------------------------------------------


@pytest.mark.rows("name", hip.CASES)
def test_what_is_right_with_32_lanes_breaks_with_64(name):
    narrow, wide = (hip.run_case(name, lanes) for lanes in hip.WAVES)
    assert narrow.as_cuda and narrow.portable and narrow.wrong == 0
    assert wide.portable and not wide.as_cuda and wide.wrong > 0


def test_a_recorded_twin_with_64_lanes_leaves_every_other_sum_unwritten():
    x = np.arange(128, dtype=np.float32)
    for lanes, written in ((32, 4), (64, 2)):
        out = np.full(4, -1, np.float32)
        run_one_by_one(compiled_kernels.shuffled, 1, 128, x, out, lanes=lanes)
        assert (out >= 0).sum() == written


def test_a_rename_keeps_everything_but_names():
    source = cuda_kernels.source("vector_add").text
    assert hip.renamed(source) == (source, [])  # kernels name no library
    text, left = hip.renamed("cudaMemcpyAsync(d, s, n, cudaMemcpyHostToDevice);")
    assert text == "hipMemcpyAsync(d, s, n, hipMemcpyHostToDevice);" and left == []


@pytest.mark.rows(
    ("line", "why"),
    [
        ("unsigned m = __ballot_sync(0xffffffff, p);", "64 bits"),
        ("unsigned m = __ballot_sync(full, p);", "ballot kept in 32"),
        ("int warp = threadIdx.x >> 5;", "warp number"),
        ('asm volatile("mma.sync");', "PTX"),
    ],
)
def test_what_a_rename_leaves_is_named_by_line(line, why):
    _, left = hip.renamed(f"int a;\n{line}")
    assert any(said.startswith("line 2: ") and why in said for said in left)


def test_no_chip_has_other_waves():
    with pytest.raises(ValueError, match="lanes = 16"):
        hip.run_case("ballot", 16)
