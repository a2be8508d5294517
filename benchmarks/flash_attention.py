"""FlashAttention in NumPy and in torch beside torch's own in C++, one thread, one run.

    python benchmarks/flash_attention.py    # -> results/flash_attention_numpy_*.json,
                                            #    flash_attention_torch_*.json, by kind

Both sides get the same numbers and one thread, were called before the clock runs, and
are called in turn; the time is that of the thread. A result must be within twice the
error of the formula in float32 before its time counts. Memory is how far a process of
its own grows beyond inputs and result while it calls once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
ONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
os.environ.update(ONE)  # before NumPy and torch are loaded

import host_common  # noqa: E402
import kinds  # noqa: E402
import numpy as np  # noqa: E402

from stacklib.kernels.attention.flash import flash_attention  # noqa: E402
from stacklib.kernels.attention.mask import Mask  # noqa: E402
from stacklib.kernels.attention.naive import naive_attention, seen_pairs  # noqa: E402
from stacklib.roofline.host import measure as host  # noqa: E402

ROUNDS, SHORT = 9, 0.5  # at least so often, and so many seconds
FORWARD, BOTH = 1.4, 1.8  # times the peer's time, at most
GROWTH, NAIVE = 30e6, 50  # bytes at 16,384 tokens, at most; times, at least
# batch, heads, kv_heads, tokens, head_dim, causal, and what queries are multiplied by
CASES = {
    "B1 H8 S2048 D64": (1, 8, 8, 2048, 64, False, 1),
    "B1 H8 S2048 D64 causal": (1, 8, 8, 2048, 64, True, 1),
    "B1 H8 S4096 D64": (1, 8, 8, 4096, 64, False, 1),
    "B1 H8 S1024 D128 causal": (1, 8, 8, 1024, 128, True, 1),
    "B1 H8 S2048 D64, 2 KV heads": (1, 8, 2, 2048, 64, False, 1),
    "B1 H8 S2048 D64, scores ten times as far apart": (1, 8, 8, 2048, 64, False, 10),
    "B1 H8 S777 D64 causal": (1, 8, 8, 777, 64, True, 1),
    "B4 H8 S256 D64": (4, 8, 8, 256, 64, False, 1),
}
# batch, heads, kv_heads, queries, keys, head_dim, causal, window
HEADS = {
    "B32 H12 S64 D64": (32, 12, 12, 64, 64, 64, False, None),
    "B32 H12 S64 D64 causal": (32, 12, 12, 64, 64, 64, True, None),
    "B64 H16 S16 D32": (64, 16, 16, 16, 16, 32, False, None),
    "B24 H8 S77 D40, 2 KV heads": (24, 8, 2, 77, 77, 40, False, None),
    "B16 H8 S256 D64 window 32": (16, 8, 8, 256, 256, 64, True, 32),
    "B8 H8 16 queries, 512 keys, causal": (8, 8, 8, 16, 512, 64, True, None),
    "decode B16 H32, 8 KV heads, 1024 keys": (16, 32, 8, 1, 1024, 128, True, None),
    "decode B32 H12, 333 keys": (32, 12, 12, 1, 333, 64, True, None),
}
MANY = 2.5  # times the peer's time, at most, for each of them
LENGTHS = (2048, 4096, 8192, 16384)

Case = dict[str, Any]


def numbers(case: tuple[Any, ...]) -> list[Any]:
    """Queries, keys and values in float32."""
    batch, heads, kv_heads, tokens, wide, _, by = case
    random = np.random.default_rng(0)
    shapes = [(batch, count, tokens, wide) for count in (heads, kv_heads, kv_heads)]
    q, k, v = (random.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return [q * np.float32(by), k, v]


def sdpa(q: Any, k: Any, v: Any, causal: bool) -> Any:
    """torch's own, by its flash kernel and no other."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        grouped = q.shape[1] != k.shape[1]
        return scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=grouped
        )


def timed(
    name: str, at_most: float, calls: dict[str, Callable[[], Any]], note: str
) -> Case:
    """Both sides in turn; our time over the peer's, by medians.

    A thread's own time: what other work takes from it is not in it.
    """
    times: dict[str, list[float]] = {who: [] for who in calls}
    while min(map(len, times.values())) < ROUNDS or (
        sum(map(sum, times.values())) < SHORT
    ):
        for who, call in calls.items():
            began = thread_time()
            call()
            times[who].append(thread_time() - began)
    ours, theirs = times.values()
    ratio = median(ours) / median(theirs)
    print(f"{name}: {ratio:.2f} times torch's time (at most {at_most}); {note}")
    return {
        "id": name,
        "peer": "torch SDPA flash",
        "times_s": ours,
        "peer_times_s": theirs,
        "time_over_peer": round(ratio, 3),
        "at_most": at_most,
        "error": note,
    }


def forward_rows() -> list[Case]:
    """The NumPy backend."""
    import torch

    torch.set_num_threads(1)
    rows = []
    for name, case in CASES.items():
        x, causal = numbers(case), case[5]
        tensors = [torch.from_numpy(a) for a in x]
        calls = {
            "stacklib": lambda x=x, c=causal: flash_attention(*x, causal=c),
            "torch": lambda x=tensors, c=causal: sdpa(*x, c),
        }
        rows.append(
            timed(
                name,
                FORWARD,
                calls,
                checked(name, x, causal, calls),
            )
        )
    return rows


def checked(name: str, x: list[Any], causal: bool, calls: dict[str, Any]) -> str:
    """Stop where the error is more than twice the formula's in float32."""
    first = [a[:1] for a in x]  # of a batch
    exact = naive_attention(*first, causal=causal)
    plain = np.abs(naive_attention(*first, causal=causal, dtype=np.float32) - exact)
    ours, theirs = (
        float(np.abs(np.asarray(call())[:1] - exact).max()) for call in calls.values()
    )
    if not ours <= 2 * plain.max():
        raise SystemExit(f"{name}: error {ours:.2g}, the formula's {plain.max():.2g}")
    return f"{ours:.2g}, the formula's {plain.max():.2g}, torch's {theirs:.2g}"


def both_rows() -> list[Case]:
    """The torch backend, forward and backward."""
    import torch

    torch.set_num_threads(1)
    rows = []
    for name, case in CASES.items():
        causal = case[5]
        x = [torch.from_numpy(a).requires_grad_() for a in numbers(case)]
        by = torch.from_numpy(numbers(case)[0]) / case[6]

        def ours(x: Any = x, by: Any = by, causal: bool = causal) -> Any:
            out = flash_attention(*x, causal=causal, backend="torch")
            return torch.autograd.grad(out, x, by)

        def theirs(x: Any = x, by: Any = by, causal: bool = causal) -> Any:
            return torch.autograd.grad(sdpa(*x, causal), x, by)

        apart = max(
            float((a - b).abs().max() / b.abs().max())
            for a, b in zip(ours(), theirs(), strict=True)
        )
        if not apart < 1e-4:
            raise SystemExit(f"{name}: gradients are {apart:.2g} apart")
        note = f"gradients {apart:.1g} of the largest apart"
        rows.append(timed(name, BOTH, {"stacklib": ours, "torch": theirs}, note))
    return rows


def heads_rows() -> list[Case]:
    """The torch backend with many small heads and in decode, forward and both ways."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(1)
    rows = []
    for name, (*sizes, causal, window) in HEADS.items():
        batch, heads, kv_heads, queries, keys, wide = sizes
        random = torch.Generator().manual_seed(0)
        shapes = (heads, queries), (kv_heads, keys), (kv_heads, keys)
        x = [
            torch.randn(batch, *shape, wide, generator=random, requires_grad=True)
            for shape in shapes
        ]
        mask = Mask(queries, keys, causal, window)
        plain = mask.all or queries == 1
        seen = None if plain else torch.from_numpy(seen_pairs(mask))
        if causal and queries == keys and window is None:
            words = {"is_causal": True}
        else:
            words = {"attn_mask": seen}
        words["enable_gqa"] = heads != kv_heads

        def ours(x: Any = x, c: Any = causal, w: Any = window) -> Any:
            return flash_attention(*x, causal=c, window=w, backend="torch")

        def theirs(x: Any = x, words: Any = words) -> Any:
            return scaled_dot_product_attention(*x, **words)

        far = float((ours() - theirs()).detach().abs().max())
        if not far < 1e-5:
            raise SystemExit(f"{name}: {far:.2g} apart")
        ways = {"forward": (ours, theirs), "both": (_both(ours, x), _both(theirs, x))}
        for way, calls in ways.items():
            named = dict(zip(("stacklib", "torch"), calls, strict=True))
            rows.append(timed(f"{name}, {way}", MANY, named, f"{far:.1g} apart"))
    return rows


def _both(call: Callable[[], Any], x: list[Any]) -> Callable[[], Any]:
    import torch

    return lambda: torch.autograd.grad(call().sum(), x)


# -- memory: a process each ------------------------------------------------------------


def _of_this_process(field: str) -> int:
    """Bytes of a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(x.split()[1]) * 1024 for x in lines if x.startswith(field + ":"))


def growth(which: str, tokens: int) -> int:
    """Bytes by which this process grows in one call, less its result."""
    case = (1, 8, 8, tokens, 64, False, 1)
    calls: dict[str, Callable[..., Any]] = {
        "numpy": flash_attention,
        "naive": naive_attention,
    }
    x, call = numbers(case), calls.get(which)
    if call is None:
        import torch

        torch.set_num_threads(1)
        x = [torch.from_numpy(a).requires_grad_(which != "sdpa") for a in x]

        def call(q: Any, k: Any, v: Any) -> Any:
            if which == "sdpa":
                return sdpa(q, k, v, False)
            out = (
                flash_attention(q, k, v, backend="torch")
                if which == "torch"
                else sdpa(q, k, v, False)
            )
            return torch.autograd.grad(out, (q, k, v), out.detach())

    call(*(a[:, :1, :64] for a in x))  # libraries are loaded, their threads begun
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak
    before = _of_this_process("VmRSS")
    out = call(*x)
    peak = _of_this_process("VmHWM")
    made = out if isinstance(out, tuple) else (out,)
    return peak - before - sum(a.nbytes for a in made)


def grown(which: str, tokens: int) -> Case:
    """The same in a process of its own, as a row."""
    command = [sys.executable, str(Path(__file__)), which, str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count = json.loads(done.stdout)
    print(f"memory of {which} at {tokens}: {count / 1e6:.1f} MB")
    return {"id": f"memory {which} S{tokens}", "which": which, "tokens": tokens} | {
        "growth_bytes": count
    }


def memory_rows(kinds: tuple[str, ...]) -> list[Case]:
    """Growth by length, of us and of the peer."""
    return [grown(which, tokens) for which in kinds for tokens in LENGTHS]


def measure(
    stem: str, times: Callable[[], list[Case]], memory: Callable[[], list[Case]]
) -> None:
    """One result file."""
    watch = host.Watch()
    head = host_common.head(
        stem,
        None,
        watch,
        rows=times(),
        memory=memory(),
        versions=host.versions() | {"torch": version("torch")},
        threads=1,
        why_no_prediction="a comparison of speed with a named peer in one run",
    )
    host_common.save(HERE, stem, head)


def numpy_memory() -> list[Case]:
    """The backend's, the peer's, and the formula's at 4,096 tokens."""
    rows = memory_rows(("numpy", "sdpa"))
    naive = grown("naive", 4096)
    (ours,) = (row for row in rows if row["which"] == "numpy" and row["tokens"] == 4096)
    ratio = naive["growth_bytes"] / ours["growth_bytes"]
    print(f"naive over tiled at 4096: {ratio:.0f} (at least {NAIVE})")
    longest = next(row for row in rows[::-1] if row["which"] == "numpy")
    longest["at_most"] = GROWTH
    return [*rows, naive | {"over_tiled": round(ratio, 1), "at_least": NAIVE}]


def all_three() -> None:
    """Both backends, and many small heads, on one kind of processor."""
    measure("flash_attention_numpy", forward_rows, numpy_memory)
    measure("flash_attention_torch", both_rows, lambda: memory_rows(("torch", "sdpa2")))
    measure("flash_attention_heads", heads_rows, list)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(growth(sys.argv[1], int(sys.argv[2])))
    else:
        sys.exit(kinds.each(all_three))
