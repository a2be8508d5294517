"""Notebooks as committed: executed, short, clean, and free of chance digits.

Strict nbval passes a cell whose execution count was stripped without comparing
anything. These checks close that gap, and hold the form of the cells.
"""

import ast
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from _tools import tree

LINES = 15
SECONDS = 15.0
DIGITS = 4
# Tags that change what is asked of a cell.
NOT_RUN = "nbval-skip"
NO_OUTPUT = "no-output"
MEASURED = ("measured", "nbval-ignore-output")
HIDDEN = re.compile(r"<(svg|script|style)\b.*?</\1>|<[^>]*>", re.S | re.I)
FLOAT = re.compile(
    r"(?<![\w.])\d[\d,]*(?:\.\d+(?:e[-+]?\d+)?|e[-+]\d+)(?![\w.]*\d)", re.I
)
MARKER = re.compile(r"^\s*#\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)", re.M)

CellCheck = Callable[[Any], Iterator[str]]


def faults(path: Path, root: Path = tree.ROOT) -> list[str]:
    """Every fault of one notebook, each with its cell."""
    notebook, name = tree.read_notebook(path), tree.name(path, root)
    found = [f"{name}: {fault}" for fault in whole(notebook)]
    code = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
    for number, cell in enumerate(code, 1):
        for check in CELL_CHECKS:
            found += [f"{name}, code cell {number}: {fault}" for fault in check(cell)]
    return found


def whole(notebook: Any) -> Iterator[str]:
    """Faults of the notebook's own metadata."""
    metadata = notebook.metadata
    if metadata.get("language_info", {}).get("name") != "python":
        yield "language_info is missing; Sphinx has no lexer for its cells"
    if metadata.get("kernelspec", {}).get("name") != "python3":
        yield f"kernel {metadata.get('kernelspec', {}).get('name')!r}, not 'python3'"
    if (seconds := took(notebook)) > SECONDS:
        yield f"took {seconds:g} CPU s when last executed; at most {SECONDS:g}"


def took(notebook: Any) -> float:
    """CPU seconds of the execution that is stored."""
    run = notebook.metadata.get("stacklib", {}).get("executed", {})
    return float(run.get("seconds", 0.0))


def tags(cell: Any) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def executed(cell: Any) -> Iterator[str]:
    """A cell has an execution count and what it shows, unless its tag says not."""
    if NOT_RUN in tags(cell):
        if cell.execution_count is not None or cell.outputs:
            yield f"is tagged {NOT_RUN} but was executed"
    elif cell.execution_count is None:
        yield "was never executed: no execution_count; run make execute"
    elif not cell.outputs and shows(cell.source) and NO_OUTPUT not in tags(cell):
        yield "has no output though it ends in an expression; run make execute"


def shows(source: str) -> bool:
    """Whether the code is meant to show something: a bare last value, or a print."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return False
    silenced = source.rstrip().endswith(";")
    calls = [n.func for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
    prints = any(isinstance(f, ast.Name) and f.id == "print" for f in calls)
    return prints or (bool(body) and isinstance(body[-1], ast.Expr) and not silenced)


def shown_last(cell: Any) -> Iterator[str]:
    """A table or a figure is the cell's last value: elsewhere nobody sees it."""
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:
        return
    for node in body[:-1]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func)
            if name.startswith("plots."):
                yield f"calls {name} before its end, which shows nothing; put it last"


def raised(cell: Any) -> Iterator[str]:
    """No committed output is an error."""
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"stores an error: {output.ename}: {output.evalue}"


def short(cell: Any) -> Iterator[str]:
    """A cell can be seen at once."""
    lines = len(cell.source.strip("\n").splitlines())
    if lines > LINES:
        yield f"has {lines} lines; at most {LINES}, the rest belongs in stacklib"


def marked(cell: Any) -> Iterator[str]:
    """Only measured cells escape comparison, and they say so by tag."""
    both = set(MEASURED) & tags(cell)
    if len(both) == 1:
        yield f"is tagged {both.pop()!r} alone; a measured cell carries both {MEASURED}"
    for marker in MARKER.findall(cell.source):
        yield f"hides from the comparison by a comment, {marker}; use the tags"


def few_digits(cell: Any) -> Iterator[str]:
    """No printed float has digits that a different BLAS would change."""
    for output in cell.outputs:
        for text in printed(output):
            for number in FLOAT.findall(text):
                if significant(number) > DIGITS:
                    yield f"prints {number}; at most {DIGITS} significant digits"


def printed(output: Any) -> Iterator[str]:
    """The text a reader sees of an output."""
    if output.output_type == "stream":
        yield output.text
    data = output.get("data", {})
    yield data.get("text/plain", "")
    yield HIDDEN.sub(" ", data.get("text/html", ""))


def significant(number: str) -> int:
    """How many significant digits are printed: 4 in 0.01230, 5 in 1,234.5."""
    mantissa = re.split("e", number, flags=re.I)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


def quick(cell: Any) -> Iterator[str]:
    """Where a cell's times are stored, it took at most 15 s."""
    times = cell.metadata.get("execution", {})
    start, end = times.get("iopub.execute_input"), times.get("shell.execute_reply")
    if start and end:
        seconds = (moment(end) - moment(start)).total_seconds()
        if seconds > SECONDS:
            yield f"took {seconds:.0f} s; at most {SECONDS:g}"


def moment(text: str) -> datetime:
    """A Jupyter timestamp."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


CELL_CHECKS: list[CellCheck] = [
    executed,
    shown_last,
    raised,
    short,
    marked,
    few_digits,
    quick,
]
