"""Emits the instructions of a kernel: registers, operands, formats, costs.

A register is held by the handles that the compiler keeps; when nothing holds one any
more, it is given to the next result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..vm.formats import (
    BF16,
    BOOL,
    E4M3,
    E5M2,
    F16,
    F32,
    FORMS,
    I64,
    U32,
    WEAK_INT,
    Form,
    common,
    of_constant,
    of_numpy,
)
from ..vm.program import FIELDS, OP, ArrayUse, Box, Instruction, Label, Program
from .joined import joined
from .schedule import scheduled
from .sums import plainly, result_of
from .values import Cell, Home, KernelError, Pool, Value

__all__ = ["Builder", "Home", "KernelError", "Pool", "Value", "needed"]

# Instructions besides the first, of functions that a GPU computes in several: those of
# one special function and what scales its argument and result.
_AFTER = {
    "EXP": 2,
    "LOG": 2,
    "LOG2": 1,
    "EXP2": 1,
    "SQRT": 4,
    "SIN": 8,
    "COS": 8,
    "TANH": 8,
    "FDIV": 8,
    "FPOW": 12,
    "FMOD": 12,
    "FFLOOR": 9,
    "RCP": 1,
    "RSQRT": 1,
}
_SPECIAL = (*_AFTER,)
_FIXED = (*_AFTER, "DIV", "MOD", "POW")  # not moved out of a loop: they may fail


class Builder:
    """Rows of a program as they are made."""

    def __init__(self, name: str, file: str) -> None:
        self.name, self.file = name, file
        self.rows: list[Instruction] = []
        self.pool = Pool()
        self.line = 0
        self.arrays: list[ArrayUse] = []
        self.constants: dict[Any, Value] = {}
        self.specials: dict[str, Value] = {}
        self.local_words = 0
        self.shared_bytes = 0
        # What was computed already, by region: a compiler computes it once.
        self.seen: list[dict[Any, tuple[Any, Any, Any]]] = [{}]
        self.constructs: list[Any] = []  # the compiler's
        self.inserted: list[Instruction] = []  # rows put before loops
        self.mbarriers: list[int] = []
        self.boxes: list[Box] = []
        self.cells: list[Cell] = []  # elements of threads' own arrays
        self.epoch = 0  # a name that a loop may set is another value in its rounds

    def error(self, what: str) -> KernelError:
        """An error that names the line."""
        return KernelError(f"{self.name}, line {self.line}: {what}")

    # -- registers -----------------------------------------------------------

    def new(self, form: Form) -> Value:
        """A register for a result."""
        made = Value(self.pool.take(), form, self.pool, self.error)
        made.level = len(self.seen) - 1
        return made

    def new_row(self, form: Form, count: int) -> tuple[Value, ...]:
        """Registers that follow each other, for a wide load."""
        regs = self.pool.take_row(count)
        row = tuple(Value(r, form, self.pool, self.error) for r in regs)
        for one in row:
            one.level, one.bound = len(self.seen) - 1, True
        return row

    def pinned(self, form: Form) -> Value:
        """A register that is never given to another value."""
        self.pool.made += 1
        return Value(self.pool.made - 1, form, None, self.error)

    def cell(self, form: Form, name: str) -> Cell:
        """A register that is an element of a thread's own array."""
        made = Cell(self.pinned(form).reg, name)
        self.cells.append(made)
        return made

    def constant(self, number: Any, form: Form | None = None) -> Value:
        """The register of a compile-time number in a format."""
        own = of_constant(number)
        if own is None:
            raise self.error(f"{number!r} is no number of a lane")
        form = form or own
        key = (form.code, _bits(number, form))
        if key not in self.constants:
            made = self.constants[key] = self.pinned(form)
            if not form.floating:
                made.sum = plainly(int(number))
        return self.constants[key]

    def special(self, name: str, form: Form = FORMS[WEAK_INT]) -> Value:
        """The register of what a thread is: ``thread.x``, ``lane``, ..."""
        if name not in self.specials:
            self.specials[name] = self.pinned(form)
        return self.specials[name]

    # -- rows ----------------------------------------------------------------

    def emit(self, op: str, dst: int = -1, *regs: int, **more: Any) -> Instruction:
        """One row."""
        a, b, c = (*regs, -1, -1, -1)[:3]
        row = Instruction(op, dst=dst, a=a, b=b, c=c, line=self.line, **more)
        self.rows.append(row)
        return row

    def place(self, label: Label) -> None:
        """The label is here."""
        row = self.emit("PAD")
        row.dead, row.target = True, label

    def op(self, name: str, form: Form, *operands: Value, **more: Any) -> Value:
        """An operation on registers; its result in a new one, or where it stands."""
        result_form = more.pop("result", form)
        for operand in operands if not name.startswith("LOAD") else ():
            needed(operand)
        key = (name, form.code, more.get("imm", 0), *map(self.identity, operands))
        pure = OP[name] <= OP["TEST"] and name != "MOVE"
        known = self.known(key) if pure else None
        if known is not None:
            return known
        kind = more.pop("kind", None)
        kind = pipe(name, form) if kind is None else kind
        level = self.depth_of(operands) if pure and name not in _FIXED else None
        loop = None if level is None else self.loop_around(level)
        result = (
            self.new(result_form)
            if loop is None
            else self.held(result_form, loop.level - 1)
        )
        result.sum = result_of(name, result_form, operands)
        regs = [o.reg for o in operands]
        row = self.emit(name, result.reg, *regs, form=form.code, kind=kind, **more)
        if name in _AFTER:
            around = "fp64" if form.size == 8 else "fp32"
            self.pad(around, _AFTER[name], result)
        elif loop is not None:
            self.before(loop)
            self.seen[loop.level - 1][key] = row, result, operands
        elif pure:
            self.seen[-1][key] = row, result, operands
        return result

    def offset(self, name: str, form: Form, base: Value, plain: int) -> Value:
        """A sum that costs nothing until more than an address wants it."""
        other = self.constant(plain, form)
        key = name, form.code, "offset", self.identity(base), plain
        known = self.known(key)
        if known is not None:
            return known
        result = self.new(form)
        regs = base.reg, other.reg
        row = self.emit(name, result.reg, *regs, form=form.code)
        result.row, result.from_ = row, base.base()
        result.sum = result_of(name, form, (base, other))
        self.seen[-1][key] = row, result, (base,)
        return result

    def held(self, form: Form, level: int) -> Value:
        """A register that nothing in a loop writes but what is put before the loop."""
        self.pool.made += 1
        made = Value(self.pool.made - 1, form, self.pool, self.error)
        made.level, made.bound = level, True
        return made

    def depth_of(self, operands: Any) -> int:
        """The innermost region in which some operand gets its value."""
        return max((self.level(o) for o in operands if o is not None), default=0)

    def level(self, value: Value) -> int:
        """The region in which a value is made; of a name that a loop sets, this one."""
        home = value.home
        if home is not None and home.owner in self.constructs:
            return len(self.seen) - 1
        return value.level

    def loop_around(self, level: int) -> Any:
        """The outermost loop inside which nothing changes a value of a region."""
        for construct in self.constructs:
            if construct.row is not None and construct.level > level:
                return construct
        return None

    def known(self, key: Any) -> Value | None:
        """What was computed before, on the same lanes or more, and still stands."""
        for table in reversed(self.seen):
            if key in table:
                row, value, _ = table[key]
                if not row.dead and row.dst == value.reg:
                    value.bound = True
                    return value
        return None

    def address(self, length: int, bases: list[Any]) -> str:
        """What ``row * length + column`` costs, and where: once, before a loop."""
        key = ("index", length, *map(self.identity, bases))
        if any(key in table for table in self.seen):
            return ""
        level = self.depth_of(bases)
        loop = self.loop_around(level)
        table = self.seen[-1 if loop is None else loop.level - 1]
        table[key] = None, None, bases
        if loop is None:
            return "int"
        self.emit("PAD", kind="int")
        self.before(loop)
        return ""

    def before(self, loop: Any) -> None:
        """Move the last row to before a loop."""
        row = self.rows.pop()
        self.rows.insert(self.rows.index(loop.row), row)
        self.inserted.append(row)

    def identity(self, value: Any) -> Any:
        """What tells a value from others as long as it is kept."""
        if isinstance(value, Value) and value.home is not None:
            return id(value), value.home.version, self.epoch
        return id(value) if isinstance(value, Value) else value

    def indexed(self, row: Value, column: Value, code: int, kind: str) -> Value:
        """``row * length + column``, checked against its axis."""
        result = self.new(FORMS[I64])
        self.emit("INDEX", result.reg, row.reg, column.reg, imm=code, kind=kind)
        return result

    def pad(self, kind: str, count: int, on: Value) -> None:
        """Further instructions of what a GPU computes in several."""
        for _ in range(count):
            self.emit("PAD", on.reg, on.reg, kind=kind)

    # -- formats -------------------------------------------------------------

    def value(self, number: Any) -> Value:
        """A register of a number or a value."""
        return number if isinstance(number, Value) else self.constant(number)

    def form_of(self, number: Any) -> Form:
        """The format of a number or a value."""
        form = number.form if isinstance(number, Value) else of_constant(number)
        if form is None:
            raise self.error(f"{number!r} is no number of a lane")
        return form

    def as_form(self, number: Any, form: Form, kind: str = "convert") -> Value:
        """The number in a format; a register of it."""
        if not isinstance(number, Value):
            return self.constant(number, form)
        needed(number)
        if number.form == form or not changes(number.form, form):
            return number
        return self.op("CONVERT", form, number, imm=number.form.code, kind=kind)

    def converted(self, form: Form, value: Any) -> Value:
        """A number in a format that no longer bends."""
        given = self.value(value)
        if given.form == form:
            return given
        kind = "convert" if form.floating or given.form.floating else "int"
        return self.op("CONVERT", form, given, imm=given.form.code, kind=kind)

    def condition(self, value: Value) -> Value:
        """Yes or no a lane."""
        if value.form.code == BOOL:
            return value
        return self.op("TEST", value.form, value, result=FORMS[BOOL], kind="int")

    def lesser(self, op: str, first: Any, other: Any) -> Any:
        """``MIN`` or ``MAX`` of two."""
        if not isinstance(first, Value) and not isinstance(other, Value):
            return (min if op == "MIN" else max)(self.met(first, other))
        form, given = self.in_common(first, other)
        return self.op("F" + op if form.floating else op, form, *given)

    def absolute(self, value: Any) -> Any:
        """Without its sign."""
        if not isinstance(value, Value):
            return abs(self.met(value, 0)[0])
        form, (given, _) = self.in_common(value, 0)
        if form.family == "uint":
            return given
        return self.op("FABS" if form.floating else "ABS", form, given)

    def chosen(self, test: Value, one: Any, other: Any, wanted: bool = True) -> Value:
        """One where the test is as wanted, else the other: a select."""
        form, (a, b) = self.in_common(one, other)
        if not wanted:
            a, b = b, a
        return self.op("SELECT", form, test, a, b)

    def in_common_form(self, one: Any, other: Any) -> Form:
        """The format in which two meet."""
        return self._meet(self.form_of(one), self.form_of(other), one, other)

    def in_common(self, *numbers: Any) -> tuple[Form, list[Value]]:
        """Operands in the format in which they meet."""
        forms = [self.form_of(n) for n in numbers]
        form = forms[0]
        for number, other in zip(numbers[1:], forms[1:], strict=True):
            form = self._meet(form, other, number, numbers[0])
        return form, [self.as_form(n, form) for n in numbers]

    def met(self, one: Any, other: Any, divided: bool = False) -> tuple[Any, Any]:
        """Numbers of NumPy's formats as lanes' meet; NumPy's own rules are others."""
        given = one, other
        if not of_numpy(given) or None in map(of_constant, given):
            return given
        form = self.in_common_form(one, other)
        if form.weak or (divided and not form.floating):
            plain = [n.item() if isinstance(n, np.generic) else n for n in given]
        else:
            plain = [np.asarray(n).astype(form.dtype)[()] for n in given]
        return plain[0], plain[1]

    @staticmethod
    def _meet(form: Form, other: Form, *numbers: Any) -> Form:
        # A Python number beyond an int's reach fits an unsigned one, perhaps.
        if U32 in (form.code, other.code) and not (form.floating or other.floating):
            plain = [n for n in numbers if type(n) is int]
            if plain and 0 <= plain[0] < 1 << 32:
                return FORMS[U32]
        return common(form, other)

    # -- the whole -----------------------------------------------------------

    def laid_out(self) -> list[Instruction]:
        """Rows that stay; labels know their places then."""
        self.pool.made = joined(self.rows, self.arrays, self.pool.made)
        kept: list[Instruction] = []
        unset = [Instruction("UNSET", dst=cell.reg) for cell in self.cells]
        for row in (*unset, *self.rows):
            if row.dead:
                if row.target is not None:
                    row.target.at = len(kept)
                continue
            kept.append(row)
        starts = {row.target.at for row in self.rows if row.target is not None}
        return scheduled(kept, starts, [use.space for use in self.arrays])

    def program(self) -> Program:
        """The compiled kernel."""
        self.emit("EXIT", kind="exit")
        kept = self.laid_out()
        rows: Any = np.zeros((len(kept), len(FIELDS)), np.int64)
        for at, row in enumerate(kept):
            target = row.target.at if row.target is not None else -1
            rows[at] = (
                OP[row.op],
                row.form,
                row.dst,
                row.a,
                row.b,
                row.c,
                row.imm,
                target,
                bool(row.kind),
                row.line,
            )
        constants = [
            (held.reg, bits[0] if held.form.floating else bits, held.form.floating)
            for (_, bits), held in self.constants.items()
        ]
        specials = [(held.reg, name) for name, held in self.specials.items()]
        return Program(
            self.name,
            self.file,
            rows,
            [row.kind for row in kept],
            self.arrays,
            max(1, self.pool.made),
            constants,
            specials,
            self.shared_bytes,
            self.local_words,
            frozenset(row.op for row in kept),
            mbarriers=self.mbarriers,
            boxes=self.boxes,
            lines={at: row.lines for at, row in enumerate(kept) if row.lines},
        )


def needed(value: Value) -> None:
    """A sum with a plain number is used for more than an address: it costs."""
    if value.row is not None:
        value.row.kind, value.row = "int", None


def of_home(value: Any) -> bool:
    """Whether what a name holds later is seen here, too."""
    return isinstance(value, Value) and value.home is not None


def changes(one: Form, other: Form) -> bool:
    """Whether bits change from one format to another."""
    if one.floating != other.floating:
        return True
    if one.floating:
        return other.size < one.size or F16 <= other.code <= BF16 != one.code == F32
    if other.code == BOOL:
        return one.code != BOOL
    wider = other.size > one.size
    same = other.size == one.size and other.family == one.family
    from_unsigned = one.family in ("uint", "bool")
    return not (same or (wider and (one.family == other.family or from_unsigned)))


def _bits(number: Any, form: Form) -> Any:
    """A number as a register holds it in a format."""
    if form.floating:
        rounded = float(number)
        if form.code in (F16, F32):
            rounded = float(form.dtype.type(rounded))
        elif form.code in (BF16, E4M3, E5M2):
            rounded = narrowed(rounded, form)
        if math.isnan(rounded):
            return (math.nan, "nan")
        return (rounded, math.copysign(1, rounded))
    if form.code == BOOL:
        return int(bool(number))
    bits, whole = 8 * form.size, int(number)
    whole &= (1 << bits) - 1
    signed = form.family == "int" or bits == 64
    return whole - (1 << bits) if signed and whole >> bits - 1 else whole


def narrowed(number: float, form: Form) -> float:
    """A float rounded to a format that NumPy lacks."""
    from ..vm.rounding import narrow

    return float(narrow(number, form.code))


def pipe(op: str, form: Form) -> str:
    """Where a GPU computes an operation: a name of ``issue.streams.KINDS``."""
    if op in _SPECIAL:
        return "fp64" if form.size == 8 and op in ("FDIV", "SQRT") else "special"
    if op in ("DIV", "MOD", "POW"):
        return "int"
    if op in ("COMPARE", "SELECT", "TEST", "NOT") or not form.floating:
        return {"MOVE": "move", "CONVERT": "convert"}.get(op, "int")
    if op in ("MOVE", "CONVERT"):
        return op.lower()
    if form.size == 8:
        return "fp64"
    if op in ("FCOMPARE", "FMIN", "FMAX", "FABS", "FNEG"):
        return "int"
    return "fp16" if form.size == 2 else "fp32"
