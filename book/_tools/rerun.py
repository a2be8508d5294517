"""Execute one notebook, and decide what of it is worth storing.

What is compared is what strict nbval compares; what is stored is in one normal form,
so that a run that finds nothing new changes no byte.
"""

import copy
import platform
import re
from datetime import date
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from _tools import outputs
from _tools.brackets import Lookup, refresh
from _tools.nb import MEASURED, NOT_RUN, tags

TIMEOUT = 3600  # by the clock: only what never ends takes so long
# Fixed, so that the interpreter's patch release does not rewrite every notebook.
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
    "version": "3.11",
}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
ANSI = re.compile(r"\x1b\[[0-9;]*m")
AT_LINE = re.compile(r"Cell In\s?\[(\d+)\], line (\d+)")


class NotebookFailed(RuntimeError):
    """A cell raised, or its kernel died; says which notebook, cell and line."""


def run(notebook: Any, folder: Path) -> Any:
    """A copy of the notebook, executed in `folder` by this very Python."""
    fresh = copy.deepcopy(notebook)
    skipped = [cell for cell in fresh.cells if NOT_RUN in tags(cell)]
    for cell in skipped:
        cell.cell_type = "raw"  # nbclient runs every code cell
    client = NotebookClient(
        fresh,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise NotebookFailed(where(fresh, error)) from None
    except (DeadKernelError, TimeoutError) as error:
        raise NotebookFailed(f"{type(error).__name__}: {error}") from None
    for cell in skipped:
        cell.cell_type = "code"
    return fresh


def where(notebook: Any, error: CellExecutionError) -> str:
    """Cell number, source line and the error, from an IPython traceback."""
    code = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
    found = AT_LINE.findall(ANSI.sub("", error.traceback or ""))
    what = f"{error.ename}: {error.evalue}".splitlines()[0]
    if not found:
        return what
    cell, line = (int(n) for n in found[-1])
    source = code[cell - 1].source.splitlines()[line - 1].strip()
    return f"code cell {cell}, line {line}: `{source}` raised {what}"


def merged(stored: Any, fresh: Any, masks: outputs.Patterns, measured: bool) -> Any:
    """The stored notebook, with fresh outputs if any that is compared changed."""
    pairs = list(zip(stored.cells, fresh.cells, strict=True))
    if any(changed(old, new, masks, measured) for old, new in pairs):
        return fresh
    kept = copy.deepcopy(stored)
    for cell, new in zip(kept.cells, fresh.cells, strict=True):
        if cell.cell_type == "code":
            cell.execution_count = new.execution_count
            for output in cell.outputs:
                if "execution_count" in output:
                    output["execution_count"] = new.execution_count
    return kept


def changed(old: Any, new: Any, masks: outputs.Patterns, measured: bool) -> bool:
    """Whether a cell's outputs differ where strict nbval would look."""
    if old.cell_type != "code":
        return False
    if set(MEASURED) & tags(old) and old.outputs and not measured:
        return False
    never_run = old.execution_count is None and new.execution_count is not None
    return never_run or not outputs.same(old.outputs, new.outputs, masks)


def stamped(notebook: Any, seconds: float) -> Any:
    """The notebook with the date, Python and machine of this execution."""
    notebook.metadata.setdefault("stacklib", {})["executed"] = {
        "date": date.today().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "seconds": round(seconds, 1),
    }
    return notebook


def machine() -> str:
    """This machine in one line, by its processor; never by its name."""
    from stacklib.hardware.this_machine import read_machine

    facts = read_machine()
    return f"{facts.cpu or facts.system}, {facts.usable_cores} cores"


def normalised(notebook: Any) -> Any:
    """The notebook without what differs from one run or editor to the next."""
    kept = {k: v for k, v in notebook.metadata.items() if k in ("stacklib", "mystnb")}
    notebook.metadata = nbformat.from_dict(
        {**kept, "kernelspec": KERNEL, "language_info": LANGUAGE}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, 1):
        cell.setdefault("id", f"cell-{number}")
        own = {k: v for k, v in cell.metadata.items() if k in ("tags", "mystnb")}
        cell.metadata = nbformat.from_dict(own)
        cell.source = "\n".join(line.rstrip() for line in cell.source.splitlines())
    return notebook


def linked(notebook: Any, lookup: Lookup) -> Any:
    """The notebook with the computed links of its Markdown cells refreshed."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = refresh(cell.source, lookup)
    return notebook


def text_of(notebook: Any) -> str:
    """The notebook as it is stored: one key order, one newline at the end."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"
