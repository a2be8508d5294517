"""Times that a page makes itself: bytes over a bandwidth, which a room divides.

Read from the source of page modules, drawings and notebooks' cells. What is bytes a
second is known by its field or unit, by a document's number, or by the name or page's
function that holds such a thing. A rate over a rate is a ratio, which a page may form.
A rate that comes out of a room under another name is not seen.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from _tools import tree
from stacklib.quantity import quoted

FOLDERS = ("stacklib/pages", "stacklib/plots")
UNIT = re.compile(r"(?:[kMGTP]i?)?(?:B|bit)/s(?: per_\w+)*")
BYTES = re.compile(r"(?:\w+_)?bandwidths?|per_direction|bidirectional|achieved")
FIELDS = ("link", "host_link", "read", "write", "near", "far")  # of devices, drives
RATE = re.compile(r"(?:.*[_.])?(?:peaks?|rates?|speeds?|clock|goodput|bandwidths?)")
SAME = ("named", "to", "retag", "across", "at_clock", "si", "value")
EITHER = ("min", "max", "minimum", "maximum", "float")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ADVICE = "a room divides: memory_time, link_time, moving_time of roofline"
# What is no time: why, by the text of the division.
RATIOS = {
    "price(HBM) / full": "dollars for a byte a second",
    "size / (EVERY * port)": "share of a port's bytes that are one's own",
    "published()[name] / bandwidth()": "a measured rate over the data sheet's",
    "measured(row) / chosen(1, 'GB/s', label='one GB/s')": "a rate as a plain number",
    "ucie_edge('advanced') / edge_bandwidth('hbm4')": "two rates of an edge",
}


@dataclass
class Names:
    """What the names of a function, or of a module, stand for."""

    body: list[ast.AST]
    above: "Names | None" = None
    given: dict[str, bool] = field(default_factory=dict)  # arguments: is it a rate

    @cached_property
    def bound(self) -> dict[str, list[ast.expr]]:
        """Each name with all that is ever assigned to it."""
        found: dict[str, list[ast.expr]] = {}
        for node in (n for n in self.body if isinstance(n, ast.Assign)):
            for target in node.targets:
                for name, value in paired(target, node.value):
                    found.setdefault(name, []).append(value)
        return found

    def values(self, name: str) -> list[ast.expr]:
        """What a name stands for, here or further out."""
        if name in self.bound or not self.above:
            return self.bound.get(name, [])
        return self.above.values(name)


@dataclass
class Source:
    """A module, or a notebook's cells as one: functions, names, what it imports."""

    name: str  # dotted; empty of a notebook
    path: Path
    code: ast.Module
    root: Path

    @cached_property
    def own(self) -> Names:
        """What stands outside of functions."""
        return Names(inside(self.code))

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        """Its functions, those in classes too."""
        return {f.name: f for f in ast.walk(self.code) if isinstance(f, FUNCTIONS)}

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """Each imported name: its module, and its own name there."""
        package = self.name.split(".")
        if self.path.name != "__init__.py":
            package.pop()
        found: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.code):
            if isinstance(node, ast.ImportFrom):
                up = package[: len(package) + 1 - node.level] if node.level else []
                module = ".".join([*up, *filter(None, [node.module])])
                found |= {a.asname or a.name: (module, a.name) for a in node.names}
        return found

    def divided(self) -> Iterator[ast.BinOp | ast.AugAssign]:
        """Where what is no rate is divided by bytes a second."""
        within = [Names(inside(f), self.own) for f in self.functions.values()]
        for names in (self.own, *within):
            for node in names.body:
                match node:
                    case ast.BinOp(
                        left, ast.Div() | ast.FloorDiv(), right
                    ) | ast.AugAssign(left, ast.Div() | ast.FloorDiv(), right) if (
                        self.rate(right, names) and not self.some_rate(left, names)
                    ):
                        yield node

    def some_rate(self, node: ast.AST, names: Names) -> bool:
        """Whether a rate of any kind is named in it, or in what its names stand for."""
        parts = [node, *names.values(getattr(node, "id", ""))]
        every = [n for part in parts for n in ast.walk(part)]
        said = [*map(final, every), *(t for part in parts for t in texts(part))]
        return self.rate(node, names) or any(map(RATE.fullmatch, said))

    def rate(self, node: ast.AST, names: Names, deep: int = 0) -> bool:
        """Whether an expression is bytes a second."""
        if deep > 20:  # names that stand for each other
            return False

        def of(*nodes: ast.AST) -> list[bool]:
            return [self.rate(n, names, deep + 1) for n in nodes]

        match node:
            case ast.Attribute(value, attr) if attr in SAME:
                return any(of(value))
            case ast.Attribute(_, attr):
                return bool(BYTES.fullmatch(attr)) or attr in FIELDS
            case ast.Subscript(_, ast.Constant(str(key))):
                return bool(BYTES.fullmatch(key))
            case ast.Name(name) if name in names.given:
                return names.given[name]
            case ast.Name(name):
                found = names.values(name)
                return any(of(*found)) if found else bool(BYTES.fullmatch(name))
            case ast.Call(ast.Attribute(_, "to"), [ast.Constant(str(unit))]):
                return bool(UNIT.fullmatch(unit))
            case ast.Call(ast.Attribute(value, attr)) if attr in SAME:
                return any(of(value))
            case ast.Call(func, args) if final(func) in EITHER:
                return any(of(*args))
            case ast.Call(func, [ast.Constant(str(key))]) if final(func) == "quoted":
                return bool(UNIT.fullmatch(quoted(key).unit))
            case ast.Call(func, _) if final(func) == "one_of":  # it makes a number
                return False
            case ast.Call(func, args, keywords):
                said = [*args, *(k.value for k in keywords)]
                said += [v for n in said for v in names.values(final(n))]
                return any(map(units, said)) or self.gives(func, of(*args), deep)
            case ast.BinOp(left, ast.Mult(), right):
                return sum(of(left, right)) == 1
            case ast.BinOp(left, ast.Div(), right):
                return of(left, right) == [True, False]
            case ast.IfExp(_, body, orelse):
                return any(of(body, orelse))
        return False

    def gives(self, func: ast.AST, args: list[bool], deep: int) -> bool:
        """Whether a call returns bytes a second: a page's function is read."""
        module: Source | None = self
        name = final(func)
        if BYTES.fullmatch(name):
            return True
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            module = self.page(".".join(self.imported.get(func.value.id, ())))
        elif name in self.imported:
            where, name = self.imported[name]
            module = self.page(where)
        made = module.functions.get(name) if module else None
        if not module or not made:
            return False
        given = {a.arg: rate for a, rate in zip(made.args.args, args, strict=False)}
        names = Names(inside(made), module.own, given)
        back = [n.value for n in names.body if isinstance(n, ast.Return) and n.value]
        return any(map(units, made.decorator_list)) or any(
            module.rate(value, names, deep + 1) for value in back
        )

    def page(self, name: str) -> "Source | None":
        """A module of the folders that are read, by its dotted name."""
        mine = name.replace(".", "/").startswith(FOLDERS)
        return read(name, self.root) if mine else None


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names with their values, of ``a, b = x, y`` too."""
    match target, value:
        case ast.Name(name), _:
            yield name, value
        case ast.Tuple(targets), ast.Tuple(values):
            for one, its in zip(targets, values, strict=False):
                yield from paired(one, its)


@cache
def inside(node: ast.AST) -> list[ast.AST]:
    """Nodes of a function or module, without those of functions within it."""
    found, left = [], list(ast.iter_child_nodes(node))
    while left:
        one = left.pop()
        found.append(one)
        if not isinstance(one, FUNCTIONS):
            left += ast.iter_child_nodes(one)
    return found


def final(node: ast.AST) -> str:
    """The last name of a name or an attribute."""
    return getattr(node, "attr", getattr(node, "id", ""))


def texts(node: ast.AST) -> list[str]:
    """Texts in an expression."""
    every = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return [value for value in every if isinstance(value, str)]


def units(node: ast.AST) -> bool:
    """Whether it names a unit of bytes a second."""
    return any(map(UNIT.fullmatch, texts(node)))


@cache
def read(name: str, root: Path = tree.ROOT) -> Source | None:
    """A module by its dotted name."""
    stem = root.joinpath(*name.split("."))
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.exists():
            return Source(name, path, ast.parse(path.read_text("utf-8")), root)
    return None


def sources(root: Path = tree.ROOT) -> Iterator[Source]:
    """Every module that is read, and each cell of every notebook."""
    for folder in FOLDERS:
        for path in tree.find(root, folder, "*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            made = read(".".join(p for p in parts if p != "__init__"), root)
            yield from filter(None, [made])
    for path in tree.notebooks(root):
        cells = tree.read_notebook(path).cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        yield Source("", path, ast.parse(code), root)


def divisions(root: Path = tree.ROOT) -> list[tuple[str, str]]:
    """Each division of what is no rate by bytes a second: where, and its text."""
    return [
        (tree.name(one.path, root), ast.unparse(node))
        for one in sources(root)
        for node in one.divided()
    ]


def faults(root: Path = tree.ROOT) -> list[str]:
    """Those that make a time."""
    return [
        f"{place}: {text}: {ADVICE}"
        for place, text in divisions(root)
        if text not in RATIOS
    ]
