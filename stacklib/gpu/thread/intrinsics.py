"""What Python's own functions do with values of lanes."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lang.builder import Value
from ..vm.formats import Form, find

if TYPE_CHECKING:
    from ..lang.operators import Operators
    from ..lang.state import State


def intrinsics(of: State, operators: Operators) -> dict[Any, Callable[..., Any]]:
    """What Python's own functions do with values of lanes."""

    def folded(op: str) -> Callable[..., Any]:
        def fold(*args: Any) -> Any:
            values = list(args[0]) if len(args) == 1 else list(args)
            found = values[0]
            for one in values[1:]:
                found = of.build.lesser(op, found, one)
            return found

        return fold

    def total(values: Any, start: Any = 0) -> Any:
        parts = list(of.iterated(values))
        found = parts.pop(0) if parts and start == 0 else start
        for one in parts:
            found = operators.binary(ast.Add, found, one)
        return found

    def holds(op: type, values: Any) -> Any:
        parts = [of.own(one) for one in of.iterated(values)]
        found: Any = op is ast.BitAnd
        for one in parts:
            found = operators.binary(op, found, holding(one))
        return found

    def whole(value: Any) -> Any:
        if not isinstance(value, Value):
            return int(value)
        if not value.form.floating:
            return value
        raise of.error(
            "a value that differs by lane is no Python int; t.to(int, value) converts"
        )

    def power(base: Any, by: Any, modulus: Any = None) -> Any:
        found = operators.binary(ast.Pow, base, by)
        return found if modulus is None else operators.binary(ast.Mod, found, modulus)

    def parted(left: Any, right: Any) -> Any:
        both = ast.FloorDiv, ast.Mod
        return tuple(operators.binary(op, left, right) for op in both)

    def holding(value: Any) -> Any:
        return of.build.condition(value) if isinstance(value, Value) else bool(value)

    found: dict[Any, Callable[..., Any]] = {
        builtins.min: folded("MIN"),
        builtins.max: folded("MAX"),
        builtins.sum: total,
        builtins.abs: of.build.absolute,
        builtins.all: partial(holds, ast.BitAnd),
        builtins.any: partial(holds, ast.BitOr),
        builtins.int: whole,
        builtins.bool: holding,
        builtins.divmod: parted,
        builtins.pow: power,
    }
    kinds = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    kinds += "float16 float32 float64 bool_"
    for name in kinds.split():
        kind = getattr(np, name)
        found[kind] = _converts(of, find(kind))
    found[math.fabs] = of.build.absolute
    return found


def _converts(of: State, form: Form) -> Callable[..., Any]:
    return lambda value: of.build.converted(form, value)
