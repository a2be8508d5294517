"""How large the code is: `python -m _tools.size` prints a table by room.

Growth is seen, not forbidden, up to one limit: no module over 500 lines.
"""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path

from _tools import tree

LIMIT = 500
FOLDERS = ("stacklib", "book", "benchmarks", "exercises", "tests")


def modules(root: Path = tree.ROOT) -> list[Path]:
    """Every Python file of ours."""
    return [path for folder in FOLDERS for path in tree.find(root, folder, "*.py")]


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def faults(root: Path = tree.ROOT) -> list[str]:
    """Modules too long to be read at one sitting."""
    return [
        f"{tree.name(path, root)}: {lines(path)} lines; at most {LIMIT}, split by idea"
        for path in modules(root)
        if lines(path) > LIMIT
    ]


def functions(path: Path) -> list[int]:
    """Lines of each function, its docstring included."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [
        (n.end_lineno or n.lineno) - n.lineno + 1 for n in nodes if isinstance(n, kinds)
    ]


def room(path: Path, root: Path) -> str:
    """The first two folders of a path: `stacklib/roofline`."""
    return "/".join(path.relative_to(root).parts[:-1][:2])


def table(root: Path = tree.ROOT) -> str:
    """Lines, modules and functions of each room."""
    rooms: dict[str, list[Path]] = {}
    for path in modules(root):
        rooms.setdefault(room(path, root), []).append(path)
    head = ("room", "lines", "modules", "median", "max", "functions", "median", "p90")
    rows = [head, *(row(name, paths) for name, paths in sorted(rooms.items()))]
    rows.append(row("all", modules(root)))
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(head))]
    return "\n".join(aligned(r, widths) for r in rows)


def aligned(values: tuple, widths: list[int]) -> str:
    """The first value to the left, numbers to the right."""
    first, *rest = map(str, values)
    padded = (v.rjust(w) for v, w in zip(rest, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *padded])


def row(name: str, paths: list[Path]) -> tuple:
    """One line of the table."""
    sizes = [lines(path) for path in paths]
    spans = sorted(n for path in paths for n in functions(path)) or [0]
    return (
        name, sum(sizes), len(sizes), round(statistics.median(sizes)), max(sizes),
        len(spans), round(statistics.median(spans)), spans[int(0.9 * (len(spans) - 1))],
    )  # fmt: skip


def main() -> int:
    """Print the table and the modules over the limit."""
    found = faults()
    print("\n".join([table(), *found]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
