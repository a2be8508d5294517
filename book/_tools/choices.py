"""What the pages call chosen: a given, never what a call or a document gave.

A given is typed: a number, a constant of the page, a parameter. What a function
returned was made, and what a document says is quoted; both say so themselves.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Any

from _tools import leaves, said, tree
from stacklib.quantity.counting import PLAIN

PAGES = "stacklib/pages"
LIVE = "live"  # modules whose parameters the reader sets
RECORD = "give the record it is from: a spec, a quote, a measurement"
ASSIGNS = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
LOOPS = ASSIGNS | ast.For | ast.comprehension
GOES = ("zip", "enumerate", "sorted", "reversed", "items", "values")  # over a thing
CONVERTS = ("int", "float", "str", "range")  # a number stays the one it was
READ = re.compile(
    r"\b(?:claim|quoted?\b|report|publish|posts?\b|document\b|spreadsheet|paper\b"
    r"|essay|vendor|measured\b|bought\b|(?:is|are|as|by) (?:said|told)\b"
    r"|as \w+ \w+ (?:has|have|gives?|prints?)\b)",
    re.I,
)
# Rates, powers and prices that are a page's own: why.
GIVEN = {
    "16 Gbit/s, 5 GB/s, 8 TB/s, 400 Gbit/s": "a rate of the example, in round",
    "7.8 Gbit/s, 9.2 Gbit/s": "pins that the page's list holds",
    "20 1/s, 10 1/s, 10,000 tokens/s": "traffic of the example",
    "1 TOP/s, 1 TFLOP/s, 1 GHz, 1 mW, 1 GW": "one of a unit",
    "2 USD/h, 100,000 USD/year": "a price that the page supposes",
    "120 V, 1.2 V, 200 W, 230 W": "an outlet, a limit that is set",
    "1,395 MHz, 2,619,000,000 cycles/s": "what nvidia-smi printed",
    "8,760 h": "hours of a year",
}
SUPPOSED = re.compile(r"\bsuppos|^chips, ", re.I)  # and so many chips of a kind


@cache
def parsed(source: str) -> ast.AST:
    """A module or a cell; a line for the shell is none."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module([], [])


def computed(
    source: str, choosers: Mapping[str, int] | None = None, given: Any = ASSIGNS
) -> Iterator[tuple[int, str]]:
    """Line and text of each ``chosen(...)`` whose number a call made.

    - ``choosers``: other names by which the source calls it, or what returns what it
      chose, with the place of the number among their arguments
    - ``given``: by which kinds of node a name is given what it holds
    """
    known = {"chosen": 0, **own(source), **(choosers or {})}
    named = any(name in source for name in known)
    for scope in ast.walk(parsed(source)) if named else ():
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.ClassDef):
            made: set[str] = set()
            for name, value in _assigned(scope, given):
                made |= {name} if _made(value, made) else set()
            for call in _own(scope):
                if isinstance(call, ast.Call):
                    name = "chosen" if _named(call) == "chosen" else _dotted(call.func)
                    at = known.get(name, len(call.args))
                    numbers = [*call.args[at : at + 1], *_value(call, name)]
                    passes = call.args if _named(call) in ("map", "partial") else ()
                    passed = any(_dotted(one) in known for one in passes)
                    if passed or any(_made(one, made) for one in numbers):
                        yield call.lineno, ast.unparse(call)


def _value(call: ast.Call, name: str) -> list[ast.expr]:
    """What ``chosen`` is given by the name of its number."""
    named = (one for one in call.keywords if one.arg == "value")
    return [one.value for one in named if name == "chosen"]


@cache
def own(source: str) -> dict[str, int]:
    """The functions of a source that return what they are given as chosen, and names
    that it gives to ``chosen``; with the place of the number."""
    found: dict[str, int] = {}
    for node in ast.walk(parsed(source)) if "chosen" in source else ():
        match node:
            case ast.Assign([ast.Name(name)], ast.Name("chosen")):
                found[name] = 0
            case ast.alias("chosen", str(name)):
                found[name] = 0
            case ast.FunctionDef():
                given = [arg.arg for arg in node.args.args]
                for back in (n for n in _own(node) if isinstance(n, ast.Return)):
                    call = back.value
                    if isinstance(call, ast.Call) and _chooses(call):
                        number = getattr(call.args[0], "id", "")
                        if number in given:
                            found[node.name] = given.index(number)
    return found


@cache
def _exported() -> dict[str, int]:
    """Those functions of all modules of pages, by their whole names."""
    return {
        f"{_module(place)}.{name}": at
        for place, source, _ in sources()
        if place.endswith(".py")
        for name, at in own(source).items()
    }


@cache
def imported() -> dict[str, dict[str, int]]:
    """What each module and notebook imports of them, by the names it has there."""
    found: dict[str, dict[str, int]] = {}
    for place, source, _ in sources():
        known = found.setdefault(place.partition(", cell")[0], {})
        reads = "stacklib.pages" in source
        for node in ast.walk(parsed(source)) if reads else ():
            if isinstance(node, ast.ImportFrom) and not node.level:
                for one in node.names:
                    whole, here = f"{node.module}.{one.name}", one.asname or one.name
                    for name, at in _exported().items():
                        if name == whole or name.startswith(f"{whole}."):
                            known[here + name.removeprefix(whole)] = at
    return found


def _module(place: str) -> str:
    return place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _dotted(func: ast.expr) -> str:
    """A function as it is called, by a name or one of a module."""
    match func:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(of), name):
            return f"{of}.{name}"
    return ""


def numbers(source: str) -> Iterator[float]:
    """The numbers that a cell types."""
    for node in ast.walk(parsed(source)):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)


def listed(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each count of one of Python's own that counts typed numbers."""
    typed, body = {*CONVERTS}, parsed(source if "counted(" in source else "")
    for name, value in _assigned(body):
        typed = typed - {name} if _moves(value, typed) else typed | {name}
    for call in ast.walk(body):
        if isinstance(call, ast.Call) and _named(call) == "counted" and call.args:
            plain = getattr(call.args[0], "id", "") in PLAIN
            given = [*call.args[1:]]
            if plain and given and not any(_moves(one, typed) for one in given):
                yield call.lineno, ast.unparse(call)


def _moves(value: ast.AST, typed: Set[str]) -> bool:
    """Whether a value stands on anything but numbers that are typed here."""
    nodes = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    held = [one.value for one in ast.walk(value) if isinstance(one, ast.Constant)]
    words = {one for one in held if isinstance(one, str)}
    letters = len({*words}) == len(held) and len({*"".join(words)}) > 1
    named = any(node.id not in typed for node in nodes)
    return named or letters or len(words) > 1


def _named(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _chooses(call: ast.Call) -> bool:
    return _named(call) == "chosen" and bool(call.args)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, none of a scope inside it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child
            yield from _own(child)


def _assigned(scope: ast.AST, given: Any = ASSIGNS) -> Iterator[tuple[str, ast.expr]]:
    """Names of a scope with what they were given, part by part where both are."""
    for node in _own(scope):
        value = getattr(node, "iter", getattr(node, "value", None))
        if not isinstance(node, given) or value is None:
            continue
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            if both and isinstance(node, ast.Assign):
                pairs = list(zip(target.elts, value.elts, strict=True))
            for to, value in pairs:
                names = (one for one in ast.walk(to) if isinstance(one, ast.Name))
                yield from ((one.id, value) for one in names)


def _made(value: ast.AST, names: set[str]) -> bool:
    """Whether a value holds a call, or a name that one was given."""
    if isinstance(value, ast.Call):
        own = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        if not _looks_up(value.func) and _named(value) not in (
            *CONVERTS,
            *GOES,
            "case",
        ):
            return True
        return any(_made(one, names) for one in (*own, *value.args))
    if isinstance(value, ast.IfExp):
        return _made(value.body, names) or _made(value.orelse, names)
    if isinstance(value, ast.Name):
        return value.id in names
    return any(_made(one, names) for one in ast.iter_child_nodes(value))


def _looks_up(call: ast.expr) -> bool:
    """Whether a call is ``get`` of a table of the module."""
    if not isinstance(call, ast.Attribute) or call.attr != "get":
        return False
    name = getattr(call.value, "attr", getattr(call.value, "id", ""))
    return isinstance(call.value, ast.Dict) or name.isupper()


@cache
def sources() -> list[tuple[str, str, bool]]:
    """Place and text of each module of a page and of each cell; whether it is live."""
    found = [
        (tree.name(path), path.read_text("utf-8"), path.stem == LIVE)
        for path in sorted((tree.ROOT / PAGES).rglob("*.py"))
    ]
    for path in tree.notebooks():
        for number, cell in enumerate(tree.read_notebook(path).cells, 1):
            if cell.cell_type == "code":
                found.append((f"{tree.name(path)}, cell {number}", cell.source, False))
    return found


def made(given: Any = ASSIGNS) -> Iterator[str]:
    """Those of the pages and of the notebooks, with their places."""
    for place, source, live in sources():
        known = imported()[place.partition(", cell")[0]]
        found = () if live else (*computed(source, known, given), *listed(source))
        for line, text in found:
            yield f"{place}:{line}: {text}"


def read(numbers: Iterable[said.Number]) -> Iterator[str]:
    """Numbers that are a choice alone, and whose words say who has or said them."""
    for number in numbers:
        q = number.quantity
        if q.inputs or q.kind != "chosen" or SUPPOSED.search(number.what):
            continue
        words = f"{q.label}; {number.what}"
        for told in [*leaves.named(words), *READ.findall(words)][:1]:
            yield f"{number.cell.place}: {number.name} is chosen and tells of {told}"


def rates(cells: Iterable[said.Cell]) -> Iterator[str]:
    """Choices of a rate, and of a time or a price to three digits."""
    for cell in cells:
        for q in (one for one in cell.quantities if one.kind == "chosen"):
            text = q.text(digits=4)
            known = any(text in allowed.split(", ") for allowed in GIVEN)
            fine = float(f"{q.value:.2g}") != q.value or q.shown.dimension("s") < 0
            if said.costs(q) and fine and not known:
                yield f"{cell.place}: {q.label} = {text} is chosen; {RECORD}"
