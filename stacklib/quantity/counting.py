"""What a run counted: the call as a reader can type it, and what went into it."""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator
from dis import get_instructions as instructions
from functools import lru_cache, partial, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, signature, unwrap
from types import CodeType, ModuleType
from typing import Any, ParamSpec

from .core import Quantity, _fill, _make
from .names import UnknownName
from .told import bare, families, of_a_formula
from .units import UnitError, parse

P = ParamSpec("P")
_LONG = 40  # characters of an argument that are shown
OURS, PAGE = "stacklib", "__main__"
# What counts without being ours, where it has something to count.
PLAIN = ("len", "sum", "min", "max", "pow", "prod", "gcd", "floor")
_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+|'[^']*')\]")  # of a path into an outcome


def counting(
    label: str | Callable[..., str],
    *,
    unit: str = "",
    shown: str = "",
    family: str = "",
) -> Callable[[Callable[P, Any]], Callable[P, Quantity]]:
    """What the function below it returns, told as what its run counted.

    ``@counting("steps needed, {name}")`` above ``def least(name: str) -> int``: the
    function then returns a Quantity, whose tree shows the call.

    Parameters
    ----------
    label : str or callable
        What it is called in formulas; it may name the function's parameters in braces.
        Or a function of those parameters.
    unit, shown, family : str
        As ``counted`` takes them.

    Raises
    ------
    UnitError
        As ``counted``, when the function is called.
    """

    def told(function: Callable[P, Any]) -> Callable[P, Quantity]:
        takes = signature(function)

        @wraps(function)
        def count(*args: P.args, **kwargs: P.kwargs) -> Quantity:
            given = takes.bind(*args, **kwargs)
            given.apply_defaults()
            words = (
                label.format(**given.arguments)
                if isinstance(label, str)
                else label(*given.args, **given.kwargs)
            )
            run = partial(counted, function, *given.args, **given.kwargs)
            return run(unit=unit, label=words, shown=shown, family=family)

        return count

    return told


def counted(
    function: Callable[..., Any],
    *args: Any,
    unit: str = "",
    label: str = "",
    take: str | Callable[[Any], Any] = "",
    shown: str = "",
    family: str = "",
    **kwargs: Any,
) -> Quantity:
    """What a run counted, with the function and its arguments as its inputs.

    A quantity that the function returns keeps its own derivation and its stamp.

    Parameters
    ----------
    function : callable
        Called with ``args`` and ``kwargs``; quantities reach it as plain numbers
        when they have no unit. Those among them, and in lists, are its inputs.
    unit : str
        Of the outcome.
    label : str
        What it is called in formulas; default the call.
    take : str or callable
        Which part of the outcome: a path as Python has it, ``"layout.chips"`` or
        ``"[1]"``, or a function of it that a reader can type as well.
    shown : str
        Unit in which it is printed; default that of the outcome.
    family : str
        The model whose prediction it is, where the function returns a plain number.

    Raises
    ------
    UnitError
        When the outcome is not one finite number, or ``function`` is no run that a
        reader can type: private, without a name, or one that only converts a number.

    Examples
    --------
    >>> counted(max, [3, 1, 2], label="the largest").text()
    '3'
    """
    words = _words(args, kwargs)
    path = typed(function, args)
    _refuse_constant(function, path)
    call = f"{path}({words})"
    outcome = function(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
    if callable(take):
        part = typed(take, [outcome])
        _refuse_constant(take, part)
        outcome, call = take(outcome), f"{part}({call})"
    elif take:
        outcome = _part(outcome, take)
        call += take if take.startswith("[") else f".{take}"
    if isinstance(outcome, Quantity):
        if not bare(outcome):
            return _kept(outcome, unit, label, shown, family)
        family = family or min(families(outcome), default="")
        unit, outcome = unit or outcome.unit, outcome.to(unit or outcome.unit).value
    read = parse(unit or "1")
    try:
        si = float(f"{float(outcome) * read.factor:.12g}")
    except (TypeError, ValueError):
        raise UnitError(f"{call} gave {outcome!r}, not a number") from None
    checked = Quantity(si)  # finite, or refused
    inputs = tuple(_inputs((*args, *kwargs.values())))
    blank = object.__new__(Quantity)
    named = label or call.removeprefix(path[: -len(_name(function))])
    own = (named, "counted", None, "counted", inputs, "", family, call, "")
    made = _fill(blank, checked.si, read, *own)
    return made.to(shown) if shown else made


def _part(outcome: Any, path: str) -> Any:
    """What stands in an outcome under attributes, places and keys."""
    steps = list(_STEP.finditer(path))
    if "".join(step.group() for step in steps) != path:
        raise ValueError(
            f"take = {path!r}: attributes and places, such as 'plan[0].tp'"
        )
    for step in steps:
        name, at = step.groups()
        outcome = getattr(outcome, name) if name else outcome[literal_eval(at)]
    return outcome


def _kept(q: Quantity, unit: str, label: str, shown: str, family: str) -> Quantity:
    """A quantity that a function returned, under the name of the call."""
    made = q.to(unit) if unit else q
    made = _make(made, label=label or made.label, family=family or made.family)
    return made.to(shown) if shown else made


def typed(function: Callable[..., Any], args: Iterable[Any] = ()) -> str:
    """A function as a reader calls it: its shortest public path.

    ``args``: what it is called with; what is not ours has to have something to count.

    Raises UnitError for one that cannot be typed, or that only converts a number.
    """
    name = _name(function)
    run = getattr(function, "func", function)  # of a partial
    module = getattr(run, "__module__", None) or "builtins"
    top = module.partition(".")[0]
    if top == OURS:
        path = _path(unwrap(run), module, name)
        if not path:
            raise UnitError(
                f"counted({name}, ...): no reader can type {module}.{name}; give the "
                "function a public name in its module, with @counting(label) above it"
            )
        return _of(function, path)
    if module == PAGE or not _foreign(top):
        if name.startswith("_") or "<lambda>" in name:
            raise UnitError(
                f"counted({name}, ...): no reader can type that; name the function"
            )
        return name.rpartition("<locals>.")[2]
    listed = list(args)
    none = _repeated(listed) if name == "len" else _things(listed) < 2
    if name not in PLAIN or none:
        raise UnitError(
            f"counted({name}, ...) names no run: give the function that ran with its "
            "arguments, or sum and what it adds up"
        )
    return name


def _of(function: Callable[..., Any], path: str) -> str:
    """A method as it is called, of an object as it shows itself."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, type | ModuleType):
        return path
    made, _, method = path.rpartition(".")
    name, _, given = repr(owner).partition("(")
    typed = name == type(owner).__name__ and not re.search(r" = |object at", given)
    return f"{made}({given if typed and len(given) <= _LONG else '…)'}.{method}"


def _things(args: list[Any]) -> int:
    """How many things one of Python's own functions counts: a typed one is none."""
    if len(args) != 1 or not hasattr(args[0], "__len__"):
        return 2 * sum(isinstance(x, Quantity) for x in args)
    typed = isinstance(args[0], range) or any(
        isinstance(x, float) and not x.is_integer() for x in args[0]
    )
    return -1 if typed else len(args[0])


def _repeated(args: list[Any]) -> bool:
    """Whether a length is that of one number written often: it is typed."""
    each = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else ()
    numbers = all(type(x) in (int, float) for x in each)
    return numbers and len({*each}) == 1 < len(each)


def _refuse_constant(function: Callable[..., Any], path: str) -> None:
    run = unwrap(function)
    code = getattr(run, "__code__", None)
    typed = code and run.__module__ == PAGE and _parts_typed(run)
    if code and (typed or _is_constant(code)):
        raise UnitError(
            f"counted({path}, ...) gives a typed number and runs nothing; say "
            "chosen() or assumed(why=), or quote a record"
        )


def _parts_typed(run: Any) -> bool:
    """Whether a cell's own function holds, or reads, a number that is of no formula."""
    code = run.__code__
    given = [*(run.__defaults__ or ()), *(run.__kwdefaults__ or {}).values()]
    beside = [run.__globals__.get(name) for name in code.co_names]
    beside += [cell.cell_contents for cell in run.__closure__ or ()]
    held = [x for x in (*code.co_consts, *given, *beside) if type(x) in (int, float)]
    return any(not (float(x).is_integer() and of_a_formula(x)) for x in held)


@lru_cache(maxsize=4096)
def _is_constant(code: CodeType) -> bool:
    """Whether a function looks at nothing, its own arguments included."""
    if code.co_names or code.co_freevars:
        return False
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    many = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    given = code.co_varnames[: len(given) + many]
    reads = (step.argval for step in instructions(code) if "LOAD_" in step.opname)
    each = (x for read in reads for x in (read if type(read) is tuple else (read,)))
    return not any(name in given for name in each if isinstance(name, str))


def _foreign(top: str) -> bool:
    """Whether a module is Python's or another package's, and no page or test."""
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return top in sys.stdlib_module_names or "site-packages" in file


@lru_cache(maxsize=4096)
def _path(run: Any, module: str, name: str) -> str:
    """The shortest path under which a public name of the package is that function."""
    words, parts = module.split("."), name.split(".")
    if any(word.startswith(("_", "<")) for word in parts):
        return ""
    run = getattr(run, "__func__", run)
    for many in range(1, len(words) + 1):
        if words[many - 1].startswith("_"):
            return ""
        path = ".".join(words[:many])
        found = sys.modules.get(path)
        for part in parts:
            found = getattr(found, part, None)
        if callable(found) and unwrap(found) is run:
            return f"{path}.{name}"
    return ""


def _inputs(values: Iterable[Any]) -> Iterator[Quantity]:
    """The quantities among some arguments, and in lists among them."""
    for value in values:
        if isinstance(value, Quantity):
            yield value
        elif isinstance(value, list | tuple):
            yield from (one for one in value if isinstance(one, Quantity))


def _plain(value: Any) -> Any:
    if not isinstance(value, Quantity) or value.shown.dims:
        return value
    return int(value.si) if value.si == int(value.si) else value.si


def _name(function: Callable[..., Any]) -> str:
    run = getattr(function, "func", function)
    return getattr(run, "__qualname__", type(run).__name__)


def _words(args: Iterable[Any], kwargs: dict[str, Any]) -> str:
    """Arguments as they can be read: ``650 values, 64, 'lru'``."""
    words = [_word(a) for a in args]
    return ", ".join([*words, *(f"{k}={_word(value)}" for k, value in kwargs.items())])


def _kept_call(value: Any) -> str:
    """The call that a room's record comes from; empty for one that was changed."""
    room = type(value).__module__.split(".")[1:2]
    get = room and getattr(sys.modules[f"{OURS}.{room[0]}"], "get", None)
    try:
        same = get and get(value.key) == value
    except UnknownName:
        same = False
    return f"{room[0]}.get({value.key!r})" if same else ""


def _word(value: Any) -> str:
    if isinstance(value, Quantity):
        return value.label or value.text()
    keyed = isinstance(getattr(value, "key", None), str)
    if keyed and not isinstance(value, int | float):  # a device, a model; no size
        return _kept_call(value) or str(value.key)
    if callable(value):
        return getattr(value, "__name__", "a function")
    if isinstance(value, str | bool | int | float | type(None)):
        text = repr(value)
    elif hasattr(value, "shape"):
        text = "×".join(map(str, value.shape)) + " values"
    elif hasattr(value, "__len__") and len(value) > 4:
        text = f"{len(value):,} values"
    else:
        text = repr(value)
    if " object at 0x" in text:
        return type(value).__name__
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
