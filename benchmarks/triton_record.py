"""Record what Triton's compiler and ``ptxas`` make of the kernels of chapter 4.

    python benchmarks/triton_record.py      # -> stacklib/kernels/written/cubins.json
    python benchmarks/triton_record.py tiles    # -> stacklib/kernels/written/tiles.csv

Needs Triton and torch, no GPU: operands are torch's *meta* tensors, which have a shape
and no memory, the launches of the wrappers are caught, and each kernel is compiled by
the assembler inside Triton's wheel: at a model's sizes for sm_90; and ``tiles``, every
row of the tables of attention for six generations, one process a generation
(``tiles OUT 86`` does one; without a number all, which takes a quarter of an hour).
"""

import contextlib
import csv
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.pop("TRITON_INTERPRET", None)
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from stacklib.kernels.written import (  # noqa: E402
    cubins,
    decode_triton,
    flash_backward_triton,
    flash_forward_triton,
    flash_shapes_triton,
    flash_tiles_triton,
    host_triton,
    matmul_triton,
    rows_triton,
    sampling_triton,
    scaled_triton,
)

CAPABILITY = 90
CAPABILITIES = (80, 86, 89, 90, 100, 120)
DIMS = ((64, 64), (128, 128), (192, 128), (256, 256), (576, 512))
NAMES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "int32": "i32"}
NAMES |= {"uint8": "u8", "float8_e4m3fn": "fp8e4nv"}
BUILD = ("num_warps", "num_stages")
FOLDER = ROOT / "stacklib" / "kernels" / "written"


def meta(*shape: int, dtype: str = "bfloat16") -> Any:
    """A tensor without memory."""
    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


def cases() -> Iterator[tuple[str, Any]]:
    """Calls that start every kernel, at sizes a model has."""
    x, w = meta(4096, 8192), meta(8192)
    yield "add", lambda: rows_triton.add(x, x)
    yield "softmax", lambda: rows_triton.softmax(x)
    yield "layernorm", lambda: rows_triton.layernorm(x, w, w)
    yield "rmsnorm", lambda: rows_triton.rmsnorm(x, w)
    wide, over = meta(64, 151936), meta(151936)
    yield "softmax wide", lambda: rows_triton.softmax(wide)
    yield "layernorm wide", lambda: rows_triton.layernorm(wide, over, over)
    yield "rmsnorm wide", lambda: rows_triton.rmsnorm(wide, over)
    linear = meta(8192, 8192)
    yield "layernorm_linear", lambda: rows_triton.layernorm_linear(x, w, w, linear)
    for row in matmul_triton.TUNED:
        yield "matmul " + "x".join(map(str, row)), lambda row=row: tuned(x, linear, row)
    for dim in (64, 128, 256):
        q = meta(1, 4096 // dim, 8192, dim)
        k = meta(1, 1024 // dim, 8192, dim)
        lse = meta(2, *q.shape[:3], dtype="float32")
        given = (q, k, k, q, lse, q, True)
        yield f"flash {dim}", lambda q=q, k=k: forward(q, k, k)
        yield f"flash {dim} causal", lambda q=q, k=k: forward(q, k, k, True)
        yield f"flash backward {dim} causal", lambda given=given: backward(*given)
    q, k = meta(1, 32, 8192, 128), meta(1, 8, 8192, 128)
    yield "flash 128 window", lambda: forward(q, k, k, True, 1024)
    q8, k8 = (x.to(torch.float8_e4m3fn) for x in (q, k))
    yield "flash 128 fp8", lambda: forward(q8, k8, k8)
    starts = meta(9, dtype="int32")
    lengths = flash_shapes_triton.Lengths(starts, starts, 2048)
    packed, packed_k = meta(8192, 32, 128), meta(8192, 8, 128)
    yield (
        "flash 128 packed",
        lambda: forward(packed, packed_k, packed_k, True, lengths=lengths),
    )
    one, pages = meta(8, 64, 128), meta(4096, 16, 8, 128)
    table = meta(8, 256, dtype="int32"), meta(8, dtype="int32")
    yield "decode", lambda: decode_triton.paged_decode(one, pages, pages, *table)
    head = meta(128256, 8192)
    yield (
        "sampling",
        lambda: sampling_triton.flash_sampling(meta(16, 8192), head, 1.0, 1),
    )
    a, b = (meta(4096, 7168, dtype="float8_e4m3fn") for _ in "ab")
    scale = meta(4096, 56, dtype="float32"), meta(32, 56, dtype="float32")
    yield "fp8", lambda: scaled_triton.fp8_matmul(a, scale[0], b, scale[1])
    powers = meta(4096, 224, dtype="uint8")
    yield "mxfp8", lambda: scaled_triton.mxfp8_matmul(a, powers, b, powers)
    both = meta(4096, 4096)
    yield "swiglu_fp8", lambda: scaled_triton.swiglu_fp8(both)
    yield "swiglu_mxfp8", lambda: scaled_triton.swiglu_mxfp8(both)


forward = flash_forward_triton.forward_with_lse
backward = flash_backward_triton.backward


def tuned(a: Any, b: Any, row: tuple[int, ...]) -> None:
    """A product with one of the tuner's tiles."""

    def build(kernel: Any, grid: Any, args: Any, words: dict[str, Any]) -> None:
        caught(kernel, grid, args, {**words, "num_warps": row[4], "num_stages": row[5]})

    caught = host_triton.Elsewhere.go
    with host_triton.redirected(build):
        matmul_triton.matmul(a, b.T, blocks=row[:4])


def described(kernel: Any, args: Any, words: dict[str, Any]) -> ASTSource:
    """A launch as the compiler is told of it: types, constants, what 16 divides."""
    types, constants, hints = {}, {}, {}
    for at, name in enumerate(kernel.arg_names):
        value = words[name] if name in words else args[at]
        if name in words or value is None or (isinstance(value, int) and value == 1):
            types[name], constants[(at,)] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            kind = str(value.dtype).removeprefix("torch.")
            types[name], hints[(at,)] = "*" + NAMES[kind], [["tt.divisibility", 16]]
        elif isinstance(value, int):
            types[name] = "i32" if value < 2**31 else "i64"
            hints |= {(at,): [["tt.divisibility", 16]]} if value % 16 == 0 else {}
        else:
            types[name] = "fp32"
    return ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=hints)


def built(
    kernel: Any, args: Any, words: dict[str, Any], capability: int
) -> tuple[Any, dict[str, int]]:
    """A launch compiled, and what a program of it takes."""
    build = {n: words[n] for n in BUILD if n in words}
    sides = {n: v for n, v in words.items() if n not in BUILD}
    source = described(kernel, args, sides)
    made = triton.compile(
        source, target=GPUTarget("cuda", capability, 32), options=build
    )
    usage = dumped(made, "-res-usage")
    return made, {
        "registers": int(re.search(r"REG:(\d+)", usage)[1]),
        "spilled_bytes": int(re.search(r"STACK:(\d+)", usage)[1]),
        "shared_bytes": made.metadata.shared,
    }


def dumped(made: Any, what: str) -> str:
    """What ``cuobjdump`` says of a kernel's machine code."""
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(made.asm["cubin"])
        asked = [str(tool), what, file.name]
        return subprocess.run(asked, capture_output=True, text=True).stdout


def compiled(kernel: Any, args: Any, words: dict[str, Any]) -> dict[str, Any]:
    """What became of one launch."""
    made, usage = built(kernel, args, words, CAPABILITY)
    sass = dumped(made, "-sass")
    names = ("HGMMA", "QGMMA", "HMMA", "LDGSTS", "LDL")
    blocks = {n: v for n, v in words.items() if n.isupper() and n != "WIDE"}
    return {
        "blocks": blocks,
        "warps": made.metadata.num_warps,
        "stages": made.metadata.num_stages,
        **usage,
        "instructions": {n: len(re.findall(rf"\b{n}\b", sass)) for n in names},
        "loop_copies": loop_copies(sass),
    }


def loop_copies(sass: str) -> list[int]:
    """Asynchronous copies of 16 bytes in the body of each loop that has some.

    A loop is what lies between a branch and the earlier address that it goes to.
    """
    code = [
        (int(at, 16), text)
        for at, text in re.findall(r"/\*([0-9a-f]{4,5})\*/\s+([^;]+);", sass)
    ]
    found = []
    for at, text in code:
        back = re.search(r"\bBRA\b.*?0x([0-9a-f]+)", text)
        if back and int(back[1], 16) < at:
            body = [t for a, t in code if int(back[1], 16) <= a <= at]
            copies = sum("LDGSTS" in t and ".128" in t for t in body)
            found += [copies] if copies else []
    return found


def sources() -> dict[str, str]:
    """SHA-256 of each file that holds kernels."""
    paths = sorted(FOLDER.glob("*_triton.py"))
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def tile_rows(capabilities: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Rows of the tables for some generations, as `one_tile` is asked for them.

    All of them, and with a window, in bfloat16; in float16, whose code is alike, the
    first; in float32, whose code is the same everywhere, on three generations.
    """
    asked = ("bfloat16", "float16", "float32"), capabilities
    for dtype, on, kernel, dims in itertools.product(
        *asked, flash_tiles_triton.TABLES, DIMS
    ):
        if dtype == "float32" and on not in (80, 90, 120):
            continue
        for kind in ("causal", "window")[: 1 + (dtype == "bfloat16")]:
            case = kernel, on, dtype, *dims
            with contextlib.suppress(ValueError):  # refused by name
                rows = flash_tiles_triton.rows_for(*case, kind != "causal")
                rows = rows if dtype == "bfloat16" else rows[:1]
                yield from ((*case, row, kind) for row in rows)


def one_tile(
    kernel: str,
    capability: int,
    dtype: str,
    dim: int,
    dim_v: int,
    row: tuple[int, int, int, int],
    kind: str,
) -> dict[str, Any]:
    """A kernel with one row of its table, causal."""
    names = ("block_q", "block_k", "warps", "stages")
    found = {"capability": capability, "dtype": dtype, "kernel": kernel}
    found |= {"head_dim": dim, "v_dim": dim_v, "kind": kind}
    window = 1024 if kind == "window" else None
    found |= dict(zip(names, row, strict=True))

    def go(started: Any, grid: Any, args: Any, words: dict[str, Any]) -> None:
        if started.__name__ == kernel:
            words = {**words, "num_warps": row[2], "num_stages": row[3]}
            found.update(built(started, args, words, capability)[1])

    with host_triton.redirected(go, capability):
        if kernel == "split_kernel":
            heads = 8 * row[0]
            pages = [meta(4096, 16, 8, n, dtype=dtype) for n in (dim, dim_v)]
            table = meta(8, 256, dtype="int32"), meta(8, dtype="int32")
            q = meta(8, heads, dim, dtype=dtype)
            decode_triton.paged_decode(q, *pages, *table, window=window)
        else:
            q, k = (meta(1, n, 4096, dim, dtype=dtype) for n in (32, 8))
            v, out = (meta(1, n, 4096, dim_v, dtype=dtype) for n in (8, 32))
            if kernel == "forward_kernel":
                forward(q, k, v, True, window, blocks=row[:2])
            else:
                lse = meta(2, 1, 32, 4096, dtype="float32")
                backward(q, k, v, out, lse, out, True, window, blocks=row[:2])
    return found


def write_tiles(out: str | None = None, *capabilities: str) -> None:
    """Write the table of tiles, of all generations or of some."""
    path = Path(out) if out else FOLDER / "tiles.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# kernels {cubins.kernels_digest()}\n")
        asked = zip(
            *tile_rows([int(n) for n in capabilities] or CAPABILITIES), strict=True
        )
        writer = None
        with ProcessPoolExecutor() as pool:
            for row in pool.map(one_tile, *asked):
                if writer is None:
                    writer = csv.DictWriter(file, list(row), lineterminator="\n")
                    writer.writeheader()
                writer.writerow(row)
                file.flush()


def main(out: str | None = None) -> None:
    """Write the record."""
    rows: list[dict[str, Any]] = []
    for name, call in cases():

        def go(kernel: Any, grid: Any, args: Any, words: Any, name: str = name) -> None:
            found = {"case": name, "kernel": kernel.__name__}
            rows.append(found | compiled(kernel, args, words))
            print({k: v for k, v in rows[-1].items() if k != "blocks"}, flush=True)

        with host_triton.redirected(go):
            call()
    head = {"triton": triton.__version__, "target": f"sm_{CAPABILITY}"}
    head["sources"] = sources()
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n  ' + lines + "\n ]\n}\n"
    path = Path(out) if out else FOLDER / "cubins.json"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["tiles"]:
        write_tiles(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
