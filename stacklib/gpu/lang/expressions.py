"""Expressions of a kernel: computed now where they are plain, else by instructions."""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .builder import Home, KernelError, Value
from .formats import BOOL, F64, FORMS, I32, I64, WEAK_FLOAT, WEAK_INT, find, of_constant
from .lane_arrays import LaneArray

if TYPE_CHECKING:
    from .compiler import Compiler
    from .frames import Frame

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
COMPARE: dict[type, tuple[int, Callable[[Any, Any], Any]]] = {
    ast.Lt: (0, operator.lt),
    ast.LtE: (1, operator.le),
    ast.Gt: (2, operator.gt),
    ast.GtE: (3, operator.ge),
    ast.Eq: (4, operator.eq),
    ast.NotEq: (5, operator.ne),
}
SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "//", "MOD": "%"}


class Unset:
    """What a local name holds before anything is assigned to it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Torn:
    """A name that holds a Python object on some path only."""

    def __init__(self, name: str, line: int) -> None:
        self.name, self.line = name, line


def is_plain(value: Any) -> bool:
    """Whether nothing in it differs by lane."""
    if isinstance(value, Value | LaneArray | Unset | Torn):
        return False
    if isinstance(value, list | tuple):
        return all(is_plain(part) for part in value)
    return not (isinstance(value, dict) and not all(map(is_plain, value.values())))


class Expressions:
    """Computes the expressions of one frame after the other."""

    def __init__(self, compiler: Compiler) -> None:
        self.of = compiler

    @property
    def frame(self) -> Frame:
        """The function that is being compiled."""
        return self.of.frame

    def __call__(self, node: ast.expr) -> Any:
        """The value of an expression."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise self.of.error(f"{type(node).__name__} has no meaning in a kernel")
        return method(node)

    # -- names and constants -------------------------------------------------

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        return self.read(node.id)

    def read(self, name: str) -> Any:
        """What a name holds; KernelError where it holds nothing yet."""
        try:
            found = self.frame.find(name)
        except NameError:
            raise self.of.error(f"NameError: name {name!r} is not defined") from None
        if isinstance(found, Unset):
            raise self.of.error(f"{name!r} is read before anything is assigned")
        if isinstance(found, Torn):
            raise self.of.error(
                f"{name!r} was given a Python object in line {found.line}, on a path "
                "that not all lanes take; give it numbers there"
            )
        if isinstance(found, Value) and found.home is not None:
            self._check(found, found.home, name)
        return found

    def _check(self, value: Value, home: Home, name: str) -> None:
        """A lane that reads must have set it, on whatever path it came."""
        if home.tracked and not home.sure & set(self.of.regions):
            self.of.build.emit("CHECK", -1, value.reg, imm=self.of.name_number(name))

    def _Attribute(self, node: ast.Attribute) -> Any:
        owner = self(node.value)
        try:
            return getattr(owner, node.attr)
        except AttributeError as wrong:
            raise self.of.error(f"AttributeError: {wrong}") from None

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _List(self, node: ast.List) -> Any:
        return self.of.made(list(self._items(node.elts)))

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += list(self(node.value))
            else:
                found.append(self.own(self(node)))
        return found

    def own(self, value: Any) -> Any:
        """The value as it is now, whatever its name holds later."""
        if isinstance(value, Value):
            if value.home is not None:
                value = self.of.build.op("MOVE", value.form, value)
            value.bound = True
        return value

    def _Dict(self, node: ast.Dict) -> Any:
        if any(key is None for key in node.keys):
            raise self.of.error("** in a dict has no meaning in a kernel")
        keys = [self(key) for key in node.keys if key is not None]
        values = [self.own(self(value)) for value in node.values]
        return self.of.made(dict(zip(keys, values, strict=True)))

    def _Slice(self, node: ast.Slice) -> Any:
        parts = [node.lower, node.upper, node.step]
        return slice(*(None if part is None else self(part) for part in parts))

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        raise self.of.error("a text with values has no meaning in a kernel")

    def _Lambda(self, node: ast.Lambda) -> Any:
        raise self.of.error("lambda has no meaning in a kernel")

    def _NamedExpr(self, node: ast.NamedExpr) -> Any:
        raise self.of.error("':=' inside an expression; assign on its own line")

    def _never(self, node: ast.expr) -> Any:
        raise self.of.error("a kernel neither yields nor awaits")

    _Yield = _YieldFrom = _Await = _never

    def _ListComp(self, node: ast.ListComp) -> Any:
        return self.of.made(list(self._comprehended(node.generators, node.elt)))

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehended(node.generators, node.elt)

    def _comprehended(
        self, loops: list[ast.comprehension], what: ast.expr
    ) -> list[Any]:
        found: list[Any] = []
        with self.of.inner_scope():
            self._turn(loops, what, found)
        return found

    def _turn(
        self, loops: list[ast.comprehension], what: ast.expr, found: list[Any]
    ) -> None:
        if not loops:
            found.append(self.own(self(what)))
            return
        first, *rest = loops
        for at, item in enumerate(self.of.iterated(self(first.iter))):
            self.of.turns.append(at)
            self.of.bind(first.target, item)
            tests = [self(test) for test in first.ifs]
            if any(isinstance(test, Value) for test in tests):
                raise self.of.error("a list whose length differs by lane")
            if all(tests):
                self._turn(rest, what, found)
            self.of.turns.pop()

    # -- operators -----------------------------------------------------------

    def _BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(type(node.op), *self._two(node), self._product(node))

    def _two(self, node: ast.BinOp) -> tuple[Any, Any]:
        left = self(node.left)
        return left, self(node.right)

    @staticmethod
    def _product(node: ast.BinOp) -> str:
        """Which side is a product that nothing else uses: it joins the sum."""
        if not isinstance(node.op, ast.Add | ast.Sub):
            return ""
        for side in ("left", "right"):
            inner = getattr(node, side)
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
                return side
        return ""

    def binary(self, op: type, left: Any, right: Any, product: str = "") -> Any:
        """An operation on two operands."""
        if op not in BINARY:
            raise self.of.error(f"{op.__name__} has no meaning in a kernel")
        whole, real, plain = BINARY[op]
        if is_plain(left) and is_plain(right):
            return self._plainly(plain, left, right)
        for side in (left, right):
            if not isinstance(side, Value) and of_constant(side) is None:
                return self._plainly(plain, left, right)
        return self._emitted(op, whole, real, left, right, product)

    def _plainly(self, plain: Callable[..., Any], *operands: Any) -> Any:
        try:
            with np.errstate(over="ignore"):
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
        form, (a, b) = build.in_common(left, right)
        if op is ast.Div and not form.floating:
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

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negated(value)
        plain = {
            ast.USub: operator.neg,
            ast.UAdd: operator.pos,
            ast.Invert: operator.invert,
        }[type(node.op)]
        if not isinstance(value, Value):
            return self._plainly(plain, value)
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.Invert):
            if value.form.code == BOOL:
                return self.negated(value)
            return self.of.build.op("INV", self._whole(value, "~").form, value)
        form = FORMS[WEAK_INT] if value.form.code == BOOL else value.form
        return self.of.build.op("FNEG" if form.floating else "NEG", form, value)

    def _whole(self, value: Value, what: str) -> Value:
        if value.form.floating:
            raise self.of.error(f"{what} of {value.form}: whole numbers are needed")
        return value

    def negated(self, value: Any) -> Any:
        """``not``."""
        if not isinstance(value, Value):
            return not value
        return self.of.build.op("NOT", FORMS[BOOL], self.condition(value))

    def condition(self, value: Any) -> Value:
        """Yes or no a lane."""
        build = self.of.build
        if value.form.code == BOOL:
            return value
        return build.op("TEST", value.form, value, result=FORMS[BOOL], kind="int")

    def _Compare(self, node: ast.Compare) -> Any:
        left = self(node.left)
        result: Any = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self(right_node)
            one = self.compared(type(op), left, right)
            result = one if result is None else self.both_hold(result, one)
            left = right
        return result

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
        plain = words[op] if op in words else COMPARE[op][1]
        return self._plainly(plain, left, right)

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        """The second is asked only of the lanes the first leaves open."""
        wanted = isinstance(node.op, ast.And)
        first, *rest = node.values
        value = self(first)
        if not isinstance(value, Value):
            if bool(value) is not wanted or not rest:
                return value
            return (
                self._BoolOp(ast.BoolOp(node.op, rest)) if rest[1:] else self(rest[0])
            )
        if not rest:
            return self.condition(value)
        after = rest[0] if not rest[1:] else ast.BoolOp(node.op, rest)
        return self._asked(self.condition(value), after, wanted)

    def _asked(self, first: Value, node: ast.expr, wanted: bool) -> Value:
        build = self.of.build
        if is_harmless(node):
            other = self(node)
            if not isinstance(other, Value):
                return build.constant(False) if wanted and not other else first
            name = "AND" if wanted else "OR"
            return build.op(name, FORMS[BOOL], first, self.condition(other), kind="")
        result = build.new(FORMS[BOOL])
        build.emit("MOVE", result.reg, first.reg, form=BOOL)
        test = first if wanted else build.op("NOT", FORMS[BOOL], first, kind="")
        with self.of.on_some_lanes(test):
            other = self(node)
            held = (
                build.constant(bool(other))
                if not isinstance(other, Value)
                else self.condition(other)
            )
            build.emit("MOVE", result.reg, held.reg, form=BOOL)
        return result

    def _IfExp(self, node: ast.IfExp) -> Any:
        test = self(node.test)
        if not isinstance(test, Value):
            return self(node.body if test else node.orelse)
        test = self.condition(test)
        if is_harmless(node.body) and is_harmless(node.orelse):
            one, other = self(node.body), self(node.orelse)
            form, (a, b) = self.of.build.in_common(one, other)
            return self.of.build.op("SELECT", form, test, a, b)
        return self.of.chosen(test, node.body, node.orelse)

    # -- elements ------------------------------------------------------------

    def _Subscript(self, node: ast.Subscript) -> Any:
        owner, index = self(node.value), self(node.slice)
        return self.element(owner, index)

    def element(self, owner: Any, index: Any) -> Any:
        """An element of an array, a list, a tuple."""
        if isinstance(owner, LaneArray):
            return owner.load(index)
        if isinstance(owner, Value):
            raise self.of.error("a value of each lane has no elements")
        if self.of.rolled_name(index):
            raise self.of.needs_unrolling(index)
        try:
            return owner[index]
        except KernelError:
            raise
        except (LookupError, TypeError) as wrong:
            raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None

    # -- calls ---------------------------------------------------------------

    def _Call(self, node: ast.Call) -> Any:
        function = self(node.func)
        args = self._items_called(node.args)
        named = {k.arg: self(k.value) for k in node.keywords if k.arg is not None}
        if len(named) < len(node.keywords):
            raise self.of.error("** in a call has no meaning in a kernel")
        return self.called(function, args, named, node)

    def _items_called(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += list(self.of.iterated(self(node.value)))
            else:
                found.append(self(node))
        return found

    def called(self, function: Any, args: list[Any], named: Any, node: ast.Call) -> Any:
        """A call: of a thread's member, a function to compile in, or plain Python."""
        if getattr(function, "of_kernel", False):
            self.of.site = node
            return function(*args, **named)
        own = self.of.intrinsics.get(function) if _hashable(function) else None
        plain = all(map(is_plain, [*args, *named.values()]))
        if own is not None and not plain:
            return own(*args, **named)
        if self.of.can_inline(function, plain):
            return self.of.inlined(function, args, named)
        if function is builtins.print:
            raise self.of.error("a kernel prints nothing; store the values")
        if not plain:
            self._no_function_of_lanes(function, args)
        return self._called_plainly(function, args, named)

    def _called_plainly(self, function: Any, args: list[Any], named: Any) -> Any:
        try:
            found = function(*args, **named)
        except KernelError:
            raise
        except Exception as wrong:
            raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None
        return self.of.made(found) if isinstance(found, list | dict) else found

    def _no_function_of_lanes(self, function: Any, args: list[Any]) -> None:
        """Functions of NumPy and of the standard library take no value of lanes."""
        module = getattr(function, "__module__", "") or ""
        name = getattr(function, "__name__", "")
        numeric = isinstance(function, np.ufunc) or module in ("math", "numpy", "cmath")
        if not numeric or not any(isinstance(a, Value) for a in args):
            return
        own = {"maximum": "max", "minimum": "min", "power": "**"}.get(name, name)
        known = own in self.of.members
        there = (
            f"t.{own}"
            if known
            else "a thread has t.exp, t.log, t.sqrt, t.min and t.max"
        )
        word = "np" if module != "math" else "math"
        raise self.of.error(
            f"{word}.{name} takes no value that differs by lane; {'use ' * known}{there}"
        )


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _of_plain(wrong: Exception) -> str:
    if isinstance(wrong, ZeroDivisionError):
        return f"a number is divided by zero ({wrong})"
    return f"{type(wrong).__name__}: {wrong}"


_HARMLESS = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Attribute,
    ast.expr_context,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_HARMLESS_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def is_harmless(node: ast.expr) -> bool:
    """Whether lanes that do not need it may compute it as well."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp):
            if not isinstance(part.op, _HARMLESS_OPERATORS):
                return False
        elif not isinstance(part, (*_HARMLESS, ast.operator)):
            return False
    return True


def source_of(function: Any) -> tuple[ast.FunctionDef, str]:
    """The definition of a Python function, lines numbered as in its file."""
    import textwrap

    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        raise TypeError(
            f"{function.__name__}: its source is not at hand; define it in a file or "
            "cell"
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{function.__name__}: write the kernel with def")
    ast.increment_lineno(tree, first - 1)
    return found, inspect.getsourcefile(function) or "<kernel>"


__all__ = ["Expressions", "Torn", "Unset", "find", "is_harmless", "is_plain"]
