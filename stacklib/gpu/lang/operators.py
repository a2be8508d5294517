"""Operators of a kernel: computed now where both sides are plain, else emitted."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, reduce
from typing import Any

import numpy as np

from ..vm.formats import BOOL, F64, FORMS, I32, I64, WEAK_FLOAT, WEAK_INT, of_constant
from .plain import is_plain
from .state import State
from .sums import NOTHING, result_of, sum_of
from .values import Value

BINARY: dict[type, tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("ADD", "FADD", operator.add),
    ast.Sub: ("SUB", "FSUB", operator.sub),
    ast.Mult: ("MUL", "FMUL", operator.mul),
    ast.Div: ("", "FDIV", operator.truediv),
    ast.FloorDiv: ("DIV", "FFLOOR", operator.floordiv),
    ast.Mod: ("MOD", "FMOD", operator.mod),
    ast.Pow: ("POW", "FPOW", operator.pow),
    ast.BitAnd: ("AND", "", operator.and_),
    ast.BitOr: ("OR", "", operator.or_),
    ast.BitXor: ("XOR", "", operator.xor),
    ast.LShift: ("SHL", "", operator.lshift),
    ast.RShift: ("SHR", "", operator.rshift),
}
UNARY: dict[type, Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE: dict[type, tuple[int, Callable[[Any, Any], Any]]] = {
    ast.Lt: (0, operator.lt),
    ast.LtE: (1, operator.le),
    ast.Gt: (2, operator.gt),
    ast.GtE: (3, operator.ge),
    ast.Eq: (4, operator.eq),
    ast.NotEq: (5, operator.ne),
}


PYTHON = (int, float, bool)  # whose operators ask nothing of NumPy


class Operators:
    """Computes what operators make of operands."""

    def __init__(self, of: State) -> None:
        self.of = of

    def binary(self, op: type, left: Any, right: Any, product: str = "") -> Any:
        """An operation on two operands."""
        if op not in BINARY:
            raise self.of.error(f"{op.__name__} has no meaning in a kernel")
        whole, real, plain = BINARY[op]
        if is_plain(left) and is_plain(right):
            return self._plainly(plain, *self.of.build.met(left, right, op is ast.Div))
        for side in (left, right):
            if not isinstance(side, Value) and of_constant(side) is None:
                return self._plainly(plain, left, right)
        return self._emitted(op, whole, real, left, right, product)

    def _plainly(self, plain: Callable[..., Any], *operands: Any) -> Any:
        own = all(type(one) in PYTHON for one in operands)
        try:
            with nullcontext() if own else np.errstate(over="ignore"):
                found = plain(*operands)
        except (ArithmeticError, TypeError, ValueError) as wrong:
            raise self.of.error(_of_plain(wrong)) from None
        return self.of.made(found) if isinstance(found, list) else found

    def _emitted(
        self, op: type, whole: str, real: str, left: Any, right: Any, product: str
    ) -> Any:
        build = self.of.build
        moved = self._offset(whole, left, right) if whole in ("ADD", "SUB") else None
        if moved is not None:
            return moved
        if (known := self._of_round(whole, left, right)) is not None:
            return known
        form, (a, b) = build.in_common(left, right)
        inverse = op is ast.Pow and not isinstance(right, Value) and right < 0
        if (op is ast.Div or inverse) and not form.floating:
            form = FORMS[WEAK_FLOAT]
            a, b = (build.as_form(v, form) for v in (a, b))
        name = real if form.floating else whole
        if not name:
            raise self.of.error(f"{op.__name__} of {form}: whole numbers are needed")
        if form.floating and form.code > F64 and form.size == 1:
            raise self.of.error(f"no arithmetic on {form}; t.to(np.float32, value)")
        if form.code == BOOL:
            form = FORMS[BOOL if name in ("AND", "OR", "XOR") else WEAK_INT]
        if not form.floating and name in ("DIV", "MOD"):
            return self._divided(name, form, a, b, right)
        fused = self._fused(name, form, a, b, product)
        if fused is not None:
            return fused
        result = build.op(name, form, a, b)
        result.keeps = (a, b) if name in ("MUL", "FMUL") else None
        return result

    def _of_round(self, name: str, left: Any, right: Any) -> int | None:
        """A remainder of loops' counters that is the same in all of their rounds."""
        if name not in ("MOD", "AND") or type(right) is not int or right < 1:
            return None
        by = right + (name == "AND")
        if by & right and name == "AND":
            return None  # a mask with holes
        known = sum_of(left) if not left.form.floating else NOTHING
        terms = [(self.of.rounds.get(atom), n) for (atom, _), n in known.terms]
        if not terms or any(rounds is None for rounds, _ in terms):
            return None
        self.of.moduli.add(by)
        found = known.plain
        for rounds, n in terms:
            assert rounds is not None
            if not rounds.told or n * rounds.step % by:
                return None
            found += n * rounds.start
        return found % by

    def _offset(self, name: str, left: Any, right: Any) -> Value | None:
        """A sum with a plain number: an address takes it along for nothing."""
        base = right if name == "ADD" and not isinstance(left, Value) else left
        plain = left if base is right else right
        if not isinstance(base, Value) or type(plain) is not int or base.keeps:
            return None
        form = self.of.build.form_of(base)
        if form.code == BOOL or form.floating:
            return None
        if self.of.build.in_common_form(base, plain) != form:
            return None
        return self.of.build.offset(name, form, base, plain)

    def _fused(self, name: str, form: Any, a: Value, b: Value, product: str) -> Any:
        """One instruction for a product and a sum, as a compiler makes them."""
        build = self.of.build
        made = {"left": a, "right": b}.get(product)
        if made is None or made.bound or name not in ("ADD", "FADD", "SUB", "FSUB"):
            return None
        row = self._made_by(made)
        if row is None or row.op not in ("MUL", "FMUL") or row.form != form.code:
            return None
        if name.endswith("SUB") and product == "right":
            return None
        row.dead = True
        other = b if product == "left" else a
        result = build.new(form)
        result.sum = result_of(name, form, (made, other))
        build.emit(
            "FMAD" if form.floating else "MAD",
            result.reg,
            row.a,
            row.b,
            other.reg,
            form=form.code,
            imm=int(name.endswith("SUB")),
            kind=row.kind,
        )
        return result

    def _made_by(self, made: Value) -> Any:
        """The row that made a value, if what it read is still there."""
        written: set[int] = set()
        for row in reversed(self.of.build.rows):
            if row.dst == made.reg and not row.dead:
                return None if written & {row.a, row.b} else row
            written.add(row.dst)
        return None

    def _divided(self, name: str, form: Any, a: Value, b: Value, given: Any) -> Any:
        """Whole numbers divide by a power of two at once, by others in many steps."""
        build = self.of.build
        power = isinstance(given, int) and given > 0 and given & (given - 1) == 0
        if power and isinstance(given, int):
            shift = given.bit_length() - 1
            if name == "MOD":
                return build.op("AND", form, a, build.constant(given - 1, form))
            return build.op("SHR", form, a, build.constant(shift, form))
        result = build.op(name, form, a, b)
        build.pad("int", 3 if not isinstance(given, Value) else 16, result)
        return result

    def unary(self, op: type, value: Any) -> Any:
        """An operation on one operand."""
        if not isinstance(value, Value):
            zero = value if of_constant(value) is None else 0
            return self._plainly(UNARY[op], self.of.build.met(value, zero)[0])
        if value.form.code == BOOL and op is ast.Invert:  # CUDA and Python say -2
            raise self.of.error("~ of bool: whole numbers are needed, or not")
        form, (value, _) = self.of.build.in_common(value, 0)
        if op is ast.UAdd:
            return value
        if op is ast.Invert:
            if form.floating:
                raise self.of.error(f"~ of {form}: whole numbers are needed, or not")
            return self.of.build.op("INV", form, value)
        return self.of.build.op("FNEG" if form.floating else "NEG", form, value)

    def negated(self, value: Any) -> Any:
        """``not``."""
        if not isinstance(value, Value):
            return not value
        return self.of.build.op("NOT", FORMS[BOOL], self.of.build.condition(value))

    def both_hold(self, one: Any, other: Any) -> Any:
        """``and`` of two conditions that are there already."""
        if not isinstance(one, Value):
            return other if one else one
        if not isinstance(other, Value):
            return one if other else other
        return self.of.build.op("AND", FORMS[BOOL], one, other, kind="")

    def compared(self, op: type, left: Any, right: Any) -> Any:
        """A comparison lane by lane."""
        if is_plain(left) and is_plain(right):
            return self._compared_plainly(op, left, right)
        if op in (ast.In, ast.NotIn) and isinstance(right, list | tuple | dict):
            equal = [self.compared(ast.Eq, left, one) for one in right]
            found = reduce(partial(self.binary, ast.BitOr), equal or [False])
            return self.negated(found) if op is ast.NotIn else found
        if op in (ast.Is, ast.IsNot) and (left is None or right is None):
            return self._compared_plainly(op, left, right)
        if op not in COMPARE:
            raise self.of.error("'in' and 'is' cannot be asked lane by lane")
        build = self.of.build
        for side in (left, right):
            if not isinstance(side, Value) and of_constant(side) is None:
                raise self.of.error(f"{side!r} is compared with a value of each lane")
        form, (a, b) = self._comparable(left, right)
        name = "FCOMPARE" if form.floating else "COMPARE"
        code, _ = COMPARE[op]
        kind = "fp64" if form.floating and form.size == 8 else "int"
        return build.op(name, form, a, b, imm=code, result=FORMS[BOOL], kind=kind)

    def _comparable(self, left: Any, right: Any) -> tuple[Any, list[Value]]:
        """Operands in a format that cuts neither."""
        build = self.of.build
        form, _ = forms = build.form_of(left), build.form_of(right)
        if any(f.floating for f in forms):
            return build.in_common(left, right)
        unsigned = [f.family == "uint" and f.size >= 4 for f in forms]
        if unsigned[0] == unsigned[1]:
            form = next((f for f in forms if f.size == 8), FORMS[I32])
            if unsigned[0]:
                form = max(forms, key=lambda f: f.size)
        else:
            form = (
                FORMS[I64]
                if max(f.size for f in forms) < 8
                else build.in_common(left, right)[0]
            )
        return form, [build.as_form(v, form, kind="") for v in (left, right)]

    def _compared_plainly(self, op: type, left: Any, right: Any) -> Any:
        words: dict[type, Callable[[Any, Any], Any]] = {
            ast.In: lambda a, b: a in b,
            ast.NotIn: lambda a, b: a not in b,
            ast.Is: operator.is_,
            ast.IsNot: operator.is_not,
        }
        plain: Callable[..., Any] = words[op] if op in words else COMPARE[op][1]
        return self._plainly(plain, left, right)


def _of_plain(wrong: Exception) -> str:
    if isinstance(wrong, ZeroDivisionError):
        return f"a number is divided by zero ({wrong})"
    return f"{type(wrong).__name__}: {wrong}"
