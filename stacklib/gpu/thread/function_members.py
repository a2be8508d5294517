"""Functions of numbers: ``fma``, ``exp``, ``popc``, ``to``."""

from __future__ import annotations

from typing import Any

from ..lang.builder import Value
from ..lang.thread import Thread, member
from ..vm.formats import FORMS, WEAK_FLOAT, WEAK_INT


class FunctionMembers(Thread):
    """What is computed of a lane's own numbers."""

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
        return self._of.build.lesser("MIN", first, other)

    @member
    def max(self, first: Any, other: Any) -> Value:
        """The larger of two."""
        return self._of.build.lesser("MAX", first, other)

    @member
    def abs(self, value: Any) -> Value:
        """Without its sign."""
        return self._of.build.absolute(value)

    def _bits(self, op: str, value: Any) -> Value:
        build = self._of.build
        form, (given, _) = build.in_common(value, 0)
        if form.floating:
            raise self._error(f"bits of {form}: whole numbers are needed")
        return build.op(op, form, given, result=FORMS[WEAK_INT], kind="int")

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
        return self._of.build.converted(form, value)


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
        def function(self: FunctionMembers, value: Any) -> Value:
            return self._function(op, value)

        function.__doc__, function.__name__ = words, op.lower()
        return member(function)

    for word, says in _WORDS.items():
        setattr(FunctionMembers, word, made(word.upper(), says))


_functions()
