"""Encode and decode beside the best peer, from a thousand numbers to sixteen million.

    pip install torchao bitsandbytes               # not pinned; extra `bench`
    python benchmarks/codec_grid.py                # -> results/codec_grid.json

Public calls on both sides, one core, both warm, in turn; inputs of the same bits in
four types, as they lie and turned (of scales, positive ones). Of torch's own cast,
ml_dtypes' and NumPy's (of blocks, torchao's and bitsandbytes') the fastest in a trial
is the peer. A round of few numbers is many calls.

A cell's ratio is the median over pairs of rounds, one of each side, who begins in turn:
other work meets both of a pair or is one pair among many. Nine pairs are timed; where
their median's interval of 95 % holds the bar, more are, at most 99, whichever side of
it the median is.

One rule says who is a peer: whoever returns our bits for sixteen million numbers. Where
nobody does, all are (from fp64 to 8 bits and bf16 they round twice, we once); how many
differ stands in the row. Where some do, the others are timed, too, and counted apart.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import host_common
import ml_dtypes
import numpy as np
import torch
from number_formats import touched

from stacklib.quantizers import Format, dequantize, quantize
from stacklib.roofline.host import measure as host

SIZES = {"1 k": 1 << 10, "64 k": 1 << 16, "1 Mi": 1 << 20, "16 Mi": 1 << 24}
TYPES = {
    "fp32": (np.float32, torch.float32),
    "fp64": (np.float64, torch.float64),
    "fp16": (np.float16, torch.float16),
    "bf16": (ml_dtypes.bfloat16, torch.bfloat16),
}
FORMATS = {
    "e4m3fn": (ml_dtypes.float8_e4m3fn, torch.float8_e4m3fn),
    "e5m2": (ml_dtypes.float8_e5m2, torch.float8_e5m2),
    "e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, torch.float8_e4m3fnuz),
    "e8m0": (ml_dtypes.float8_e8m0fnu, torch.float8_e8m0fnu),
    "e2m1": (ml_dtypes.float4_e2m1fn, None),
    "fp16": TYPES["fp16"],
    "bf16": TYPES["bf16"],
}
KINDS = {1: torch.uint8, 2: torch.int16}  # by the bytes of a code
BARS = {"1 k": 0.5}  # elsewhere 1
PAIRS, MOST, LEAST = 9, 99, 5e-4  # the last: seconds of a round
Call = Callable[[], Any]


def numbers(count: int) -> Any:
    """A matrix of bell-shaped numbers, with all digits of a double."""
    rows = 32 if count < 1 << 16 else 256
    return np.random.default_rng(0).standard_normal((rows, count // rows))


def given(count: int, name: str, source: str) -> tuple[Any, Any]:
    """Numbers for a format in a type, as an array and as a tensor of the same bits."""
    x = numbers(count)
    x = (np.abs(x) if name == "e8m0" else x).astype(TYPES[source][0])
    bits = x.view(np.int16) if source == "bf16" else x
    return x, torch.from_numpy(bits).view(TYPES[source][1])


def casts_of(name: str, x: Any, t: Any) -> dict[str, Call]:
    """What others make of the numbers."""
    theirs, kind = FORMATS[name]
    found: dict[str, Call] = {"ml_dtypes": partial(x.astype, theirs)}
    return found if kind is None else found | {"torch": partial(t.to, kind)}


@cache
def differing(name: str, source: str) -> dict[str, int]:
    """How many of sixteen million codes of each are not ours."""
    x, t = given(SIZES["16 Mi"], name, source)
    codes, found = Format(name).encode(x), {}
    for who, call in casts_of(name, x, t).items():
        cast = call().view(codes.dtype if who != "torch" else KINDS[codes.itemsize])
        found[who] = int((np.asarray(cast).view(codes.dtype) != codes).sum())
    return found


def once(call: Call, many: int) -> float:
    began = perf_counter()
    for _ in range(many):
        call()
    return (perf_counter() - began) / many


def unsure(ratios: list[float], bar: float) -> bool:
    """Whether the median of all such pairs may lie on either side of the bar.

    Between these places of n sorted numbers it lies in 95 of 100 cases.
    """
    many = len(ratios)
    least = int(many / 2 - 0.98 * many**0.5)
    found = sorted(ratios)
    return found[least] < bar <= found[-1 - least]


def cell(name: str, size: str, ours: Call, peers: dict[str, Call]) -> dict[str, Any]:
    """Ours and the best of the peers in turn; the median ratio of pairs."""
    for call in (ours, *peers.values()):
        call()
    trial = {who: min(once(call, 1) for _ in range(3)) for who, call in peers.items()}
    best = min(trial, key=lambda who: trial[who])
    many = max(1, min(500, int(LEAST / trial[best])))
    times: list[list[float]] = [[], []]
    sides = [*zip((ours, peers[best]), times, strict=True)]
    ratios: list[float] = []
    bar = BARS.get(size, 1.0)
    while (done := len(ratios)) < PAIRS or (done < MOST and unsure(ratios, bar)):
        for call, found in sides[:: -1 if done % 2 else 1]:
            found.append(float(f"{once(call, many):.4g}"))
        ratios.append(times[1][-1] / times[0][-1])
    row = {"id": f"{name}, {size}", "peer": best, "numbers": SIZES[size]}
    row |= {"times_s": times[0], "peer_times_s": times[1]}
    return row | {"ratio": round(median(ratios), 3), "bar": bar}


def turned(x: Any, turn: bool) -> Any:
    return x.T if turn else x


def casts(size: str) -> Iterator[dict[str, Any]]:
    """Formats without blocks."""
    for name, (theirs, kind) in FORMATS.items():
        form = Format(name)
        for source in TYPES:
            if source == name:
                continue
            differ = differing(name, source)
            right = {who for who in differ if not differ[who]} or {*differ}
            for turn in (False, True):
                y, t = (turned(x, turn) for x in given(SIZES[size], name, source))
                what = f"encode {name} from {source}{', turned' if turn else ''}"
                peers, ours = casts_of(name, y, t), partial(form.encode, y)
                row = cell(what, size, ours, {who: peers[who] for who in right})
                row["differ"] = differ[row["peer"]]
                for who in differ.keys() - right:
                    other = cell(what, size, ours, {who: peers[who]})
                    kept = ("peer", "ratio", "times_s", "peer_times_s")
                    row["wrong"] = {key: other[key] for key in kept}
                    row["wrong"]["differ"] = differ[who]
                yield row
        x, t = given(SIZES[size], name, "fp32")
        for turn in (False, True):
            codes, cast = (
                turned(part, turn) for part in (form.encode(x), x.astype(theirs))
            )
            peers = {"ml_dtypes": partial(cast.astype, np.float32)}
            if kind is not None:
                peers["torch"] = partial(turned(t.to(kind), turn).to, torch.float32)
            for call in peers.values():
                if not np.array_equal(np.asarray(call()), form.decode(codes)):
                    raise SystemExit(f"{name}: numbers differ")
            what = f"decode {name}{', turned' if turn else ''}"
            yield cell(what, size, partial(form.decode, codes), peers)


def codes_of(q: Any) -> Any:
    """Codes as their makers lay them side by side."""
    codes = q.codes.reshape(-1)
    if q.row.code_bits == 8:
        return codes
    first, second = codes[::2], codes[1::2]
    return first | second << 4 if q.scheme == "nvfp4" else first << 4 | second


def blocks(size: str) -> Iterator[dict[str, Any]]:
    """Schemes with a scale for a block."""
    import bitsandbytes.functional as bnb
    from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import (
        nvfp4_quantize,
        per_tensor_amax_to_scale,
    )

    eight = torch.float8_e4m3fn
    x = torch.from_numpy(numbers(SIZES[size]).astype("f4").reshape(4, -1))

    def told(codes: Any) -> Any:
        return np.asarray(codes.view(torch.uint8)).reshape(-1)

    def by_torchao(t: Any) -> Any:
        return to_mx(t.contiguous(), eight, 32)

    def two_levels(t: Any) -> Any:
        whole = per_tensor_amax_to_scale(t.abs().max().float())
        return nvfp4_quantize(t.contiguous(), 16, whole)

    def by_bitsandbytes(t: Any) -> Any:
        return bnb.quantize_4bit(t.contiguous(), blocksize=64, quant_type="nf4")

    theirs = {
        "mxfp8_e4m3": ("torchao", by_torchao),
        "nvfp4": ("torchao", two_levels),
        "nf4": ("bitsandbytes", by_bitsandbytes),
    }
    for source in ("fp32", "bf16"):
        for turn in (False, True):
            t = x.to(TYPES[source][1])
            t = t.T.contiguous().T if turn else t
            for name, (who, call) in theirs.items():
                what = f"quantize {name} from {source}{', turned' if turn else ''}"
                ours = partial(quantize, t, name)
                parts = call(t)  # codes, and scales before or behind them
                if not np.array_equal(codes_of(ours()), told(parts[who == "torchao"])):
                    raise SystemExit(f"{what}: codes differ")
                yield cell(what, size, ours, {who: partial(call, t)})
    scales, codes = to_mx(x, eight, 32)
    four, state = bnb.quantize_4bit(x, blocksize=64, quant_type="nf4")
    mx, nf4 = quantize(x, "mxfp8_e4m3"), quantize(x, "nf4")
    back = {"torchao": partial(to_dtype, codes, scales, eight, 32, torch.float32)}
    yield cell("dequantize mxfp8_e4m3", size, partial(dequantize, mx), back)
    back = {"bitsandbytes": partial(bnb.dequantize_4bit, four, state)}
    yield cell("dequantize nf4", size, partial(dequantize, nf4), back)


def main() -> None:
    """The grid, its misses, its least and its median."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    watch, rows = host.Watch(), []
    for size in SIZES:
        if size == "1 k":  # numba is loaded before the clock runs
            for kind, _ in TYPES.values():
                x = numbers(1 << 20).astype(kind)
                codes = [Format(name).encode(x) for name in FORMATS]
                for name, part in zip(FORMATS, codes, strict=True):
                    Format(name).decode(part)
        for table in (casts, blocks):
            for row in table(size):
                rows.append(row)
                mark = "  <" if row["ratio"] < row["bar"] else ""
                print(
                    f"{row['ratio']:6.2f} {row['id']} ({row['peer']}){mark}", flush=True
                )
    large = [row["ratio"] for row in rows if row["numbers"] >= 1 << 16]
    under = sum(row["ratio"] < row["bar"] for row in rows)
    print(f"from 64 k on: least {min(large):.2f}, median {median(large):.2f}", end="; ")
    print(f"{under} of {len(rows)} cells under their bar")
    others = [row["wrong"]["ratio"] < row["bar"] for row in rows if "wrong" in row]
    print(f"{sum(others)} more beside peers of other codes")
    total = {"id": "from 64 k on", "least": min(large), "median": median(large)}
    total |= {"cells": len(large), "under": under, "all": len(rows)}
    total |= {"under_with_wrong": under + sum(others)}
    names = ("torch", "ml_dtypes", "torchao", "bitsandbytes")
    head = host_common.head(
        "codec_grid",
        None,
        watch,
        driver="none",
        rows=[*rows, total],
        versions=host.versions() | {name: version(name) for name in names},
        why_no_prediction="a comparison of speed with the best peer in one run",
    )
    host_common.save(host_common.HERE, "codec_grid", head)


if __name__ == "__main__":
    touched()
    main()
