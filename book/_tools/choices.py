"""What the pages call chosen: a given, never what a call or a document gave.

A given is typed: a number, a constant of the page, a parameter. What a function
returned was made, and what a document says is quoted; both say so themselves.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from _tools import leaves, said, tree
from stacklib.quantity.counting import PLAIN

PAGES = "stacklib/pages"
LIVE = "live"  # modules whose parameters the reader sets
RECORD = "give the record it is from: a spec, a quote, a measurement"
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
    source: str, choosers: Mapping[str, int] | None = None
) -> Iterator[tuple[int, str]]:
    """Line and text of each ``chosen(...)`` whose number a call made.

    - ``choosers``: other names by which the source calls it, or what returns what it
      chose, with the place of the number among their arguments
    """
    known = {"chosen": 0, **own(source), **(choosers or {})}
    for scope in ast.walk(parsed(source)):
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.ClassDef):
            made: set[str] = set()
            for name, value in _assigned(scope):
                made |= {name} if _made(value, made) else set()
            for call in _own(scope):
                if isinstance(call, ast.Call):
                    at = known.get(_dotted(call.func), len(call.args))
                    if any(_made(one, made) for one in call.args[at : at + 1]):
                        yield call.lineno, ast.unparse(call)


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
    for call in ast.walk(parsed(source)):
        if isinstance(call, ast.Call) and _named(call) == "counted" and call.args:
            plain = getattr(call.args[0], "id", "") in PLAIN
            given = [*call.args[1:]]
            if plain and given and not any(map(_moves, given)):
                yield call.lineno, ast.unparse(call)


def _moves(value: ast.AST) -> bool:
    """Whether a value stands on anything but numbers that are typed here."""
    nodes = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    words = [one for one in ast.walk(value) if isinstance(one, ast.Constant)]
    named = any(node.id not in CONVERTS for node in nodes)
    return named or len({one.value for one in words if isinstance(one.value, str)}) > 1


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


def _assigned(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names of a scope with what they were given, part by part where both are."""
    for node in (one for one in _own(scope) if isinstance(one, ast.Assign)):
        for target in node.targets:
            pairs: list[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for to, value in pairs:
                names = (one for one in ast.walk(to) if isinstance(one, ast.Name))
                yield from ((one.id, value) for one in names)


def _made(value: ast.AST, names: set[str]) -> bool:
    """Whether a value holds a call, or a name that one was given."""
    if isinstance(value, ast.Call):
        name = getattr(value.func, "id", "")
        if not _looks_up(value.func) and name not in (*CONVERTS, "case"):
            return True
        return any(_made(one, names) for one in value.args)
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


def made() -> Iterator[str]:
    """Those of the pages and of the notebooks, with their places."""
    for place, source, live in sources():
        known = imported()[place.partition(", cell")[0]]
        for line, text in () if live else (*computed(source, known), *listed(source)):
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
