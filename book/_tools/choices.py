"""What the pages call chosen: a given, never what a call or a document gave.

A given is typed: a number, a constant of the page, a parameter. What a function
returned was made, and what a document says is quoted; both say so themselves.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from _tools import leaves, said, tree
from stacklib.quantity.counting import PLAIN

PAGES = "stacklib/pages"
LIVE = "live"  # modules whose parameters the reader sets
CONVERTS = ("int", "float", "str", "range")  # a number stays the one it was
READ = re.compile(
    r"\b(?:claim|quoted?\b|report|publish|posts?\b|document\b|spreadsheet|paper\b"
    r"|essay|vendor|measured\b|bought\b|(?:is|are|as|by) (?:said|told)\b"
    r"|as \w+ \w+ (?:has|have|gives?|prints?)\b)",
    re.I,
)
SUPPOSED = re.compile(r"\bsuppos|^chips, ", re.I)  # and so many chips of a kind


def computed(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each ``chosen(...)`` whose number a call made."""
    try:
        body = ast.parse(source)
    except SyntaxError:  # a line for the shell
        return
    for scope in ast.walk(body):
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.ClassDef):
            made: set[str] = set()
            for name, value in _assigned(scope):
                made |= {name} if _made(value, made) else set()
            for call in _own(scope):
                if isinstance(call, ast.Call) and _chooses(call):
                    if _made(call.args[0], made):
                        yield call.lineno, ast.unparse(call)


def numbers(source: str) -> Iterator[float]:
    """The numbers that a cell types."""
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:  # a line for the shell
        return
    for node in nodes:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)


def listed(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each count of one of Python's own that counts typed numbers."""
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:
        return
    for call in nodes:
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
        if not _looks_up(value.func) and getattr(value.func, "id", "") not in CONVERTS:
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


def made() -> Iterator[str]:
    """Those of the pages and of the notebooks, with their places."""
    for path in sorted((tree.ROOT / PAGES).rglob("*.py")):
        if path.stem != LIVE:
            source = path.read_text("utf-8")
            for line, text in (*computed(source), *listed(source)):
                yield f"{path.relative_to(tree.ROOT)}:{line}: {text}"
    for path in tree.notebooks():
        for number, cell in enumerate(tree.read_notebook(path).cells, 1):
            if cell.cell_type == "code":
                for line, text in (*computed(cell.source), *listed(cell.source)):
                    yield f"{tree.name(path)}, cell {number}, line {line}: {text}"


def read(numbers: Iterable[said.Number]) -> Iterator[str]:
    """Numbers that are a choice alone, and whose words say who has or said them."""
    for number in numbers:
        q = number.quantity
        if q.inputs or q.kind != "chosen" or SUPPOSED.search(number.what):
            continue
        words = f"{q.label}; {number.what}"
        for told in [*leaves.named(words), *READ.findall(words)][:1]:
            yield f"{number.cell.place}: {number.name} is chosen and tells of {told}"
