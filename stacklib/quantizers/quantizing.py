"""One call for every scheme: checks, rows, blocks, and the way back."""

from __future__ import annotations

import dataclasses
import math
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from . import blocks, ggml_blocks, integers, k_quants, tables
from .arrays import as_single, given
from .inputs import real, rows_in_memory
from .scheme import Quantized, Scheme, scheme_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULES = blocks.RULES
# what a caller with many arrays calls this one, for messages; each thread has its own
NAME: ContextVar[str] = ContextVar("NAME", default="")
FAMILIES: dict[str, Any] = {
    "integer": integers,
    "tile": integers,
    "table": tables,
    "mx": blocks,
    "nvfp4": blocks,
    "ggml": ggml_blocks,
    "k": k_quants,
}


def quantize(
    x: Any,
    scheme: str,
    *,
    axis: int = -1,
    rule: str = "floor",
    clip: str | None = None,
    block: int | None = None,
    scale: Any = None,
    rounding: str = "nearest",
    seed: int | None = None,
) -> Quantized:
    """Quantize an array of real numbers.

    Parameters
    ----------
    x : array_like or torch tensor of any shape
        Finite real numbers; taken as fp32.
    scheme : str
        One of ``schemes()``.
    axis : int
        The axis along which numbers share a scale.
    rule : {"floor", "even", "rceil", "ceil"}
        How an MX scale is rounded to a power of two; the standard says ``floor``.
    clip : {"mse"}, optional
        Integers only: shrink each scale to the one with the least squared error among
        twenty between the full range and half of it.
    block : int, optional
        Numbers that share a scale, where the scheme's makers let it be chosen: groups
        of integers, tiles of a row, NF4 and bitsandbytes' FP4.
    scale : number or array, optional
        The scales, found before: of symmetric integers and tiles, or that of the whole
        tensor in NVFP4. What lies beyond the ends of the grid is clipped.
    rounding : {"nearest", "stochastic"}
        Of codes in integers, tiles, MX and NVFP4: up with the probability that makes
        the mean right (within the grid's ends).
    seed : int, optional
        Of stochastic rounding; the same seed gives the same codes.

    Returns
    -------
    Quantized

    Raises
    ------
    ValueError
        For an empty array, NaN or infinity (its index is named), a number whose scale
        fp16 cannot hold, an axis the array does not have, an option that the scheme
        has no use for.
    TypeError
        For complex numbers, objects, truth values or text.
    UnknownName
        For another scheme, rule or clip, with the nearest ones.

    Warns
    -----
    RuntimeWarning
        For numbers that become zeros or lose digits because the scale of their block is
        at the lower end of fp16, fp32, E8M0 or NVFP4's two levels; says how many.

    Examples
    --------
    >>> q = quantize([1.0, -6.0, 0.2, 3.1], "mxfp4")
    >>> dequantize(q).tolist(), q.scales.tolist()
    ([1.0, -6.0, 0.0, 3.0], [[127]])
    """
    row = scheme_row(scheme, block)
    rule = resolve(rule, RULES, "rule")
    if rule != "floor" and row.family != "mx":
        raise ValueError(f"rule={rule!r}: {row.name} has no power of two as its scale")
    if clip is not None:
        clip = resolve(clip, ("mse",), "clip")
        if row.family != "integer":
            raise ValueError(
                f"clip={clip!r}: only integers are clipped, not {row.name}"
            )
    array = _checked(x)
    if row.family != "mx":  # which looks at the largest magnitudes anyway
        _only_finite(array)
    axis = checked_axis(axis, array.ndim)
    rows = padded(rows_of(array, axis), row)
    options: dict[str, Any] = {"rule": rule} if row.family == "mx" else {}
    if row.family == "integer":
        options = {"clip": clip}
    options |= _scaled(row, scale, clip) | _drawing(row, rounding, seed)
    try:
        with np.errstate(all="ignore"):  # what is infinite on the way is looked for
            codes, scales, levels = FAMILIES[row.family].encode(row, rows, **options)
    except blocks.NotFiniteError:
        _only_finite(array)
        raise
    except integers.ScaleError as error:
        if scale is not None:
            raise
        at = np.unravel_index(np.abs(array).argmax(), array.shape)
        where = ", ".join(str(int(i)) for i in at)
        raise ValueError(
            f"{array[at]:.4g} at index ({where}): {error}; "
            "divide the array before quantizing"
        ) from None
    q = Quantized(codes, scales, array.shape, row.name, axis, levels, block or 0)
    _tell_lost(q, array, rows, options)
    return q


def _scaled(row: Scheme, scale: Any, clip: str | None) -> dict[str, Any]:
    """A given scale, for those that have a use for it."""
    if scale is None:
        return {}
    free = row.family in ("integer", "tile") and not row.name.endswith("asym")
    if not free and row.family != "nvfp4":
        raise ValueError(f"scale={scale!r}: {row.name} finds its scales itself")
    if clip is not None:
        raise ValueError(f"clip={clip!r}: a given scale is not searched for")
    return {"scale": scale}


def _drawing(row: Scheme, rounding: str, seed: int | None) -> dict[str, Any]:
    """The generator of stochastic rounding."""
    rounding = resolve(rounding, ("nearest", "stochastic"), "rounding")
    if rounding == "nearest":
        if seed is not None:
            raise ValueError(f"seed={seed}: rounding 'nearest' draws nothing")
        return {}
    if row.family not in ("integer", "tile", "mx", "nvfp4"):
        raise ValueError(f"rounding='stochastic': {row.name} takes the nearest place")
    whole(0, **({} if seed is None else {"seed": seed}))
    return {"draw": np.random.default_rng(seed)}


# Where a scale is at its lower end: the words for it, and what to do.
ENDS = {
    "mx": "E8M0 holds (2**-127); multiply the array",
    "nvfp4": "NVFP4 holds (2**-6 of the tensor's); take these numbers apart",
    "float16": "fp16 holds with all digits (6.1e-05); multiply the array",
    "float32": "fp32 holds with all digits (1.18e-38); multiply the array",
}


def _tell_lost(
    q: Quantized, array: NDArray[Any], rows: NDArray[Any], options: dict[str, Any]
) -> None:
    """Warn of numbers that a scale at its lower end loses or moves.

    Each block whose scale is there is rounded once more, moved up by a power of two, so
    that what the format's own steps lose is not told.
    """
    family, held = q.row.family, q.scales
    end = family
    if family in ("mx", "nvfp4"):
        weak = held <= (8 if family == "nvfp4" else 0)  # 2**-6 in e4m3fn
    else:
        held = q.levels.get("tensor", q.levels.get("mean", held))
        end = held.dtype.name
        weak = np.abs(held) < np.finfo(held.dtype).smallest_normal
    if not weak.any():
        return
    # of scales about a mean there is none that is weak alone
    alike, tile = q.scheme == "nf4_dq", q.scheme == "fp8_128x128"
    shared = integers.by_tile(rows) if tile else rows
    shared = shared.reshape(q.scales.size if alike else held.size, -1)
    at = np.flatnonzero((weak.reshape(-1) & shared.any(1)) | alike)
    if not len(at):
        return
    x, code = shared[at], FAMILIES[family]
    found = code.decode(q.row, q.codes, q.scales, q.levels)
    found = (integers.by_tile(found) if tile else found).reshape(shared.shape)[at]
    size = np.abs(x).max(None if alike else 1, keepdims=True)
    power = np.frexp(size)[1] - 10
    same = {key: options[key] for key in ("rule", "clip") if key in options}
    with np.errstate(all="ignore"):
        again = np.ldexp(x, -power)
        again = again.reshape(-1, 128, 128) if tile else again
        alone = code.decode(q.row, *code.encode(q.row, again, **same)).reshape(x.shape)
    error = np.abs(x - found.astype(np.float64))
    own = np.abs(x - np.ldexp(alone.astype(np.float64), power))
    # of numbers that are drawn the error is larger by itself
    most = np.square(own).sum(1) * (4 if "draw" in options else 1.2)
    lost = (error > own) & (np.square(error).sum(1) > most)[:, None]
    if "scale" in options:
        lost[:] = False
    none = np.full(len(at), False)
    if end == "float16":
        none = held.reshape(-1)[at] == 0
        lost[none] = error[none] > np.abs(found[none]) * 2.0**-10
    mask = np.zeros(shared.shape, bool)
    mask[at] = lost
    mask = integers.by_tile(mask, rows.shape) if tile else mask
    told = _shaped(q, mask.reshape(rows.shape))
    many = int(told.sum())
    if many:
        became = "become zero or the least of their block" * ("minimum" in q.levels)
        became = became or "become zero"
        became += "" if none.all() and family != "nvfp4" else " or lose digits"
        worst = np.unravel_index(np.where(told, np.abs(array), 0).argmax(), q.shape)
        where = ", ".join(str(int(i)) for i in worst)
        warnings.warn(
            f"{NAME.get()}{many} of {array.size} numbers {became}, the largest "
            f"{array[worst]:.4g} at index ({where}): the scale of their block is less "
            f"than {ENDS[end]} before quantizing",
            RuntimeWarning,
            stacklevel=3,
        )


def dequantize(q: Quantized, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The numbers a quantized array stands for, in its shape, as fp32.

    Parameters
    ----------
    q : Quantized
        What ``quantize``, ``gptq`` or ``unpack`` gave.
    out : float32 array, optional
        Where the numbers go.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For an ``out`` of another shape or type.
    """
    if out is not None:
        return given(out, q.shape, np.float32, dequantize(q))
    if not isinstance(q, Quantized):
        raise TypeError(f"dequantize({type(q).__name__}): what quantize gave is needed")
    row = q.row
    if "order" in q.levels:
        return _reordered(q)
    return _shaped(q, FAMILIES[row.family].decode(row, q.codes, q.scales, q.levels))


def _shaped(q: Quantized, rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of full blocks as an array of the shape that came in."""
    row, moved = q.row, moved_shape(q.shape, q.axis)
    full = rows.reshape(*moved[:-1], -1) if row.name != "fp8_128x128" else rows
    if row.name == "fp8_128x128":
        full = rows[:, : moved[-2] if len(moved) > 1 else 1]
        full = full.reshape(*moved[:-1], -1)
    found = full[..., : moved[-1]].reshape(moved)
    return np.moveaxis(found, -1, q.axis) if q.shape else found.reshape(())


def _reordered(q: Quantized) -> NDArray[Any]:
    """Columns that were rounded in another order, back in their places."""
    levels = {key: level for key, level in q.levels.items() if key != "order"}
    plain = dequantize(dataclasses.replace(q, levels=levels))
    found = np.empty_like(plain)
    found[:, q.levels["order"]] = plain
    return found


def _checked(x: Any) -> NDArray[np.float32]:
    array = real(x, "quantize")
    if array.size == 0:
        raise ValueError(f"quantize of an array of shape {array.shape}: it is empty")
    return as_single(array)


def _only_finite(array: NDArray[Any]) -> None:
    whole = np.isfinite(array)
    if not whole.all():
        at = tuple(int(i) for i in np.argwhere(~whole)[0])
        raise ValueError(
            f"{array[at]} at index {at}: a scale cannot hold it; "
            "replace it or leave it out before quantizing"
        )


def checked_axis(axis: Any, dimensions: int) -> int:
    """An axis counted from the end, so that it means the same for any batch."""
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise TypeError(f"axis={axis!r}: a whole number is needed")
    known = max(dimensions, 1)
    if not -known <= axis < known:
        raise ValueError(f"axis={axis}: the array has {dimensions} axes")
    return int(axis) - known if axis >= 0 else int(axis)


def moved_shape(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """A shape with the quantized axis last."""
    if not shape:
        return (1,)
    rest = list(shape)
    last = rest.pop(axis)
    return (*rest, last)


def rows_of(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """The array with the quantized axis last, not copied where it is there already."""
    if not array.shape:
        return array.reshape(1, 1)
    moved = rows_in_memory(np.moveaxis(array, axis, -1))
    return moved.reshape(1, -1) if moved.ndim == 1 else moved


def padded(rows: NDArray[Any], row: Scheme) -> NDArray[Any]:
    """Rows with full blocks: zeros follow the last number.

    Where a scheme stores the least number of a block (``q4_1``, ``q5_1``), they count:
    a last block of positive numbers has a range that starts at zero.
    """
    block = pad_block(row)
    if row.name == "fp8_128x128":
        rows = rows.reshape(math.prod(rows.shape[:-2]), *rows.shape[-2:])
        down, right = (-rows.shape[1] % 128, -rows.shape[2] % 128)
        pads = ((0, 0), (0, down), (0, right))
        return np.pad(rows, pads) if down or right else rows
    right = -rows.shape[-1] % block
    if not right:
        return rows
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, right)])


def pad_block(row: Scheme) -> int:
    """Numbers that a row is filled up to a multiple of."""
    if row.family == "k":
        return 256
    if row.name in ("nvfp4",):
        return 64
    return 128 if row.name == "fp8_128x128" else max(row.block, 1)
