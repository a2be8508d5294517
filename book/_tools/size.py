"""How large the code is: `make size` prints lines by room and modules by folder.

Growth is seen, not forbidden, up to one limit: no module over 500 lines.
"""

import ast
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from _tools import tree

LIMIT = 500
FOLDERS = ("stacklib", "book", "benchmarks", "exercises", "tests")
KINDS = ("code", "docstring", "comment", "blank")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (*FUNCTIONS, ast.ClassDef, ast.Module)


@dataclass(frozen=True)
class Module:
    """A Python file, read once."""

    path: Path

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text("utf-8").splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse("\n".join(self.lines))))

    @cached_property
    def kinds(self) -> list[str]:
        """Of each line, what it is; inside a text of several lines it is code."""
        quoted = [spanned(n, 1) for n in self.nodes if isinstance(n, ast.Constant)]
        inside = set().union(*quoted)
        doc = set().union(*map(docstring, self.nodes))
        return [
            "docstring"
            if number in doc
            else "code"
            if number in inside
            else "blank"
            if not line.strip()
            else "comment"
            if line.lstrip().startswith("#")
            else "code"
            for number, line in enumerate(self.lines, 1)
        ]

    @property
    def functions(self) -> list[int]:
        """Lines of each function, its docstring included."""
        return [len(spanned(n)) for n in self.nodes if isinstance(n, FUNCTIONS)]


def spanned(node: ast.stmt | ast.expr, skip: int = 0) -> range:
    """The numbers of a node's lines, but for the first `skip`."""
    return range(node.lineno + skip, (node.end_lineno or node.lineno) + 1)


def docstring(node: ast.AST) -> range:
    """The lines of what documents a module, a class or a function."""
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False):
        return spanned(node.body[0])
    return range(0)


def modules(root: Path = tree.ROOT) -> list[Path]:
    """Every Python file of ours."""
    return [path for folder in FOLDERS for path in tree.find(root, folder, "*.py")]


def faults(root: Path = tree.ROOT) -> list[str]:
    """Modules too long to be read at one sitting."""
    return [
        f"{tree.name(path, root)}: {lines} lines; at most {LIMIT}, split by idea"
        for path in modules(root)
        if (lines := len(Module(path).lines)) > LIMIT
    ]


def counted(paths: list[Path]) -> Counter[str]:
    """Lines of these files by kind."""
    return Counter(kind for path in paths for kind in Module(path).kinds)


def grouped(root: Path, depth: int | None) -> dict[str, list[Module]]:
    """Modules by the first `depth` folders of their paths: `stacklib/roofline`."""
    groups: dict[str, list[Module]] = {}
    for path in modules(root):
        folder = "/".join(path.relative_to(root).parts[:-1][:depth])
        groups.setdefault(folder, []).append(Module(path))
    return dict(sorted(groups.items()))


def by_room(root: Path = tree.ROOT) -> str:
    """Lines of each room by kind, and the lengths of its functions."""
    rooms = grouped(root, 2)
    rooms["all"] = [module for group in rooms.values() for module in group]
    head = ("room", "lines", *KINDS, "functions", "median", "p90")
    rows = [room_row(name, group) for name, group in rooms.items()]
    apart = rows[-1][1] - rows[-1][2 + KINDS.index("comment")]
    return f"{aligned([head, *rows])}\n{apart:,} lines, comments apart"


def room_row(name: str, group: list[Module]) -> tuple:
    """One line of the table of rooms."""
    kinds = Counter(kind for module in group for kind in module.kinds)
    spans = sorted(n for module in group for n in module.functions) or [0]
    return (
        name,
        kinds.total(),
        *(kinds[kind] for kind in KINDS),
        len(spans),
        round(statistics.median(spans)),
        spans[int(0.9 * (len(spans) - 1))],
    )


def by_folder(root: Path = tree.ROOT) -> str:
    """How many modules each folder holds, and the largest of them."""
    rows = [
        (name, len(group), round(statistics.median(sizes)), max(sizes), largest)
        for name, group in grouped(root, None).items()
        for sizes in [[len(module.lines) for module in group]]
        for largest in [group[sizes.index(max(sizes))].path.name]
    ]
    return aligned([("folder", "modules", "median", "max", "its name"), *rows])


def aligned(rows: list[tuple]) -> str:
    """The first column to the left, the others to the right."""
    widths = [
        max(len(str(value)) for value in column) for column in zip(*rows, strict=True)
    ]
    return "\n".join(
        "  ".join(
            [
                str(row[0]).ljust(widths[0]),
                *map(str.rjust, map(str, row[1:]), widths[1:]),
            ]
        )
        for row in rows
    )


def main() -> int:
    """Print the tables and the modules over the limit."""
    found = faults()
    print("\n".join([by_room(), "", by_folder(), *found]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
