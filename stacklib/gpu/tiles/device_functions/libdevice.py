"""Functions of CUDA's libdevice, which programs call beside Triton's own.

``tl.extra.libdevice`` here, ``triton.language.extra.libdevice`` where a text is
Triton's. Instructions are counted as those of `work` are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..arithmetic import _kind, operands
from ..functions import abs_ as abs
from ..functions import (
    ceil,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    floor,
    fma,
    log,
    log2,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
)
from ..machine import error
from ..tile import Tile, as_tile, each
from ..types import float32, float64, int1
from ..work import Work


def _by_one(how: Callable[[float], float]) -> Callable[[Any], Any]:
    return np.vectorize(how, otypes=[np.float64])


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # a pole
        return math.inf


def _away(x: Any) -> Any:
    """Rounded to whole numbers, halves away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


def _work(fp32: float, special: float = 0, whole: float = 0, turned: float = 0) -> Work:
    kinds = ("fp32", "special", "int", "convert")
    counts = (fp32, special, whole, turned)
    return tuple((k, n) for k, n in zip(kinds, counts, strict=True) if n)


_Row = tuple[Callable[..., Any], Work]
_ONE: dict[str, _Row] = {
    "acos": (np.arccos, _work(15, 1)),
    "acosh": (np.arccosh, _work(43, 1, 13, 2)),
    "asin": (np.arcsin, _work(13, 1, 12)),
    "asinh": (np.arcsinh, _work(29, 4, 12, 1)),
    "atan": (np.arctan, _work(21, 2, 14)),
    "atanh": (np.arctanh, _work(26, 1, 12, 1)),
    "cbrt": (np.cbrt, _work(9.5, 3)),
    "cosh": (np.cosh, _work(14, 2, 2, 1)),
    "erfc": (_by_one(math.erfc), _work(41, 3, 2, 1)),
    "exp10": (lambda x: np.power(x.dtype.type(10), x), _work(6, 1, 1)),
    "expm1": (np.expm1, _work(23, 1, 0, 1)),
    "fast_expf": (np.exp, _work(1, 1)),
    "fast_logf": (np.log, _work(1, 1)),
    "fast_log2f": (np.log2, _work(0, 1)),
    "fast_tanhf": (np.tanh, _work(0, 1)),
    "lgamma": (_by_one(_lgamma), _work(148, 2, 27, 7)),
    "log10": (np.log10, _work(20, 0, 4, 1)),
    "log1p": (np.log1p, _work(18, 0, 6, 1)),
    "nearbyint": (np.rint, _work(0, 0, 0, 1)),
    "rint": (np.rint, _work(0, 0, 0, 1)),
    "round": (_away, _work(1, 0, 1, 1)),
    "sinh": (np.sinh, _work(21, 2, 4, 1)),
    "tan": (np.tan, _work(19, 1, 44, 4)),
    "tanh": (np.tanh, _work(13, 2, 2)),
    "trunc": (np.trunc, _work(0, 0, 0, 1)),
}
_ASKS: dict[str, _Row] = {
    "finitef": (np.isfinite, _work(1)),
    "isfinited": (np.isfinite, _work(1)),
    "isinf": (np.isinf, _work(1)),
    "isnan": (np.isnan, _work(1)),
    "signbit": (np.signbit, _work(0, 0, 1)),
}
_TWO: dict[str, _Row] = {
    "atan2": (np.arctan2, _work(31, 2, 14)),
    "copysign": (np.copysign, _work(0, 0, 1)),
    "fast_dividef": (np.divide, _work(1, 1)),
    "fast_powf": (np.power, _work(1, 2)),
    "fmod": (np.fmod, _work(30, 2, 24, 2)),
    "hypot": (np.hypot, _work(10, 1, 5)),
    "nextafter": (np.nextafter, _work(10, 0, 21)),
    "pow": (np.power, _work(84, 2, 19, 4)),
}


def _floats(name: str, *tiles: Tile) -> None:
    for tile in tiles:
        if tile.dtype not in (float32, float64):
            raise error(
                f"libdevice.{name} of {tile.dtype}: fp32 or fp64 is needed, convert "
                "with .to(tl.float32)"
            )


def _of_one(name: str, row: _Row, asks: bool = False) -> Callable[[Any], Tile]:
    def function(arg0: Any) -> Tile:
        tile = as_tile(arg0)
        _floats(name, tile)
        kind = "special" if any(k == "special" for k, _ in row[1]) else "fp32"
        return each(kind, row[0], int1 if asks else tile.dtype, tile, work=row[1])

    return function


def _of_two(name: str, row: _Row) -> Callable[[Any, Any], Tile]:
    def function(arg0: Any, arg1: Any) -> Tile:
        left, right = operands(arg0, arg1)
        _floats(name, left, right)
        return each(_kind(left.dtype), row[0], left.dtype, left, right, work=row[1])

    return function


def _names() -> dict[str, Any]:
    own = (ceil, cos, div_rn, erf, exp, exp2, floor, fma, log, log2, rsqrt, sin, sqrt)
    found = {f.__name__: f for f in (*own, sqrt_rn)} | {"abs": abs}
    found |= {name: _of_one(name, row) for name, row in _ONE.items()}
    found |= {name: _of_one(name, row, True) for name, row in _ASKS.items()}
    return found | {name: _of_two(name, row) for name, row in _TWO.items()}


class _Libdevice(SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"libdevice.{name} is left out here: CUDA has it")


libdevice = _Libdevice(**_names())
cuda = SimpleNamespace(libdevice=libdevice)
extra = SimpleNamespace(libdevice=libdevice, cuda=cuda)
