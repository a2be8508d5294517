"""What a kernel sees: who it is, shared memory, barriers, shuffles, atomics.

The first parameter of every kernel is a ``KernelThread``. Its names are CUDA's in small
letters: ``thread.x`` is ``threadIdx.x``, ``sync()`` is ``__syncthreads()``.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stacklib.quantity.bounds import is_whole

from .builder import Value
from .formats import BOOL, F32, FORMS, U32, WEAK_FLOAT, WEAK_INT, Form, find
from .lane_arrays import LaneArray, layout
from .program import ArrayUse

if TYPE_CHECKING:
    from .compiler import Compiler

F = TypeVar("F", bound=Callable[..., Any])
ATOMICS = ("add", "max", "min", "exch", "cas", "and", "or", "xor", "sub", "inc", "load")
REDUCTIONS = ("add", "min", "max", "and", "or", "xor")
VOTES = ("any", "all", "ballot", "active")
SHUFFLES = ("from", "down", "up", "xor")
SCOPES = ("block", "device")


def member(function: F) -> F:
    """A member that makes instructions when a kernel calls it."""
    function.of_kernel = True  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True, slots=True)
class Dim:
    """Three numbers, or three values a lane: ``x`` varies fastest."""

    x: Any
    y: Any = 1
    z: Any = 1


class KernelThread:
    """The context of a kernel: every member is a value a lane, or acts on lanes."""

    def __init__(
        self, of: Compiler, grid: Dim, block: Dim, limit: int, dynamic: int
    ) -> None:
        self._of, self._limit, self._dynamic = of, limit, dynamic
        self.block_dim, self.grid_dim = block, grid
        special = of.build.special

        def place(word: str, size: Dim) -> Dim:
            return Dim(
                *(
                    special(f"{word}.{axis}")
                    if axis == "x" or getattr(size, axis) > 1
                    else 0
                    for axis in "xyz"
                )
            )

        self.thread, self.block = place("thread", block), place("block", grid)
        self.lane = special("lane")
        self.warp = special("warp")
        self._made: dict[Any, LaneArray] = {}

    def _error(self, what: str) -> Exception:
        return self._of.error(what)

    # -- memory --------------------------------------------------------------

    @member
    def shared(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """An array that the threads of a block share; it holds nothing yet."""
        return self._array("shared", shape, dtype)

    @member
    def local(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """A thread's own array; an index that differs by lane puts it in memory."""
        return self._array("local", shape, dtype)

    @member
    def dynamic_shared(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """Shared memory whose bytes the launch gives (``shared_bytes``)."""
        made = self._array("shared", shape, dtype, dynamic=True)
        return made

    def _array(
        self, space: str, shape: Any, dtype: Any, dynamic: bool = False
    ) -> LaneArray:
        of = self._of
        key = (id(of.site), space, *of.turns)
        try:
            sizes, form = layout(shape, dtype)
        except (TypeError, ValueError, LookupError) as wrong:
            raise self._error(f"{space}({shape!r}): {wrong}") from None
        known = self._made.get(key)
        if known is not None:
            if (known.shape, known.use.form) != (sizes, form):
                raise self._error(
                    f"{known.use.name} is declared again with another shape or format"
                )
            return known
        name = self._name(space)
        made = of.array(ArrayUse(name, space, form, sizes))
        self._made[key] = made
        self._placed(made, dynamic)
        return made

    def _name(self, space: str) -> str:
        kept = [a for a in self._of.build.arrays if a.space == space]
        return f"{space} array {len(kept) + 1}"

    def _placed(self, made: LaneArray, dynamic: bool) -> None:
        build, use = self._of.build, made.use
        if use.space == "local":
            use.base = build.local_words
            build.local_words += made.size
            return
        use.base = -(-build.shared_bytes // 16) * 16
        build.shared_bytes = use.base + made.size * made.itemsize
        if dynamic and made.size * made.itemsize > self._dynamic:
            raise self._error(
                f"{made.size * made.itemsize:,} B of dynamic shared memory; the launch "
                f"gives {self._dynamic:,} (shared_bytes=)"
            )
        if build.shared_bytes > self._limit:
            raise self._error(
                f"a block declares {build.shared_bytes:,} B of shared memory; it may "
                f"have {self._limit:,} B"
            )

    @member
    def load(self, array: LaneArray, index: Any, count: int = 1) -> Any:
        """``count`` neighbours by one wide load, the first at ``index``."""
        self._width(array, count)
        return array.load_row(index, count)

    @member
    def store(self, array: LaneArray, index: Any, values: Any) -> None:
        """Neighbours by one wide store, the first at ``index``."""
        given = list(values) if isinstance(values, list | tuple) else [values]
        self._width(array, len(given))
        array.store_row(index, given)

    def _width(self, array: Any, count: Any) -> None:
        if not isinstance(array, LaneArray):
            raise self._error(f"{array!r} is no array of the device")
        if not is_whole(count) or count not in (1, 2, 4, 8, 16):
            raise self._error(f"{count!r} neighbours: 1, 2, 4, 8 or 16")
        if count * array.itemsize > 16:
            raise self._error(
                f"{count} of {array.use.form} are {count * array.itemsize} bytes; one "
                "load or store moves 16 at most"
            )

    # -- order ---------------------------------------------------------------

    @member
    def sync(self) -> None:
        """A barrier for the block; every thread that has not returned must come."""
        self._of.build.emit("BARRIER", kind="barrier")

    @member
    def syncwarp(self) -> None:
        """A barrier for the warp."""
        self._of.build.emit("WARP_BARRIER", kind="barrier")

    @member
    def bar_sync(self, number: Any, threads: int) -> None:
        """Wait at a named barrier until so many threads have come to it."""
        self._named(number, threads, 1)

    @member
    def bar_arrive(self, number: Any, threads: int) -> None:
        """Come to a named barrier without waiting."""
        self._named(number, threads, 2)

    def _named(self, number: Any, threads: Any, how: int) -> None:
        if not is_whole(threads) or threads < 32 or threads % 32:
            raise self._error(
                f"a named barrier of {threads!r} threads: whole warps, 32, 64, ..."
            )
        given = self._of.build.value(number)
        kind = "barrier" if how == 1 else "arrive"
        self._of.build.emit(
            "BARRIER", -1, given.reg, -1, threads // 32, imm=how, kind=kind
        )

    @member
    def grid_sync(self) -> None:
        """A barrier for the grid, all of whose blocks must be resident."""
        self._of.build.emit("GRID_BARRIER", kind="barrier")

    @member
    def fence(self) -> None:
        """What this thread wrote before is seen by the device before what follows."""
        self._of.build.emit("FENCE", imm=1, kind="fence")

    @member
    def fence_block(self) -> None:
        """The same for the block."""
        self._of.build.emit("FENCE", imm=0, kind="fence")

    @member
    def load_acquire(self, array: LaneArray, index: Any) -> Value:
        """Load; what the one who released the value did before is seen after."""
        return array.atomic(ATOMICS.index("load"), index)

    @member
    def store_release(self, array: LaneArray, index: Any, value: Any) -> None:
        """Store, after all that this thread did before is seen by others."""
        self._of.build.emit("FENCE", imm=1, kind="fence")
        array.atomic(ATOMICS.index("exch"), index, value)

    # -- between lanes -------------------------------------------------------

    @member
    def shuffle(self, value: Any, source: Any, width: int = 32) -> Value:
        """The value of lane ``source`` of the same warp, or of its part of ``width``."""
        return self._shuffled(0, value, source, width)

    @member
    def shuffle_down(self, value: Any, delta: Any, width: int = 32) -> Value:
        """The value of the lane ``delta`` above; its own where there is none."""
        return self._shuffled(1, value, delta, width)

    @member
    def shuffle_up(self, value: Any, delta: Any, width: int = 32) -> Value:
        """The value of the lane ``delta`` below; its own where there is none."""
        return self._shuffled(2, value, delta, width)

    @member
    def shuffle_xor(self, value: Any, bits: Any, width: int = 32) -> Value:
        """The value of the lane whose number differs in these bits."""
        return self._shuffled(3, value, bits, width)

    def _shuffled(self, how: int, value: Any, by: Any, width: Any) -> Value:
        build = self._of.build
        if not is_whole(width) or width not in (1, 2, 4, 8, 16, 32):
            raise self._error(f"a shuffle of width {width!r}: 1, 2, 4, 8, 16 or 32")
        form = build.form_of(by)
        if form.floating:
            raise self._error(f"a shuffle from lane {by!r}: a whole number is needed")
        given, other = build.value(value), build.value(by)
        return build.op(
            "SHUFFLE", given.form, given, other, imm=how * 64 + width, kind="shuffle"
        )

    @member
    def any(self, test: Any) -> Value:
        """Whether the test holds for some active lane of the warp."""
        return self._vote("any", test, BOOL)

    @member
    def all(self, test: Any) -> Value:
        """Whether it holds for every active lane of the warp."""
        return self._vote("all", test, BOOL)

    @member
    def ballot(self, test: Any) -> Value:
        """A bit for each active lane of the warp for which the test holds."""
        return self._vote("ballot", test, U32)

    @member
    def active_mask(self) -> Value:
        """A bit for each active lane."""
        return self._vote("active", True, U32)

    def _vote(self, how: str, test: Any, form: int) -> Value:
        build = self._of.build
        held = self._of.expr.condition(build.value(test))
        return build.op("VOTE", FORMS[form], held, imm=VOTES.index(how), kind="vote")

    @member
    def match_any(self, value: Any) -> Value:
        """A bit for each active lane whose value is the same."""
        build = self._of.build
        return build.op("MATCH", FORMS[U32], build.value(value), kind="vote")

    @member
    def reduce_add(self, value: Any) -> Value:
        """The sum over the active lanes of the warp, of whole numbers."""
        return self._reduced("add", value)

    @member
    def reduce_min(self, value: Any) -> Value:
        """The smallest over the active lanes of the warp, of whole numbers."""
        return self._reduced("min", value)

    @member
    def reduce_max(self, value: Any) -> Value:
        """The largest over the active lanes of the warp, of whole numbers."""
        return self._reduced("max", value)

    def _reduced(self, how: str, value: Any) -> Value:
        build = self._of.build
        given = build.value(value)
        if given.form.floating:
            raise self._error(
                f"reduce_{how} of {given.form}: whole numbers are needed; use shuffles"
            )
        return build.op(
            "REDUCE", given.form, given, imm=REDUCTIONS.index(how), kind="shuffle"
        )

    # -- functions -----------------------------------------------------------

    def _function(self, op: str, value: Any) -> Value:
        build = self._of.build
        form = build.form_of(value)
        if not form.floating:
            form = FORMS[WEAK_FLOAT]
        if form.size == 1:
            raise self._error(f"no arithmetic on {form}; t.to(np.float32, value)")
        kind = "fp64" if form.size == 8 else None
        return build.op(op, form, build.as_form(value, form), kind=kind)

    @member
    def fma(self, a: Any, b: Any, c: Any) -> Value:
        """``a * b + c``, rounded once."""
        build = self._of.build
        form, given = build.in_common(a, b, c)
        return build.op("FMA" if form.floating else "MAD", form, *given)

    @member
    def min(self, first: Any, other: Any) -> Value:
        """The smaller of two."""
        return self._of.lesser("MIN", first, other)

    @member
    def max(self, first: Any, other: Any) -> Value:
        """The larger of two."""
        return self._of.lesser("MAX", first, other)

    @member
    def abs(self, value: Any) -> Value:
        """Without its sign."""
        build = self._of.build
        given = build.value(value)
        return build.op("FABS" if given.form.floating else "ABS", given.form, given)

    def _bits(self, op: str, value: Any) -> Value:
        build = self._of.build
        given = build.value(value)
        if given.form.floating:
            raise self._error(f"bits of {given.form}: whole numbers are needed")
        result = FORMS[WEAK_INT]
        return build.op(op, given.form, given, result=result, kind="int")

    @member
    def popc(self, value: Any) -> Value:
        """Bits that are set."""
        return self._bits("POPC", value)

    popcount = popc

    @member
    def clz(self, value: Any) -> Value:
        """Zero bits before the highest that is set."""
        return self._bits("CLZ", value)

    @member
    def ffs(self, value: Any) -> Value:
        """Number of the lowest bit that is set, from 1; 0 for none."""
        return self._bits("FFS", value)

    @member
    def to(self, dtype: Any, value: Any) -> Value:
        """The value in another format, rounded or cut as NumPy does."""
        form = self._form(dtype)
        return self._of.converted(form, value)

    def _form(self, dtype: Any) -> Form:
        try:
            return find(dtype)
        except (TypeError, ValueError, LookupError) as wrong:
            raise self._error(str(wrong)) from None


_WORDS = {
    "exp": "e to the power of the value.",
    "exp2": "Two to the power of the value.",
    "log": "Natural logarithm.",
    "log2": "Logarithm to base two.",
    "sqrt": "Square root.",
    "rsqrt": "One over the square root.",
    "rcp": "One over the value.",
    "sin": "Sine, of radians.",
    "cos": "Cosine, of radians.",
    "tanh": "Hyperbolic tangent.",
    "floor": "The whole number below.",
    "ceil": "The whole number above.",
}


def _functions() -> None:
    def made(op: str, words: str) -> Any:
        def function(self: KernelThread, value: Any) -> Value:
            return self._function(op, value)

        function.__doc__, function.__name__ = words, op.lower()
        return member(function)

    for word, says in _WORDS.items():
        setattr(KernelThread, word, made(word.upper(), says))


def _atomics() -> None:
    says = {
        "add": "Add to an element",
        "max": "Keep the larger",
        "min": "Keep the smaller",
        "exch": "Put the value in its place",
        "and": "Keep the bits that both have",
        "or": "Set the value's bits",
        "xor": "Flip the value's bits",
        "sub": "Take from an element",
        "inc": "Count up, and begin at 0 after the value",
    }

    def made(what: str, words: str) -> Any:
        def atomic(self: KernelThread, array: Any, index: Any, value: Any) -> Value:
            if not isinstance(array, LaneArray) or array.use.space == "local":
                raise self._error(f"{array!r} is no array that threads share")
            if what in ("and", "or", "xor", "inc") and array.use.form.floating:
                raise self._error(f"atomic_{what} of {array.use.form}")
            return array.atomic(ATOMICS.index(what), index, value)

        atomic.__doc__, atomic.__name__ = (
            f"{words}; what stood there.",
            f"atomic_{what}",
        )
        return member(atomic)

    for what, words in says.items():
        setattr(KernelThread, f"atomic_{what}", made(what, words))

    def cas(
        self: KernelThread, array: Any, index: Any, expected: Any, new: Any
    ) -> Value:
        """Put ``new`` where ``expected`` stands; what stood there."""
        if not isinstance(array, LaneArray) or array.use.space == "local":
            raise self._error(f"{array!r} is no array that threads share")
        return array.atomic(ATOMICS.index("cas"), index, expected, new)

    KernelThread.atomic_cas = member(cas)  # type: ignore[attr-defined]


_functions()
_atomics()
MEMBERS = frozenset(
    name for name, what in vars(KernelThread).items() if getattr(what, "of_kernel", 0)
)


def intrinsics(of: Compiler) -> dict[Any, Callable[..., Any]]:
    """What Python's own functions do with values of lanes."""

    def folded(op: str) -> Callable[..., Any]:
        def fold(*args: Any) -> Any:
            values = list(args[0]) if len(args) == 1 else list(args)
            found = values[0]
            for one in values[1:]:
                found = of.lesser(op, found, one)
            return found

        return fold

    def total(values: Any, start: Any = 0) -> Any:
        import ast

        parts = list(of.iterated(values))
        found = parts.pop(0) if parts and start == 0 else start
        for one in parts:
            found = of.expr.binary(ast.Add, found, one)
        return found

    def absolute(value: Any) -> Any:
        form = of.build.form_of(value)
        return of.build.op("FABS" if form.floating else "ABS", form, value)

    def whole(value: Any) -> Any:
        if isinstance(value, Value) and not value.form.floating:
            return value
        raise of.error(
            "a value that differs by lane is no Python int; t.to(int, value) converts"
        )

    def power(base: Any, by: Any) -> Any:
        import ast

        return of.expr.binary(ast.Pow, base, by)

    found: dict[Any, Callable[..., Any]] = {
        builtins.min: folded("MIN"),
        builtins.max: folded("MAX"),
        builtins.sum: total,
        builtins.abs: absolute,
        builtins.int: whole,
        builtins.pow: power,
    }
    kinds = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool_"
    for name in kinds.split():
        kind = getattr(np, name)
        found[kind] = _converts(of, find(kind))
    found[math.fabs] = absolute
    return found


def _converts(of: Compiler, form: Form) -> Callable[..., Any]:
    return lambda value: of.converted(form, value)


__all__ = ["F32", "MEMBERS", "Dim", "KernelThread", "intrinsics"]
