"""Arrays that a launch is given: from the host, empty, constant, or on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.quantizers.inputs import unmasked

from ..lang.lane_arrays import layout
from ..vm.formats import Form, find
from ..vm.program import ArrayUse
from .codes import decoded, encoded

MOST_CONSTANT = 64 * 1024  # bytes; CUDA C++ Programming Guide, technical specifications


@dataclass(frozen=True, slots=True)
class Empty:
    """An array without values yet: what cudaMalloc gives."""

    shape: tuple[int, ...]
    dtype: Any


def empty(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Empty:
    """An array for a kernel to fill; reading it before is an error.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : NumPy dtype
        Of an element.

    Raises
    ------
    TypeError, ValueError
        For what are no numbers; for a shape that is not of whole numbers from 1.
    """
    sizes, form = layout(shape, dtype)
    return Empty(sizes, form)


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """An array in constant memory."""

    values: Any


def constant(array: Any) -> Constant:
    """An array that kernels only read, through the cache for constants.

    Lanes that read one address are served at once; others one address after another.

    Parameters
    ----------
    array : NumPy array
        Its values; at most 64 KiB for all constants of a launch.

    Raises
    ------
    TypeError, ValueError
        For what is no array of numbers; for more than 64 KiB.

    Examples
    --------
    >>> import numpy as np
    >>> from stacklib import gpu
    >>> def scaled(t, x, factors, y):
    ...     y[t.thread.x] = x[t.thread.x] * factors[0]
    >>> factors = gpu.constant(np.array([3.0], np.float32))
    >>> x = np.arange(32, dtype=np.float32)
    >>> gpu.launch(scaled, 1, 32, "h100", x, factors, gpu.empty(32)).results["y"][2]
    np.float32(6.0)
    """
    unmasked(array, "an array")
    values = np.array(array)
    layout(values.shape, values.dtype)
    if values.nbytes > MOST_CONSTANT:
        raise ValueError(f"{values.nbytes:,} B of constants: {MOST_CONSTANT:,} at most")
    return Constant(values)


class DeviceArray:
    """An array that lives on the device: launches find it as others left it."""

    def __init__(self, raw: Any, form: Form, shape: tuple[int, ...], left: Any) -> None:
        self.raw, self.form, self.shape = raw, form, shape
        self.unwritten = left  # whether nobody has written an element yet

    @property
    def dtype(self) -> Any:
        """Format of an element."""
        return self.form.dtype

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.form})"

    def numpy(self) -> Any:
        """A copy of its values, float32 where NumPy lacks the format.

        ValueError when nobody has written some of them.
        """
        if self.unwritten.any():
            first = np.unravel_index(int(np.argmax(self.unwritten)), self.shape)
            raise ValueError(
                f"{int(self.unwritten.sum()):,} elements hold nothing yet, the first "
                f"at {tuple(map(int, first))}"
            )
        return decoded(self.raw, self.form).reshape(self.shape)

    def take(self, raw: Any, unwritten: Any) -> None:
        """What a launch left of it."""
        self.raw[:] = raw
        self.unwritten[:] = unwritten


def to_device(array: Any, dtype: Any = None) -> DeviceArray:
    """An array that lives across launches, which change it in place.

    Parameters
    ----------
    array : NumPy array or what `empty` gives
        Its first values; those of an empty one are never written until a kernel does.
    dtype : NumPy dtype or name, optional
        Format on the device, for instance ``"bfloat16"``; that of the array if none.

    Raises
    ------
    TypeError, ValueError
        For what is no array of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from stacklib import gpu
    >>> def increment(t, x):
    ...     x[t.thread.x] = x[t.thread.x] + 1
    >>> x = gpu.to_device(np.zeros(32, np.int32))
    >>> for _ in range(3):
    ...     ran = gpu.launch(increment, 1, 32, "h100", x)
    >>> int(x.numpy()[5])
    3
    """
    if isinstance(array, Empty):
        form = find(array.dtype if dtype is None else dtype)
        count = math.prod(array.shape)
        raw: Any = np.zeros(count * form.size, np.uint8)
        return DeviceArray(raw, form, array.shape, np.ones(count, bool))
    unmasked(array, "an array")
    values = np.asarray(array)
    sizes, form = layout(values.shape, values.dtype if dtype is None else dtype)
    return DeviceArray(encoded(values, form), form, sizes, np.zeros(values.size, bool))


def arrays(names: Sequence[str], args: Sequence[Any]) -> list[Any]:
    """Arguments as the kernel sees them: arrays as their use, numbers as they are."""
    made = [use_of(n, given) for n, given in zip(names, args, strict=True)]
    constants = [a.values.nbytes for a in args if isinstance(a, Constant)]
    if sum(constants) > MOST_CONSTANT:
        raise ValueError(
            f"{sum(constants):,} B of constants: {MOST_CONSTANT:,} at most a launch"
        )
    alive = [(n, a) for n, a in zip(names, args, strict=True) if _lives(a)]
    for at, (name, one) in enumerate(alive):
        for other, same in alive[:at]:
            if same is one:
                raise ValueError(f"{other} and {name} are one array on the device")
    return made


def _lives(given: Any) -> bool:
    return isinstance(given, DeviceArray)


def use_of(name: str, given: Any) -> Any:
    """An argument as the kernel sees it."""
    if isinstance(given, Empty):
        return ArrayUse(name, "global", find(given.dtype), given.shape)
    if isinstance(given, DeviceArray):
        use = ArrayUse(name, "global", given.form, given.shape, given.raw)
        use.home = given
        return use
    space = "constant" if isinstance(given, Constant) else "global"
    values = given.values if isinstance(given, Constant) else given
    if not isinstance(values, np.ndarray):
        return given
    unmasked(values, name)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    try:
        sizes, form = layout(values.shape, values.dtype)
    except (TypeError, ValueError) as wrong:
        raise TypeError(
            f"{name}: an array {values.shape} of {values.dtype}; {wrong}"
        ) from None
    return ArrayUse(name, space, form, sizes, values)
