"""Questions to a device's tensor cores: bits kept, products a step, rounding, NaN.

Each question is a row times a column; the answer is the bits of one output. Needs only
torch. The questions are those of M. Fasi et al. (PeerJ CS 7:e330), carried on to
formats of 8 bits, with NaN and infinity, and some random ones. On a CPU the answers are
those of ordinary sums: a rehearsal. ``tests/gpu/tensor/test_measured.py`` compares a
device's answers with ``stacklib.gpu.mma``.
"""

import hashlib
import json
import math
import random
from collections.abc import Callable
from typing import Any

DEPTH = 64  # of every question: whole instructions of any generation
NAMES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "tf32": "float32",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "int8": "int8",
}
BITS = {"fp16": 10, "bf16": 7, "tf32": 10, "e4m3fn": 3, "e5m2": 2}
LARGE = {"fp16": 0, "bf16": 0, "tf32": 0, "e4m3fn": 8, "e5m2": 0}  # exponent of "one"
Question = tuple[list[float], list[float]]
Multiply = Callable[[str, list[list[float]], list[list[float]]], list[int]]


def questions(dtype: str) -> dict[str, Question]:
    """Row and column by name, both of ``DEPTH`` numbers of the format."""
    if dtype == "int8":
        return dict(_wholes())
    found = {**dict(_kept(dtype)), **dict(_steps(dtype)), **dict(_rounded(dtype))}
    return {**found, **dict(_special(dtype)), **dict(_random(dtype))}


def _row(at: dict[int, float]) -> list[float]:
    return [at.get(i, 0.0) for i in range(DEPTH)]


def _small(dtype: str, below: int) -> tuple[float, float]:
    """Two numbers whose product is 2**-below of the large one's square."""
    power = 2 * LARGE[dtype] - below
    return math.ldexp(1, power // 2), math.ldexp(1, power - power // 2)


def _kept(dtype: str) -> Any:
    """One, a small number, minus one: the small one is left, or cut."""
    one = math.ldexp(1, LARGE[dtype])
    for below in range(8, 29):
        x, y = _small(dtype, below)
        for sign in (1, -1):
            a = _row({0: one, 1: sign * x, 2: -one})
            yield f"kept {sign * below}", (a, _row({0: one, 1: y, 2: one}))


def _steps(dtype: str) -> Any:
    """The small number ever further behind: beyond the step it is not cut."""
    one, (x, y) = math.ldexp(1, LARGE[dtype]), _small(dtype, 28)
    for place in (2, 3, 4, 7, 8, 15, 16, 31, 32, 63):
        a = _row({0: one, 1: -one, place: x})
        yield f"place {place}", (a, _row({0: one, 1: one, place: y}))


def _rounded(dtype: str) -> Any:
    """One and three quarters of the last bit: cut, or rounded away from zero."""
    one = math.ldexp(1, LARGE[dtype])
    for below in (11, 14, 24, 25):
        x, y = _small(dtype, below)
        for sign in (1, -1):
            a = _row({0: sign * one, 1: sign * x, 2: sign * x * 0.5})
            yield f"round {sign * below}", (a, _row({0: one, 1: y, 2: y}))


def _special(dtype: str) -> Any:
    nan, inf = math.nan, math.inf
    yield "nan", (_row({3: nan}), _row({3: 1.0}))
    yield "minus zero", (_row({0: -0.0}), _row({0: 1.0}))
    if dtype == "e4m3fn":
        return
    yield "infinity", (_row({5: inf}), _row({5: -1.0}))
    yield "infinity times zero", (_row({5: inf}), _row({5: 0.0}))
    yield "infinity less infinity", (_row({1: inf, 9: -inf}), _row({1: 1.0, 9: 1.0}))
    if dtype in ("bf16", "tf32"):
        big = 2.0**127
        yield "overflow", (_row({0: big}), _row({0: 2.0}))
        yield "zero by a large one", (_row({0: 0.0, 1: 2.0**-30}), _row({0: big, 1: 1}))


def _random(dtype: str) -> Any:
    """Random numbers of the format, near one another and far apart."""
    draw = random.Random(15)
    for n, spread in enumerate((1, 2, 4, 6)):

        def one(spread: int = spread) -> float:
            power = draw.randint(-spread, spread)
            steps = draw.randrange(1 << BITS[dtype]) / (1 << BITS[dtype])
            return draw.choice((1, -1)) * math.ldexp(1 + steps, power)

        pair = [one() for _ in range(DEPTH)], [one() for _ in range(DEPTH)]
        yield f"random {n}", pair


def _wholes() -> Any:
    draw = random.Random(8)
    yield "largest", ([-128.0] * DEPTH, [-128.0] * DEPTH)
    for n in range(4):
        one, other = (
            [float(draw.randint(-128, 127)) for _ in range(DEPTH)] for _ in range(2)
        )
        yield f"random {n}", (one, other)


def mark() -> str:
    """Which questions these are: answers to others are not compared."""
    text = json.dumps({name: questions(name) for name in NAMES})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def on_device(torch: Any, device: str) -> Multiply:
    """Outputs by torch: all rows by all columns, of which the diagonal is kept."""

    def multiply(dtype: str, rows: list[Any], columns: list[Any]) -> list[int]:
        kind = getattr(torch, NAMES[dtype])
        a, w = (
            torch.tensor(x, dtype=torch.float32, device=device).to(kind)
            for x in (rows, columns)
        )
        if device == "cpu":
            wide = torch.int32 if dtype == "int8" else torch.float32
            out = a.to(wide) @ w.to(wide).t()
        else:
            out = _product(torch, dtype, a, w)
        found = out.diagonal().contiguous().view(torch.int32)
        return [int(x) & 0xFFFFFFFF for x in found.tolist()]

    return multiply


def _product(torch: Any, dtype: str, a: Any, w: Any) -> Any:
    """``a @ w.T`` on the tensor cores, in the width of the sums."""
    if dtype == "int8":
        return torch._int_mm(a, w.t())
    if dtype == "tf32":
        torch.set_float32_matmul_precision("high")
        return torch.mm(a, w.t())
    if dtype in ("fp16", "bf16"):
        return torch.mm(a, w.t(), out_dtype=torch.float32)
    one = torch.ones((), device=a.device)
    how = {"scale_a": one, "scale_b": one, "out_dtype": torch.float32}
    out = torch._scaled_mm(a, w.t(), use_fast_accum=True, **how)
    return out[0] if isinstance(out, tuple) else out


def measure(multiply: Multiply, why: Callable[[Exception], str] = repr) -> Any:
    """Bits by format and question; where a format fails, the reason."""
    found: dict[str, Any] = {}
    for dtype in NAMES:
        asked = questions(dtype)
        rows, columns = ([q[side] for q in asked.values()] for side in (0, 1))
        fill = -len(rows) % 32  # 8 bits come in multiples of 16, whole numbers of 8
        rows, columns = (x + [[0.0] * DEPTH] * fill for x in (rows, columns))
        try:
            bits = multiply(dtype, rows, columns)
        except Exception as error:
            found[dtype] = {"failed": why(error)}
            continue
        found[dtype] = {name: f"{b:08x}" for name, b in zip(asked, bits, strict=False)}
    return {"questions": mark(), "bits": found}
