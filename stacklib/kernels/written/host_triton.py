"""The host's side of every kernel here: operands looked at, programs started.

The same text of a kernel runs in three places: compiled on a GPU; in Triton's
interpreter (``TRITON_INTERPRET=1`` before the import), on CPU tensors and NumPy arrays
alike; and, inside `on_tiles`, on the book's own tile machine, which counts. Where
Triton is not installed the kernels' names are the tile machine's, and only that runs.

This folder imports nothing of the package but where the tile machine is asked for, so
that a GPU machine with torch and Triton needs no more than these files.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

try:  # kernels take both names from here
    import triton.language as tl
    from triton import jit, knobs

    INSTALLED, INTERPRETED = True, bool(knobs.runtime.interpret)
except ImportError:  # the tile machine has Triton's names
    from stacklib.gpu import tiles as tl
    from stacklib.gpu.tiles import jit  # noqa: F401

    INSTALLED = INTERPRETED = False

if INTERPRETED:
    from triton.runtime import interpreter

    def patched_once(function: Any, patch: Any = interpreter._patch_lang) -> Any:
        """Triton's names for a kernel, once a launch: not by each function it calls."""
        langs = [x for x in function.__globals__.values() if x is tl or x is tl.core]
        if any(tl.core.is_builtin(lang.load) for lang in langs):
            return patch(function)
        return interpreter._LangPatchScope()  # they stand in all that it sees

    if hasattr(interpreter, "_LangPatchScope"):  # of the release that is pinned
        interpreter._patch_lang = patched_once

Array = Any  # a torch tensor, or a NumPy array where no GPU is asked
Grid = Any  # a tuple of numbers, or a function of the block sizes
HOW_TO = "python -m pip install triton==3.7.1"
FLOATS = ("float32", "float16", "bfloat16")
FP8 = ("float8_e4m3fn", "float8_e5m2")
# KiB of shared memory that a program may have, by generation: NVIDIA, "CUDA C++
# programming guide", 13.0, table "Technical specifications per compute capability".
SHARED = {80: 163, 86: 99, 90: 227, 100: 227}


Go = Callable[[Any, Any, Sequence[Any], dict[str, Any]], None]


class _Elsewhere(threading.local):
    """Where a thread's launches go now, if not to Triton."""

    go: Go | None = None
    capability = 90  # of the GPU that tiles are chosen for where there is none


Elsewhere = _Elsewhere()
ONE_AT_A_TIME = threading.Lock()  # the interpreter's grid and names are all threads'


@contextlib.contextmanager
def redirected(go: Go, capability: int = 90) -> Iterator[None]:
    """Give the launches inside to ``go(kernel, grid, args, meta)``, not to Triton."""
    before = Elsewhere.go, Elsewhere.capability
    Elsewhere.go, Elsewhere.capability = go, capability
    try:
        yield
    finally:
        Elsewhere.go, Elsewhere.capability = before


@contextlib.contextmanager
def on_tiles(device: str = "h100-sxm") -> Iterator[list[Any]]:
    """Run the launches inside on `gpu.launch_tiles`; yields what each returned.

    Operands are NumPy arrays; they hold the results afterwards, and the yielded
    launches their reports: sectors, instructions, registers.
    """
    from stacklib.gpu import launch_tiles

    ran: list[Any] = []

    def go(kernel: Any, grid: Grid, args: Sequence[Any], meta: dict[str, Any]) -> None:
        ran.append(launch_tiles(kernel, grid, *args, device=device, **meta))
        for name, given in zip(names_of(kernel), args, strict=False):
            if name in ran[-1].results:
                given[...] = ran[-1].results[name]

    with redirected(go):
        yield ran


def interpreted() -> bool:
    """Whether kernels run in Triton's interpreter, whose ``tl.dot`` must be widened.

    It takes the codes of bfloat16 for whole numbers, silently, and cuts where a GPU
    rounds; kernels convert by themselves when told so (`product`, `narrow`).
    """
    return INTERPRETED and Elsewhere.go is None


def launch(kernel: Any, grid: Grid, *args: Any, **meta: Any) -> None:
    """Start a kernel on a grid, wherever launches go now.

    - raises ``ImportError`` without Triton; it says what to install.
    - raises ``ValueError`` for operands that the device cannot reach.
    """
    if Elsewhere.go is not None:
        Elsewhere.go(kernel, grid, args, meta)
        return
    if not INSTALLED:
        raise ImportError(f"this needs Triton: {HOW_TO}")
    held = [reachable(a) for a in args]
    assert not INTERPRETED or meta.get("WIDE", True), "tl.dot of bf16 is wrong here"
    with ONE_AT_A_TIME:
        kernel[grid](*held, **meta)


def names_of(kernel: Any) -> list[str]:
    """Names of a kernel's parameters."""
    function = kernel
    while hasattr(function, "fn"):
        function = function.fn
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


def reachable(value: Any) -> Any:
    """An argument as Triton takes it here."""
    if is_tensor(value):
        if not INTERPRETED and value.device.type != "cuda":
            raise ValueError(
                f"a tensor {tuple(value.shape)} on {value.device}: compiled kernels "
                "read a GPU's memory; set TRITON_INTERPRET=1 before the first import "
                "to run on a CPU"
            )
        return value
    if hasattr(value, "__array_interface__"):
        if not value.shape:  # one of NumPy's numbers
            return value.item()
        if not INTERPRETED:
            raise ValueError(
                f"a NumPy array {value.shape}: only Triton's interpreter reads one; "
                "set TRITON_INTERPRET=1 before the first import"
            )
        return _Bytes(value)
    return value


class _Bytes:
    """A NumPy array as Triton's interpreter wants its tensors: who says where it is."""

    def __init__(self, values: Any) -> None:
        self.values, self.dtype = values, values.dtype.name

    def data_ptr(self) -> int:
        return int(self.values.ctypes.data)

    def untyped_storage(self) -> _Bytes:
        return self

    cpu = untyped_storage

    def new_empty(self, size: Any, device: Any = None) -> _Bytes:
        return _Bytes(self.values)

    def set_(self, storage: _Bytes, offset: int, size: Any, stride: Any) -> None:
        self.values = storage.values

    def storage_offset(self) -> int:
        return 0

    def size(self) -> Any:
        return self.values.shape

    def stride(self) -> Any:
        return self.values.strides

    def copy_(self, other: Any) -> None:
        """Nothing to bring back: both are the same memory."""


@cache
def tuned(
    kernel: Any,
    sides: tuple[str, ...],
    rows: tuple[tuple[int, ...], ...],
    key: tuple[str, ...],
    bucket: tuple[int, ...],
) -> Any:
    """A kernel that measures its tiles, once for each value of ``key``, on the GPU.

    A row has the sides of a tile in the order of ``sides``, then warps and stages.
    ``bucket`` is what else the choice depends on, rounded: each has a tuner of its own.
    """
    from triton import Config, autotune

    configs = [
        Config(dict(zip(sides, r, strict=False)), num_warps=r[-2], num_stages=r[-1])
        for r in rows
    ]
    return autotune(configs, key=list(key))(kernel)


def tunes(x: Array) -> bool:
    """Whether tiles can be measured: the operand's kernels run on a GPU."""
    return is_tensor(x) and x.device.type == "cuda" and not INTERPRETED


def capability_of(x: Array) -> int:
    """Compute capability of an operand's GPU, such as 90 for 9.0."""
    if not tunes(x):
        return Elsewhere.capability
    major, minor = sys.modules["torch"].cuda.get_device_capability(x.device)
    return int(10 * major + minor)


def generation(capability: int) -> int:
    """The generation whose memory and products a GPU has, the least for an unknown one.

    - ``capability``: int; such as 90 for compute capability 9.0.
    - raises ``ValueError`` for a GPU without bfloat16 on tensor cores.
    """
    if capability < min(SHARED):
        raise ValueError(
            f"sm_{capability}: these kernels need sm_{min(SHARED)} or later"
        )
    return {80: 80, 87: 80, 90: 90, 100: 100, 103: 100}.get(capability, 86)


# -- operands ------------------------------------------------------------------


def is_tensor(x: Any) -> bool:
    """Whether it is a torch tensor."""
    return hasattr(x, "new_empty")


def dtype_of(x: Array) -> str:
    """Name of an operand's format, such as ``bfloat16``."""
    return str(x.dtype).removeprefix("torch.")


def device_of(x: Array) -> str:
    """Where an operand lies; NumPy arrays lie on the CPU."""
    return str(x.device) if is_tensor(x) else "cpu"


def empty(like: Array, shape: Sequence[int], dtype: str | None = None) -> Array:
    """An array of the same kind and place, nothing in it yet."""
    if is_tensor(like):
        kind = getattr(sys.modules["torch"], dtype) if dtype else like.dtype
        return like.new_empty(tuple(shape), dtype=kind)
    numpy = sys.modules["numpy"]
    return numpy.empty(tuple(shape), numpy.dtype(dtype) if dtype else like.dtype)


def in_one_piece(x: Array) -> Array:
    """The operand with its elements one after another in memory."""
    if is_tensor(x):
        return x.contiguous()
    return sys.modules["numpy"].ascontiguousarray(x)


def look(
    rules: Mapping[str, tuple[Array, Sequence[int | str]]], formats: Sequence[str]
) -> dict[str, int]:
    """Hold operands to the shapes they must have; gives the sizes by name.

    - ``rules``: dict; operand by name, with its axes: a name stands for one size
      everywhere, a number for itself.
    - ``formats``: sequence of str; what may be in them; all must be of one and lie on
      one device.
    - raises ``TypeError`` for another format, or formats that differ.
    - raises ``ValueError`` for shapes that do not fit, empty ones, and operands on
      different devices; the message has all shapes.

    >>> import numpy as np
    >>> x = np.zeros((2, 3), np.float32)
    >>> look({"x": (x, ("rows", "columns"))}, FLOATS)
    {'rows': 2, 'columns': 3}
    """
    said = ", ".join(f"{n} {tuple(x.shape)}" for n, (x, _) in rules.items())
    sizes: dict[str, int] = {}
    for name, (x, axes) in rules.items():
        if len(x.shape) != len(axes):
            asked = ", ".join(map(str, axes))
            raise ValueError(f"{said}: {name} must have the axes ({asked})")
        for axis, size in zip(axes, x.shape, strict=True):
            wanted = axis if isinstance(axis, int) else sizes.setdefault(axis, size)
            if size != wanted:
                raise ValueError(f"{said}: {axis} of {name} is {size}, not {wanted}")
            if size == 0:
                raise ValueError(f"{said}: {axis} of {name} is empty")
        if dtype_of(x) not in formats:
            raise TypeError(f"{name} is {dtype_of(x)}: one of {', '.join(formats)}")
    alike = ("format", dtype_of, TypeError), ("device", device_of, ValueError)
    for what, of, error in alike:
        found = {n: of(x) for n, (x, _) in rules.items()}
        if len(set(found.values())) > 1:
            kinds = ", ".join(f"{n} {v}" for n, v in found.items())
            raise error(f"operands of one {what} are needed: {kinds}")
    return sizes


def cdiv(a: int, b: int) -> int:
    """Tiles of ``b`` that cover ``a``."""
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is no smaller; a tile's sides are such."""
    return 1 << max(0, int(n) - 1).bit_length()


def tile_side(name: str, size: int, least: int = 1) -> int:
    """A side of a tile, refused unless it is a power of two of at least ``least``."""
    if not isinstance(size, int) or size < least or size & (size - 1):
        raise ValueError(f"{name} = {size}: a power of two from {least}")
    return size
